"""Other readings of a text: what it says once encodings and disguises are undone.

A reading counts only if it is text that people can read where the original was not, so that a serial number, a hash
or a picture in base64 gives none. Every step looks at a bounded stretch of text: linear in its length.
"""

import base64
import binascii
import html
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from graph.policy.threats import lexicon

MOST = 8  # readings of one text
DEEPEST = 3  # an encoding within an encoding within an encoding
READ = 6_000  # characters of the text that are looked at
PIECES = 12  # encoded stretches that are tried in one text
_READABLE = 0.6


@dataclass(frozen=True)
class View:
    """What text[start:end] says (offsets in the text given), and how it was hidden."""

    text: str
    how: str
    start: int
    end: int


def views(text: str) -> list[View]:
    """Readings of `text`, each once, in a fixed order; none for plain prose."""
    found: list[View] = []
    seen = {_key(text)}
    queue = [(View(text, "", 0, len(text)), 0)]
    while queue and len(found) < MOST:
        above, depth = queue.pop(0)
        for view in _once(above.text):
            key = _key(view.text)
            if key in seen or len(found) >= MOST:
                continue
            seen.add(key)
            how = f"{above.how}, {view.how}" if above.how else view.how
            place = (view.start, view.end) if not depth else (above.start, above.end)
            found.append(View(view.text, how, *place))
            if depth + 1 < DEEPEST:
                queue.append((found[-1], depth + 1))
    return found


def _key(text: str) -> str:
    return " ".join(text.lower().split())[:READ]


def _once(text: str) -> Iterator[View]:
    yield from _smuggled(text)
    yield from _escaped(text)
    yield from _encoded(text)
    yield from _unmarked(text)
    yield from _words(text)


# ---- hidden in characters that draw nothing -----------------------------------------------------------------------

_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


def _smuggled(text: str) -> Iterator[View]:
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        hidden = "".join(chr(ord(c) - 0xE0000) for c in match.group()[:READ])
        yield View(hidden, "invisible tag characters", *match.span())
    for match in _SELECTORS.finditer(text):
        data = bytes(ord(c) - 0xFE00 if ord(c) < 0xFF00 else ord(c) - 0xE0100 + 16 for c in match.group()[:READ])
        if hidden := _as_text(data):
            yield View(hidden, "variation selectors", *match.span())
    flipped = text[:READ].translate(_FLIPPED)[::-1]
    if sum(c in _FLIPPED_CHARS for c in text[:READ]) >= 4 and lexicon.readable(flipped) >= _READABLE:
        yield View(flipped, "upside-down letters", 0, len(text))
    if len(dots := _BRAILLE.findall(text[:READ])) and sum(map(len, dots)) >= 6:
        yield View(text[:READ].translate(_BRAILLE_LETTERS), "Braille", 0, len(text))


_FLIPPED = str.maketrans("ɐqɔpǝɟƃɓɥᴉıɾʞןʅɯuodbɹsʇnʌʍxʎz", "abcdefgghiijkllmnopqrstuvwxyz")
_FLIPPED_CHARS = frozenset("ɐɔǝɟƃɓɥᴉıɾʞןʅɯɹʇʌʍʎ")
_BRAILLE = re.compile("[\u2801-\u28ff]+")
_BRAILLE_LETTERS = str.maketrans(dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵⠀", "abcdefghijklmnopqrstuvwxyz ", strict=True)))

# ---- escapes that stand for single characters ---------------------------------------------------------------------

_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}|[\w.~+/?=&;:,()!*'-]){4,}")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});?")
_ESCAPE = re.compile(
    r"\\(?:u\{?([0-9a-fA-F]{2,6})\}?|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3}))|[uU]\+([0-9a-fA-F]{4,6}) ?"
)
_QUOTED = re.compile(r"(?:=[0-9A-F]{2}){1}")


def _escaped(text: str) -> Iterator[View]:
    head = text[:READ]
    if head.count("%") >= 2 and len(re.findall(r"%[0-9a-fA-F]{2}", head)) >= 2:
        plain = unquote_to_bytes(head.replace("+", " ") if " " not in head.strip() else head).decode("utf-8", "replace")
        yield View(plain, "URL encoding", 0, len(text))
    if len(_ENTITY.findall(head)) >= 2 and (plain := html.unescape(head)) != head:
        yield View(plain, "HTML entities", 0, len(text))
    if len(_ESCAPE.findall(head)) >= 4:
        yield View(_ESCAPE.sub(_unescape, head), "character escapes", 0, len(text))
    if len(_QUOTED.findall(head)) >= 4:
        plain = binascii.a2b_qp(head.encode()).decode("utf-8", "replace")
        if lexicon.readable(plain) >= _READABLE:
            yield View(plain, "quoted-printable", 0, len(text))


def _unescape(match: re.Match[str]) -> str:
    wide, wider, byte, octal, named = match.groups()
    code = int(octal, 8) if octal else int(wide or wider or byte or named, 16)
    return chr(code) if 9 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


# ---- stretches that decode to bytes -------------------------------------------------------------------------------

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\s?\n\s?[A-Za-z0-9+/_-]{8,})*={0,2}")
_SPREAD64 = re.compile(r"(?:[A-Za-z0-9+/]{4}[ ,.|-]){4,}[A-Za-z0-9+/]{2,4}={0,2}")
_HEX = re.compile(r"(?:0x|\\x|%)?[0-9a-fA-F]{2}(?:[ ,:;-]{0,2}(?:0x|\\x|%)?[0-9a-fA-F]{2}){7,}")
_BINARY = re.compile(r"[01]{7,8}(?:[ ,]?[01]{7,8}){3,}")
_DECIMAL = re.compile(r"\b\d{2,3}(?:[ ,;-]{1,2}\d{2,3}){7,}\b")
_MORSE = re.compile(r"[.\-·−–_]{1,6}(?:[ /|]{1,3}[.\-·−–_]{1,6}){5,}")
_MORSE_LETTERS = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split(),
        string.ascii_lowercase,
        strict=True,
    )
)  # fmt: skip

_NATO = (
    "alfa|alpha bravo charlie delta echo foxtrot golf hotel india juliett|juliet kilo lima mike november oscar papa quebec "
    "romeo sierra tango uniform victor whiskey|whisky xray|x-ray yankee zulu"
).split()
_SPELT = re.compile(rf"(?:\b(?:{'|'.join(_NATO)})\b[\s,/|.-]*){{6,}}", re.I)


def _encoded(text: str) -> Iterator[View]:
    head = text[:READ]
    for pattern, decoders in (
        (_BINARY, ((_from_binary, "binary"),)),
        (_HEX, ((_from_hex, "hexadecimal"),)),
        (_DECIMAL, ((_from_decimal, "character codes"),)),
        (_BASE64, ((_from_base64, "base64"), (_from_base32, "base32"))),
        (_SPREAD64, ((_from_base64, "base64 in groups"),)),
        (_MORSE, ((_from_morse, "Morse code"),)),
        (_SPELT, ((_from_spelling, "spelling alphabet"),)),
    ):
        for number, match in enumerate(pattern.finditer(head)):
            if number == PIECES:
                break
            for decode, how in decoders:
                if plain := decode(match.group()):
                    yield View(f"{head[: match.start()]} {plain} {head[match.end() :]}", how, *match.span())
                    yield View(plain, how, *match.span())


def _as_text(data: bytes) -> str:
    """The bytes as text, if they are text that people can read, else ""."""
    try:
        plain = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if len(plain.strip()) < 4 or sum(c.isprintable() or c.isspace() for c in plain) < len(plain):
        return ""
    return plain if not plain.isascii() or _sayable(plain) else ""


def _sayable(plain: str) -> bool:
    """Readable now, or readable once undone again (an encoding in an encoding, rotated letters)."""
    letters = sum(c.isalpha() or c == " " for c in plain)
    return lexicon.readable(plain) >= 0.4 or letters >= 0.85 * len(plain) or bool(_BASE64.fullmatch(plain.strip()))


def _from_base64(piece: str) -> str:
    packed = re.sub(r"[^A-Za-z0-9+/]", "", piece.replace("-", "+").replace("_", "/") if " " not in piece else piece)
    if len(packed) < 12 or (packed.isalpha() and (packed.islower() or packed.istitle())) or packed.isdigit():
        return ""
    packed = packed[: len(packed) - 1] if len(packed) % 4 == 1 else packed
    try:
        return _as_text(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    except (ValueError, binascii.Error):
        return ""


def _from_base32(piece: str) -> str:
    packed = re.sub(r"[^A-Z2-7]", "", piece)
    if len(packed) < 16 or len(packed) < 0.9 * len(piece.rstrip("=")):
        return ""
    packed = packed[: len(packed) // 8 * 8] if len(packed) % 8 in (1, 3, 6) else packed
    try:
        return _as_text(base64.b32decode(packed + "=" * (-len(packed) % 8)))
    except (ValueError, binascii.Error):
        return ""


def _from_hex(piece: str) -> str:
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", piece)
    return _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_binary(piece: str) -> str:
    groups = re.findall(r"[01]{7,8}", piece) if re.search(r"[ ,]", piece) else re.findall(r"[01]{8}", piece)
    return _as_text(bytes(int(g, 2) for g in groups))


def _from_decimal(piece: str) -> str:
    codes = [int(n) for n in re.findall(r"\d+", piece)]
    return _as_text(bytes(codes)) if all(9 <= c < 127 for c in codes) else ""


def _from_morse(piece: str) -> str:
    piece = piece.replace("·", ".").replace("−", "-").replace("–", "-").replace("_", "-")
    found = [
        "".join(_MORSE_LETTERS.get(letter, "") for letter in word.split())
        for word in re.split(r"\s*[/|]\s*|\s{3,}", piece)
    ]
    plain = " ".join(filter(None, found))
    if len(plain) < 6:
        return ""
    return plain if lexicon.readable(plain) >= _READABLE else _segmented(plain.replace(" ", ""))


def _from_spelling(piece: str) -> str:
    letters = {name: chr(97 + at) for at, names in enumerate(_NATO) for name in names.split("|")}
    words = [
        "".join(letters.get(name, "") for name in re.findall(r"x-ray|[a-z]+", word.lower()))
        for word in re.split(r"\s*[/|.,]\s*|\n|\s{2,}", piece)
    ]
    plain = " ".join(filter(None, words))
    return plain if lexicon.readable(plain) >= _READABLE else _segmented(plain.replace(" ", ""))


# ---- marks between the letters ------------------------------------------------------------------------------------

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<!--|-->|/\*|\*/|```\w*|[`*_~^|]{1,3}|^\s*(?:#+|//|>+)\s?", re.M)
_GLUED = re.compile(r"[\"'`]\s*(?:\+|\.|&|\|\||,|\.\.)\s*[\"'`]")
_INSIDE = re.compile(r"(?<=[^\W\d_])[-.·•_*+~^|/\\,:;=#'\"\u00ad]{1,2}(?=[^\W\d_])")
_BRACKETS = re.compile(r"(?<=\w)[(\[{](\w{1,4})[)\]}]|[(\[{](\w{1,4})[)\]}](?=\w)")
_STRETCHED = re.compile(r"([a-zA-Z])\1{2,}")


def _unmarked(text: str) -> Iterator[View]:
    head = text[:READ]
    for how, plain in (
        ("joined pieces", _GLUED.sub("", head)),
        ("markup", _MARKUP.sub("", head)),
        ("brackets", _BRACKETS.sub(lambda m: m[1] or m[2], head)),
        ("stretched letters", _STRETCHED.sub(r"\1", head)),
    ):
        if plain != head and (how == "joined pieces" or lexicon.readable(plain) > lexicon.readable(head) + 0.02):
            yield View(plain, how, 0, len(text))
    if len(_INSIDE.findall(head)) >= 3:
        for how, between in (("marks inside words", ""), ("marks between words", " ")):
            plain = _INSIDE.sub(between, head)
            if lexicon.readable(plain) > max(lexicon.readable(head) + 0.1, 0.5):
                yield View(plain, how, 0, len(text))


# ---- letters moved, replaced or taken apart -----------------------------------------------------------------------

_TOKEN = re.compile(r"\S+")
_EDGE = ".,;:!?\"'()[]{}<>`*_~"
_ALPHABET = string.ascii_lowercase
_TURNS = [str.maketrans(_ALPHABET, _ALPHABET[n:] + _ALPHABET[:n]) for n in range(1, 26)]
_MIRROR = str.maketrans(_ALPHABET, _ALPHABET[::-1])


def _words(text: str) -> Iterator[View]:
    """Readings of the runs of tokens that are no common words."""
    head = text[:READ]
    tokens = list(_TOKEN.finditer(head))
    if len(tokens) < 3 and not any(len(t.group()) > 20 for t in tokens):
        return
    runs = list(_strange_runs(tokens))
    if not runs:
        return
    fixed, hits = _respelled(head, tokens)
    if hits >= 2:
        yield View(fixed, "leetspeak or shuffled letters", 0, len(text))
    for first, last in runs[:PIECES]:
        start, end = tokens[first].start(), tokens[last].end()
        for plain, how in _undone(head[start:end]):
            yield View(f"{head[:start]}{plain}{head[end:]}", how, start, end)


def _strange_runs(tokens: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """First and last token of each stretch without common words; a short common word may stand inside."""
    first = last = -1
    letters = 0
    for at, token in enumerate(tokens):
        word = token.group().strip(_EDGE).lower()
        common = len(word) > 1 and lexicon.known(word)
        if not common and word:
            if first >= 0 and at - last > 2:
                if letters >= 8:
                    yield first, last
                first, letters = -1, 0
            first = at if first < 0 else first
            last = at
            letters += len(word)
        elif common and len(word) > 3 and first >= 0 and at - last > 1:
            if letters >= 8:
                yield first, last
            first, letters = -1, 0
    if first >= 0 and letters >= 8:
        yield first, last


def _respelled(text: str, tokens: list[re.Match[str]]) -> tuple[str, int]:
    """The text with leetspeak and shuffled words in plain letters, and how many words changed."""
    out, done, hits, doubtful = [], 0, 0, []
    for token in tokens:
        bare = token.group().strip(".,;:?\"'()[]{}<>`*_~").lower()
        if len(bare) < 2 or lexicon.known(bare):
            continue
        if bare.isdigit():
            if len(bare) > 2 and (word := lexicon.from_leet(bare)):
                doubtful.append((token, bare, word))
            continue
        word = lexicon.from_leet(bare) or lexicon.from_leet(bare.rstrip("!"))
        if not word and bare.isalpha():
            word = lexicon.from_shuffle(bare)
        if word and len(word) > 2:
            doubtful.append((token, bare, word))
            hits += 1
        elif word:
            doubtful.append((token, bare, word))
    if hits < 2:
        return text, hits
    for token, bare, word in doubtful:
        out.append(text[done : token.start()] + token.group().lower().replace(bare, word))
        done = token.end()
    return "".join(out) + text[done:], hits


def _undone(piece: str) -> Iterator[tuple[str, str]]:
    """Readable texts that the piece may have been made from, likeliest disguise first."""
    if lexicon.readable(piece) >= 0.8 and max(map(len, piece.split())) <= 20:
        return
    low = piece.lower()
    done = False
    for how, plain in (
        ("reversed", low[::-1]),
        ("each word reversed", " ".join(w[::-1] for w in low.split())),
        ("mirrored alphabet", low.translate(_MIRROR)),
    ):
        if lexicon.readable(plain) >= _READABLE:
            yield plain, how
            done = True
    if done:
        return
    sample = low[:400]
    if sum(c in _ALPHABET for c in sample) > 0.6 * len(sample):
        best = max(range(25), key=lambda n: lexicon.readable(sample.translate(_TURNS[n])))
        if lexicon.readable(sample.translate(_TURNS[best])) >= _READABLE:
            yield low.translate(_TURNS[best]), "rotated alphabet"
            return
    for how, letters in (
        ("spaced letters", _despaced(low)),
        ("split or joined words", _segmented(re.sub(r"[\s.\-_*|/,·•+]+", "", low))),
        ("reversed letters without spaces", _segmented(re.sub(r"[\s.\-_*|/,·•+]+", "", low)[::-1])),
    ):
        if letters:
            yield letters, how
            return


def _despaced(piece: str) -> str:
    """Single letters with one separator between them, and a longer gap between words."""
    for gap in (r"\s{2,}|\s*[/|]\s*", r"\s+"):
        words = [re.sub(r"[\s.\-_*|/,·•+]+", "", w) for w in re.split(gap, piece)]
        plain = " ".join(filter(None, words))
        if lexicon.readable(plain) >= _READABLE and len(words) > 1:
            return plain
        leet = " ".join(lexicon.from_leet(w) or w for w in words if w)
        if lexicon.readable(leet) >= _READABLE and len(words) > 1 and leet != " ".join(piece.split()):
            return leet
    return ""


def _segmented(letters: str) -> str:
    """Words found in letters without spaces, if most of it is words of some length."""
    if not 8 <= len(letters) <= 4_000 or sum(c.isalnum() or c in "@$!|+" for c in letters) < 0.9 * len(letters):
        return ""
    plain = lexicon.segment(letters)
    longest = run = 0
    for word in plain.split():
        run = run + len(word) if (len(word) > 1 and lexicon.known(word)) or word in "ai" else 0
        longest = max(longest, run)
    # One stretch of words is enough: a random number may hang on it.
    return plain if longest >= min(20, 0.6 * len(letters)) and _wordy(plain) else ""


def _wordy(plain: str) -> bool:
    """Whether the words found are mostly of some length: any letters at all split into very short words."""
    known = [w for w in plain.split() if lexicon.known(w)]
    return sum(len(w) for w in known if len(w) >= 4) >= 0.55 * sum(map(len, known))

"""National identity and tax numbers of European countries, with the check digits of the `python-stdnum` package.

Each row names the words that introduce the number, its shape, and the stdnum module that decides (loaded when a number
of that shape turns up). A row marked strong has a form and check that nothing else shares, so it needs no word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module

from graph.policy.pii.rule import Page, Rule, RuleMatch


@dataclass(frozen=True)
class _Kind:
    module: str
    words: str
    shape: str
    strong: bool = False


_KINDS = (
    _Kind("de.idnr", r"steuer-?id|idnr|identifikationsnummer|tax id|steuernummer", r"\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}"),
    _Kind(
        "fr.nir",
        r"nir\b|sécurité sociale|securite sociale|insee|social security",
        r"[12] ?\d\d ?\d\d ?\d[\dab] ?\d{3} ?\d{3} ?\d\d",
    ),
    _Kind(
        "it.codicefiscale",
        r"codice fiscale",
        r"[a-z]{6}\d[\dlmnp-v][a-z][\dlmnp-v]{2}[a-z][\dlmnp-v]{3}[a-z]",
        strong=True,
    ),
    _Kind("es.dni", r"dni\b|nif\b|documento nacional", r"\d{8}-?[a-z]"),
    _Kind("es.nie", r"nie\b|extranjero", r"[xyz]-?\d{7}-?[a-z]", strong=True),
    _Kind("nl.bsn", r"bsn\b|burgerservicenummer|sofinummer", r"\d{9}|\d{4}[. ]\d{2}[. ]\d{3}"),
    _Kind("be.nn", r"rijksregister|registre national|national number|\bnn\b", r"\d\d\.?\d\d\.?\d\d-?\d{3}[.\-]?\d\d"),
    _Kind("pl.pesel", r"pesel", r"\d{11}"),
    _Kind("pt.nif", r"nif\b|contribuinte", r"\d{9}|\d{3} \d{3} \d{3}"),
    _Kind("se.personnummer", r"personnummer|personal (?:identity )?number", r"(?:\d\d)?\d{6}[-+]?\d{4}"),
    _Kind(
        "fi.hetu", r"hetu\b|henkilötunnus|henkilotunnus|personal identity code", r"\d{6}[-+a]\d{3}[a-z0-9]", strong=True
    ),
    _Kind("dk.cpr", r"cpr\b|personnummer", r"\d{6}-?\d{4}"),
    _Kind("no.fodselsnummer", r"fødselsnummer|fodselsnummer|personnummer", r"\d{6} ?\d{5}"),
    _Kind("ie.pps", r"pps(?:n|\b)|personal public service", r"\d{7}[a-w][a-iw]?"),
    _Kind("at.vnr", r"sozialversicherung|svnr|vnr\b|social security", r"\d{4} ?\d{6}"),
    _Kind("ch.ssn", r"ahv|avs\b|social security", r"756[.]?\d{4}[.]?\d{4}[.]?\d\d"),
    _Kind("ro.cnp", r"cnp\b|cod numeric", r"[1-9]\d{12}"),
    _Kind("bg.egn", r"egn\b|егн|единен", r"\d{10}"),
    _Kind("hr.oib", r"oib\b", r"\d{11}"),
    _Kind("cz.rc", r"rodn[eé] [cč][ií]slo|birth number|\brč|\brc\b", r"\d{6}/?\d{3,4}"),
    _Kind("sk.rc", r"rodn[eé] [cč][ií]slo|\brč", r"\d{6}/?\d{3,4}"),
    _Kind("gr.amka", r"amka\b|αμκα", r"\d{11}"),
    _Kind("ee.ik", r"isikukood|personal code", r"\d{11}"),
    _Kind("lt.asmens", r"asmens kodas", r"\d{11}"),
    _Kind("tr.tckimlik", r"kimlik|tckn|t\.?c\.? ", r"[1-9]\d{10}"),
)
# One of these stands in each row's words: a test at a fraction of the patterns' cost.
_STEMS = (
    "steuer", "idnr", "identi", "tax", "nir", "curit", "insee", "dni", "nif", "bsn", "burger", "sofi", "rijks",
    "national", "nn", "pesel", "contribu", "personn", "personal", "cpr", "dselsnummer", "pps", "versicherung", "vnr",
    "ahv", "avs", "cnp", "cod numeric", "egn", "егн", "единен", "oib", "rodn", "birth number", "rč", "rc", "amka",
    "αμκα", "isiku", "asmens", "kimlik", "tckn", "t.c", "tc", "id n", "id c", "extranj", "codice", "documento",
)  # fmt: skip
_LONG_NUMBER = re.compile(r"\d[\d ./-]{6}")
_ANY_ID = re.compile(
    r"national (?:id|identity|identification)|identity (?:number|card|no)|id (?:number|card|no)|tax (?:id|number)|"
    r"personal (?:id|code)"
)


@cache
def _shape(kind: _Kind) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,+\-])(?:{kind.shape})(?![\w\-])(?![.,]\d)")


@cache
def _words(kind: _Kind) -> re.Pattern[str]:
    return re.compile(rf"(?:{kind.words}|{_ANY_ID.pattern})")


_STRONG = tuple(kind for kind in _KINDS if kind.strong)


@cache
def _strong_shapes() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,+\-])(?:{'|'.join(f'({kind.shape})' for kind in _STRONG)})(?![\w\-])(?![.,]\d)")


@lru_cache(maxsize=4096)
def _valid(module: str, number: str) -> bool:
    return bool(import_module(f"stdnum.{module}").is_valid(number.upper()))


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _strong_shapes().finditer(page.low):
        kind = _STRONG[(match.lastindex or 1) - 1]
        if _valid(kind.module, match.group()):
            yield RuleMatch(match.start(), match.end(), 0.8)
    if not _LONG_NUMBER.search(page.low) or not any(stem in page.low for stem in _STEMS):
        return
    taken: set[tuple[int, int]] = set()
    for kind in _KINDS:
        words = _words(kind)
        if not page.mentions(words):
            continue
        for match in _shape(kind).finditer(page.low):
            if match.span() in taken or not page.context(match.start(), match.end(), words):
                continue
            if _valid(kind.module, match.group()):
                taken.add(match.span())
                yield RuleMatch(match.start(), match.end(), 0.95)


RULE = Rule("EU_NATIONAL_ID", _find, digits=7)

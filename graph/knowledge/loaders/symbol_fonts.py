"""Letters of fonts that have signs in the place of letters: Symbol and the Wingdings."""

_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
)  # from 0x20, from 0xA0 (Adobe's Symbol encoding)
_WINGDINGS = dict(zip(
    (0x28, 0x2A, 0x46, 0x6C, 0x6D, 0x6E, 0x6F, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x9E, 0x9F, 0xA1, 0xA7, 0xA8,
     0xAB, 0xD8, 0xDF, 0xE0, 0xE1, 0xE2, 0xE8, 0xF0, 0xFB, 0xFC, 0xFD, 0xFE),
    "☎✉☞●○■□❑❒◆◆◆❖◆·•○▪☐★➢←→↑↓➔⇨✗✓☒☑", strict=True))  # fmt: skip
_WINGDINGS_2 = dict(zip((0x4F, 0x50, 0x51, 0x52, 0x53, 0x54, 0xA3), "✗✓☒☑☒☒☐", strict=True))
FONTS = {
    "symbol": {
        start + at: sign for start, signs in zip((0x20, 0xA0), _SYMBOL, strict=True) for at, sign in enumerate(signs)
    },
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
}


def sign(code: int, font: str) -> str:
    """What a font shows for a code, in 0x20..0xFF or, as Office writes it, in 0xF020..0xF0FF; "" when that is not
    known. A font that is none of these has its letters where they belong."""
    if not 0xF000 <= code <= 0xF0FF and font.lower() not in FONTS:
        return chr(code)
    return FONTS.get(font.lower(), FONTS["symbol"]).get(code & 0xFF, "").strip("\0")

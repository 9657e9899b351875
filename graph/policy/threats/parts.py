"""Which parts of a very long text are read by the rules: all of a short one, the likeliest of a long one."""

from graph.policy.threats.lazy import pattern

WHOLE = 24_000  # characters; a longer text is read at its ends and where words of attacks stand closest
_END, _BLOCK, _OVERLAP, _MOST = 6_000, 1_000, 300, 12
# Stems that attacks on an assistant can hardly do without; cheap to find.
_STEMS = pattern(
    r"ignor|disregard|forget|overrid|bypass|instruct|prompt|system|reveal|disclos|unmask|redact|jailbr|restrict|filter|"
    r"guard|policy|polic|tenant|password|phone|cnic|secret|confident|pretend|act as|you are|kill|bomb|hack|assistant",
)


def parts(text: str) -> list[tuple[int, str]]:
    """(offset, part) in order of the text; at most 24,000 characters in all, and as linear as the text is long."""
    if len(text) <= WHOLE:
        return [(0, text)]
    density: dict[int, int] = {}
    lowered = text.lower() if len(text.lower()) == len(text) else text  # some letters grow when lowered
    for match in _STEMS.finditer(lowered, _END, len(text) - _END):
        block = match.start() // _BLOCK
        density[block] = density.get(block, 0) + 1
    densest = sorted(sorted(density, key=lambda block: (-density[block], block))[:_MOST])
    middle = [(max(0, b * _BLOCK - _OVERLAP), min(len(text), (b + 1) * _BLOCK + _OVERLAP)) for b in densest]
    ranges = [(0, _END), *middle, (len(text) - _END, len(text))]
    return [(a, text[a:b]) for a, b in ranges]


def stems(text: str) -> int:
    """How many words of attacks there are in the text."""
    return sum(1 for _ in _STEMS.finditer(text.lower()))

"""Parts what a model answers from what it thinks aloud before: reasoning models write both into one text."""

import re

_WORDS = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_OPEN = re.compile(rf"[<\[◁]{_WORDS}[>\]▷]", re.I)
_CLOSE = re.compile(rf"[<\[◁]/{_WORDS}[>\]▷]", re.I)
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,80}<\|message\|>")  # gpt-oss, where the server does not part them
_CHANNEL = re.compile(r"<\|channel\|>")
# What a template puts between turns, let through by a server that does not know the model's template; and what models
# put round an answer.
_TURN = re.compile(
    r"<[|｜][\w▁]{2,40}[|｜]>|</?s>|<(?:start|end)_of_turn>(?:model\b|user\b)?|\[/?INST\]"
    r"|<\|?(?:im_end|im_start|eot_id)\|?>|</?(?:final[ _-]?)?(?i:answer|response|reply|result|output|sentence)>"
)


def marked(thought: str) -> str:
    """As a model that thinks aloud would have written it: for a server that sends thoughts in a field of their own."""
    return f"<think>\n{thought}"


def divided(text: str) -> tuple[str, str]:
    """(answer, thoughts). Where the thoughts have no end, the answer is empty. An end without a beginning ends thoughts
    that began in the prompt."""
    finals = list(_FINAL.finditer(text))
    if finals:
        return _bare(text[finals[-1].end() :]), text[: finals[-1].start()]
    if _CHANNEL.search(text):
        return "", text
    answer: list[str] = []
    thought: list[str] = []
    at = 0
    while (opens := _OPEN.search(text, at)) or _CLOSE.search(text, at):
        closes = _CLOSE.search(text, at)
        if closes and (opens is None or closes.start() < opens.start()):
            thought += [*answer, text[at : closes.start()]]
            answer, at = [], closes.end()
            continue
        assert opens is not None
        answer.append(text[at : opens.start()])
        end = _CLOSE.search(text, opens.end())
        thought.append(text[opens.end() : end.start() if end else len(text)])
        at = end.end() if end else len(text)
    return _bare("".join([*answer, text[at:]])), "\n".join(thought)


def _bare(text: str) -> str:
    return _TURN.sub("", text).strip()

"""Wishes for the form of an answer: shorter, simpler, as a table, in another language. A chat model follows them; the
embedded answerer quotes, and says so."""

import re

_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|urdu|hindi|arabic|chinese|japanese|russian|turkish|persian|"
    "polish|greek|hebrew|korean|bengali|punjabi"
)
_WISHES = re.compile(
    rf"[,;]? ?\b(?:in|as) (?:one|a single|two|a few|\d) (?:short )?(?:sentences?|words|lines?)\b|"
    r"\b(?:one|single|two)-sentence\b|[,;]? ?\bin (?:very )?(?:simple|plain|easy|simpler|other|your own|layman'?s?) "
    r"(?:words|terms|language|english)\b|"
    r"[,;]? ?\b(?:like|as if) I(?:['’]?m| am| was| were) (?:five|a (?:child|kid)|\d+)\b|"
    rf"[,;]? ?\b(?:in|into|to) (?:{_LANGUAGES})\b(?=\W*$|, )|"
    r"[,;]? ?\bas (?:a )?(?:table|poem|e-?mail|letter|bullet points?|list|tweet)\b(?=\W*$)",
    re.I,
)
_VERBS = re.compile(
    r"^(\W*(?:please |can you |could you )*)(?:translate|rephrase|paraphrase|simplify|shorten|rewrite) ", re.I
)


def bare(question: str) -> str:
    """The question without such wishes: what is to be looked for. "Translate the policy" asks for a summary of it."""
    text = _VERBS.sub(r"\1summarise ", question)
    text = " ".join(_WISHES.sub(" ", text).split())
    return text if re.search(r"\w", text) else question


def wished(question: str) -> bool:
    """Whether the question wishes for a form that no quote has."""
    return bare(question) != " ".join(question.split())


def wish(question: str) -> str:
    """The first such wish of it: "in one sentence"; "" for none."""
    match = _WISHES.search(question)
    return match.group().strip(" ,;") if match else ""

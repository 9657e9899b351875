"""What a question itself names in an act: provisions ("Article 17(3)", "Art. 6 para. 1 lit. f") and defined terms."""

# Patterns read best one to a line.
# ruff: noqa: E501
import re
from collections.abc import Sequence

from graph.knowledge.index import content_words
from graph.regulation.act import Act
from graph.regulation.references import Context, find

_SPELLINGS = (
    (re.compile(r"\barts?\b\.?\s*(?=\d)", re.I), "Article "),
    (re.compile(r"\barticles\s+(?=\d)", re.I), "Articles "),
    (re.compile(r"\barticle\s+(?=\d)", re.I), "Article "),
    (re.compile(r"\b(?:para|par)\b\.?\s*(?=\d)|§\s*(?=\d)", re.I), "paragraph "),
    (re.compile(r"\b(?:lit|point|pt)\b\.?\s*\(?([a-z])\)?(?=[\s,.;?)]|$)", re.I), r"point (\1)"),
    (re.compile(r"(?<=\d)\s+(?=\([a-z\d]{1,4}\))|(?<=\))\s+(?=\([a-z\d]{1,4}\))", re.I), ""),
    (re.compile(r"\bchapter\s+(?=[IVXLC\d])", re.I), "Chapter "),
    (re.compile(r"\bsection\s+(?=\d)", re.I), "Section "),
    (re.compile(r"\bannex\b(?=\s+[IVXLC\d]|\W|$)", re.I), "Annex"),
    (re.compile(r"(Article \d+[a-z]?)\s+paragraph (\d+)"), r"\1(\2)"),
    (re.compile(r"(Article \d+[a-z]?(?:\(\d+\))?)\s+point (\([a-z]\))"), r"\1\2"),
)  # fmt: skip
_MEANING = re.compile(
    r"\b(?:what (?:do|does|is|are)|what'?s|who (?:is|are)|meaning of|definition of|defin(?:e|ed|es|ing|ition)|means?|meant by|"
    r"counts? as|called|the terms?)\b",
    re.I,
)
_ASKED = re.compile(
    r"(?i)^\W*(?:please\s+)?(?:(?:what (?:do|does|is|are)|what'?s|who (?:is|are)|define|how (?:is|are)|when (?:is|are)|explain|"
    r"(?:the )?(?:meaning|definition) of)\s+)?(?:meant by\s+|the (?:meaning|definition) of\s+|the terms?\s+|data called\s+)?(?:an?\s+|the\s+)?"
)
_BEHIND_TERM = re.compile(r"\s+(?:defined|mean(?:s|t)?|cover|stand for)\b.*|[?.!]+\s*$")
_SAYING = frozenset(
    "article articles art arts paragraph paragraphs para point points say says said explain text show read quote cite mean"
    " means recital recitals chapter chapters section sections annex regulation directive act act's gdpr gdpr's first second"
    " third subparagraph content contents provision provisions state states stated summarise summarize lit it's according".split()
)


def spelt(question: str) -> str:
    """The question with provisions spelt as acts spell them."""
    for pattern, form in _SPELLINGS:
        question = pattern.sub(form, question)
    return question


def names_only(question: str) -> bool:
    """Whether the question is the name of a provision and nothing else: "Article 17", "What does Art. 33 say?"."""
    text = spelt(question[:2_000])
    rest, at = [], 0
    references = [r for r in find(text, Context()) if r.names]
    for reference in references:
        rest.append(text[at : reference.start])
        at = reference.end
    return bool(references) and only(content_words(" ".join([*rest, text[at:]])))


def named_provisions(act: Act, question: str) -> tuple[list[int], str]:
    """Nodes of the act that the question names, and the question without their names."""
    text = spelt(question[:2_000])
    nodes: list[int] = []
    rest = []
    at = 0
    for reference in find(text, Context()):
        if reference.elsewhere and not reference.names:
            continue
        rest.append(text[at : reference.start])
        at = reference.end
        nodes += [next((act.names[n] for n in names if n in act.names), -1) for names in reference.names]
    return [n for n in dict.fromkeys(nodes) if n >= 0], " ".join([*rest, text[at:]])


def only(words: Sequence[str]) -> bool:
    """Whether nothing is asked beyond the provisions named; `words` are the content words of what is left."""
    return all(word in _SAYING or word.isdigit() for word in words)


def defined(act: Act, question: str) -> int:
    """The node that defines what the question asks the meaning of, or -1."""
    if _MEANING.search(question) is None:
        return -1
    quoted = re.search(r"[\"'‘“]([^\"'’”]{2,80})[\"'’”]", question)
    phrase = quoted[1] if quoted else _BEHIND_TERM.sub("", _ASKED.sub("", question, count=1))
    phrase = re.sub(r"\s+", " ", phrase).strip().casefold()
    for term in (phrase, phrase.removesuffix("s"), phrase.removesuffix("es")):
        if term in act.terms:
            return act.terms[term]
    if quoted:
        return -1
    # "What is the main establishment of a company …": a term and who it is asked of.
    opening = [t for t in act.terms if re.match(rf"{re.escape(t)}s?\s+(?:of|in|for|under|according)\b", phrase)]
    return act.terms[max(opening, key=len)] if opening else -1


def speaks_of(act: Act, question: str) -> list[int]:
    """The nodes that define terms used in the question, the longest terms first; a term within another does not count."""
    text = question.casefold()
    nodes: list[int] = []
    for term in sorted(act.terms, key=lambda t: (-len(t), t)):
        pattern = re.compile(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])")
        if pattern.search(text):
            nodes.append(act.terms[term])
            text = pattern.sub(" ", text)
    return nodes

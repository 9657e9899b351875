"""The embedded designer of assessments: brief, rubric and checklist from the request and the evidence.

What the institution's documents require is quoted from them. What is not theirs (the shape of the task, the marking
criteria) comes from the templates below, and is labelled as a proposal.
"""

import re
from typing import Any

from graph.extractive.candidates import Candidate, score
from graph.extractive.reader import Reader
from graph.policy.question.intent import searches
from graph.policy.question.intent import topic as about

_LEVEL = re.compile(
    r"\b(postgraduate|graduate|master'?s?|phd|doctoral|undergraduate|bachelor'?s?|first[- ]year|final[- ]year)\b", re.I
)
_EACH = 2  # statements for each thing that was looked for
# Shares of 100: analysis and design weigh most at postgraduate level; they are scaled to the weighting below.
_CRITERIA: tuple[tuple[str, int, str, str, str], ...] = (
    ("Understanding of {topic}", 20, "Explains the concepts exactly and relates them to the sources.", "Explains the main concepts with small gaps.", "Misstates or omits central concepts."),
    ("Design and method", 25, "Justifies every design choice against a stated threat or requirement.", "Sound design with some choices unexplained.", "Design missing or not connected to the problem."),
    ("Implementation and evidence", 25, "Works, is reproducible from the hand-in, and its claims are measured.", "Works in the main case; measurements are partial.", "Does not run, or claims are not shown."),
    ("Critical evaluation", 20, "Reports what fails, with figures, and says why.", "Names limits without measuring them.", "No evaluation."),
    ("Communication and integrity", 10, "Clear, complete references, use of AI tools declared as the policy asks.", "Readable; small gaps in references or declaration.", "Unclear, or sources and tools not declared."),
)  # fmt: skip
_CAPSTONE = ("Prompt-injection test suite and metrics", 20, "Covers direct, indirect and obfuscated attacks; reports attack success rate, false block rate, JSON validity and citation coverage with n.", "Covers direct attacks; some of the four figures.", "No suite, or figures without method.")  # fmt: skip


def design(task: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """The reply object of prompts/assessment.md."""
    request, weighting, capstone = task["question"], task["weighting"], task["capstone"]
    topic, match = about(request), _LEVEL.search(request)
    level = match[1].capitalize() if match else "Not stated in the request"
    basis = [{"text": c.text, "sources": [c.n]} for c in _basis(request, task["evidence"], reader)]
    criteria = [*_CRITERIA, _CAPSTONE] if capstone else [*_CRITERIA]
    weights = apportion([c[1] for c in criteria], weighting)
    rubric = [
        {
            "criterion": name.format(topic=topic),
            "weight": weight,
            "excellent": high,
            "adequate": middle,
            "insufficient": low,
        }
        for (name, _, high, middle, low), weight in zip(criteria, weights, strict=True)
    ]
    return {
        "title": f"Assessment brief: {topic}",
        "level": level,
        "weighting": weighting,
        "basis": basis,
        "learning_outcomes": [
            f"Explain the central concepts and risks of {topic}.",
            f"Design and build a solution to a stated problem in {topic}.",
            "Measure the solution, report what fails, and judge it against the literature and policy.",
        ]
        + (["Plan and carry out an adversarial evaluation and report it with its uncertainty."] if capstone else []),
        "task": [
            f"Choose a realistic case in {topic} and state the requirements, the assets and the threats.",
            "Design a solution and justify each decision against the requirements.",
            "Build a working prototype and test it; keep everything needed to repeat the tests.",
            "Evaluate it critically: what works, what fails, what you would do next.",
        ]
        + (
            [
                "Build a prompt-injection test suite of direct, indirect and obfuscated attacks and of innocent questions, and report attack success rate, false block rate, JSON validity rate and citation coverage."
            ]
            if capstone
            else []
        ),
        "deliverables": [
            "A report of 2,500 to 3,000 words with references.",
            "The code, with instructions that let a marker repeat the results.",
            "A declaration of the tools used, generative AI included.",
        ]
        + (["The test suite with its data, and a table of the four measures with n."] if capstone else []),
        "ethics": [
            "Attack only systems you run yourself; use invented or consented data.",
            "Declare any use of generative AI as the institution's policy requires.",
        ]
        + (
            ["Add a section on ethics and compliance: data protection, responsible disclosure, limits of use."]
            if capstone
            else []
        ),
        "rubric": rubric,
        "checklist": [
            f"The report addresses every learning outcome and is about {topic}.",
            "Every claim has a source or a measurement.",
            "The code runs from a clean checkout with the given instructions.",
            "References are complete and the use of AI tools is declared.",
            "No personal data and no secrets are in the hand-in.",
        ]
        + (["The test suite runs with one command and prints the four measures."] if capstone else []),
    }


def _basis(request: str, evidence: list[dict[str, Any]], reader: Reader) -> list[Candidate]:
    """For each thing that was looked for, the best statements of the documents, each taken once."""
    chosen: list[Candidate] = []
    for query in searches("ASSESSMENT_GEN", request):
        candidates = [c for c in score(query, evidence, reader) if ". " in c.text + " " and "; " not in c.text]
        chosen += [c for c in candidates if c.text not in {taken.text for taken in chosen}][:_EACH]
    return chosen


def apportion(shares: list[int], total: int) -> list[int]:
    """Whole numbers in proportion to the shares that sum to total (largest remainder), each at least 1 if it can be."""
    exact = [share * total / sum(shares) for share in shares]
    floor = [int(value) for value in exact]
    order = sorted(range(len(shares)), key=lambda i: (floor[i] - exact[i], i))
    for i in order[: total - sum(floor)]:
        floor[i] += 1
    for i, value in enumerate(floor):
        if value == 0 and max(floor) > 1:
            floor[i], floor[floor.index(max(floor))] = 1, max(floor) - 1
    return floor

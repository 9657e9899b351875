"""A model's opinion on the risk of a question. Triage joins it to the rules' verdict, which it can only raise."""

from dataclasses import dataclass

from langchain_core.messages import HumanMessage

from graph.models.chat import Generator
from graph.policy.repair import repair
from prompts import load

_SCHEMA = {
    "title": "opinion",
    "type": "object",
    "required": ["risk_score", "rationale"],
    "properties": {"risk_score": {"type": "integer"}, "rationale": {"type": "string"}},
}
UNCLEAR = 60  # what an opinion that cannot be read counts as: guarded, not blocked


@dataclass(frozen=True)
class RiskOpinion:
    """The model's verdict on a question; `prompts` are the digests of those used, by name."""

    risk_score: int  # 0-100
    rationale: str
    prompts: dict[str, str]


class Opinion:
    """Asks the generator's model. Raises ModelUnavailable when it is down: the turn then fails closed."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def __call__(self, question: str) -> RiskOpinion:
        import secrets

        prompt = load("triage")
        text = prompt.fill(nonce=secrets.token_hex(4), question=question.replace("</", "< /"))
        completion = self._generator.complete([HumanMessage(text)], schema=_SCHEMA, max_tokens=200)
        used = {prompt.name: prompt.digest}
        read = repair(completion.text, _SCHEMA)
        score = read.value["risk_score"] if read.ok else -1
        if not 0 <= score <= 100:
            return RiskOpinion(UNCLEAR, "its opinion could not be read.", used)
        return RiskOpinion(score, read.value["rationale"][:300], used)

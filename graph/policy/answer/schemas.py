"""What a generator must return, as JSON Schema."""

from typing import Any

from graph.policy.question.intent import IntentName

MOST_CHARS, MOST_SOURCES, MOST_SENTENCES = 4_000, 20, 60  # of a sentence, and of an answer
_TEXT = {"type": "string", "minLength": 1, "maxLength": MOST_CHARS}
_LINES = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 30}
_CITED = {
    "type": "object",
    "required": ["text", "sources"],
    "properties": {
        "text": _TEXT,
        "sources": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": MOST_SOURCES},
    },
}

ANSWER: dict[str, Any] = {
    "title": "answer",
    "type": "object",
    "required": ["answered", "sentences"],
    "properties": {
        "answered": {"type": "boolean"},
        "sentences": {"type": "array", "items": _CITED, "maxItems": MOST_SENTENCES},
    },
}

ASSESSMENT: dict[str, Any] = {
    "title": "assessment",
    "type": "object",
    "required": [
        "title", "level", "weighting", "basis", "learning_outcomes", "task", "deliverables", "ethics", "rubric",
        "checklist",
    ],
    "properties": {
        "title": _TEXT,
        "level": _TEXT,
        "weighting": {"type": "integer", "minimum": 1, "maximum": 100},
        "basis": {"type": "array", "items": _CITED, "maxItems": 40},
        "learning_outcomes": _LINES,
        "task": _LINES,
        "deliverables": _LINES,
        "ethics": _LINES,
        "checklist": _LINES,
        "rubric": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "required": ["criterion", "weight", "excellent", "adequate", "insufficient"],
                "properties": {
                    "criterion": _TEXT,
                    "weight": {"type": "integer", "minimum": 0, "maximum": 100},
                    "excellent": _TEXT,
                    "adequate": _TEXT,
                    "insufficient": _TEXT,
                },
            },
        },
    },
}  # fmt: skip

SCHEMAS: dict[IntentName, dict[str, Any]] = {"GENERIC_QA": ANSWER, "ASSESSMENT_GEN": ASSESSMENT}

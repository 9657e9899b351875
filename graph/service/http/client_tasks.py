"""What a chat client asks for itself: a title of the conversation, tags, questions to suggest.

These are no questions of a person: they search nothing, no model is asked, and the record does not hold them. They are
known by several marks of the requests that Open WebUI and LibreChat send as they come, so that a person who asks for a
title is not taken for one. A client whose prompts somebody has rewritten is answered like a person.
"""

import json
import re

from graph.policy import pii
from graph.stores.conversations import title

# Open WebUI: "### Task:", what to do, the form of the JSON, then the conversation.
_TASK = re.compile(r"\s*#{2,4}\s*Task:")
_HISTORY = re.compile(r"<chat_history>(.*?)(?:</chat_history>|\Z)", re.S)
_KEY = re.compile(r"\{\s*\\?[\"'](title|tags|follow_ups|queries|text|prompt)\\?[\"']\s*:")
_EMOJI = re.compile(r"\s*Your task is to reflect the speaker'?s likely facial expression through a fitting emoji")
# LibreChat: the instruction and, in the same message or before it, the conversation.
_TITLE_ONLY = re.compile(
    r"5-word-or-less title for the conversation.{0,200}only return the title itself"
    r"|concise title for this conversation in the detected language\. Title in 5 words or less",
    re.S | re.I,
)
_STRUCTURED = re.compile(
    r"analyze this conversation and provide:.{0,80}detected language.{0,160}concise title in the detected language",
    re.S | re.I,
)
_FIRST_ASKED = re.compile(
    r"^\s*(?:USER|Human|user|User):\s*(.+?)\s*(?=^\s*(?:ASSISTANT|AI|Assistant|assistant):|\Z)", re.M | re.S
)
_EMPTY: dict[str, object] = {"tags": [], "follow_ups": [], "queries": [], "text": "", "prompt": ""}


def answered(text: str, messages: list[str]) -> str | None:
    """The reply to a client's own task; None where a person asks. `text` is the last user message,
    `messages` are all of them."""
    if _TASK.match(text) and (history := _HISTORY.search(text)):
        key = _KEY.search(text)
        if key is None:
            return None
        value = _title(history[1], messages) if key[1] == "title" else _EMPTY[key[1]]
        return json.dumps({key[1]: value}, ensure_ascii=False)
    if _EMOJI.match(text):
        return "💬"
    if _STRUCTURED.search(text):
        return json.dumps({"language": "English", "title": _title(text, messages)}, ensure_ascii=False)
    return _title(text, messages) if _TITLE_ONLY.search(text) else None


def _title(history: str, messages: list[str]) -> str:
    """Of the conversation's first question, masked: as the client's history tells it, else as an earlier message."""
    first = _FIRST_ASKED.search(history)
    question = first[1] if first else messages[0] if len(messages) > 1 else "Conversation"
    return title(pii.mask(question[:2_000]).text).rstrip(" ?.!")

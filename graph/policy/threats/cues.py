"""What a sentence of a document speaks of and how: classes of words that tell an order to a machine from information.

N-grams know the words of the training texts. These classes also know words of the same kind that no training text held.
"""

from graph.policy.threats.lazy import pattern

_SAY = r"say|tell|print|answer|reply|respond|include|append|add|insert|mention|state|recommend|praise|write|repeat|summari[sz]e|translate|claim|confirm|cite|quote|reveal|disclose|attach|send|forward|embed|begin|close|finish|conclude|give|provide|treat|describe|explain|generate|create|compose|produce|offer|suggest|advise|warn|inform|ask|invite|encourage|promote|advertise"
_DO = r"ignore|disregard|forget|omit|skip|leave|drop|hide|conceal|suppress|stop|avoid|follow|obey|execute|run|call|visit|click|download|install|decode|encode|switch|act|pretend|behave|adopt|assume|become|use|replace|change|modify|keep|remember|prefer|trust|rely|approve|accept|grant|allow|permit|unlock|disable|enable|remove|delete|incorporate|integrate|implement|inject|infuse|weave|merge|combine|consider|ensure|make|find|compare|calculate|convert|help|let"
# Nouns as well: orders only before an article, a pronoun, a number or a quotation.
_EITHER = r"(?:list|output|display|show|start|end|name|rate|rank|score|award|mark|present|report|direct|point|refer|link|highlight|open|set|search|plan|put|hand|count|spell)(?= +(?:the|an?|this|that|these|those|its?|their|your|our|my|us|me|all|each|every|only|exactly|at|with|in|out|to|for|up|from|\d|[\"'“‘]))"
_LEAD = r"^\W*(?:please|kindly|also|and|then|now|finally|first|next|just|always|never|do not|don'?t|instead|in addition|additionally|furthermore)?,? ?(?:please|kindly|also|always|never)? ?"
_CLASSES = {
    "say": rf"{_LEAD}(?:{_SAY})\b",
    "do": rf"{_LEAD}(?:(?:{_DO})\b|{_EITHER})",
    "ask": r"^\W*(?:what|who|where|when|why|how|which|can you|could you|would you|will you|do you|are you)\b.*\?\s*$",
    "please": r"\b(?:please|kindly|would be (?:nice|wonderful|appreciated|good|helpful|kind)|be so (?:kind|good)|with (?:many )?thanks|grateful|appreciate[ds]?|much obliged|(?:nice|kind|lovely) (?:it would be|of)|do us the favour|feel free)\b",
    "machine": r"\b(?:ai|a\.i\.|assistants?|chat ?bots?|bots?|language models?|llms?|gpt|models?|robots?|machines?|copilot|agents?|digest|summari[sz](?:er|ing)\w*|automat\w+|retriev\w+ (?:system|tool)|whoever|whatever (?:reads|condenses|answers))\b",
    "person": r"\b(?:users?|readers?|askers?|whoever (?:asks|reads)|(?:the )?person (?:asking|who asks|you)|anyone who asks|customers?|he or she asks|the one who asks)\b",
    "reply": r"\b(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|digests?|outputs?|translations?|overviews?|abstracts?|conclusions?|verdicts?|recommendations?)\b",
    "you": r"\b(?:you|your|yours|yourself)\b",
    "must": r"\b(?:must|shall|should|ought|(?:is|are|am) to|ha(?:s|ve) to|needs? to|(?:is|are) (?:asked|required|instructed|obliged|requested|expected|told|free|allowed) to|let)\b",
    "hide": r"\b(?:do not|don'?t|never|without|must not|not) (?:\w+ ){0,3}?(?:mention\w*|tell\w*|reveal\w*|show\w*|inform\w*|alert\w*|say\w*|quote|cite|admit|disclos\w*|learn|know|warn\w*|explain)\b",
    "rules": r"\b(?:instructions?|rules?|guidelines?|prompts?|polic(?:y|ies)|filters?|mask(?:s|ing|ed)?|unmasked|redact\w*|safeguards?|checks?|restrictions?|refus\w+|limits?|exception)\b",
    "right": r"\b(?:cleared|clearance|entitled|authori[sz]\w*|permitted|granted|may (?:see|read|be (?:shown|displayed|dropped|given))|administrator|admin|access (?:to|granted)|approved|exempt\w*)\b",
    "self": r"\b(?:this|the (?:following|present|above)) (?:document|page|passage|text|paragraph|line|note|source|section|file|report|tag|link|article|snippet)\b|\b(?:all |any |every |the )?(?:other|remaining|previous|earlier|preceding) (?:sources?|passages?|documents?|files?|text|instructions?)\b",
    "instead": r"\b(?:instead|regardless|no matter what|from now on|before (?:anything|everything) else|at the (?:end|beginning|start|top) of|whenever|each time|every time|exactly|verbatim|word for word|only (?:with|the word|this|one|answer|say)|nothing else)\b",
    "personal": r"\b(?:passwords?|phone numbers?|addresses|e-?mails?|credentials|keys?|tokens?|secrets?|personal (?:data|numbers?|details)|cnics?|contact (?:list|details)|bank|credit card|salar\w+|private)\b",
    "link": r"https?:|\bwww\.|\b[a-z0-9-]+\.(?:com|example|org|net|io|invalid)\b|!\[|</?[a-z]|\bhref\b|\bclick\b",
    "forged": r"^\W*(?:\[|<|#|---|\*\*\*)|\b(?:system|admin|developer) ?(?:note|message|override|notice)?\s*:|\bend of (?:source|document|context|data)\b",
    "code": r"\b(?:code (?:block|snippet)|snippet|script|base64|command|function call|tool)\b",
    "tongue": r"[\u0600-\u06ff\u0900-\u097f\u0400-\u04ff\u4e00-\u9fff]|\b(?:jawab|hidayat|bitte|antworte|antwort|jede|nenne|por favor|responde|réponds?|réponse|veuillez|modelo|modèle|assistente?|assistant[ea]|user ko|batao|likho)\b",
}  # fmt: skip
NAMES = tuple(_CLASSES)
_SHORTEST = 8  # characters that say anything: a document may be a million full stops
_PATTERNS = tuple(pattern(p) for p in _CLASSES.values())  # of lower case: twice as fast as ignoring case
SIZE = len(NAMES) * (len(NAMES) + 1) // 2


def columns(sentence: str) -> list[int]:
    """The classes that occur in a sentence and the pairs of them, as numbers below SIZE, ascending."""
    if len(sentence) < _SHORTEST:
        return []
    sentence = sentence.lower()
    found = [at for at, one in enumerate(_PATTERNS) if one.search(sentence)]
    return sorted(b * (b + 1) // 2 + a for n, a in enumerate(found) for b in found[n:])


_MOOD = ("say", "do", "ask", "please", "must", "hide", "right", "instead", "link", "forged", "tongue")
_DIRECTS = tuple(_PATTERNS[NAMES.index(name)] for name in _MOOD)


def directs(sentence: str) -> bool:
    """Whether the sentence orders, asks, obliges, permits or forges; a plain statement about machines does not."""
    sentence = sentence.lower()
    return any(one.search(sentence) for one in _DIRECTS)


_SAYS = _PATTERNS[NAMES.index("say")]
_ASKS = pattern(r"^\W*(?:please )?(?:can|could|would|will) you\b")


def asks_for_words(sentence: str) -> bool:
    """Whether the sentence orders something that is done with words, or asks for something, as one asks an assistant."""
    sentence = sentence.lower()
    return bool(_SAYS.search(sentence) or _ASKS.search(sentence))

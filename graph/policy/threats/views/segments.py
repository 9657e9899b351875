"""Words in letters that were written without spaces."""

from graph.policy.threats import lexicon


def segmented(letters: str) -> str:
    """Words found in letters without spaces, if most of it is words of some length."""
    if not 8 <= len(letters) <= 4_000 or sum(c.isalnum() or c in "@$!|+" for c in letters) < 0.9 * len(letters):
        return ""
    plain = lexicon.segment(letters)
    longest = run = 0
    for word in plain.split():
        run = run + len(word) if (len(word) > 1 and lexicon.known(word)) or word in "ai" else 0
        longest = max(longest, run)
    # One stretch of words is enough: a random number may hang on it.
    return plain if longest >= min(20, 0.6 * len(letters)) and _wordy(plain) else ""


def _wordy(plain: str) -> bool:
    """Whether the words found are mostly of some length: any letters at all split into very short words."""
    known = [w for w in plain.split() if lexicon.known(w)]
    return sum(len(w) for w in known if len(w) >= 4) >= 0.55 * sum(map(len, known))

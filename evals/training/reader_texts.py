"""What the reader learns from: questions, each with passages that answer it and passages that do not.

Most passages are single sentences. A third of the questions, and all of the two sources of whole sections, come with
stretches of text instead, since what to do stands in a section and not in a sentence of it.
"""

import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evals.material import data_directory
from graph.knowledge.index import STOP_WORDS
from graph.policy.text.sentences import split

MOST = {"policyqa": 4_000}  # questions of a source, where few different ones are asked of many sites
STRETCHES = 0.35  # of the questions over sentences
STRETCH_CHARS = 420  # a longer one would be cut by the reader
MEDQUAD = 1_200  # questions; they are headings put into a template, so few of them tell much
ROUNDS = 3  # times a question of MTRAG comes, each time with other passages beside it

Group = tuple[str, list[tuple[str, str, bool]]]  # question; path, passage, whether it answers


@dataclass
class Texts:
    """Passages as sentences, found by their words."""

    sentences: list[tuple[int, str, str]]  # number of the passage, title, text
    holding: dict[str, list[int]]
    rarity: dict[str, float]

    @classmethod
    def from_sentences(cls, sentences: list[tuple[int, str, str]]) -> "Texts":
        holding: dict[str, list[int]] = defaultdict(list)
        for at, (_, _, text) in enumerate(sentences):
            for word in dict.fromkeys(words(text)):
                holding[word].append(at)
        return cls(sentences, holding, {w: math.log(1 + len(sentences) / len(at)) for w, at in holding.items()})

    def shared(self, one: str, other: str) -> float:
        """Weight of the words that both have."""
        return sum(self.rarity.get(word, 8.0) for word in set(words(one)) & set(words(other)))

    def near(self, question: str, besides: set[int]) -> list[int]:
        """Sentences that share much with the question, at most 12, none of the passages `besides`."""
        rarest = sorted({w for w in words(question) if w in self.rarity}, key=lambda w: (-self.rarity[w], w))[:4]
        found: Counter[int] = Counter()
        for word in rarest:
            for at in self.holding[word][:3_000]:
                if self.sentences[at][0] not in besides:
                    found[at] += self.rarity[word]  # type: ignore[assignment]
        return [at for at, _ in found.most_common(12)]

    def stretch(self, at: int, count: int) -> str:
        """`count` sentences of its passage from `at` on, as far as STRETCH_CHARS reach."""
        passage, _, text = self.sentences[at]
        for number, _, further in self.sentences[at + 1 : at + count]:
            if number != passage or len(text) + len(further) >= STRETCH_CHARS:
                break
            text += f" {further}"
        return text


@dataclass
class Source:
    """The questions of one file, and the sentences of its passages."""

    rows: list[dict[str, Any]]
    passages: dict[tuple[str, str], tuple[int, int]]  # number, place of its first sentence
    texts: Texts

    @classmethod
    def from_name(cls, name: str) -> "Source":
        rows = [r for r in _read(f"answers_{name}") if r["sentences"] and (r["gold"] or not r["answerable"])]
        passages: dict[tuple[str, str], tuple[int, int]] = {}
        sentences: list[tuple[int, str, str]] = []
        for row in rows:
            if key(row) not in passages:
                number = len(passages)
                passages[key(row)] = number, len(sentences)
                sentences += [(number, row["passage"]["title"], text) for text in row["sentences"]]
        return cls(rows, passages, Texts.from_sentences(sentences))

    def group(self, row: dict[str, Any], rng: random.Random) -> Group:
        """At most two passages that answer and six that do not: the three of its text that share most with it, one at
        random, and two of other texts."""
        question = as_typed(row["question"], rng)
        gold = set(row["gold"]) if row["answerable"] else set()
        own = row["sentences"]
        others = [at for at in range(len(own)) if at not in gold]
        others.sort(key=lambda at: -self.texts.shared(row["question"], own[at]))
        others = others[:3] + (rng.sample(others[3:], 1) if len(others) > 3 else [])
        right = rng.sample(sorted(gold), min(2, len(gold)))
        title = row["passage"]["title"] if rng.random() < 0.7 else ""
        number, begin = self.passages[key(row)]
        elsewhere = self.texts.near(row["question"], {number})
        count = rng.randint(2, 4) if rng.random() < STRETCHES else 1
        shown: dict[str, tuple[str, bool]] = {}
        for at in (*right, *others):
            start = max(0, at - rng.randrange(count)) if count > 1 else at
            text = self.texts.stretch(begin + start, count)
            shown[text] = title, any(own[one] in text for one in gold)
        answers = [answer.lower() for answer in row["answers"]]
        near = [(self.texts.sentences[at][1], self.texts.stretch(at, count)) for at in elsewhere]
        near = [(where, text) for where, text in near if not any(answer in text.lower() for answer in answers)]
        rng.shuffle(near)
        shown.update({text: (where if title else "", False) for where, text in near[:2]})
        return question, [(where, text, right) for text, (where, right) in shown.items()]


def groups(names: Sequence[str], seed: int, most: int | None = None) -> list[Group]:
    """Questions of the sources `names`, at most `most` of each, and of the two of whole sections, in a random order."""
    rng = random.Random(seed)
    made: list[Group] = []
    for name in names:
        source = Source.from_name(name)
        rows = list(source.rows)
        rng.shuffle(rows)
        made += [source.group(row, rng) for row in rows[: min(most or len(rows), MOST.get(name, len(rows)))]]
    made += [*_cloud(rng), *_health(rng)]
    rng.shuffle(made)
    return [group for group in made if group[1]]


def _cloud(rng: random.Random) -> Iterator[Group]:
    """Of MTRAG's questions over the documentation of a cloud: the stretches of the passages chosen by people that share
    most with the answer written for it, among stretches of others. Questions that lean on what was said before are left
    out."""
    corpus = {row["_id"]: (row["title"], row["url"], stretches(row["text"])) for row in _read("mtrag_cloud_corpus")}
    number = {name: at for at, name in enumerate(corpus)}
    texts = Texts.from_sentences(
        [(number[name], title, text) for name, (title, _, cut) in corpus.items() for text in cut]
    )
    urls = [url for _, url, _ in corpus.values()]
    for task in [task for task in _read("mtrag_cloud_tasks") for _ in range(ROUNDS)]:
        question = task["rewritten"] or ("" if task["history"] else task["question"])
        if not question or task["answerability"] not in ("ANSWERABLE", "UNANSWERABLE"):
            continue
        gold = [corpus[name] for name in task["gold"] if name in corpus]
        own = {text: texts.shared(task["answer"], text) for _, _, cut in gold for text in cut}
        if task["gold"] and not own:
            continue
        best = sorted(own, key=lambda text: -own[text])
        shown = [("", text, True) for text in best[:2] if own[text] >= 0.7 * own[best[0]]]
        shown += [("", text, False) for text in best[2:][-2:] if own[text] < 0.3 * own[best[0]]]
        pages = {url for _, url, _ in gold}
        near = texts.near(question, {at for at, url in enumerate(urls) if url in pages})
        if not gold:
            near = [at for at in near if texts.shared(task["answer"], texts.sentences[at][2]) < 30]
        shown += [("", texts.sentences[at][2], False) for at in rng.sample(near, min(4, len(near)))]
        yield as_typed(question, rng), shown


def _health(rng: random.Random) -> Iterator[Group]:
    """Of MedQuAD: the beginning of the section asked for, among those of the page's other sections."""
    pages = {page["_id"]: page for page in _read("medquad_docs")}
    asked = list(_read("medquad_questions"))
    rng.shuffle(asked)
    for row in asked[:MEDQUAD]:
        page = pages[row["doc"]]
        cut = {section["id"]: stretches(section["text"]) for section in page["sections"]}
        if not cut.get(row["section"]):
            continue
        others = [rng.choice(found) for name, found in cut.items() if name != row["section"] and found]
        title = page["title"] if rng.random() < 0.7 else ""
        shown = [(title, cut[row["section"]][0], True)]
        shown += [(title, text, False) for text in rng.sample(others, min(5, len(others)))]
        yield as_typed(" ".join(row["question"].replace(" ?", "?").split()), rng), shown


def stretches(text: str) -> list[str]:
    """A text cut at the ends of sentences and lines, into parts of at most STRETCH_CHARS."""
    found = [""]
    for line in text.split("\n"):
        for start, end in split(line):
            said = " ".join(line[start:end].split())
            if found[-1] and len(found[-1]) + len(said) >= STRETCH_CHARS:
                found.append("")
            found[-1] = f"{found[-1]} {said}".strip()
    return [part for part in found if len(part) > 40]


def _read(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(data_directory() / "qa" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def key(row: dict[str, Any]) -> tuple[str, str]:
    return row["passage"]["title"], row["passage"]["text"]


def words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS]


def as_typed(question: str, rng: random.Random) -> str:
    """Sometimes without capitals and its mark, sometimes the words that matter alone, sometimes with a slip."""
    drawn = rng.random()
    if drawn < 0.2:
        question = question.rstrip("?. ").lower()
    elif drawn < 0.28:
        question = " ".join(w for w in re.findall(r"[\w'-]+", question) if w.lower() not in STOP_WORDS) or question
    if rng.random() < 0.1:
        said = question.split()
        long = [at for at, word in enumerate(said) if len(word) > 4]
        if long:
            at = rng.choice(long)
            word = said[at]
            cut = rng.randrange(1, len(word) - 1)
            slip = word[cut + 1 :] if rng.random() < 0.5 else word[cut + 1] + word[cut] + word[cut + 2 :]
            said[at] = word[:cut] + slip
            question = " ".join(said)
    return question

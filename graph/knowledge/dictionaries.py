"""Words that are spelt right: what stands here is not taken for a slip, though no document holds it.

English always counts: the word list of the embedded encoder, and that of pyspellchecker (words of film subtitles, with
what people seldom write struck out), which has "overlay", "login" and "quarrels", and no common slip. So does
the language that the words of a question show it to be in.
"""

import gzip
import json
from collections.abc import Collection, Set
from functools import cache, lru_cache
from importlib.resources import files

from graph.onnx.minilm import installed

# Words that a question in a language hardly does without, and that are none in English.
_COMMON = {
    "de": "aber auf aus auch bei das dem den der des ein eine einem einen einer es für gibt haben ich im ist kann mit "
    "muss nach nicht oder sich sie sind über um und viel viele von vor wann warum welche welcher wenn wer wie "
    "wir wird wo zu zum zur",
    "es": "al como con cual cuál cuales cuando cuándo cuanto cuánto cuántos de debo del donde dónde el ella en es "
    "esta está hay la lo los para pero por puede puedo que qué quien quién se si sin sobre son su tengo un una "
    "uno y",
    "fr": "au aux avec ce ces combien dans de des dois doit du elle en est et faut il ils je la le les leur mon ne "
    "notre nous ont ou où pas peut peux pourquoi puis quand que quel quelle quelles quels qui ses sont sur un "
    "une vous",
    "it": "al alla anche che chi ci con cosa da dal dalla dei del della delle di è gli ho il io la le lo ma mi nel "
    "nella non per perché più posso può quale quali quando quanti quanto se si sono sul un una uno",
    "nl": "aan als bij dat de deze dit een en er geen hebben heeft het hoeveel ik kan maar mijn moet naar niet nog om "
    "ook op te tot uit veel voor waar waarom wanneer wat welke wie wij worden wordt ze zijn",
    "pt": "ao aos com como da das de devo dos é em está eu existe há mais mas me meu minha na não nas nos o onde os "
    "ou para pela pelo pode por posso qual quais quando quanto quantos que quem se sem são seu sua um uma",
}
_LEAST = 0.25  # share of a question that is such words, from which it is in that language; "à la carte" is not


def known(words: Collection[str], question: Collection[str]) -> Set[str]:
    """Those of the words that English or the language of the question knows; both in lower case."""
    languages = ["en", *([other] if (other := _language(question)) else [])]
    return {word for word in words if word in english() or any(word in _listed(one) for one in languages)}


@cache
def english() -> frozenset[str]:
    """The words of the embedded encoder."""
    pieces = json.loads(installed().with_name("tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(piece for piece in pieces if piece.isalpha())


def _language(words: Collection[str]) -> str:
    """That of which most words are, "" where it is none of these, as in English."""
    counts = {name: sum(word in common for word in words) for name, common in _common().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > max(1, _LEAST * len(words)) else ""


@cache
def _common() -> dict[str, frozenset[str]]:
    return {name: frozenset(common.split()) for name, common in _COMMON.items()}


@lru_cache(maxsize=2)
def _listed(language: str) -> frozenset[str]:
    packed = files("spellchecker").joinpath("resources", f"{language}.json.gz").read_bytes()
    return frozenset(json.loads(gzip.decompress(packed)))

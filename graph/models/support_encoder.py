"""What reads whether evidence supports a claim: the embedded encoder, or a cross-encoder in a folder of one's own
(`CORDON_SUPPORT_MODEL`), as they are published for natural language inference."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graph.errors import BadSettings, Unavailable
from graph.onnx.folder import Folder
from graph.policy.grounding import entailment
from graph.settings import Settings

_MEANINGS = {
    "supported": "entailment entails supported supports support consistent yes true 1",
    "contradicted": "contradiction contradicts contradicted refutes refuted inconsistent",
    "neutral": "neutral not_entailment nei not_enough_info unsupported no false 0",
}
_KNOWN = {name: at for at, names in enumerate(_MEANINGS.values()) for name in names.split()}
_NEVER = -10.0  # log-odds of an outcome that a model does not tell apart


class CrossEncoder:
    """Its labels are named in config.json (id2label). Raises BadSettings for a folder that is none, or whose labels are
    not known."""

    def __init__(self, folder: str) -> None:
        self._folder = Folder(Path(folder), "CORDON_SUPPORT_MODEL")
        named = self._folder.declared("config.json", "id2label")
        labels = [str(named.get(str(at))) for at in range(len(named))] if isinstance(named, dict) else []
        names = [label.lower().replace("-", "_").replace(" ", "_") for label in labels]
        self._outcomes = [_KNOWN[name] for name in names if name in _KNOWN]
        if len(set(self._outcomes)) != len(labels) or 0 not in self._outcomes:
            raise BadSettings(
                f"CORDON_SUPPORT_MODEL: the labels {', '.join(labels) or 'of config.json'} are not known.",
                hint="id2label names entailment, contradiction and neutral, or entailment and not_entailment.",
            )

    def margins(self, pairs: Sequence[entailment.Pair]) -> Any:
        """As `entailment.margins`. The evidence is read first, as these models learned it."""
        import numpy as np

        log_odds = np.full((len(pairs), 3), _NEVER, np.float32)
        for at, values, _ in self._folder.run([(part, claim) for claim, part in pairs]):
            if values.shape != (len(self._outcomes),) or not np.isfinite(values).all():
                raise Unavailable("the model of CORDON_SUPPORT_MODEL gave no scores.", hint="Is it a cross-encoder?")
            log_odds[at, self._outcomes] = values
        return log_odds


_opened = cache(CrossEncoder)


def support_encoder(settings: Settings) -> entailment.Encoder:
    """Opened when it is first used. Raises as CrossEncoder does."""
    return entailment.margins if settings.support_model == "embedded" else _opened(settings.support_model).margins

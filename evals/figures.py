"""AUC, and the plots of a detector: ROC, precision and recall, reliability, thresholds (matplotlib, a dev package)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The chance that a random positive scores above a random negative; ties count half (Mann-Whitney)."""
    if not len(positive) or not len(negative):
        return float("nan")
    _, inverse, counts = np.unique(np.concatenate([positive, negative]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    above = ranks[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2
    return float(above / (len(positive) * len(negative)))


def drawn(file: Path, draw: Callable[[Any], None]) -> list[str]:
    """The file, once `draw` has drawn a figure with pyplot; nothing without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return []
    draw(pyplot)
    pyplot.savefig(file, dpi=110, metadata={"Software": None})
    pyplot.close()
    return [str(file)]


def bars(file: Path, panels: Mapping[str, Mapping[str, Sequence[float]]], names: Sequence[str]) -> list[str]:
    """A panel each, with bars for each of the names, and beside each other those of its series by their label."""

    def draw(pyplot: Any) -> None:
        rows = (len(panels) + 1) // 2
        figure, held = pyplot.subplots(rows, min(2, len(panels)), figsize=(9, 0.8 + rows * 2.6), squeeze=False)
        for panel, (title, series) in zip(held.flat, panels.items(), strict=True):
            high = 0.8 / len(series)
            for n, (label, values) in enumerate(series.items()):
                at = [row + (n - (len(series) - 1) / 2) * high for row in range(len(names))]
                panel.bar_label(panel.barh(at, values, high, label=label), fmt="%.0f", padding=3)
            panel.set_yticks(range(len(names)), names)
            panel.invert_yaxis()
            panel.set(title=title, xlim=(0, 1.2 * max(max(values) for values in series.values())))
        if len(series) > 1:
            figure.legend(*panel.get_legend_handles_labels(), loc="lower center", ncols=len(series))
        figure.tight_layout(rect=(0, 0.05, 1, 1))

    return drawn(file, draw)


def curves(positive: np.ndarray, negative: np.ndarray, file: Path, title: str) -> list[str]:
    """Four panels."""

    def draw(pyplot: Any) -> None:
        at = np.linspace(0, 1, 201)
        recall = np.array([(positive >= t).mean() for t in at])
        alarm = np.array([(negative >= t).mean() for t in at])
        share = len(positive) / (len(positive) + len(negative))
        precision = recall * share / np.maximum(recall * share + alarm * (1 - share), 1e-12)
        figure, panels = pyplot.subplots(2, 2, figsize=(9, 8))
        roc, exact, reliability, threshold = panels.flat
        roc.plot(alarm, recall)
        roc.set(title=f"ROC, AUC {auc(positive, negative):.3f}", xlabel="innocent flagged", ylabel="attacks found")
        exact.plot(recall, precision)
        exact.set(title="precision and recall", xlabel="recall", ylabel="precision", ylim=(0, 1.02))
        scores = np.concatenate([positive, negative])
        labels = np.concatenate([np.ones(len(positive)), np.zeros(len(negative))])
        bins = np.minimum((scores * 10).astype(int), 9)
        shown = [b for b in range(10) if (bins == b).any()]
        reliability.plot([0, 1], [0, 1], ":", color="grey")
        reliability.plot([scores[bins == b].mean() for b in shown], [labels[bins == b].mean() for b in shown], "o-")
        reliability.set(title="reliability", xlabel="score", ylabel="share of attacks", xlim=(0, 1))
        threshold.plot(at * 100, recall, label="attacks found")
        threshold.plot(at * 100, alarm, label="innocent flagged")
        for border in (30, 80):
            threshold.axvline(border, color="grey", linestyle=":")
        threshold.set(title="threshold", xlabel="score x 100")
        threshold.legend()
        figure.suptitle(title)
        figure.tight_layout()

    return drawn(file, draw)

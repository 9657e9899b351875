"""AUC, and the plots of a detector: ROC, precision and recall, reliability, thresholds (matplotlib, a dev package)."""

from pathlib import Path

import numpy as np


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The chance that a random positive scores above a random negative; ties count half (Mann-Whitney)."""
    if not len(positive) or not len(negative):
        return float("nan")
    _, inverse, counts = np.unique(np.concatenate([positive, negative]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    above = ranks[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2
    return float(above / (len(positive) * len(negative)))


def curves(positive: np.ndarray, negative: np.ndarray, stem: Path, title: str) -> Path | None:
    """Writes STEM.png with four panels; None without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    at = np.linspace(0, 1, 201)
    recall = np.array([(positive >= t).mean() for t in at])
    alarm = np.array([(negative >= t).mean() for t in at])
    share = len(positive) / (len(positive) + len(negative))
    precision = recall * share / np.maximum(recall * share + alarm * (1 - share), 1e-12)
    figure, panels = plt.subplots(2, 2, figsize=(9, 8))
    panels[0, 0].plot(alarm, recall)
    panels[0, 0].set(title=f"ROC, AUC {auc(positive, negative):.3f}", xlabel="innocent flagged", ylabel="attacks found")
    panels[0, 1].plot(recall, precision)
    panels[0, 1].set(title="precision and recall", xlabel="recall", ylabel="precision", ylim=(0, 1.02))
    edges = np.linspace(0, 1, 11)
    scores = np.concatenate([positive, negative])
    labels = np.concatenate([np.ones(len(positive)), np.zeros(len(negative))])
    bins = np.minimum((scores * 10).astype(int), 9)
    shown = [b for b in range(10) if (bins == b).any()]
    panels[1, 0].plot([0, 1], [0, 1], ":", color="grey")
    panels[1, 0].plot([scores[bins == b].mean() for b in shown], [labels[bins == b].mean() for b in shown], "o-")
    panels[1, 0].set(title="reliability", xlabel="score", ylabel="share of attacks", xlim=(edges[0], edges[-1]))
    panels[1, 1].plot(at * 100, recall, label="attacks found")
    panels[1, 1].plot(at * 100, alarm, label="innocent flagged")
    for border in (30, 80):
        panels[1, 1].axvline(border, color="grey", linestyle=":")
    panels[1, 1].set(title="threshold", xlabel="score x 100")
    panels[1, 1].legend()
    figure.suptitle(title)
    figure.tight_layout()
    file = stem.with_suffix(".png")
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return file

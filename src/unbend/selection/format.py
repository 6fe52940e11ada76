"""Text tables of comparisons."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Thresholds of poor values, and what they mean.
POOR = {
    "trustworthiness": (0.95, "has false neighbours"),
    "continuity": (0.95, "loses neighbours"),
    "redundancy": (0.8, "has a coordinate that is a function of another"),
    "procrustes": (0.1, "is not the true chart, even after a linear map"),
    "color_mixing": (0.1, "mixes the values of the true coordinates"),
    "isometry_error": (0.5, "changes lengths"),
}
BEST = {
    "trustworthiness": "fewest false neighbours",
    "continuity": "fewest lost neighbours",
    "r_nx_auc": "best neighbourhood preservation over all sizes",
    "procrustes": "nearest to the truth",
    "color_mixing": "true coordinates mixed least",
    "isometry_error": "lengths preserved best",
    "neighborhood_hit": "classes separated best",
}


def reasons(measures: Sequence[Mapping[str, float]], better: Mapping[str, bool]) -> list[str]:
    """Say for each trial what it is best at and what is poor.

    Examples
    --------
    >>> reasons([{"continuity": 0.99}, {"continuity": 0.9}], {"continuity": True})
    ['fewest lost neighbours', 'loses neighbours (continuity 0.900)']
    """
    found: list[list[str]] = [[] for _ in measures]
    for name, words in BEST.items():
        if measures and name in measures[0]:
            values = np.array([given[name] for given in measures])
            best = int(np.argmax(values) if better[name] else np.argmin(values))
            found[best].append(words)
    for place, given in enumerate(measures):
        for name, (bound, words) in POOR.items():
            value = given.get(name)
            if value is not None and (value < bound if better[name] else value > bound):
                found[place].append(f"{words} ({name} {value:.3f})")
    return ["; ".join(words) or "good by all measures, best by none" for words in found]


def table(trials: Sequence[Any]) -> str:
    """Set trials in columns, with the reasons at the end of the lines."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.measures))
    width = max(len(trial.title) for trial in trials)
    heads = [name.replace("trustworthiness", "trust").replace("_", " ") for name in names]
    wide = [max(8, len(head)) for head in heads]
    top = "  ".join(head.rjust(size) for head, size in zip(heads, wide, strict=True))
    lines = [f"{'':<{width}}  {top}   seconds  mean rank"]
    for trial in trials:
        if trial.failure:
            lines.append(f"{trial.title:<{width}}  failed: {trial.failure}")
            continue
        shown = "  ".join(
            f"{trial.measures[name]:.4f}".rjust(size)
            for name, size in zip(names, wide, strict=True)
        )
        figures = f"{trial.seconds:8.2f}  {trial.mean_rank:9.1f}"
        lines.append(f"{trial.title:<{width}}  {shown}  {figures}  {trial.reason}")
    return "\n".join(lines)

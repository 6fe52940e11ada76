"""Text of comparisons: reasons, and tables that fit a terminal of 80 columns."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from unbend.graphs.short_circuits import REMEDY
from unbend.selection.judging import BETTER, REDUNDANT, SPECKS

WIDTH = 80
# Thresholds of poor values, and what they mean.
POOR = {
    "trustworthiness": (0.95, "has false neighbours"),
    "continuity": (0.95, "loses neighbours"),
    "redundancy": (REDUNDANT, "has a coordinate that is a function of another"),
    "occupancy": (SPECKS, "is a few specks, in which most points coincide"),
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
# Heads of columns, at most five letters wide as the numbers are, and what they stand for.
HEADS = {
    "trustworthiness": ("trust", "trustworthiness"),
    "continuity": ("cont", "continuity"),
    "r_nx_auc": ("R_NX", "neighbourhood preservation (R_NX AUC)"),
    "redundancy": ("redun", "redundancy"),
    "occupancy": ("occup", "occupancy"),
    "procrustes": ("procr", "Procrustes error"),
    "color_mixing": ("mixed", "colour mixing"),
    "isometry_error": ("isom", "isometry error"),
    "neighborhood_hit": ("hit", "neighbourhood hit"),
}


def pluralize(number: int, noun: str) -> str:
    """Say how many of something there are.

    Examples
    --------
    >>> pluralize(1, "dimension"), pluralize(2, "dimension")
    ('1 dimension', '2 dimensions')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def describe_remedy(method: Any, taken: int | None = None) -> str:
    """Say what to do about short circuits, if a method takes so many neighbours of its own.

    Examples
    --------
    >>> import unbend
    >>> describe_remedy(unbend.Isomap(), 6)
    "the method takes 6, and short_circuits='remove' removes the edges that are left"
    >>> describe_remedy(unbend.PCA())
    "methods of neighbourhood graphs need short_circuits='remove', or fewer neighbours"
    """
    parameters = method.get_params()
    if "short_circuits" not in parameters:
        return "methods of neighbourhood graphs need short_circuits='remove', or fewer neighbours"
    if parameters["short_circuits"] == "remove":
        return "short_circuits='remove' removes such edges, and the fit warns of them"
    if taken is not None:
        return (
            f"the method takes {taken}, and short_circuits='remove' removes the edges that are left"
        )
    return REMEDY


def reasons(measures: Sequence[Mapping[str, float]]) -> list[str]:
    """Say for each trial what it is best at and what is poor.

    Examples
    --------
    >>> reasons([{"continuity": 0.99}, {"continuity": 0.9}])
    ['fewest lost neighbours', 'loses neighbours (continuity 0.900)']
    """
    found: list[list[str]] = [[] for _ in measures]
    for name, words in BEST.items():
        if measures and name in measures[0]:
            values = np.array([given[name] for given in measures])
            best = int(np.argmax(values) if BETTER[name] else np.argmin(values))
            found[best].append(words)
    for place, given in enumerate(measures):
        for name, (bound, words) in POOR.items():
            value = given.get(name)
            if value is not None and (value < bound if BETTER[name] else value > bound):
                found[place].append(f"{words} ({name} {value:.3f})")
    return ["; ".join(words) or "good by all measures, best by none" for words in found]


def measure_names(trials: Sequence[Any]) -> list[str]:
    """Return the names of the measures of trials, in order."""
    return [name for name in HEADS if any(name in trial.measures for trial in trials)]


def figures(trial: Any, names: Iterable[str]) -> list[str]:
    """Return the numbers of a trial: its measures, mean rank and seconds; dashes if it failed."""
    if trial.failure:
        return [*("–" for _ in names), "–", "–"]
    shown = (f"{trial.measures[name]:.3f}" if name in trial.measures else "–" for name in names)
    return [*shown, f"{trial.mean_rank:.1f}", f"{trial.seconds:.2f}"]


def remarks(trial: Any) -> list[str]:
    """Return the sentences about a trial: its failure or the reason of its rank, and warnings."""
    first = f"failed: {trial.failure}" if trial.failure else trial.reason
    return [first, *(f"warning: {warning}" for warning in trial.warnings)]


def legend(names: Iterable[str]) -> str:
    """Explain the heads of the columns."""
    return "; ".join(f"{HEADS[name][0]}: {HEADS[name][1]}" for name in names)


def table(trials: Sequence[Any]) -> str:
    """Set trials in columns, each with its remarks below it, in lines of at most 80 characters.

    Titles that leave no room for the numbers stand above them.
    """
    names = measure_names(trials)
    heads = [*(HEADS[name][0] for name in names), "rank", "seconds"]
    wide = [max(5, len(head)) for head in heads]
    size = sum(wide) + len(wide)
    title = max(len(trial.title) for trial in trials)
    beside = title + size <= WIDTH
    margin = title if beside else 0

    def line(cells: Iterable[str]) -> str:
        return "".join(f" {cell:>{width}}" for cell, width in zip(cells, wide, strict=True))

    lines = [" " * margin + line(heads)]
    for trial in trials:
        lines += [] if beside else textwrap.wrap(trial.title, WIDTH)
        if not trial.failure or beside:
            lines.append(f"{trial.title if beside else '':<{margin}}{line(figures(trial, names))}")
        for remark in remarks(trial):
            lines += textwrap.wrap(remark, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines + textwrap.wrap(legend(names), WIDTH))

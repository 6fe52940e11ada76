"""Methods as cards: parameters as declared, what each is good for, and what a fit would cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from unbend.memory import check_fits
from unbend.registry import METHODS, Entry, find_entry
from unbend.validation import parameters as params
from unbend.validation.parameters import Parameter, parameters

# Parameters that people set first, in this order; the others are behind "more".
FIRST = ("n_components", "n_neighbors", "perplexity", "exaggeration", "kernel", "metric")
# Parameters that a page has no use for: rows are never distances here, and threads are ours.
HIDDEN = ("n_jobs", "metric_params", "kernel_params")


@dataclass(frozen=True)
class Card:
    """What a method is good for, and its cost.

    Seconds are those of a thousand rows of 64 columns on one core, and grow as rows^power; a fit
    keeps `bytes_per_pair` for every pair of rows.
    """

    good_for: str
    seconds: float
    power: float
    bytes_per_pair: float = 0.0


CARDS: Mapping[str, Card] = {
    "pca": Card("A first look, and data near a flat surface. Fast at any size.", 0.01, 1.0),
    "kernel_pca": Card("Curved structure that a kernel makes linear.", 0.07, 2.0, 24),
    "random_projection": Card("Very many columns: distances are kept on average.", 0.01, 1.0),
    "classical_mds": Card("Distances between rows as they are, kept globally.", 0.1, 2.0, 24),
    "landmark_mds": Card("Classical scaling of many rows, from a few landmarks.", 0.03, 1.0),
    "metric_mds": Card("All distances as faithfully as a map can show them.", 0.25, 2.0, 32),
    "nonmetric_mds": Card("Ratings and rankings, of which only the order counts.", 35.0, 2.0, 48),
    "isomap": Card("Unrolling one curved surface without holes.", 0.12, 2.0, 24),
    "landmark_isomap": Card("Isomap of many rows, from a few landmarks.", 0.07, 1.1),
    "mvu": Card("Unrolling a small curved data set with exact local distances.", 40.0, 3.0, 24),
    "landmark_mvu": Card("Maximum variance unfolding of more rows.", 10.0, 1.2),
    "lle": Card("Smooth surfaces, also with holes, with little noise.", 0.07, 1.2),
    "supervised_lle": Card("A map that separates known classes; needs a label.", 0.1, 1.2),
    "ltsa": Card("Smooth surfaces with little noise: an affine chart.", 0.15, 1.2),
    "hessian_lle": Card("Surfaces with holes that unroll without stretching.", 0.15, 1.2),
    "rigid_alignment": Card("Surfaces with holes or noise, with their lengths.", 0.4, 1.2),
    "laplacian_eigenmaps": Card("Clusters, and the coarse shape of noisy data.", 0.05, 1.2),
    "diffusion_maps": Card("Clusters, closed surfaces and noisy data.", 0.07, 1.2),
    "neighbor_embedding": Card("A picture of groups and neighbourhoods, as t-SNE.", 1.0, 1.1),
}


@cache
def describe_methods() -> list[dict[str, Any]]:
    """Return all cards as JSON; the first call imports all methods."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "summary": _summary(entry),
            "good_for": CARDS[entry.name].good_for,
            "needs_label": bool(getattr(entry.load(), "supervised", False)),
            "seconds": CARDS[entry.name].seconds,
            "power": CARDS[entry.name].power,
            "bytes_per_pair": CARDS[entry.name].bytes_per_pair,
            "parameters": [
                _describe(parameter)
                for parameter in _in_order(parameters(entry.load()))
                if parameter.name not in HIDDEN
            ],
        }
        for entry in METHODS
    ]


def _summary(entry: Entry) -> str:
    return (entry.load().__doc__ or "").partition("\n")[0]


def _in_order(declared: list[Parameter]) -> list[Parameter]:
    first = [each for name in FIRST for each in declared if each.name == name]
    return [*first, *(each for each in declared if each.name not in FIRST)]


def _describe(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as a form needs it; kinds that cannot be typed are left out."""
    numbers = [k for k in parameter.kinds if isinstance(k, params.Integer | params.Real)]
    words = [word for word in parameter.words if word != "precomputed"]
    return {
        "name": parameter.name,
        "help": parameter.help,
        "default": parameter.default,
        "words": words,
        "flag": params.FLAG in parameter.kinds,
        "none": params.NOTHING in parameter.kinds,
        "integer": any(isinstance(kind, params.Integer) for kind in numbers),
        "number": bool(numbers),
        "low": min((kind.low for kind in numbers), default=None),
        "first": parameter.name in FIRST,
    }


def make_estimator(name: str, given: Mapping[str, Any]) -> tuple[Entry, Any]:
    """Make the estimator that a browser asked for; parameters are checked as everywhere."""
    entry = find_entry(name, METHODS)
    if entry is None:
        raise ValueError(f"there is no method {name!r}: choose one of those at /api/methods")
    declared = {parameter.name: parameter for parameter in parameters(entry.load())}
    values = dict(given)
    for parameter, value in values.items():
        if parameter not in declared or parameter in HIDDEN:
            raise ValueError(f"{entry.name} has no parameter {parameter!r} that the page can set")
        declared[parameter].check(value)
        if value == "precomputed":
            raise ValueError("the page embeds rows: for distances use unbend embed --distances")
    if "n_jobs" in declared:
        values["n_jobs"] = -1
    return entry, entry.load()(**values)


def check_memory(entry: Entry, rows: int) -> None:
    """Refuse a fit that would not fit into memory."""
    size = int(CARDS[entry.name].bytes_per_pair * rows**2)
    check_fits(size, f"{entry.title} of {rows} rows", "take a landmark method, or pca")

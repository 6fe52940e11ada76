"""Sizes that must agree inside a loaded model, lest a wrong one come to light in a transform."""

from typing import Any

import numpy as np

from unbend.report import Report
from unbend.storage.classes import is_estimator, is_value, value_name
from unbend.storage.damage import Damaged

# The largest number that compiled loops take; they start a few threads per core at most.
THREADS = 2**31 - 1


def _table(array: Any, rows: int, columns: int | None = None) -> bool:
    """Whether an array has these rows, and these columns if they are given."""
    return array.ndim == 2 and len(array) == rows and (columns is None or array.shape[1] == columns)


def _places(indices: Any, count: int) -> bool:
    """Whether every entry of a plain list of indices is below `count` and none is negative."""
    return indices.ndim == 1 and (
        not len(indices) or bool(0 <= indices.min() <= indices.max() < count)
    )


def _neighbors(v: Any) -> bool:
    ascending = v.offsets.ndim == 1 and bool(v.offsets[0] == 0 and np.all(np.diff(v.offsets) >= 0))
    return ascending and _places(v.indices, v.n)


def _diffused(v: Any) -> bool:
    scales = v.affinity.scales
    own = scales is None or scales.shape == (v.space.n,)
    rows = v.density.shape == (v.space.n,) and _table(v.vectors, v.space.n, len(v.values))
    return own and rows


# For each class what must hold; classes that hold no arrays, or arrays of any size, are not here.
RULES: dict[str, Any] = {
    "PointSpace": lambda v: (
        v.points.ndim == 2 and 0 < v.workers <= THREADS and bool(np.all(np.isfinite(v.points)))
    ),
    "DistanceSpace": lambda v: _table(v.distances, len(v.distances), len(v.distances)),
    "GraphSpace": lambda v: v.edges.shape[0] == v.edges.shape[1],
    "Neighbors": _neighbors,
    "Rule": lambda v: v.k > 0,
    "Linear": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "LinearInverse": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "Nystrom": lambda v: v.mean_squares.ndim == 1 and _table(v.weights, len(v.mean_squares)),
    "Gram": lambda v: (
        _table(v.distances, len(v.distances), len(v.distances)) and 0 < v.threads <= THREADS
    ),
    "GeodesicNystrom": lambda v: (
        _table(v.geodesics, v.space.n, len(v.gram.distances))
        and _table(v.weights, len(v.gram.distances))
        and (v.means is None or v.means.shape == (len(v.gram.distances),))
    ),
    "OwnStress": lambda v: (
        v.coordinates.ndim == 2 and (v.space is None or v.space.n == len(v.coordinates))
    ),
    "Pairs": lambda v: (
        (
            v.dissimilarities.shape in ((0,), (v.n * (v.n - 1) // 2,))
            if v.ends is None
            else v.ends.shape == (2, *v.dissimilarities.shape) and _places(v.ends.ravel(), v.n)
        )
        and (v.weights is None or v.weights.shape == v.dissimilarities.shape)
    ),
    "Steps": lambda v: v.given.ndim == 1 and v.fitted.shape == v.given.shape,
    "Barycentric": lambda v: _table(v.coordinates, v.space.n),
    "Harmonic": lambda v: _table(v.vectors, v.space.n, len(v.values)),
    "DiffusionExtension": _diffused,
    "Piece": lambda v: v.rows.ndim == 1 and v.offset.ndim == 1,
    "Placement": lambda v: (
        _table(v.embedding, v.space.n)
        and len(v.owner) == v.space.n
        and _places(v.owner, len(v.pieces))
        and all(_places(piece.rows, v.space.n) for piece in v.pieces)
    ),
    "Neighborhoods": lambda v: (
        v.neighbors.n == v.space.n == len(v.first)
        and _places(v.first, len(v.inverse))
        and _places(v.inverse, v.space.n)
    ),
    "Ridge": lambda v: v.embedding.ndim == 2 and _table(v.coefficients, len(v.embedding)),
    "LazyRidge": lambda v: v.points.ndim == 2 and _table(v.embedding, len(v.points)),
    "FixedPoint": lambda v: v.points.ndim == 2 and _table(v.weights, len(v.points)),
    "Similarities": lambda v: (
        v.points.ndim == 2 and (v.center is None or v.center.shape == v.points.shape[1:])
    ),
}


def check(value: Any) -> None:
    """Refuse a value whose parts are not of one size, and an estimator that lacks some."""
    name = value_name(value) or type(value).__name__
    rule = RULES.get(name) if is_value(value) else _estimator
    try:
        holds = rule is None or rule(value)
    except (AttributeError, TypeError, IndexError) as error:
        raise Damaged(f"a {name} lacks a part") from error
    if not holds:
        raise Damaged(f"the parts of a {name} do not belong together")


def _estimator(v: Any) -> bool:
    parts = vars(v)
    table = isinstance(v.embedding_, np.ndarray) and v.embedding_.ndim == 2
    named = "feature_names_in_" not in parts or v.feature_names_in_.shape == (v.n_features_in_,)
    places = _works(parts.get("_extension")) or is_estimator(parts.get("_eigenmaps"))
    back = parts.get("_preimage") is None or _works(v._preimage)
    found = all(is_value(parts[name]) for name in ("_neighborhoods", "_space") if name in parts)
    report = isinstance(v.report_, Report) and isinstance(v.n_features_in_, int)
    return table and named and (places or bool(v._left_out)) and back and found and report


def _works(value: Any) -> bool:
    return is_value(value) and callable(value)

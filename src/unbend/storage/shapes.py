"""Shape checks on loaded values: every part has the size that the others need.

A file may come from anybody, so nothing that it says is relied on before it is checked: after a
load no size, index or type can be wrong in a `transform`. Rules look at the arrays of a value
itself and at sizes of the values it refers to, so their time is bounded by what the file holds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from unbend.extension import AllGeodesics, NeighborExtension
from unbend.gram.distances import SimilaritySquares, Squares
from unbend.neighbors import PointSpace, Space
from unbend.progress import Cancelled
from unbend.storage.archive import DamagedFile
from unbend.storage.classes import fields, value_name

# The largest number that compiled loops take; they start a few threads per core at most.
THREADS = 2**31 - 1
# Most steps of an iteration that a value may ask for.
STEPS = 100_000
# Arrays that may hold numbers that are not finite: what is unknown, unreachable or unbounded.
UNBOUNDED = {
    ("DistanceSpace", "distances"),
    ("GeodesicNystrom", "geodesics"),
    ("Neighbors", "distances"),
    ("Pairs", "dissimilarities"),
    ("Pairs", "weights"),
    ("Spectrum", "residuals"),
    ("Spectrum", "values"),
    ("Spectrum", "vectors"),
}


def is_table(array: Any, rows: int, columns: int | None = None) -> bool:
    """Whether an array has these rows, and these columns if they are given."""
    return array.ndim == 2 and len(array) == rows and (columns is None or array.shape[1] == columns)


def is_list(array: Any, count: int) -> bool:
    """Whether an array has one axis of so many entries."""
    return bool(array.shape == (count,))


def indices_below(indices: Any, count: int) -> bool:
    """Whether every entry of a plain list of indices is below `count` and none is negative."""
    return indices.ndim == 1 and (
        not len(indices) or bool(0 <= indices.min() <= indices.max() < count)
    )


def row_width(space: Space) -> int:
    """Columns of a new sample: those of points, or a distance to every fitted row."""
    return int(space.points.shape[1]) if isinstance(space, PointSpace) else space.n


def _of_distances(function: Any) -> tuple[int, int]:
    """Columns that a function of new samples takes, and how many distances it gives for each."""
    space = getattr(function, "__self__", None)
    if isinstance(space, Space):
        return row_width(space), space.n
    if isinstance(function, SimilaritySquares):
        return len(function.diagonal), len(function.diagonal)
    name = value_name(function)
    if name == "FeatureDistances":
        return _of_distances(function.similarities)
    if name == "Similarities":
        return function.points.shape[1], len(function.points)
    if name == "WeightedDistances":
        return row_width(function.space), len(function.landmarks)
    raise DamagedFile("it measures new samples by what gives no distances")


def _of_neighbors(name: str) -> Callable[[Any], tuple[int, int]]:
    return lambda v: (row_width(v.space), getattr(v, name).shape[1])


# For each map of rows the columns that it takes and those that it gives.
MAPS: dict[str, Callable[[Any], tuple[int, int]]] = {
    "Barycentric": _of_neighbors("coordinates"),
    "BarycentricOnSheet": _of_neighbors("coordinates"),
    "DiffusionExtension": _of_neighbors("vectors"),
    "EigenmapsExtension": _of_neighbors("vectors"),
    "FixedPoint": lambda v: (v.weights.shape[1], v.points.shape[1]),
    "GeodesicNystrom": _of_neighbors("weights"),
    "Harmonic": _of_neighbors("vectors"),
    "LayoutExtension": _of_neighbors("coordinates"),
    "LazyRidge": lambda v: (v.embedding.shape[1], v.points.shape[1]),
    "LeastSquares": lambda v: v.configuration.shape,
    "Linear": lambda v: v.axes.shape[::-1],
    "LinearInverse": lambda v: v.axes.shape,
    "MeanDisparityExtension": lambda v: map_shape(v.own),
    "Nystrom": lambda v: (_of_distances(v.distances)[0], v.weights.shape[1]),
    "Placement": lambda v: (row_width(v.space), v.embedding.shape[1]),
    "ProjectionInverse": lambda v: v.axes.shape,
    "Ridge": lambda v: (v.embedding.shape[1], v.coefficients.shape[1]),
    "ScaledExtension": lambda v: map_shape(v.extension),
    "SparseLinear": lambda v: v.axes.shape[::-1],
    "SpectralPlaces": lambda v: (_of_distances(v.affinities)[0], v.axes.shape[1]),
    "StressExtension": lambda v: (
        len(v.coordinates) if v.space is None else row_width(v.space),
        v.coordinates.shape[1],
    ),
    "Trilateration": _of_neighbors("coordinates"),
}


def map_shape(function: Any) -> tuple[int, int]:
    """Columns that a map of rows takes, and those that it gives."""
    name = value_name(function)
    if name not in MAPS:
        raise DamagedFile("its extension is not a map of rows")
    taken, given = MAPS[name](function)
    return int(taken), int(given)


def _neighbors(v: Any) -> bool:
    ascending = v.offsets.ndim == 1 and bool(v.offsets[0] == 0 and np.all(np.diff(v.offsets) >= 0))
    return ascending and indices_below(v.indices, v.n)


def _points(v: Any) -> bool:
    return v.points.ndim == 2 and len(v.points) > 0 and 0 < v.workers <= THREADS


def check_metric(space: PointSpace) -> None:
    """Refuse constants of a metric that are not for rows such as those of the space."""
    check_rule("Metric", _measures, space)


def _measures(space: PointSpace) -> bool:
    first = space.metric.features(space.points[:1].astype(np.float64))
    distances = space.metric.norm.between(first, first)
    return first.ndim == 2 and len(first) == 1 and distances.shape == (1, 1)


def _geodesic(v: Any) -> bool:
    n, m = v.space.n, len(v.weights)
    whole = isinstance(v.geodesics, AllGeodesics) and v.geodesics.n == m == n
    known = whole or is_table(v.geodesics, n, m)
    return known and is_table(v.weights, m, len(v.mean)) and 0 < v.threads <= THREADS


def _examples(v: Any) -> bool:
    codes = is_list(v.codes, v.space.n) and v.space.n == v.subspace.n
    axes, columns = v.projection.axes.shape
    width = axes if v.turn is None else v.turn.shape[1]
    return (
        codes
        and v.spread.ndim == 1
        and indices_below(v.codes, len(v.spread))
        and (v.turn is None or len(v.turn) == axes)
        and width == row_width(v.space)
        and axes == row_width(v.subspace)
        and v.inverse.axes.shape == (axes, columns)
    )


def _diffusion(v: Any) -> bool:
    scales = v.affinity.scales
    own = scales is None or is_list(scales, v.space.n)
    rows = is_list(v.density, v.space.n) and is_table(v.vectors, v.space.n, len(v.values))
    return own and rows and v.values.ndim == 1 and _masses(v) and v.affinity.neighbor > 0


def _masses(v: Any) -> bool:
    return v.masses is None or is_list(v.masses, v.space.n)


def _nystrom(v: Any) -> bool:
    count = _of_distances(v.distances)[1]
    squares = isinstance(v.squares, Squares) or (
        isinstance(v.squares, SimilaritySquares) and len(v.squares.diagonal) == count
    )
    return squares and is_list(v.mean_squares, count) and is_table(v.weights, count)


def _similarities(v: Any) -> bool:
    if v.points.ndim != 2 or not len(v.points) or not isinstance(v.kernel, str):
        return False
    if v.center is not None and v.center.shape != v.points.shape[1:]:
        return False
    # Names and parameters of kernels are free: the first row shows whether they make one.
    return bool(v(v.points[:1]).shape == (1, len(v.points)))


def _placement(v: Any) -> bool:
    n, d = v.embedding.shape
    # Every row belongs to one component: more rows would also take more time than the file is long.
    sizes = sum(len(piece.rows) for piece in v.pieces)
    return (
        n == v.space.n
        and is_list(v.owner, n)
        and indices_below(v.owner, len(v.pieces))
        and sizes <= n
        and all(_piece_fits(piece, v.space, d) for piece in v.pieces)
    )


def _piece_fits(piece: Any, space: Space, d: int) -> bool:
    taken, given = map_shape(piece.extension)
    # New distances are narrowed to those of the component.
    width = row_width(space) if isinstance(space, PointSpace) else len(piece.rows)
    shared = isinstance(piece.extension, NeighborExtension) and piece.extension.space is space
    return (
        indices_below(piece.rows, space.n)
        and given == d
        and is_list(piece.offset, d)
        and (taken == width or shared)
    )


def _pairs(v: Any) -> bool:
    ends = (
        v.dissimilarities.shape in ((0,), (v.n * (v.n - 1) // 2,))
        if v.ends is None
        else v.ends.shape == (2, *v.dissimilarities.shape) and indices_below(v.ends.ravel(), v.n)
    )
    return ends and (v.weights is None or v.weights.shape == v.dissimilarities.shape)


def _spectral_places(v: Any) -> bool:
    landmarks = len(v.affinities.landmarks)
    return is_table(v.axes, landmarks) and is_list(v.degree_weights, landmarks)


def _fixed_point(v: Any) -> bool:
    return (
        0 <= v.steps <= STEPS
        and v.points.ndim == 2
        and is_table(v.weights, len(v.points))
        and map_shape(v.start) == (v.weights.shape[1], v.points.shape[1])
    )


# For each class what must hold; classes that hold no arrays, or arrays of any size, are not here.
RULES: dict[str, Callable[[Any], bool]] = {
    "AffinitySpace": lambda v: v.affinities.shape == v.edges.shape == v.edges.shape[::-1],
    "AllGeodesics": lambda v: (
        v.lengths.shape[0] == v.lengths.shape[1]
        and v.precision in ("float32", "float64")
        and bool(np.all(v.lengths.data >= 0))
        and 0 < v.threads <= THREADS
    ),
    "Barycentric": lambda v: is_table(v.coordinates, v.space.n),
    "BarycentricOnSheet": lambda v: (
        is_table(v.coordinates, v.space.n) and is_list(v.reach, v.space.n)
    ),
    "DiffusionExtension": _diffusion,
    "DistanceSpace": lambda v: is_table(v.distances, len(v.distances), len(v.distances)),
    "EigenmapsExtension": lambda v: is_table(v.vectors, v.space.n, len(v.values)),
    "Examples": _examples,
    "FeatureDistances": lambda v: is_list(v.squares.diagonal, len(v.similarities.points)),
    "FixedPoint": _fixed_point,
    "GeodesicNystrom": _geodesic,
    "GraphSpace": lambda v: v.edges.shape[0] == v.edges.shape[1],
    "Harmonic": lambda v: is_table(v.vectors, v.space.n, len(v.values)) and _masses(v),
    "LayoutExtension": lambda v: is_table(v.coordinates, v.space.n),
    "LazyRidge": lambda v: v.points.ndim == 2 and is_table(v.embedding, len(v.points)),
    "LeastSquares": lambda v: (
        v.configuration.ndim == 2
        and v.weights.ndim == 2
        and v.weights.shape[1] == v.configuration.shape[1]
        and v.mean_squares.shape == (len(v.weights), len(v.configuration))
    ),
    "Linear": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "LinearInverse": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "Neighborhoods": lambda v: (
        v.neighbors.n == v.space.n
        and is_list(v.first, v.space.n)
        and indices_below(v.first, len(v.inverse))
        and indices_below(v.inverse, v.space.n)
    ),
    "Neighbors": _neighbors,
    "NumberEncoder": lambda v: v.decimal in ("", ".", ","),
    "Nystrom": _nystrom,
    "Pairs": _pairs,
    "Piece": lambda v: v.rows.ndim == 1 and v.offset.ndim == 1,
    "Placement": _placement,
    "PointSpace": _points,
    "ProjectionInverse": lambda v: v.axes.ndim == 2,
    "Ridge": lambda v: (
        v.embedding.ndim == 2
        and is_table(v.coefficients, len(v.embedding))
        and is_list(v.mean, v.coefficients.shape[1])
    ),
    "Rule": lambda v: v.k > 0 and v.radius > 0,
    "Similarities": _similarities,
    "SimilaritySquares": lambda v: v.diagonal.ndim == 1,
    "SparseLinear": lambda v: v.axes.ndim == 2,
    "SpectralPlaces": _spectral_places,
    "Steps": lambda v: len(v.given) > 0 and v.given.ndim == 1 and v.fitted.shape == v.given.shape,
    "StressExtension": lambda v: (
        v.coordinates.ndim == 2 and (v.space is None or v.space.n == len(v.coordinates))
    ),
    "TermEncoder": lambda v: len(v.vocabulary) == len(v.inverse),
    "Trilateration": lambda v: is_table(v.coordinates, v.space.n),
    "WeightedDistances": lambda v: indices_below(v.landmarks, v.space.n),
}


def check_value(value: Any) -> None:
    """Refuse a value whose parts differ in size, or are no numbers that can be computed with."""
    name = value_name(value) or type(value).__name__
    for field, part in fields(value).items():
        if isinstance(part, np.ndarray) and not _computable(part, (name, field)):
            raise DamagedFile(f"the {field} of a {name} are not finite numbers")
    rule = RULES.get(name)
    if rule is not None:
        check_rule(name, rule, value)


def check_rule(name: str, rule: Callable[[Any], bool], value: Any) -> None:
    """Refuse a value for which a rule does not hold, or cannot be tried."""
    try:
        with np.errstate(all="ignore"):
            holds = rule(value)
    except (DamagedFile, ImportError, MemoryError, Cancelled):
        # A metric may need a package that is not installed here. Lack of memory and a callback that
        # cancels are no damage: what a file can ask for was bounded by its length.
        raise
    except Exception as error:
        # Rules touch what a file says before anything else does: what goes wrong is its damage.
        raise DamagedFile(f"a {name} lacks a part, or has an invalid one") from error
    if not holds:
        raise DamagedFile(f"the parts of a {name} are inconsistent")


def _computable(array: Any, place: tuple[str, str]) -> bool:
    if array.dtype.kind != "f":
        return True
    return array.dtype.itemsize >= 4 and (place in UNBOUNDED or bool(np.all(np.isfinite(array))))

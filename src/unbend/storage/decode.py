"""From a JSON document and its arrays back to a fitted estimator; nothing in them is executed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unbend.extension import AllGeodesics
from unbend.neighbors import Space
from unbend.report import Report
from unbend.storage.archive import DamagedFile
from unbend.storage.classes import (
    estimator_class,
    function,
    is_estimator,
    is_value,
    make_value,
    value_name,
)

BIT_GENERATORS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}
FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def check_type(value: Any, kind: type, what: str) -> Any:
    """Return a value of a document if it has the right type."""
    number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not (number if kind is int else isinstance(value, kind)):
        raise DamagedFile(f"its {what} is not what it should be")
    return value


class Decoder:
    """Makes the objects of a document in their order: each refers to those before it only."""

    def __init__(self, array: Callable[[int], NDArray[Any]]) -> None:
        self._read = array
        self._arrays: dict[tuple[int, bool], NDArray[Any]] = {}
        self._objects: list[Any] = []
        self._tags: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "csr": self._csr,
            "dict": lambda node: self._mapping(node, "dict"),
            "distances_of": self._distances_of,
            "float": self._float,
            "function": lambda node: function(check_type(node, str, "function")),
            "generator": lambda node: np.random.Generator(self._bits(node)),
            "object": self._object,
            "random_state": self._random_state,
            "scalar": self._scalar,
            "single": lambda node: self._array(node, widened=True),
            "strings": self._strings,
            "tuple": lambda node: tuple(self._list(node)),
        }

    def objects(self, entries: Any) -> None:
        """Make all objects."""
        for entry in check_type(entries, list, "list of objects"):
            name = check_type(check_type(entry, dict, "object").get("class"), str, "class")
            if estimator_class(name) is not None:
                self._objects.append(self.estimator(entry))
            else:
                self._objects.append(make_value(name, self._mapping(entry.get("fields"), "fields")))
                check_shapes(self._objects[-1])

    def estimator(self, entry: dict[str, Any]) -> Any:
        """Make a fitted estimator."""
        name = check_type(entry.get("class"), str, "class")
        method = estimator_class(name)
        if method is None:
            raise DamagedFile(f"it is a {name!r}, which this version of unbend does not know")
        parameters = self._mapping(entry.get("parameters"), "parameters")
        unknown = set(parameters) - set(method._get_param_names())
        if unknown:
            raise DamagedFile(f"{name} has no parameter {min(unknown)!r} in this version of unbend")
        estimator = method(**parameters)
        state = self._mapping(entry.get("state"), "state")
        left_out = self._strings(entry.get("left_out"))
        for attribute in (*state, *left_out):
            # Nothing of the class may be hidden by what the file calls an attribute.
            if attribute in parameters or hasattr(method, attribute):
                raise DamagedFile(f"it sets a part of {name} that is not fitted")
        vars(estimator).update(state)
        if len(left_out):
            estimator._left_out = tuple(left_out)
        check_shapes(estimator)
        return estimator

    def value(self, node: Any) -> Any:
        """Make any value."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return self._list(node)
        if isinstance(node, dict) and len(node) == 1:
            tag, inner = next(iter(node.items()))
            if tag in self._tags:
                return self._tags[tag](inner)
        raise DamagedFile("it holds a value of a kind that this version of unbend does not know")

    def _list(self, node: Any) -> list[Any]:
        return [self.value(item) for item in check_type(node, list, "list")]

    def _mapping(self, node: Any, what: str) -> dict[str, Any]:
        return {key: self.value(item) for key, item in check_type(node, dict, what).items()}

    def _array(self, node: Any, widened: bool = False) -> NDArray[Any]:
        number = check_type(node, int, "array")
        if (number, widened) not in self._arrays:
            array = self._read(number)
            if widened and array.dtype != np.float32:
                raise DamagedFile("an array that should be in single precision is not")
            self._arrays[number, widened] = array.astype(np.float64) if widened else array
        return self._arrays[number, widened]

    def _csr(self, node: Any) -> csr_array:
        values = self._list(node)
        try:
            *parts, shape = values
            rows = csr_array(tuple(parts), shape=tuple(shape))
            rows.check_format(full_check=True)
        except (TypeError, ValueError, IndexError) as error:
            raise DamagedFile("a sparse matrix does not hold together") from error
        return rows

    def _distances_of(self, node: Any) -> Any:
        return check_type(self.value(node), Space, "distances_of").distances_of

    def _float(self, node: Any) -> float:
        if check_type(node, str, "number") not in FLOATS:
            raise DamagedFile("it holds a number that is none")
        return FLOATS[node]

    def _object(self, node: Any) -> Any:
        if check_type(node, int, "object") >= len(self._objects):
            raise DamagedFile("an object refers to one that does not come before it")
        return self._objects[node]

    def _scalar(self, node: Any) -> Any:
        try:
            kind, value = self._list(node)
            return np.array(value, dtype=BY_NAME[kind])[()]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DamagedFile("it holds a number that is none") from error

    def _strings(self, node: Any) -> NDArray[Any]:
        words = [check_type(word, str, "name") for word in check_type(node, list, "list of names")]
        return np.array(words, dtype=object)

    def _bits(self, node: Any) -> Any:
        state = check_type(self.value(node), dict, "random state")
        try:
            bits = BIT_GENERATORS[state["bit_generator"]](0)
            bits.state = state
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DamagedFile("it holds a random state that is none") from error
        return bits

    def _random_state(self, node: Any) -> np.random.RandomState:
        generator = np.random.RandomState(self._bits(node))
        try:
            generator.set_state(self.value(node))
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DamagedFile("it holds a random state that is none") from error
        return generator


BY_NAME = {
    np.dtype(kind).str: np.dtype(kind)
    for kind in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64",
    )
}  # fmt: skip


# The largest number that compiled loops take; they start a few threads per core at most.
THREADS = 2**31 - 1


def _table(array: Any, rows: int, columns: int | None = None) -> bool:
    """Whether an array has these rows, and these columns if they are given."""
    return array.ndim == 2 and len(array) == rows and (columns is None or array.shape[1] == columns)


def _indices_below(indices: Any, count: int) -> bool:
    """Whether every entry of a plain list of indices is below `count` and none is negative."""
    return indices.ndim == 1 and (
        not len(indices) or bool(0 <= indices.min() <= indices.max() < count)
    )


def _neighbors(v: Any) -> bool:
    ascending = v.offsets.ndim == 1 and bool(v.offsets[0] == 0 and np.all(np.diff(v.offsets) >= 0))
    return ascending and _indices_below(v.indices, v.n)


def _geodesic(v: Any) -> bool:
    n, m = v.space.n, len(v.weights)
    whole = isinstance(v.geodesics, AllGeodesics) and v.geodesics.n == m == n
    known = whole or _table(v.geodesics, n, m)
    return known and _table(v.weights, m, len(v.mean)) and 0 < v.threads <= THREADS


def _examples(v: Any) -> bool:
    codes = len(v.codes) == v.space.n == v.subspace.n and _indices_below(v.codes, len(v.spread))
    axes = len(v.projection.axes)
    turned = v.turn is None or _table(v.turn, axes, v.space.points.shape[1])
    return codes and turned and v.inverse.axes.shape == v.projection.axes.shape


def _diffusion(v: Any) -> bool:
    scales = v.affinity.scales
    own = scales is None or scales.shape == (v.space.n,)
    rows = v.density.shape == (v.space.n,) and _table(v.vectors, v.space.n, len(v.values))
    return own and rows


# For each class what must hold; classes that hold no arrays, or arrays of any size, are not here.
RULES: dict[str, Any] = {
    "Prepare": lambda v: (
        {encoder.name for encoder in v._encoders} <= {column.name for column in v.columns_}
        and len(v.columns_) == v.n_features_in_
    ),
    "PointSpace": lambda v: (
        v.points.ndim == 2 and 0 < v.workers <= THREADS and bool(np.all(np.isfinite(v.points)))
    ),
    "DistanceSpace": lambda v: _table(v.distances, len(v.distances), len(v.distances)),
    "GraphSpace": lambda v: v.edges.shape[0] == v.edges.shape[1],
    "AffinitySpace": lambda v: v.affinities.shape == v.edges.shape == v.edges.shape[::-1],
    "Neighbors": _neighbors,
    "Rule": lambda v: v.k > 0,
    "Linear": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "LinearInverse": lambda v: v.axes.ndim == 2 and v.mean.shape == v.axes.shape[1:],
    "SparseLinear": lambda v: v.axes.ndim == 2,
    "ProjectionInverse": lambda v: v.axes.ndim == 2,
    "Nystrom": lambda v: v.mean_squares.ndim == 1 and _table(v.weights, len(v.mean_squares)),
    "AllGeodesics": lambda v: (
        v.lengths.shape[0] == v.lengths.shape[1]
        and v.precision in ("float32", "float64")
        and bool(np.all(v.lengths.data >= 0))
        and 0 < v.threads <= THREADS
    ),
    "GeodesicNystrom": _geodesic,
    "StressExtension": lambda v: (
        v.coordinates.ndim == 2 and (v.space is None or v.space.n == len(v.coordinates))
    ),
    "Pairs": lambda v: (
        (
            v.dissimilarities.shape in ((0,), (v.n * (v.n - 1) // 2,))
            if v.ends is None
            else v.ends.shape == (2, *v.dissimilarities.shape)
            and _indices_below(v.ends.ravel(), v.n)
        )
        and (v.weights is None or v.weights.shape == v.dissimilarities.shape)
    ),
    "Steps": lambda v: v.given.ndim == 1 and v.fitted.shape == v.given.shape,
    "Examples": _examples,
    "Barycentric": lambda v: _table(v.coordinates, v.space.n),
    "Harmonic": lambda v: _table(v.vectors, v.space.n, len(v.values)),
    "DiffusionExtension": _diffusion,
    "Piece": lambda v: v.rows.ndim == 1 and v.offset.ndim == 1,
    "Placement": lambda v: (
        _table(v.embedding, v.space.n)
        and len(v.owner) == v.space.n
        and _indices_below(v.owner, len(v.pieces))
        and all(_indices_below(piece.rows, v.space.n) for piece in v.pieces)
    ),
    "Neighborhoods": lambda v: (
        v.neighbors.n == v.space.n == len(v.first)
        and _indices_below(v.first, len(v.inverse))
        and _indices_below(v.inverse, v.space.n)
    ),
    "Ridge": lambda v: v.embedding.ndim == 2 and _table(v.coefficients, len(v.embedding)),
    "LazyRidge": lambda v: v.points.ndim == 2 and _table(v.embedding, len(v.points)),
    "FixedPoint": lambda v: v.points.ndim == 2 and _table(v.weights, len(v.points)),
    "Similarities": lambda v: (
        v.points.ndim == 2 and (v.center is None or v.center.shape == v.points.shape[1:])
    ),
}


def check_shapes(value: Any) -> None:
    """Refuse a value whose parts differ in size, and an estimator that lacks some."""
    name = value_name(value) or type(value).__name__
    rule = RULES.get(name) if is_value(value) or name in RULES else _estimator
    try:
        holds = rule is None or rule(value)
    except (AttributeError, TypeError, IndexError) as error:
        raise DamagedFile(f"a {name} lacks a part") from error
    if not holds:
        raise DamagedFile(f"the parts of a {name} do not belong together")


def _estimator(v: Any) -> bool:
    parts = vars(v)
    table = isinstance(v.embedding_, np.ndarray) and v.embedding_.ndim == 2
    named = "feature_names_in_" not in parts or v.feature_names_in_.shape == (v.n_features_in_,)
    inner = is_estimator(parts.get("_eigenmaps")) or is_value(parts.get("_examples"))
    places = inner or _works(parts.get("_extension"))
    reference = parts.get("_reference")
    if reference is not None and not _table(reference, len(reference), v.embedding_.shape[1] + 1):
        return False
    back = parts.get("_preimage") is None or _works(v._preimage)
    found = all(is_value(parts[name]) for name in ("_neighborhoods", "_space") if name in parts)
    report = isinstance(v.report_, Report) and isinstance(v.n_features_in_, int)
    return table and named and (places or bool(v._left_out)) and back and found and report


def _works(value: Any) -> bool:
    return is_value(value) and callable(value)

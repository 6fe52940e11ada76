"""The values that a saved model may consist of: a closed list, by short names.

A file names classes of this list and of the registry, and nothing else is ever made from it.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from unbend.registry import CLASSIFIERS, CLUSTERINGS, EMBEDDINGS, PREPARATION
from unbend.storage.archive import DamagedFile

_WHERE = {
    "Affinities": "layout.affinities",
    "Affinity": "graphs.weights",
    "AffinitySpace": "neighbors.precomputed",
    "AllGeodesics": "extension.nystrom",
    "Auto": "eigen.auto",
    "Barycentric": "extension.averages",
    "BarycentricOnSheet": "extension.averages",
    "AutoIndex": "neighbors.index.choice",
    "BruteForce": "neighbors.index.brute_force",
    "CategoryEncoder": "prepare.encoders",
    "ColumnSummary": "prepare.estimator",
    "DateEncoder": "prepare.encoders",
    "Dense": "eigen.dense",
    "DiffusionExtension": "extension.averages",
    "DistanceSpace": "neighbors.precomputed",
    "EigenmapsExtension": "layout.placement",
    "Examples": "recognition.examples",
    "Fat": "eigen.approximate",
    "FeatureDistances": "gram.kernels",
    "FixedPoint": "preimage",
    "GeodesicNystrom": "extension.nystrom",
    "GivenAffinities": "layout.affinities",
    "GraphSpace": "neighbors.precomputed",
    "Harmonic": "extension.averages",
    "HeatKernel": "graphs.weights",
    "KDTree": "neighbors.index.kd_tree",
    "Lanczos": "eigen.lanczos",
    "LayoutExtension": "layout.placement",
    "LazyRidge": "preimage",
    "LeastSquares": "methods.weighted_mds",
    "Line": "mds.transformations",
    "Linear": "extension.linear",
    "LinearInverse": "extension.linear",
    "MeanDisparityExtension": "mds.placement",
    "Metric": "neighbors.metrics",
    "NNDescent": "neighbors.index.nn_descent",
    "Neighborhoods": "estimators.search",
    "Neighbors": "neighbors.neighbors",
    "NumberEncoder": "prepare.encoders",
    "Nystrom": "extension.nystrom",
    "NystromSolver": "eigen.approximate",
    "Pairs": "mds.object_pairs",
    "Piece": "extension.placement",
    "Placement": "extension.placement",
    "PointSpace": "neighbors.point_space",
    "Problem": "prepare.problems",
    "ProjectionInverse": "extension.linear",
    "Reciprocal": "graphs.weights",
    "Report": "report",
    "Ridge": "preimage",
    "Rule": "extension.extension",
    "ScaledExtension": "mds.placement",
    "ShiftInvert": "eigen.shift_invert",
    "Similarities": "gram.kernels",
    "SimilaritySquares": "gram",
    "SparseLinear": "extension.linear",
    "SpectralPlaces": "gram.spectral",
    "Spectrum": "eigen.problem",
    "Squares": "gram",
    "Stage": "report",
    "Steps": "mds.transformations",
    "StressExtension": "mds.placement",
    "TermEncoder": "prepare.encoders",
    "Trilateration": "mvu.coordinates",
    "WeightedDistances": "gram.spectral",
}
# Names in files of classes that share theirs with another.
_CLASS = {"NystromSolver": "Nystrom"}
_FUNCTIONS = {"adjacency": "graphs.weights"}
_ESTIMATORS = {
    entry.class_name: entry for entry in (*EMBEDDINGS, *CLUSTERINGS, *CLASSIFIERS, PREPARATION)
}

# Imported where they are needed only: most models hold few of them.
VALUES = tuple(_WHERE)


@cache
def value_class(name: str) -> type:
    """Return the value class of that name."""
    if name not in _WHERE:
        raise DamagedFile(f"it holds a {name!r}, which this version of unbend does not know")
    found: type = getattr(import_module(f"unbend.{_WHERE[name]}"), _CLASS.get(name, name))
    return found


def value_name(value: object) -> str | None:
    """Return the name of an object's class in files, or None if it is not listed."""
    own = type(value).__name__
    shared = [name for name, class_name in _CLASS.items() if class_name == own]
    for name in (own, *shared):
        if name in _WHERE and value_class(name) is type(value):
            return name
    return None


def estimator_class(name: str) -> Any:
    """Return the estimator of that name, or None if there is none."""
    return _ESTIMATORS[name].load() if name in _ESTIMATORS else None


def function(name: str) -> Any:
    """Return the function of that name."""
    if name not in _FUNCTIONS:
        raise DamagedFile(
            f"it holds a function {name!r}, which this version of unbend does not know"
        )
    return getattr(import_module(f"unbend.{_FUNCTIONS[name]}"), name)


def function_name(value: object) -> str | None:
    """Return the name of a function of the library, or None for any other."""
    name = getattr(value, "__name__", "")
    return name if name in _FUNCTIONS and function(name) is value else None


def is_value(value: object) -> bool:
    """Whether an object is an instance of a listed class."""
    return value_name(value) is not None


def is_estimator(value: object) -> bool:
    """Whether an object is an instance of a registered estimator."""
    name = type(value).__name__
    return name in _ESTIMATORS and estimator_class(name) is type(value)


def fields(value: Any) -> dict[str, Any]:
    """Fields of a value, by name."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def make_value(name: str, given: dict[str, Any]) -> Any:
    """Make a value of its fields, each of which must have the declared type."""
    kind, hints = value_class(name), _field_types(name)
    for field, value in given.items():
        if field not in hints or not fits(value, hints[field]):
            raise DamagedFile(f"the field {field!r} of a {name} is not what it should be")
    try:
        return kind(**given)
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise DamagedFile(f"the values that it holds for a {name} are invalid") from error


@cache
def _field_types(name: str) -> dict[str, Any]:
    """Types of the fields of a value class."""
    kind = value_class(name)
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    Examples
    --------
    >>> fits([1.0, 2.0], list[float] | None), fits("one", int)
    (True, False)
    """
    hint = _expand_alias(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is np.ndarray:
        kind = get_args(inner[1])[0]
        return isinstance(value, np.ndarray) and np.issubdtype(
            value.dtype, get_origin(kind) or kind
        )
    if origin in (list, tuple):
        return isinstance(value, origin) and all(fits(item, inner[0]) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(fits(item, inner[1]) for item in value.values())
    if getattr(hint, "_is_runtime_protocol", False):
        return isinstance(value, hint)
    if origin is Callable or getattr(hint, "_is_protocol", False):
        return callable(value)
    if hint in (int, float):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return whole or (hint is float and isinstance(value, float | np.floating))
    return isinstance(value, NoneType if hint is None else hint)


def _expand_alias(hint: Any) -> Any:
    """Replace a type alias by the type it stands for.

    Since NumPy 2.5 `NDArray` is an alias of its own kind (`typing.TypeAliasType`, Python 3.12), so
    the origin of `NDArray[...]` is the alias and no longer `numpy.ndarray`.
    """
    alias = get_origin(hint) or hint
    while hasattr(alias, "__value__"):
        arguments = get_args(hint)
        hint = alias.__value__[arguments] if arguments else alias.__value__
        alias = get_origin(hint) or hint
    return hint

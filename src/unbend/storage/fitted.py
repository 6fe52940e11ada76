"""Checks of a loaded estimator: nothing that its methods need is missing or of another size."""

from collections.abc import Callable
from typing import Any

import numpy as np

from unbend.neighbors import PointSpace, Space
from unbend.report import Report
from unbend.storage.archive import DamagedFile
from unbend.storage.classes import fits, is_estimator, value_name
from unbend.storage.shapes import (
    MAPS,
    check_rule,
    indices_below,
    is_list,
    is_table,
    map_shape,
    row_width,
)
from unbend.validation.parameters import parameters

# Fitted attributes that methods use, by the class that sets them: a type, the name of a value or an
# estimator, "map" for values that map rows to rows, None; of several one.
ATTRIBUTES: dict[str, dict[str, tuple[Any, ...]]] = {
    "Model": {"n_features_in_": (int,)},
    "Embedding": {
        "report_": (Report,),
        "embedding_": (np.ndarray,),
        "_extension": ("map",),
        "_preimage": ("map", None),
    },
    "LinearEmbedding": {"_preimage": ("map",)},
    "GramEmbedding": {
        "_space": (Space,),
        "landmarks_": (np.ndarray,),
        "_next_eigenvalue": (float,),
    },
    "LandmarkMDS": {"_space": (Space,), "landmarks_": (np.ndarray,)},
    "NeighborhoodEmbedding": {
        "_extension": ("Placement",),
        "_neighborhoods": ("Neighborhoods",),
        "component_": (np.ndarray,),
    },
    "KernelEmbedding": {"_next_eigenvalue": (float,)},
    "GeodesicEmbedding": {"_paths": (np.ndarray, "AllGeodesics"), "_repair": (tuple,)},
    "LaplacianEigenmaps": {"volume_": (float,)},
    "Scaling": {"_points": ("PointSpace", None), "_dissimilarities": ("Pairs",)},
    "MultiScaling": {"_points": (list,)},
    "SpectralClustering": {
        "report_": (Report,),
        "_eigenmaps": ("LaplacianEigenmaps",),
        "embedding_": (np.ndarray,),
        "labels_": (np.ndarray,),
        "_turn": (np.ndarray,),
        "_centers": (np.ndarray,),
    },
    "SubspaceRecognizer": {
        "report_": (Report,),
        "_examples": ("Examples",),
        "classes_": (np.ndarray,),
        "embedding_": (np.ndarray,),
        "subspace_threshold_": (float,),
        "within_threshold_": (float,),
        "example_threshold_": (float,),
    },
    "Prepare": {
        "_encoders": (tuple,),
        "columns_": (tuple,),
        "scale_": (str,),
        "_library": (str,),
    },
}
# Settings that may be there beside what was fitted.
SETTINGS: dict[str, Any] = {
    "_sklearn_output_config": lambda value: isinstance(value, dict),
    "_precision": lambda value: value == "float32",
    "_reference": lambda value: isinstance(value, np.ndarray),
}
# Libraries of data frames, and what is no frame.
LIBRARIES = ("array", "dict", "pandas", "polars", "pyarrow", "modin", "cudf")
ENCODERS = ("CategoryEncoder", "DateEncoder", "NumberEncoder", "TermEncoder")


def check_fitted(estimator: Any) -> None:
    """Refuse an estimator that lacks a part, or whose parts differ in size."""
    name = type(estimator).__name__
    _check_parameters(estimator, name)
    _check_attributes(estimator, name)
    for base in type(estimator).__mro__:
        rule = RULES.get(base.__name__)
        # What was left out cannot be compared; what needs it explains itself.
        if rule is not None and not vars(estimator).get("_left_out"):
            check_rule(name, rule, estimator)


def _check_parameters(estimator: Any, name: str) -> None:
    for parameter in parameters(type(estimator)):
        try:
            parameter.check(getattr(estimator, parameter.name))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise DamagedFile(f"the parameter {parameter.name} of {name}: {error}") from error


def _check_attributes(estimator: Any, name: str) -> None:
    parts = vars(estimator)
    left_out = parts.get("_left_out", ())
    for base in type(estimator).__mro__:
        for attribute, kinds in ATTRIBUTES.get(base.__name__, {}).items():
            known = attribute in parts and any(_is_kind(parts[attribute], kind) for kind in kinds)
            if not known and attribute not in left_out:
                raise DamagedFile(f"the {attribute} of {name} is missing, or not what it should be")
    for setting, holds in SETTINGS.items():
        if setting in parts and not holds(parts[setting]):
            raise DamagedFile(f"the {setting} of {name} is not what it should be")


def _is_kind(value: Any, kind: Any) -> bool:
    if kind == "map":
        return value_name(value) in MAPS
    if isinstance(kind, str):
        return value_name(value) == kind or (is_estimator(value) and type(value).__name__ == kind)
    return fits(value, kind)


def _embedding(v: Any) -> bool:
    n, width = v.n_features_in_, v.embedding_.shape[1]
    names = vars(v).get("feature_names_in_")
    back = v._preimage is None or map_shape(v._preimage) == (width, n)
    return (
        v.embedding_.ndim == 2
        and n > 0
        and is_number_array(v.embedding_)
        and map_shape(v._extension)[1] == width
        and back
        and (names is None or is_list(names, n))
    )


def _gram(v: Any) -> bool:
    """Rows of a matrix are narrowed to the columns that the kernel has; points stay whole."""
    landmarks = v.landmarks_
    kind = vars(v).get("metric", vars(v).get("kernel"))
    matrix = isinstance(kind, str) and kind in ("precomputed", "kernel")
    return (
        landmarks.dtype.kind == "i"
        and indices_below(landmarks, v._space.n)
        and row_width(v._space) == v.n_features_in_
        and map_shape(v._extension)[0] == (len(landmarks) if matrix else v.n_features_in_)
    )


def _neighborhood(v: Any) -> bool:
    found, extension = v._neighborhoods, v._extension
    points = isinstance(found.space, PointSpace)
    columns = row_width(found.space) if points else len(found.inverse)
    return (
        columns == v.n_features_in_
        and row_width(extension.space) == row_width(found.space)
        and isinstance(extension.space, PointSpace) == points
        and extension.space.n == found.space.n
    )


def _scaling(v: Any) -> bool:
    return (
        map_shape(v._extension)[0] == v.n_features_in_
        and (v._points is None or row_width(v._points) == v.n_features_in_)
        and (v._points is None) == (_stress_extension(v._extension).space is None)
    )


def _stress_extension(extension: Any) -> Any:
    return extension.extension if value_name(extension) == "ScaledExtension" else extension


def _several(v: Any) -> bool:
    extension = v._extension
    count = len(getattr(extension, "curves", getattr(extension, "weights", ())))
    objects = map_shape(extension)[0]
    widths = [objects if p is None else row_width(p) for p in v._points]
    return (
        len(v._points) == count > 0
        and all(p is None or (value_name(p) == "PointSpace" and p.n == objects) for p in v._points)
        and set(widths) == {v.n_features_in_}
    )


def _linear(v: Any) -> bool:
    reference = vars(v).get("_reference")
    width = v.embedding_.shape[1]
    return map_shape(v._extension)[0] == v.n_features_in_ and (
        reference is None
        or (is_table(reference, len(reference), width + 1) and is_number_array(reference))
    )


def _clustering(v: Any) -> bool:
    width = v.embedding_.shape[1]
    return (
        v.n_features_in_ == v._eigenmaps.n_features_in_
        and v._eigenmaps.embedding_.shape[1] >= v.n_clusters - 1 == width - 1
        and v._eigenmaps.volume_ > 0
        and is_table(v._turn, width, width)
        and is_table(v._centers, len(v._centers), width)
        and is_list(v.labels_, len(v.embedding_))
        and all(is_number_array(part) for part in (v.embedding_, v._turn, v._centers))
    )


def _recognizer(v: Any) -> bool:
    examples = v._examples
    return (
        examples.projection.axes.shape[1] == v.n_features_in_
        and is_list(v.classes_, len(examples.spread))
        and v.embedding_.shape == examples.space.points.shape
    )


def _prepare(v: Any) -> bool:
    columns = {column.name: column for column in v.columns_}
    return (
        all(value_name(encoder) in ENCODERS for encoder in v._encoders)
        and len(v._encoders) > 0
        and len(v.columns_) == v.n_features_in_ == len(columns)
        and all(len(e.features) == columns[e.name].features for e in v._encoders)
        and v._library in LIBRARIES
    )


def is_number_array(array: Any) -> bool:
    """Whether an array holds finite numbers in single or double precision."""
    return array.dtype in (np.float32, np.float64) and bool(np.all(np.isfinite(array)))


RULES: dict[str, Callable[[Any], bool]] = {
    "Embedding": _embedding,
    "LinearEmbedding": _linear,
    "GramEmbedding": _gram,
    "LandmarkMDS": _gram,
    "NeighborhoodEmbedding": _neighborhood,
    "Scaling": _scaling,
    "MultiScaling": _several,
    "SpectralClustering": _clustering,
    "SubspaceRecognizer": _recognizer,
    "Prepare": _prepare,
}

"""Metrics: named distances as a feature map and a norm (book 3.1.1), or callables."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray
from unbend.neighbors.metrics import signals
from unbend.neighbors.metrics.feature_maps import (
    ROWS,
    directions,
    fix_mahalanobis,
    fix_weighted,
    linear,
)
from unbend.neighbors.metrics.mixed import fix_gower, gower_features
from unbend.neighbors.metrics.norms import Arc, CallableNorm, HalfSquare, Norm, PNorm, TorusNorm
from unbend.neighbors.metrics.signals import fix_wavelet, wavelet_bands
from unbend.validation.arrays import check_finite
from unbend.validation.scalars import check_choice

Constants = Mapping[str, Any]


@dataclass(frozen=True)
class Distance:
    """A named distance: a map of rows to features and a norm of their differences.

    `norm` depends on the parameters only. `fix` checks them and computes the constants of the map,
    from the fitted rows if the distance `learns`. Where `fix` returns an empty dictionary the map
    is skipped: a map without constants of its own returns a non-empty one all the same.
    """

    norm: Callable[[Constants], Norm]
    parameters: tuple[str, ...]
    fix: Callable[[FloatArray, Constants], dict[str, Any]]
    map: Callable[[FloatArray, Constants], FloatArray]
    learns: bool = False


def _euclidean(params: Constants) -> Norm:
    return PNorm(2.0)


def _city_block(params: Constants) -> Norm:
    return PNorm(1.0)


def _torus(params: Constants) -> Norm:
    return TorusNorm()


def _half_square(params: Constants) -> Norm:
    return HalfSquare()


def _arc_or_chord(params: Constants) -> Norm:
    measure = check_choice("measure", params.get("measure", "arc"), ("arc", "chord"))
    return Arc() if measure == "arc" else PNorm(2.0)


def _p_norm(params: Constants, p: float) -> Norm:
    given = params.get("p", p)
    if not isinstance(given, numbers.Real) or not float(given) >= 1:
        raise ValueError(f"p={given!r} is not allowed: it must be a number of at least 1")
    return PNorm(float(given))


def _factors(points: FloatArray, params: Constants, p: float) -> dict[str, Any]:
    """Convert the weights of a p-norm to factors of the columns."""
    if params.get("w") is None:
        return {}
    columns, p = points.shape[1], params.get("p", p)
    weights = np.asarray(params["w"], dtype=np.float64)
    if weights.shape != (columns,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"w must hold {columns} finite, non-negative weights")
    # As in SciPy: the maximum is over the columns with non-zero weight.
    return {"factors": np.sign(weights) if p == np.inf else weights ** (1.0 / p)}


def _scale_columns(rows: FloatArray, constants: Constants) -> FloatArray:
    return np.asarray(rows * constants["factors"])


def _norm(p: float, *parameters: str) -> Distance:
    return Distance(partial(_p_norm, p=p), parameters, partial(_factors, p=p), _scale_columns)


def _direction(norm: Callable[[Constants], Norm], name: str, *parameters: str) -> Distance:
    def fix(points: FloatArray, params: Constants) -> dict[str, Any]:
        return {"name": name, "centred": name == "correlation"}

    return Distance(norm, parameters, fix, directions)


_SPECTRAL = ("keep", "shape")
METRICS: dict[str, Distance] = {
    "euclidean": _norm(2.0, "w"),
    "manhattan": _norm(1.0, "w"),
    "cityblock": _norm(1.0, "w"),
    "chebyshev": _norm(np.inf, "w"),
    "minkowski": _norm(2.0, "p", "w"),
    "template": _norm(np.inf, "w"),
    "cosine": _direction(_half_square, "cosine"),
    "correlation": _direction(_half_square, "correlation"),
    "angular": _direction(_arc_or_chord, "angular", "measure"),
    "weighted": Distance(_euclidean, ("M", "B", "weights"), fix_weighted, linear, learns=True),
    "mahalanobis": Distance(_euclidean, ("V", "VI"), fix_mahalanobis, linear, learns=True),
    "gower": Distance(
        _city_block, ("categorical", "weights"), fix_gower, gower_features, learns=True
    ),
    "derivative": Distance(
        _euclidean, ("shape",), signals.fix_derivative, signals.derivatives
    ),
    "fourier": Distance(
        _euclidean, _SPECTRAL, signals.fix_frequencies, signals.fourier
    ),
    "fourier_phase": Distance(
        _torus, _SPECTRAL, signals.fix_frequencies, signals.phases
    ),
    "fourier_phase_difference": Distance(
        _torus, _SPECTRAL, signals.fix_frequency_pairs, signals.phase_differences
    ),
    "wavelet": Distance(
        _euclidean, ("wavelet", "level", *_SPECTRAL), fix_wavelet, wavelet_bands
    ),
}  # fmt: skip


def describe_parameters() -> str:
    """List the parameters of every distance that has some.

    Examples
    --------
    >>> describe_parameters()[:50]
    "'euclidean', 'manhattan', 'cityblock', 'chebyshev'"
    """
    owners: dict[tuple[str, ...], list[str]] = {}
    for name, distance in METRICS.items():
        owners.setdefault(distance.parameters, []).append(repr(name))
    return "; ".join(
        f"{', '.join(names)}: {', '.join(parameters)}"
        for parameters, names in owners.items()
        if parameters
    )


# Bytes of the rows that are mapped together.
AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Metric:
    """A named distance or a callable of two rows, with its parameters.

    A named distance is a map of rows to `features` and a `norm` of their differences. Constants of
    the map that depend on the data, such as the covariance of the Mahalanobis distance, are
    computed by `fit`, so that new samples are mapped as the fitted ones.

    Examples
    --------
    >>> import numpy as np
    >>> Metric("manhattan").between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    >>> points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 20.0]])
    >>> Metric("weighted").fit(points).between(points, points).round(2)
    array([[0.  , 1.73, 1.73],
           [1.73, 0.  , 2.45],
           [1.73, 2.45, 0.  ]])
    """

    name: str | Callable[[FloatArray, FloatArray], float] = "euclidean"
    params: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.name) and self.name not in METRICS:
            raise ValueError(
                f"metric={self.name!r} is not known: it must be one of {', '.join(METRICS)}, or a "
                "callable of two rows"
            )

    @property
    def norm(self) -> Norm:
        """Norm between features."""
        if callable(self.name):
            return CallableNorm(self.name, self.params)
        return METRICS[self.name].norm(self.params)

    def fit(self, points: FloatArray) -> "Metric":
        """Check the parameters, and compute the constants that depend on the points."""
        if callable(self.name):
            self.between(points[:2], points[-2:])
            return self
        distance = METRICS[self.name]
        unknown = sorted(set(self.params) - set(distance.parameters))
        if unknown:
            raise ValueError(
                f"metric={self.name!r} has no parameter {unknown[0]!r}: remove it from "
                "metric_params"
            )
        distance.norm(self.params)
        if distance.learns:
            check_finite(points)
        return replace(self, constants=distance.fix(points, self.params))

    def features(self, rows: FloatArray, threads: int = 1) -> FloatArray:
        """Map rows to features, bitwise independent of the other rows.

        Blocks have a fixed number of rows, padded with copies, since vector units and matrix
        products may round the last rows differently.
        """
        if callable(self.name):
            return rows
        check_finite(rows)
        distance, constants = METRICS[self.name], self.constants
        if not constants:
            if distance.learns:
                raise ValueError(f"metric={self.name!r} depends on data: call fit(points) first")
            constants = distance.fix(rows, self.params)
        if not constants:
            return rows
        step = ROWS * max(1, AT_ONCE // (8 * ROWS * rows.shape[1]))

        def map_block(start: int) -> FloatArray:
            block = np.asarray(rows[start : start + step], dtype=np.float64)
            copies = np.repeat(block[-1:], -len(block) % ROWS, axis=0)
            filled = np.concatenate((block, copies)) if len(copies) else block
            return distance.map(filled, constants)[: len(block)]

        return np.concatenate(map_parts(map_block, range(0, len(rows), step), threads))

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of every row of `first` to every row of `second`."""
        return self.norm.between(self.features(first), self.features(second))


EUCLIDEAN = Metric()

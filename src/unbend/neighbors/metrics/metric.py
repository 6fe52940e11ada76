"""The named distances: a map to features, a norm there, and parameters (book 3.1.1)."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.neighbors.metrics import signals
from unbend.neighbors.metrics.feature_maps import ROWS, directions, linear, mahalanobis, weighted
from unbend.neighbors.metrics.norms import Arc, Called, HalfSquare, Norm, Plain, Wrapped
from unbend.neighbors.metrics.signals import coarse_bands, wavelet_bands

Constants = Mapping[str, Any]


@dataclass(frozen=True)
class Distance:
    """A named distance: what it does to a row, and the norm of differences of what comes out.

    `norm` depends on the parameters at most. `fix` checks them and turns them, together with what
    the distance takes from the fitted rows, into the constants of the map; a distance without
    constants leaves rows as they are. Distances that `learn` have none before they are fitted.
    """

    norm: Callable[[Constants], Norm]
    parameters: tuple[str, ...]
    fix: Callable[[FloatArray, Constants], dict[str, Any]]
    map: Callable[[FloatArray, Constants], FloatArray]
    learns: bool = False


def _euclidean(params: Constants) -> Norm:
    return Plain(2.0)


def _wrapped(params: Constants) -> Norm:
    return Wrapped()


def _half_square(params: Constants) -> Norm:
    return HalfSquare()


def _arc_or_chord(params: Constants) -> Norm:
    measure = params.get("measure", "arc")
    if measure not in ("arc", "chord"):
        raise ValueError(f"measure={measure!r} is not allowed: it must be 'arc' or 'chord'")
    return Arc() if measure == "arc" else Plain(2.0)


def _p_norm(params: Constants, p: float) -> Norm:
    given = params.get("p", p)
    if not isinstance(given, numbers.Real) or not float(given) >= 1:
        raise ValueError(f"p={given!r} gives no distance: it must be a number of at least 1")
    return Plain(float(given))


def _factors(points: FloatArray, params: Constants, p: float) -> dict[str, Any]:
    """Turn the weights of a p-norm into factors of the columns."""
    if params.get("w") is None:
        return {}
    columns, p = points.shape[1], params.get("p", p)
    weights = np.asarray(params["w"], dtype=np.float64)
    if weights.shape != (columns,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"w must hold {columns} finite weights that are not negative")
    # As SciPy has it: the largest difference is that of the columns whose weight is not zero.
    return {"factors": np.sign(weights) if p == np.inf else weights ** (1.0 / p)}


def _multiplied(rows: FloatArray, constants: Constants) -> FloatArray:
    return np.asarray(rows * constants["factors"])


def _norm(p: float, *parameters: str) -> Distance:
    return Distance(partial(_p_norm, p=p), parameters, partial(_factors, p=p), _multiplied)


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
    "weighted": Distance(_euclidean, ("M", "B", "weights"), weighted, linear, learns=True),
    "mahalanobis": Distance(_euclidean, ("V", "VI"), mahalanobis, linear, learns=True),
    "derivative": Distance(
        _euclidean, ("shape",), signals.differentiable, signals.derivatives
    ),
    "fourier": Distance(
        _euclidean, _SPECTRAL, signals.low_frequencies, signals.fourier
    ),
    "fourier_phase": Distance(
        _wrapped, _SPECTRAL, signals.low_frequencies, signals.phases
    ),
    "fourier_phase_difference": Distance(
        _wrapped, _SPECTRAL, signals.several_frequencies, signals.phase_differences
    ),
    "wavelet": Distance(
        _euclidean, ("wavelet", "level", *_SPECTRAL), coarse_bands, wavelet_bands
    ),
}  # fmt: skip


def described() -> str:
    """List the parameters of every distance that has some, in words.

    Examples
    --------
    >>> described()[:50]
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


# Bytes of the rows that are mapped at once.
AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Metric:
    """A named distance or a callable of two rows, with its parameters.

    A named distance is a map of rows to `features` and a `norm` between those. What the map takes
    from the data, such as the covariance of Mahalanobis' distance, is fixed by `fitted` and kept
    in `constants`, so that new rows are mapped as the fitted ones were.

    Examples
    --------
    >>> import numpy as np
    >>> Metric("manhattan").between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    >>> points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 20.0]])
    >>> Metric("weighted").fitted(points).between(points, points).round(2)
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
                "function of two rows"
            )

    @property
    def norm(self) -> Norm:
        """How features are compared."""
        if callable(self.name):
            return Called(self.name, self.params)
        return METRICS[self.name].norm(self.params)

    def fitted(self, points: FloatArray) -> "Metric":
        """Check the parameters, and fix what the distance takes from these points."""
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
            _check_finite(points)
        return replace(self, constants=distance.fix(points, self.params))

    def features(self, rows: FloatArray) -> FloatArray:
        """Map rows to features; each row's are the same to the bit whatever other rows there are.

        Rows go through the map in blocks of one size, filled up with copies, since vector units
        and matrix products may round the rows of an odd end differently.
        """
        if callable(self.name):
            return rows
        _check_finite(rows)
        distance, constants = METRICS[self.name], self.constants
        if not constants:
            if distance.learns:
                raise ValueError(f"metric={self.name!r} depends on data: take its fitted(points)")
            constants = distance.fix(rows, self.params)
        if not constants:
            return rows
        step = ROWS * max(1, AT_ONCE // (8 * ROWS * rows.shape[1]))
        mapped = []
        for start in range(0, len(rows), step):
            block = np.asarray(rows[start : start + step], dtype=np.float64)
            copies = np.repeat(block[-1:], -len(block) % ROWS, axis=0)
            mapped.append(distance.map(np.concatenate((block, copies)), constants)[: len(block)])
        return np.concatenate(mapped)

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of every row of `first` to every row of `second`."""
        return self.norm.between(self.features(first), self.features(second))


def _check_finite(rows: FloatArray) -> None:
    if not np.all(np.isfinite(rows)):
        raise ValueError(
            "the rows must be finite: leave out those with NaN or infinity, or fill in"
        )


EUCLIDEAN = Metric()

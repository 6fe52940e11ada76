"""The named distances: a map to features, a norm there, and parameters (book 3.1.1)."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.neighbors.metrics import signals
from unbend.neighbors.metrics.angular import directions
from unbend.neighbors.metrics.linear import linear, mahalanobis, weighted
from unbend.neighbors.metrics.mixed import gower_constants, gower_features
from unbend.neighbors.metrics.norms import Arc, HalfSquare, Norm, Plain, Wrapped
from unbend.neighbors.metrics.wavelets import coarse_bands, wavelet_bands

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


def _city_block(params: Constants) -> Norm:
    return Plain(1.0)


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
    "gower": Distance(
        _city_block, ("categorical", "weights"), gower_constants, gower_features, learns=True
    ),
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

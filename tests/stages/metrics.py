"""The metrics under test, each with what its definition says of two rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tests.oracles import distances as oracle
from unbend.neighbors import Metric

COLUMNS = 20
SHAPE = (4, 5)
_RNG = np.random.default_rng(20)
BASIS = np.eye(COLUMNS) + 0.3 * _RNG.normal(size=(COLUMNS, COLUMNS))
WEIGHTS = _RNG.uniform(0.1, 4.0, COLUMNS)
MATRIX = BASIS @ BASIS.T
# Daubechies' filter of four numbers: (1 ± √3, 3 ± √3) / 4√2, in the order of decomposition.
ROOT = np.sqrt(3.0)
DB2 = [(1 - ROOT), (3 - ROOT), (3 + ROOT), (1 + ROOT)] / (4 * np.sqrt(2.0))
HAAR = [np.sqrt(0.5), np.sqrt(0.5)]


@dataclass(frozen=True)
class Case:
    """A metric by name, its parameters, and its oracle; None for those that depend on data."""

    name: str
    oracle: Callable[..., float]
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def metric(self) -> Metric:
        return Metric(self.name, self.params)

    def between(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.array([[self.oracle(x, a) for a in second] for x in first])


def _case(name: str, function: Callable[..., float], **params: Any) -> Case:
    return Case(name, partial(function, **params), params)


CASES = {
    "euclidean": _case("euclidean", oracle.minkowski),
    "manhattan": _case("manhattan", oracle.manhattan),
    "minkowski": _case("minkowski", oracle.minkowski, p=3),
    "minkowski weighted": _case("minkowski", oracle.minkowski, p=1.5, w=WEIGHTS),
    "template": _case("template", oracle.template),
    "cosine": _case("cosine", oracle.cosine),
    "correlation": _case("correlation", oracle.correlation),
    "angular": _case("angular", oracle.angular),
    "angular chord": _case("angular", oracle.angular, measure="chord"),
    "weighted": _case("weighted", oracle.weighted, M=MATRIX),
    "weighted basis": _case("weighted", oracle.weighted_basis, B=BASIS, weights=WEIGHTS),
    "weighted columns": Case(
        "weighted",
        partial(oracle.weighted_basis, B=np.eye(COLUMNS), weights=WEIGHTS),
        {"weights": WEIGHTS},
    ),
    "mahalanobis": Case("mahalanobis", partial(oracle.weighted, M=MATRIX), {"V": MATRIX}),
    "mahalanobis inverse": Case(
        "mahalanobis", partial(oracle.weighted, M=MATRIX), {"VI": np.linalg.inv(MATRIX)}
    ),
    "derivative": _case("derivative", oracle.derivative),
    "derivative pictures": _case("derivative", oracle.derivative, shape=SHAPE),
    "fourier": _case("fourier", oracle.fourier, keep=4),
    "fourier default": Case("fourier", partial(oracle.fourier, keep=6)),
    "fourier pictures": _case("fourier", oracle.fourier, keep=2, shape=SHAPE),
    "fourier phase": _case("fourier_phase", oracle.fourier_phase, keep=4),
    "fourier phase pictures": _case("fourier_phase", oracle.fourier_phase, keep=2, shape=SHAPE),
    "phase difference": _case("fourier_phase_difference", oracle.fourier_phase_difference, keep=5),
    "phase difference pictures": _case(
        "fourier_phase_difference", oracle.fourier_phase_difference, keep=3, shape=SHAPE
    ),
    "wavelet": Case("wavelet", partial(oracle.wavelet, low=DB2)),
    "wavelet haar": Case(
        "wavelet", partial(oracle.wavelet, low=HAAR, level=2), {"wavelet": "haar", "level": 2}
    ),
}
# Half the square of a distance breaks the triangle inequality.
TRIANGLES = [name for name in CASES if name not in ("cosine", "correlation")]

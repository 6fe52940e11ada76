"""Distances between rows of numbers."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from unbend.arrays import FloatArray

# Names that the estimators take, and SciPy's name for each.
METRICS = {
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "cityblock": "cityblock",
    "chebyshev": "chebyshev",
    "minkowski": "minkowski",
    "cosine": "cosine",
    "correlation": "correlation",
}
_NORMS = {"euclidean": 2.0, "cityblock": 1.0, "chebyshev": np.inf}


@dataclass(frozen=True)
class Metric:
    """A named distance or a callable of two rows, with its parameters.

    Examples
    --------
    >>> import numpy as np
    >>> Metric("manhattan").between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    """

    name: str | Callable[[FloatArray, FloatArray], float] = "euclidean"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def norm(self) -> float | None:
        """The p of the p-norm, for metrics that are one: a KD-tree can serve these."""
        if callable(self.name) or "w" in self.params:
            return None
        name = METRICS[self.name]
        return float(self.params.get("p", 2.0)) if name == "minkowski" else _NORMS.get(name)

    def check(self, points: FloatArray) -> None:
        """Raise one sentence if the metric does not take its parameters or these points."""
        if not callable(self.name):
            known = {"minkowski": {"p", "w"}, "cosine": set(), "correlation": set()}
            unknown = set(self.params) - known.get(self.name, {"w"})
            if unknown:
                raise ValueError(
                    f"metric={self.name!r} has no parameter {sorted(unknown)[0]!r}: remove it from "
                    "metric_params"
                )
            if not self.params.get("p", 2.0) >= 1:
                raise ValueError(f"p={self.params['p']!r} gives no distance: it must be at least 1")
            weights = np.asarray(self.params.get("w", np.ones(points.shape[1])))
            if weights.shape != (points.shape[1],) or not np.all(weights >= 0):
                raise ValueError(f"w must hold {points.shape[1]} weights that are not negative")
        self.between(points[:2], points[-2:])
        if self.name in ("cosine", "correlation"):
            self._directions(points)

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of every row of `first` to every row of `second`."""
        distances: FloatArray
        if self.name in ("cosine", "correlation") and not self.params:
            # 1 − cos of the angle is half a squared distance of unit vectors: exactly zero for
            # equal rows, which SciPy's is not.
            distances = cdist(self._directions(first), self._directions(second), "sqeuclidean") / 2
        else:
            name: Any = _counted(self.name) if callable(self.name) else METRICS[self.name]
            distances = cdist(first, second, name, **self.params)
        return distances

    def _directions(self, rows: FloatArray) -> FloatArray:
        if self.name == "correlation":
            rows = rows - rows.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if np.any(lengths == 0):
            raise ValueError(
                f"metric={self.name!r} compares directions and {int(np.sum(lengths == 0))} rows "
                "have none (all zeros, or constant for 'correlation'): remove them"
            )
        return np.asarray(rows / lengths)


def _counted(metric: Callable[..., Any]) -> Callable[..., float]:
    """Check every answer of a user's metric: a wrong one would spoil all neighbours."""

    def distance(first: FloatArray, second: FloatArray, **params: Any) -> float:
        answer = metric(first, second, **params)
        if not isinstance(answer, numbers.Real) or not 0 <= float(answer) < np.inf:
            raise ValueError(
                f"the metric gave {answer!r} for two rows: it must give a finite number that is "
                "not negative"
            )
        return float(answer)

    return distance


EUCLIDEAN = Metric()

"""Distances between rows of numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.neighbors.metrics.distances import METRICS
from unbend.neighbors.metrics.linear import ROWS
from unbend.neighbors.metrics.norms import Called, Norm

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

"""From edge lengths to edge weights: decreasing functions of the distance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.graphs.graph import as_edges

Weight = Callable[[FloatArray], FloatArray]


def adjacency(distances: FloatArray) -> FloatArray:
    """Weight one on every edge."""
    return np.ones_like(distances)


@dataclass(frozen=True)
class HeatKernel:
    """Weights exp(−d²/t)."""

    t: float

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Weigh distances."""
        return np.asarray(np.exp(-np.square(distances) / self.t))


def heat_kernel(distances: FloatArray, t: float | None = None) -> HeatKernel:
    """Heat kernel of diffusion time t; by default twice the mean squared edge length.

    Examples
    --------
    >>> import numpy as np
    >>> heat_kernel(np.array([1.0, 1.0]))(np.array([0.0, 2.0]))
    array([1.        , 0.13533528])
    """
    return HeatKernel(float(2.0 * np.mean(np.square(distances))) if t is None else t)


def _numbers(weights: object) -> FloatArray:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        return np.full(0, np.nan)


def weights_of(distances: FloatArray, weight: Weight) -> FloatArray:
    """Apply a weight function, and check what it gives."""
    weights = _numbers(weight(distances))
    if weights.shape != distances.shape or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(
            "the weight function must give one finite number that is not negative for each "
            "distance in the array it gets"
        )
    return weights


def weigh(lengths: csr_array, weight: Weight) -> csr_array:
    """Apply a weight function to every stored edge."""
    lengths = as_edges(lengths, "lengths", "length")
    weights = weights_of(lengths.data, weight)
    return csr_array((weights, lengths.indices, lengths.indptr), shape=lengths.shape)

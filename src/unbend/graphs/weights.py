"""Edge weights: decreasing functions of the distance, and affinities of diffusion (chapter 14)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.graphs.graph import as_edges, merge_directions
from unbend.neighbors.neighbors import Neighbors
from unbend.validation.scalars import check_real

Weight = Callable[[FloatArray], FloatArray]


def adjacency(distances: FloatArray) -> FloatArray:
    """Weight one on every edge.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import graphs
    >>> graphs.adjacency(np.array([0.5, 2.0]))
    array([1., 1.])
    """
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
    if t is None:
        return HeatKernel(float(2.0 * np.mean(np.square(distances))))
    return HeatKernel(check_real("t", t, 0, closed="neither"))


def _numbers(weights: object) -> FloatArray:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        return np.full(0, np.nan)


def _are_weights(weights: FloatArray) -> bool:
    """Whether all are finite and none is negative; NaN is neither."""
    return bool(weights.min(initial=0.0) >= 0 and weights.max(initial=0.0) < np.inf)


def weights_of(distances: FloatArray, weight: Weight) -> FloatArray:
    """Apply a weight function, and check what it gives."""
    weights = _numbers(weight(distances))
    if weights.shape != distances.shape or not _are_weights(weights):
        raise ValueError(
            "the weight function must give one finite number that is not negative for each "
            "distance in the array it gets"
        )
    return weights


def weigh(lengths: csr_array, weight: Weight) -> csr_array:
    """Apply a weight function to every stored edge.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graphs.weigh(path, lambda lengths: np.exp(-lengths)).data.round(3)
    array([0.368, 0.368, 0.368, 0.368])
    """
    lengths = as_edges(lengths, "lengths", "length")
    weights = weights_of(lengths.data, weight)
    return csr_array((weights, lengths.indices, lengths.indptr), shape=lengths.shape)


@dataclass(frozen=True)
class Reciprocal:
    """Weights 1/d: of an affinity matrix, whose entries are stored as the lengths 1/w."""

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Weigh distances."""
        return np.asarray(1.0 / distances)


@dataclass(frozen=True, eq=False)
class Affinity:
    """w(x, y) = exp(−d²/t), exp(−d²/(t σ(x) σ(y))) with a scale for each row, or η(d).

    An infinite t gives weight one to every edge. The scale of a new sample is the distance to the
    neighbour of number `neighbor`.
    """

    t: float
    scales: FloatArray | None = None
    neighbor: int = 1
    function: Weight | None = None

    def __call__(self, distances: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Weights of pairs; `first` and `second` are the scales of their ends."""
        if self.function is not None:
            return weights_of(distances, self.function)
        widths = self.t if self.scales is None else self.t * first * second
        return np.asarray(np.exp(-np.square(distances) / widths))

    @property
    def own(self) -> float:
        """Weight of a row with itself."""
        return 1.0 if self.function is None else float(weights_of(np.zeros(1), self.function)[0])

    def of_new(self, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Weights of new samples with their neighbours, zero where the distance is infinite."""
        near = np.isfinite(distances)
        weights = np.zeros(distances.shape)
        rows, columns = np.nonzero(near)
        first: FloatArray = np.ones(1)
        second = first
        if self.scales is not None:
            # A fitted row has itself as its first neighbour, of number zero.
            nearest = np.where(near, distances, 0.0)[:, : self.neighbor + 1]
            first = np.maximum(nearest.max(axis=1), np.finfo(float).tiny)[rows]
            second = self.scales[indices[rows, columns]]
        weights[rows, columns] = self(distances[rows, columns], first, second)
        return weights


def gaussian(neighbors: Neighbors, t: float | None = None) -> Affinity:
    """Gaussian affinity; without t, the mean squared distance of neighbours (book (14.7))."""
    return Affinity(float(np.mean(np.square(neighbors.distances))) if t is None else t)


def self_tuning(neighbors: Neighbors, neighbor: int = 7, factor: float = 1.0) -> Affinity:
    """Affinity exp(−d²/(c σᵢσⱼ)), σ the distance to a row's neighbour of some number.

    Rows with fewer neighbours take their last (Zelnik-Manor and Perona, 2004; book 14.2.4).
    """
    place = neighbors.offsets[:-1] + np.minimum(neighbors.counts, neighbor) - 1
    scales = np.where(neighbors.counts > 0, neighbors.distances[np.maximum(place, 0)], 1.0)
    return Affinity(factor, np.maximum(scales, np.finfo(float).tiny), neighbor)


def edge_weights(neighbors: Neighbors, affinity: Affinity) -> FloatArray:
    """Affinity of every entry, in order."""
    scales = np.ones(neighbors.n) if affinity.scales is None else affinity.scales
    return affinity(neighbors.distances, scales[neighbors.rows], scales[neighbors.indices])


def diffusion_weights(neighbors: Neighbors, affinity: Affinity, threads: int = 1) -> csr_array:
    """Affinities of the union graph, each row with itself too."""
    offsets, members = neighbors.with_self()
    weights = np.insert(edge_weights(neighbors, affinity), neighbors.offsets[:-1], affinity.own)
    return merge_directions(offsets, members, weights, "max", threads).matrix()


def scale_both_sides(weights: csr_array, factors: FloatArray) -> csr_array:
    """Return the weights times the factors of both ends."""
    # Products of diagonal matrices in SciPy take three times as long.
    left = np.repeat(factors, np.diff(weights.indptr))
    values = left * weights.data * factors[weights.indices]
    scaled = csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
    scaled.has_canonical_format = weights.has_canonical_format
    return scaled


def without_density(
    weights: csr_array, alpha: float, masses: FloatArray | None = None
) -> tuple[csr_array, FloatArray]:
    """W_ij / (q_i q_j)^α with q the row sums, and q^α (Coifman and Lafon, 2006).

    α = 0 keeps the density of the sample (graph Laplacian), α = 1 removes it (Laplace–Beltrami).
    A row of mass m counts as m rows in one place.
    """
    mass = np.ones(weights.shape[0]) if masses is None else masses
    density = np.asarray(weights @ mass) ** alpha
    return scale_both_sides(weights, mass / density), density

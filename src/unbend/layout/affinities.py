"""Affinities of t-SNE: probabilities over neighbours with a given perplexity, or uniform."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, compressed_rows, row_chunks
from unbend.neighbors import Neighbors
from unbend.report import step

# Newton steps on the logarithm of the bandwidth; quadratic convergence takes far fewer.
STEPS = 60
# Relative tolerance of the entropy.
TOLERANCE = 1e-8
# Bytes of rows that are calibrated at once: they stay in a cache.
CHUNK = 1 << 22


@dataclass(frozen=True)
class Affinities:
    """Conditional probabilities over the neighbours of a row.

    Attributes
    ----------
    perplexity : float or None
        Effective number of neighbours: p_j ∝ exp(−β d_j²), with β such that the entropy is
        log(perplexity). None: uniform.
    """

    perplexity: float | None

    def of_rows(self, distances: FloatArray) -> FloatArray:
        """Probabilities (n, k) of distances that ascend; infinite ones are no neighbours.

        Examples
        --------
        >>> import numpy as np
        >>> p = Affinities(2.0).of_rows(np.array([[1.0, 2.0, 3.0, 4.0]]))
        >>> float(np.exp(-np.sum(p * np.log(p))).round(6))
        2.0
        >>> Affinities(None).of_rows(np.array([[1.0, 2.0, np.inf]]))
        array([[0.5, 0.5, 0. ]])
        """
        counts = np.isfinite(distances).sum(axis=1)
        weights = np.zeros(distances.shape)
        for count in np.unique(counts[counts > 0]):
            rows = np.flatnonzero(counts == count)
            for some in row_chunks(len(rows), 64 * int(count)):
                chosen = rows[some]
                weights[chosen, :count] = self._weigh(distances[chosen, :count])
        return weights

    def of_neighbors(self, neighbors: Neighbors, threads: int = 1) -> FloatArray:
        """Probabilities (total,) of all neighbours, those of a row summing to one."""
        weights = np.empty(len(neighbors.indices))
        counts = neighbors.counts

        def fill(rows: IntArray) -> None:
            entries = neighbors.offsets[rows, None] + np.arange(counts[rows[0]])
            weights[entries] = self._weigh(neighbors.distances[entries])

        with ThreadPoolExecutor(threads) as pool:
            for count in np.unique(counts[counts > 0]):
                rows = np.flatnonzero(counts == count)
                chunks = row_chunks(len(rows), 64 * int(count), CHUNK)
                # Raises what a thread raised; closed early, it leaves what has not begun.
                parts = [rows[some] for some in chunks]
                with closing(pool.map(fill, parts)) as filled:  # type: ignore[type-var]
                    for number, _ in enumerate(filled):
                        step(number + 1, len(chunks))
        return weights

    def _weigh(self, distances: FloatArray) -> FloatArray:
        """Probabilities of finite distances (n, k).

        With no more neighbours than the perplexity they are uniform. Where distances are tied, the
        entropy cannot fall below the logarithm of the number of nearest ones: β is then as large as
        it has to be for the others to vanish.
        """
        count = distances.shape[1]
        if self.perplexity is None or count <= self.perplexity:
            return np.full(distances.shape, 1.0 / count)
        return _calibrate(distances, np.log(self.perplexity))


@dataclass(frozen=True)
class GivenAffinities(Affinities):
    """Affinities w that were given, and stored as the lengths 1/w; perplexity is None.

    Examples
    --------
    >>> import numpy as np
    >>> GivenAffinities(None).of_rows(np.array([[0.5, 1.0, np.inf]])).round(3)
    array([[0.667, 0.333, 0.   ]])
    """

    def _weigh(self, distances: FloatArray) -> FloatArray:
        # Lengths ascend: relative to the first none overflows.
        weights = distances[:, :1] / distances
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _calibrate(distances: FloatArray, target: float) -> FloatArray:
    squares = np.square(distances / np.maximum(distances[:, -1:], np.finfo(np.float64).tiny))
    squares -= squares[:, :1]
    # In units of the mean, β is near one and neither overflows nor vanishes.
    squares /= np.maximum(squares.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    weights = np.empty(squares.shape)
    low, high = np.full(len(squares), -50.0), np.full(len(squares), 50.0)
    log_beta, left = np.zeros(len(squares)), np.arange(len(squares))
    for _ in range(STEPS):
        p, entropy, variance = _gibbs(squares[left], np.exp(log_beta[left]))
        weights[left] = p
        error = entropy - target
        # A row leaves when it is done: it must not depend on the others.
        going = (np.abs(error) > TOLERANCE) & (high[left] - low[left] > 1e-12)
        left, error, variance = left[going], error[going], variance[going]
        if not len(left):
            break
        now = log_beta[left]
        low[left] = np.where(error > 0, now, low[left])
        high[left] = np.where(error > 0, high[left], now)
        # dH / d log β = −β² Var(d²): Newton inside the bracket, bisection outside.
        step = now + error / np.maximum(np.exp(2.0 * now) * variance, 1e-300)
        inside = (step > low[left]) & (step < high[left])
        log_beta[left] = np.where(inside, step, (low[left] + high[left]) / 2.0)
    return weights


def _gibbs(squares: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probabilities, their entropy, and the variance of the squares."""
    p = np.exp(-beta[:, None] * squares)
    total = p.sum(axis=1)
    p /= total[:, None]
    mean = np.sum(p * squares, axis=1)
    variance = np.sum(p * np.square(squares), axis=1) - np.square(mean)
    return p, np.log(total) + beta * mean, variance


def normalize(weights: csr_array) -> csr_array:
    """Joint probabilities of symmetric weights: without loops, and with sum one.

    Examples
    --------
    >>> import numpy as np
    >>> normalize(csr_array(np.array([[5.0, 2.0], [2.0, 0.0]]))).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    edges = weights.tocoo()
    apart = edges.row != edges.col
    values, pairs = edges.data[apart], (edges.row[apart], edges.col[apart])
    total = max(float(values.sum()), np.finfo(np.float64).tiny)
    return csr_array((values / total, pairs), shape=weights.shape)


def joint_probabilities(
    neighbors: Neighbors, affinities: Affinities, threads: int = 1
) -> csr_array:
    """Symmetric matrix of probabilities that sum to one: (P + P') / 2n; rows are not sorted.

    Parameters
    ----------
    neighbors : Neighbors
        Neighbours of each of n rows.
    affinities : Affinities
        The conditional probabilities P.
    threads : int
        The result does not depend on it.
    """
    weights = affinities.of_neighbors(neighbors, threads)
    joint = add_transpose(neighbors.offsets, neighbors.indices, weights, threads)
    joint.data /= joint.data.sum()
    return joint


def add_transpose(
    offsets: IntArray, indices: IntArray, weights: FloatArray, threads: int = 1
) -> csr_array:
    """P + P' of a square matrix in compressed rows; its rows are not sorted.

    Examples
    --------
    >>> import numpy as np
    >>> offsets, indices = np.array([0, 1, 2]), np.array([1, 1], dtype=np.int32)
    >>> add_transpose(offsets, indices, np.array([2.0, 3.0])).toarray()
    array([[0., 2.],
           [2., 6.]])
    """
    n, indices = len(offsets) - 1, indices.astype(np.int32, copy=False)
    matrix = offsets.astype(np.int64, copy=False), indices
    back = np.empty(n + 1, dtype=np.int64), np.empty(len(indices), dtype=np.int32)
    back_weights = np.empty(len(indices))
    kernels.transpose(*matrix, weights, threads, *back, back_weights)
    starts = np.zeros(n + 1, dtype=np.int64)
    kernels.count_sums(*matrix, *back, threads, starts[1:])
    np.cumsum(starts, out=starts)
    columns, sums = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
    kernels.add_rows(*matrix, weights, *back, back_weights, starts, threads, columns, sums)
    return compressed_rows(sums, columns, starts)

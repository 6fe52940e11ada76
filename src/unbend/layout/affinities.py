"""Affinities of t-SNE: probabilities over neighbours with a given perplexity, or uniform."""

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, row_chunks
from unbend.neighbors import Neighbors

# Newton steps on the logarithm of the bandwidth; quadratic convergence takes far fewer.
STEPS = 60
# Relative tolerance of the entropy.
TOLERANCE = 1e-8


def perplexity_weights(distances: FloatArray, perplexity: float) -> FloatArray:
    """Gaussian probabilities (n, k) over the neighbours of each row with this perplexity.

    Row i has p_j ∝ exp(−β d_j²), with β such that the entropy is log(perplexity). Where distances
    are tied, the entropy cannot fall below the logarithm of the number of nearest ones: β is then
    as large as it has to be for the others to vanish.

    Parameters
    ----------
    distances : array (n, k)
        Distances to the nearest neighbours, ascending.
    perplexity : float
        Effective number of neighbours, less than k.

    Examples
    --------
    >>> import numpy as np
    >>> p = perplexity_weights(np.array([[1.0, 2.0, 3.0, 4.0]]), 2.0)
    >>> float(np.exp(-np.sum(p * np.log(p))).round(6))
    2.0
    """
    weights = np.empty(distances.shape)
    for rows in row_chunks(len(distances), 64 * distances.shape[1]):
        weights[rows] = _calibrate(distances[rows], np.log(perplexity))
    return weights


def _calibrate(distances: FloatArray, target: float) -> FloatArray:
    squares = np.square(distances)
    squares -= squares[:, :1]
    # In units of the mean, β is near one and neither overflows nor vanishes.
    squares /= np.maximum(squares.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    low, high = np.full(len(squares), -50.0), np.full(len(squares), 50.0)
    log_beta = np.zeros(len(squares))
    for _ in range(STEPS):
        p, entropy, variance = _gibbs(squares, np.exp(log_beta))
        error = entropy - target
        if np.all((np.abs(error) <= TOLERANCE) | (high - low < 1e-12)):
            break
        low, high = np.where(error > 0, log_beta, low), np.where(error > 0, high, log_beta)
        # dH / d log β = −β² Var(d²): Newton inside the bracket, bisection outside.
        slope = np.exp(2.0 * log_beta) * variance
        step = log_beta + error / np.maximum(slope, 1e-300)
        inside = (step > low) & (step < high)
        log_beta = np.where(inside, step, (low + high) / 2.0)
    return p


def _gibbs(squares: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probabilities, their entropy, and the variance of the squares."""
    p = np.exp(-beta[:, None] * squares)
    total = p.sum(axis=1)
    p /= total[:, None]
    mean = np.sum(p * squares, axis=1)
    variance = np.sum(p * np.square(squares), axis=1) - np.square(mean)
    return p, np.log(total) + beta * mean, variance


def joint_probabilities(neighbors: Neighbors, weights: FloatArray) -> csr_array:
    """Symmetric matrix of probabilities that sum to one: (P + P') / 2n.

    Parameters
    ----------
    neighbors : Neighbors
        Neighbours of each of n rows.
    weights : array (total,)
        Conditional probabilities, those of a row summing to one.
    """
    n = neighbors.n
    conditional = csr_array((weights, neighbors.indices, neighbors.offsets), shape=(n, n))
    joint = csr_array(conditional + conditional.T)
    joint.sum_duplicates()
    joint.sort_indices()
    return joint / joint.sum()

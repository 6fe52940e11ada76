"""Stress of pairs that are listed one by one: time and memory grow with their number only."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import cg

from unbend.arrays import FloatArray
from unbend.eigen.shift_invert import analyse
from unbend.mds.pairs import Pairs

# Operations that a factorisation of the weights may take; beyond, its solutions are iterated.
FACTOR_FLOPS = 2e9
RAW, SSTRESS, SAMMON = range(3)


def listed_stress(
    pairs: Pairs, loss: int, coordinates: FloatArray, spread: FloatArray
) -> tuple[float, FloatArray]:
    """Value and gradient of a loss over listed pairs; fills the share of each object, if asked."""
    assert pairs.ends is not None
    rows, columns = pairs.ends
    away = coordinates[rows] - coordinates[columns]
    square = np.einsum("ij,ij->i", away, away)
    share, pull = _shares(square, pairs, loss)
    n, moves = len(coordinates), 2.0 * pull[:, None] * away
    gradient = np.empty(coordinates.shape)
    for axis, move in enumerate(moves.T):
        gradient[:, axis] = np.bincount(rows, move, n) - np.bincount(columns, move, n)
    if len(spread):
        spread[:] = np.bincount(rows, share, n) + np.bincount(columns, share, n)
    return float(share.sum()), gradient


def _shares(square: FloatArray, pairs: Pairs, loss: int) -> tuple[FloatArray, FloatArray]:
    """Share of each pair in the stress, and half its derivative by the distance, over that."""
    target = pairs.dissimilarities
    weight = np.ones(len(target)) if pairs.weights is None else pairs.weights
    if loss == SSTRESS:
        off = square - target**2
        return weight * off**2, 2.0 * weight * off
    if loss == SAMMON:
        weight = np.divide(weight, target, out=np.zeros(len(target)), where=target > 0)
    distance = np.sqrt(square)
    off = distance - target
    return weight * off**2, weight * off / np.where(distance > 0, distance, 1.0)


def laplacian(pairs: Pairs) -> csr_array:
    """V = diag(Σ_j w_ij) − W of listed pairs."""
    assert pairs.ends is not None
    rows, columns = pairs.ends
    weights = np.ones(len(rows)) if pairs.weights is None else pairs.weights
    ends = (np.r_[rows, columns], np.r_[columns, rows])
    joined = csr_array((np.r_[weights, weights], ends), shape=(pairs.n, pairs.n))
    return csr_array(diags_array(np.asarray(joined.sum(axis=1))) - joined)


def factored(pairs: Pairs) -> Callable[[FloatArray], FloatArray] | None:
    """V⁺ by a sparse factor, as a function of centred vectors; None where that takes too long."""
    # Without its last object V is definite; a solution is determined up to a shift.
    symbolic = analyse(laplacian(pairs)[:-1, :-1], FACTOR_FLOPS)
    if not symbolic.analysis.complete:
        return None
    factor = symbolic.factor(shift=0.0)

    def solve(vectors: FloatArray) -> FloatArray:
        found = np.zeros(vectors.shape)
        factor.solve(np.ascontiguousarray(vectors[:-1]), 1, found[:-1])
        return np.asarray(found - found.mean(axis=0))

    return solve


def iterated(pairs: Pairs) -> Callable[[FloatArray], FloatArray]:
    """V⁺ by conjugate gradients, for as long as a factor would fill up."""
    matrix = laplacian(pairs)
    scale = diags_array(1.0 / matrix.diagonal())

    def solve(vectors: FloatArray) -> FloatArray:
        found = [cg(matrix, column, rtol=1e-10, M=scale)[0] for column in vectors.T]
        return np.asarray(np.stack(found, axis=1) - np.mean(found, axis=1))

    return solve

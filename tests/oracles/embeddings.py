"""Coordinates from dense kernels, and how far two embeddings are apart."""

import numpy as np
from numpy.typing import ArrayLike

from tests.oracles.neighbors import Floats


def top(matrix: ArrayLike, d: int) -> Floats:
    """Eigenvectors of the d largest eigenvalues times their square roots, largest first.

    A negative eigenvalue has no real coordinate: its column is zero.
    """
    values, vectors = np.linalg.eigh(np.asarray(matrix, dtype=np.float64))
    largest = np.argsort(values)[::-1][:d]
    coordinates: Floats = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    return coordinates


def classical_mds(distances: ArrayLike, d: int) -> Floats:
    """Top of -1/2 H D^2 H, D squared entry by entry: centred points at these distances.

    W. S. Torgerson, Psychometrika 17 (1952); J. C. Gower, Biometrika 53 (1966).
    """
    squares = np.asarray(distances, dtype=np.float64) ** 2
    centre = np.eye(len(squares)) - 1.0 / len(squares)
    return top(-0.5 * centre @ squares @ centre, d)


def perpendicular(vector: ArrayLike) -> Floats:
    """Return an orthonormal basis, as columns, of all that is orthogonal to one vector."""
    column = np.asarray(vector, dtype=np.float64)[:, None]
    return np.linalg.qr(column, mode="complete").Q[:, 1:]


def bottom(matrix: ArrayLike, d: int) -> Floats:
    """Return B v, v the unit eigenvectors of the d least eigenvalues of B'MB, B a basis of 1-perp.

    Dropping the first eigenvector of M instead goes wrong when the null space holds more than
    the constant: eigh then returns any basis of it, and no vector of that need be constant.
    """
    dense = np.asarray(matrix, dtype=np.float64)
    basis = perpendicular(np.ones(len(dense)))
    reduced = basis.T @ dense @ basis
    vectors: Floats = basis @ np.linalg.eigh((reduced + reduced.T) / 2).eigenvectors[:, :d]
    return vectors


def generalized_bottom(laplacian: ArrayLike, degrees: ArrayLike, d: int) -> Floats:
    """Return the d least solutions of L f = lambda D f other than the constant, with f'Df = 1.

    With g = D^1/2 f the problem is D^-1/2 L D^-1/2 g = lambda g, and the constant is D^1/2 1.
    M. Belkin, P. Niyogi, Neural Computation 15 (2003).
    """
    roots = np.sqrt(np.asarray(degrees, dtype=np.float64))
    if (roots == 0).any():
        raise ValueError("a node without edges has no solution: its degree is zero")
    normalised = np.asarray(laplacian, dtype=np.float64) / np.outer(roots, roots)
    basis = perpendicular(roots)
    reduced = basis.T @ normalised @ basis
    g: Floats = basis @ np.linalg.eigh((reduced + reduced.T) / 2).eigenvectors[:, :d]
    return g / roots[:, None]


def subspace_angle(first: ArrayLike, second: ArrayLike) -> float:
    """Largest principal angle, in radians, between two column spans of equal dimension.

    The sine is |(I - AA')B|, the cosine the least singular value of A'B, for orthonormal A, B.
    arccos alone sees no angle below 1e-8 (cos t = 1 - t^2 / 2); the arctangent of both is good at
    both ends. Columns are not centred. A. Björck, G. H. Golub, Math. Comp. 27 (1973).
    """
    a = np.linalg.qr(np.asarray(first, dtype=np.float64)).Q
    b = np.linalg.qr(np.asarray(second, dtype=np.float64)).Q
    if a.shape != b.shape:
        raise ValueError(f"spans of different shape: {a.shape} and {b.shape}")
    sine = np.linalg.norm(b - a @ (a.T @ b), ord=2)
    cosine = np.linalg.svd(a.T @ b, compute_uv=False).min()
    return float(np.arctan2(sine, cosine))


def procrustes(truth: ArrayLike, embedding: ArrayLike) -> float:
    """Minimise |T - s E R|^2 / |T|^2 over scales s and orthogonal R, T and E centred.

    Reflections are allowed. With the SVD E'T = U S V': R = U V' and s = trace(S) / |E|^2. The
    minimum equals 1 - trace(S)^2 / (|T| |E|)^2, but is summed from the residual, since 1 - x
    cancels near zero.
    P. H. Schönemann, R. M. Carroll, Psychometrika 35 (1970).
    """
    t = np.asarray(truth, dtype=np.float64)
    e = np.asarray(embedding, dtype=np.float64)
    if t.shape != e.shape:
        raise ValueError(f"different shapes: {t.shape} and {e.shape}")
    t = t - t.mean(axis=0)
    e = e - e.mean(axis=0)
    u, s, vt = np.linalg.svd(e.T @ t)
    scale = s.sum() / (e**2).sum()
    return float(((t - scale * e @ u @ vt) ** 2).sum() / (t**2).sum())


def affine_error(truth: ArrayLike, embedding: ArrayLike) -> float:
    """Share of the variance of truth that the best affine map of the embedding leaves.

    min |T - 1 b' - E A|^2 / |T - mean|^2. The local methods return unit vectors, which fix the
    chart only up to an affine map.
    """
    t = np.asarray(truth, dtype=np.float64)
    e = np.asarray(embedding, dtype=np.float64)
    t = t - t.mean(axis=0)
    e = e - e.mean(axis=0)
    solution = np.linalg.lstsq(e, t, rcond=None)[0]
    return float(((t - e @ solution) ** 2).sum() / (t**2).sum())

"""Graphs whose unfolding is known or can be checked, and a certificate in plain NumPy."""

import numpy as np
from scipy.sparse import csr_array

from tests.oracles.neighbors import nearest
from unbend.mvu import Edges, Soft, Unfolding


def path(n: int) -> Edges:
    return Edges(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1))


def cycle(n: int) -> Edges:
    return Edges(n, np.arange(n), (np.arange(n) + 1) % n, np.ones(n))


def star(leaves: int) -> Edges:
    return Edges(leaves + 1, np.zeros(leaves, dtype=int), 1 + np.arange(leaves), np.ones(leaves))


def of_points(points: np.ndarray, k: int) -> Edges:
    near = nearest(points, k)[0]
    rows = np.repeat(np.arange(len(points)), k)
    pairs = np.unique(np.sort(np.column_stack((rows, near.ravel())), axis=1), axis=0)
    squares = np.square(points[pairs[:, 0]] - points[pairs[:, 1]]).sum(axis=1)
    return Edges(len(points), pairs[:, 0], pairs[:, 1], squares)


def lengths(edges: Edges) -> csr_array:
    ends = np.concatenate((edges.first, edges.second)), np.concatenate((edges.second, edges.first))
    values = np.tile(np.sqrt(edges.squares), 2)
    return csr_array((values, ends), shape=(edges.n, edges.n))


def plain_bounds(
    edges: Edges, found: Unfolding, springs: Soft | None = None
) -> tuple[float, float]:
    """Variance of the kernel less the price, and the dual value, by dense loops."""
    y = found.factor - found.factor.mean(axis=0)
    gaps = y[edges.first] - y[edges.second]
    stretch = np.sum(gaps**2, axis=1) / edges.squares - 1.0
    laplacian = np.zeros((edges.n, edges.n))
    for i, j, weight in zip(edges.first, edges.second, found.tensions / edges.squares, strict=True):
        laplacian[i, i] += weight
        laplacian[j, j] += weight
        laplacian[i, j] -= weight
        laplacian[j, i] -= weight
    least = np.linalg.eigvalsh(laplacian)[1]
    tensions = found.tensions / least
    if springs is None:
        assert np.all(stretch <= 0.0)
        assert np.all(tensions >= 0.0)
        return float(np.sum(y**2)), float(tensions.sum())
    price = 0.5 * np.sum(springs.kappa * stretch**2)
    dual = tensions.sum() + 0.5 * np.sum(tensions**2 / springs.kappa)
    return float(np.sum(y**2) - price), float(dual)

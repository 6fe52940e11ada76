"""Sensors in a square, in a C and around a hole, with noisy distances to those in reach."""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree


def places(n: int, seed: int, shape: str = "square") -> np.ndarray:
    rng = np.random.default_rng(seed)
    drawn = rng.random((4 * n, 2))
    if shape == "C":
        drawn = drawn[~((drawn[:, 0] > 0.35) & (np.abs(drawn[:, 1] - 0.5) < 0.2))]
    elif shape == "hole":
        drawn = drawn[np.linalg.norm(drawn - 0.5, axis=1) > 0.3]
    return drawn[:n]


def network(points: np.ndarray, neighbors: float, noise: float, seed: int = 0) -> csr_array:
    """Distances within the radius that gives so many neighbours on average."""
    rng = np.random.default_rng((1, seed))
    n = len(points)
    apart, _ = cKDTree(points).query(points, k=n if n < 200 else 200)
    radius = np.sort(apart[:, 1:], axis=None)[int(neighbors * n)]
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    first, second = pairs.T
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    lengths = np.abs(lengths * (1.0 + noise * rng.standard_normal(len(lengths))))
    ends = np.concatenate((first, second)), np.concatenate((second, first))
    return csr_array((np.tile(lengths, 2), ends), shape=(n, n))


def rigid_error(truth: np.ndarray, found: np.ndarray) -> float:
    """Root mean square distance after the best rigid motion or mirroring; no scaling."""
    a, b = truth - truth.mean(axis=0), found - found.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return float(np.sqrt(np.square(b @ (left @ right) - a).sum(axis=1).mean()))

"""Forces of a neighbour embedding."""

import numpy as np

from unbend.arrays import FloatArray, IntArray


def _splines(place: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """First node, weights (n, 4) and slopes (n, 4) of the cubic B-splines around each place."""
    node = np.floor(place)
    f = place - node
    g = 1.0 - f
    weights = np.stack(
        [g**3, (3 * f - 6) * f**2 + 4, ((-3 * f + 3) * f + 3) * f + 1, f**3], axis=-1
    )
    slopes = np.stack(
        [-0.5 * g**2, (1.5 * f - 2) * f, (-1.5 * f + 1) * f + 0.5, 0.5 * f**2], axis=-1
    )
    return node.astype(np.int64), weights / 6.0, slopes


def _stencil(
    points: FloatArray, origin: FloatArray, spacing: float, nodes: int
) -> tuple[IntArray, FloatArray, list[FloatArray]]:
    """Flat nodes (n, 4^d) around each point, their weights and the slopes along each axis."""
    n, d = points.shape
    parts = [_splines((points[:, a].astype(np.float64) - origin[a]) / spacing) for a in range(d)]
    flat = np.zeros((n, 1), dtype=np.int64)
    weight = np.ones((n, 1))
    slopes = [np.ones((n, 1)) for _ in range(d)]
    for axis, (node, weights, slope) in enumerate(parts):
        flat = (flat[:, :, None] * nodes + (node[:, None] + np.arange(4))[:, None]).reshape(n, -1)
        weight = (weight[:, :, None] * weights[:, None]).reshape(n, -1)
        slopes = [
            (s[:, :, None] * (slope if a == axis else weights)[:, None]).reshape(n, -1)
            for a, s in enumerate(slopes)
        ]
    return flat, weight, slopes


def spread_density(
    points: FloatArray,
    origin: FloatArray,
    spacing: float,
    nodes: int,
    threads: int,
    density: FloatArray,
) -> None:
    """Fill a mesh of `nodes` per axis, flat, with the cubic B-splines of all points (n, d)."""
    flat, weight, _ = _stencil(points, origin, spacing, nodes)
    density[:] = np.bincount(flat.ravel(), weight.ravel(), minlength=len(density))


def gather_forces(
    points: FloatArray,
    origin: FloatArray,
    spacing: float,
    nodes: int,
    potential: FloatArray,
    threads: int,
    forces: FloatArray,
) -> None:
    """Fill −½ ∇φ (n, d) at each point, where φ is the spline of the potential on the mesh."""
    flat, _, slopes = _stencil(points, origin, spacing, nodes)
    for axis, slope in enumerate(slopes):
        forces[:, axis] = -0.5 / spacing * np.sum(potential[flat] * slope, axis=1)


def attract(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    points: FloatArray,
    others: FloatArray,
    threads: int,
    forces: FloatArray,
) -> None:
    """Fill Σ_j p_ij (y_i − z_j) / (1 + |y_i − z_j|²) over the stored entries of each row."""
    rows = np.repeat(np.arange(len(points)), np.diff(offsets))
    away = points[rows].astype(np.float64) - others[indices]
    pull = weights / (1.0 + np.square(away).sum(axis=1))
    for axis in range(points.shape[1]):
        forces[:, axis] = np.bincount(rows, pull * away[:, axis], minlength=len(points))


def repel_exactly(
    points: FloatArray,
    others: FloatArray,
    threads: int,
    forces: FloatArray,
    normalizers: FloatArray,
) -> None:
    """Fill Σ_j w² (y_i − z_j) and Σ_j w over all j, with w = 1 / (1 + |y_i − z_j|²)."""
    for i, point in enumerate(points.astype(np.float64)):
        away = point - others
        w = 1.0 / (1.0 + np.square(away).sum(axis=1))
        forces[i] = (w**2) @ away
        normalizers[i] = w.sum()

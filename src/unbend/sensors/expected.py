"""How far positions are expected to be from the truth."""

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.sensors.springs import Springs

# Draws of noise by which errors are estimated: each is known to about a tenth.
DRAWS = 64
# Added to the curvature, relative, so that rigid motions do not make it singular.
RIDGE = 1e-9


def noise_level(springs: Springs, positions: FloatArray) -> float:
    """Estimate the standard deviation of √w (|yᵢ − yⱼ| − d), by what is left of the errors."""
    n, dim = positions.shape
    spare = springs.edges.m - (n * dim - dim * (dim + 1) // 2)
    if spare < 1:
        return np.nan
    return float(np.sqrt(2.0 * springs.stress(positions) / spare))


def expected_errors(
    springs: Springs,
    positions: FloatArray,
    noise: float,
    anchors: BoolArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw noise, see how positions answer to first order, and align as the answer will be.

    The covariance of the answers is that of Gauss–Markov, noise² (J'WJ)⁺; a rigid motion that
    the anchors, or all sensors, would have taken back is taken back.
    """
    edges = springs.edges
    differences = edges.differences(positions)
    reached = np.maximum(np.linalg.norm(differences, axis=1), 1e-9 * springs.lengths)
    drawn = rng.standard_normal((edges.m, DRAWS)) * (noise * np.sqrt(springs.weights))[:, None]
    units = differences / reached[:, None]
    forces = np.stack([edges.incidence @ (units[:, [c]] * drawn) for c in range(springs.dim)], 1)
    matrix = springs.curvature(positions, 0.0)
    solver = springs.solver(matrix, RIDGE * float(matrix.diagonal().mean()))
    moved = solver.solve(forces)
    motions = _rigid_motions(positions)
    fixed = anchors if anchors.any() else np.ones(len(positions), dtype=bool)
    seen = motions[fixed].reshape(-1, motions.shape[2])
    taken, *_ = np.linalg.lstsq(seen, moved[fixed].reshape(len(seen), -1), rcond=None)
    left = moved - np.einsum("ijk,kl->ijl", motions, taken)
    return np.asarray(np.sqrt(np.square(left).sum(axis=1).mean(axis=1)))


def _rigid_motions(positions: FloatArray) -> FloatArray:
    """Velocities (n, dim, q) of translations and of turns in every plane."""
    n, dim = positions.shape
    found = [np.tile(np.eye(dim)[axis], (n, 1)) for axis in range(dim)]
    centred = positions - positions.mean(axis=0)
    for first in range(dim):
        for second in range(first + 1, dim):
            turn = np.zeros((n, dim))
            turn[:, first], turn[:, second] = -centred[:, second], centred[:, first]
            found.append(turn)
    return np.stack(found, axis=2)

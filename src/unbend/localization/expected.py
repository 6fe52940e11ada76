"""How far positions are expected to be from the truth."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.localization.springs import Springs

# Draws of noise by which errors are estimated: each is known to about a tenth.
DRAWS = 64
# Added to the curvature, relative, so that rigid motions do not make it singular.
RIDGE = 1e-9


def root_mean_square(values: FloatArray) -> float:
    """Of the values that are known; NaN if none is."""
    known = values[np.isfinite(values)]
    if not known.any():
        return 0.0 if len(known) else np.nan
    largest = np.abs(known).max()
    return float(largest * np.sqrt(np.square(known / largest).mean()))


def noise_level(springs: Springs, positions: FloatArray, held: BoolArray) -> float:
    """Estimate the standard deviation of √w (|yᵢ − yⱼ| − d), by what is left of the errors.

    Only among sensors that are held: the distances of others are met whatever their errors.
    """
    edges, dim = springs.edges, positions.shape[1]
    inside = held[edges.first] & held[edges.second]
    spare = int(inside.sum()) - (int(held.sum()) * dim - dim * (dim + 1) // 2)
    if spare < 1 or not held.any():
        return np.nan
    squares = springs.weights * np.square(springs.errors(positions))
    return float(np.sqrt(squares[inside].sum() / spare))


@dataclass(frozen=True, eq=False)
class Answers:
    """How positions answer, to first order, to noise drawn for the distances: moves (n, dim, q).

    Their covariance is that of Gauss–Markov, noise² (J'WJ)⁺, up to a rigid motion.
    """

    positions: FloatArray
    moves: FloatArray

    @classmethod
    def to_noise(
        cls, springs: Springs, positions: FloatArray, noise: float, rng: np.random.Generator
    ) -> "Answers":
        """Draw noise, and see how positions answer."""
        edges = springs.edges
        differences = edges.differences(positions)
        reached = np.maximum(np.linalg.norm(differences, axis=1), 1e-9 * springs.lengths)
        drawn = rng.standard_normal((edges.m, DRAWS)) * (noise * np.sqrt(springs.weights))[:, None]
        units = differences / reached[:, None]
        forces = np.stack(
            [edges.incidence @ (units[:, [c]] * drawn) for c in range(springs.dim)], 1
        )
        matrix = springs.curvature(positions, 0.0)
        solver = springs.solver(matrix, RIDGE * float(matrix.diagonal().mean()))
        return cls(positions, solver.solve(forces))

    def errors(self, fixed: BoolArray) -> FloatArray:
        """Root mean square of moves (n,), once some sensors have taken a rigid motion back."""
        if not fixed.any() or np.isnan(self.moves).any():
            return np.full(len(self.positions), np.nan)
        motions = _rigid_motions(self.positions)
        seen = motions[fixed].reshape(-1, motions.shape[2])
        wanted = self.moves[fixed].reshape(len(seen), -1)
        taken, *_ = np.linalg.lstsq(seen, wanted, rcond=None)
        left = self.moves - np.einsum("ijk,kl->ijl", motions, taken)
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

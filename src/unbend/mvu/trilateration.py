"""New rows of which only distances to fitted ones are known, placed among unfolded coordinates."""

from dataclasses import dataclass
from typing import final

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.extension import NeighborExtension
from unbend.local import barycentric_weights
from unbend.neighbors.space import centered_gram, principal
from unbend.report import step


@final
@dataclass(frozen=True, eq=False)
class Trilateration(NeighborExtension):
    """y = Σ w_j y_j with weights that fit the distances of a new row to its neighbours.

    A graph does not say how far these are from each other; the unfolding does, to the accuracy
    with which it keeps lengths.
    """

    coordinates: FloatArray
    reg: float = 1e-3

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new rows."""
        far = np.isinf(distances)
        indices = np.where(far, indices[:, :1], indices)
        distances = np.where(far, distances[:, :1], distances)
        m, k = indices.shape
        placed = np.empty((m, self.coordinates.shape[1]))
        for rows in row_chunks(m, 32 * (k + 1) ** 2, 1 << 22):
            near = self.coordinates[indices[rows]]
            block = np.zeros((len(near), k + 1, k + 1))
            block[:, 1:, 1:] = np.linalg.norm(near[:, :, None] - near[:, None], axis=3)
            block[:, 0, 1:] = block[:, 1:, 0] = distances[rows]
            weights = barycentric_weights(principal(centered_gram(block)), self.reg)
            placed[rows] = np.einsum("ij,ijk->ik", weights, near)
            step(rows.stop, m)
        return placed

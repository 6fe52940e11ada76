"""Coordinates from graph distances: landmark Isomap, and trilateration of new samples."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.extension import NeighborExtension
from unbend.graphs import geodesics
from unbend.local import barycentric_weights
from unbend.mvu.edges import Edges
from unbend.neighbors.space import centered_gram, principal_coordinates
from unbend.report import ask, step

# Largest number of landmarks.
LANDMARKS = 200
# Relative size of the random perturbation, so that no column is zero and none a duplicate.
JITTER = 1e-3


def landmark_isomap(
    edges: Edges, rank: int, rng: np.random.Generator, threads: int = 1
) -> FloatArray:
    """Coordinates (n, rank) by landmark Isomap (de Silva and Tenenbaum, 2003).

    Columns without a positive eigenvalue are small and random, so that a solver can use them.
    """
    n = edges.n
    ends = (
        np.concatenate((edges.first, edges.second)),
        np.concatenate((edges.second, edges.first)),
    )
    lengths = csr_array((np.tile(np.sqrt(edges.squares), 2), ends), shape=(n, n))
    chosen = np.arange(n) if n <= LANDMARKS else np.sort(rng.choice(n, LANDMARKS, replace=False))
    squares = np.square(geodesics(lengths, chosen, threads=threads))
    ask()
    between = squares[:, chosen]
    centered = between - between.mean(axis=0) - between.mean(axis=1)[:, None] + between.mean()
    values, vectors = np.linalg.eigh(-0.5 * centered)
    values, vectors = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    used = values > JITTER**2 * values[0]
    weights = vectors[:, used] / np.sqrt(values[used])
    found = np.zeros((n, rank))
    found[:, : weights.shape[1]] = -0.5 * (squares - between.mean(axis=1)[:, None]).T @ weights
    ask()
    spread = float(np.sqrt(np.square(found).mean()))
    return found + JITTER * spread * rng.standard_normal(found.shape)


@final
@dataclass(frozen=True, eq=False)
class Trilateration(NeighborExtension):
    """y = Σ w_j y_j with weights fitted to the distances of a new sample to its neighbours.

    Distances between these are taken from the embedding, since a graph does not have them all.
    """

    coordinates: FloatArray
    reg: float = 1e-3

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Embed new samples."""
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
            weights = barycentric_weights(principal_coordinates(centered_gram(block)), self.reg)
            placed[rows] = np.einsum("ij,ijk->ik", weights, near)
            step(rows.stop, m)
        return placed

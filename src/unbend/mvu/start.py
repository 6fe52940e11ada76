"""Where the search for an unfolding begins."""

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.graphs import geodesics
from unbend.mvu.edges import Edges

# Landmarks of the start; all rows where there are fewer.
LANDMARKS = 200
# Size of what is added, relative to the spread, so that no column is zero and none a copy.
JITTER = 1e-3


def landmark_isomap(edges: Edges, rank: int, rng: np.random.Generator) -> FloatArray:
    """Coordinates (n, rank) by landmark Isomap (de Silva and Tenenbaum, 2003).

    Columns without a positive eigenvalue are small and random, so that the search may use them.
    """
    n = edges.n
    ends = (
        np.concatenate((edges.first, edges.second)),
        np.concatenate((edges.second, edges.first)),
    )
    lengths = csr_array((np.tile(np.sqrt(edges.squares), 2), ends), shape=(n, n))
    chosen = np.arange(n) if n <= LANDMARKS else np.sort(rng.choice(n, LANDMARKS, replace=False))
    squares = np.square(geodesics(lengths, chosen))
    between = squares[:, chosen]
    centred = between - between.mean(axis=0) - between.mean(axis=1)[:, None] + between.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    values, vectors = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    used = values > JITTER**2 * values[0]
    weights = vectors[:, used] / np.sqrt(values[used])
    found = np.zeros((n, rank))
    found[:, : weights.shape[1]] = -0.5 * (squares - between.mean(axis=1)[:, None]).T @ weights
    spread = float(np.sqrt(np.square(found).mean()))
    return found + JITTER * spread * rng.standard_normal(found.shape)

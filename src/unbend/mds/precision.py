"""Where pairs are kept in single precision: half the memory, twice the speed."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist, squareform

from unbend.arrays import FloatArray, IntArray
from unbend.gram import Gram
from unbend.mds.pairs import Precision

# Up to this many objects all pairs are double precision.
DOUBLE_OBJECTS = 1000
# Objects whose stress stands for that of all, and the least stress that single precision is for.
SAMPLE_OBJECTS, LEAST_STRESS = 100, 1e-2
# Largest dissimilarities of the sample whose squares single precision holds with room to spare.
SINGLE_RANGE = (1e-12, 1e12)


def pair_precision(n: int, between: Callable[[IntArray], FloatArray], d: int) -> Precision:
    """Precision of the pairs of n objects that are scaled to d dimensions.

    Rounding dissimilarities by shares of u = 6e-8 moves the stress-1 of every configuration by at
    most u. Single precision is used where stress-1 is at least 1e-2, as estimated by classical
    scaling of a sample: it then moves by less than 1e-5 of itself. Smaller stress, as of a table
    whose columns have different units, unknown pairs in the sample, and very large or small
    dissimilarities need double precision.

    Parameters
    ----------
    n : int
        Number of objects.
    between : callable
        Dissimilarities (m, m) between some objects, NaN where not known.
    d : int
        Dimension of the configuration.
    """
    if n <= DOUBLE_OBJECTS:
        return np.float64
    sample = between(np.linspace(0, n - 1, SAMPLE_OBJECTS).astype(np.intp))
    if not np.isfinite(sample).all() or not SINGLE_RANGE[0] < sample.max() < SINGLE_RANGE[1]:
        return np.float64
    return np.float32 if classical_stress(sample, d) >= LEAST_STRESS else np.float64


def classical_stress(distances: FloatArray, d: int) -> float:
    """Stress-1 of the classical scaling of distances (m, m)."""
    scaled = distances / distances.max()
    values, vectors = np.linalg.eigh(Gram(scaled).form())
    coordinates = vectors[:, -d:] * np.sqrt(np.maximum(values[-d:], 0.0))
    given = squareform(scaled, checks=False)
    return float(np.linalg.norm(pdist(coordinates) - given) / np.linalg.norm(given))

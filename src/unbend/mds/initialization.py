"""Initial configurations, and the precision of the pairs."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import fix_signs, solve
from unbend.gram import Gram
from unbend.graphs import components, geodesics
from unbend.mds.object_pairs import Pairs, Precision
from unbend.neighbors import Space

# Largest number of objects whose pairs are always double precision.
DOUBLE_OBJECTS = 1000
# Objects of the sample that estimates the stress, and the least stress for single precision.
SAMPLE_OBJECTS, LEAST_STRESS = 100, 1e-2
# Largest dissimilarities of the sample whose squares are far from the limits of single precision.
SINGLE_RANGE = (1e-12, 1e12)


def pair_precision(n: int, between: Callable[[IntArray], FloatArray], d: int) -> Precision:
    """Precision of the pairs of n objects for an embedding of dimension d: half the memory or not.

    Rounding dissimilarities by relative errors u = 6e-8 changes the stress-1 of every configuration
    by at most u. Single precision is used where stress-1 is at least 1e-2, as estimated by
    classical scaling of a sample: it then changes by less than 1e-5 of itself. Smaller stress, as
    of a table whose columns have different units, unknown pairs in the sample, and very large or
    small dissimilarities need double precision.

    Parameters
    ----------
    n : int
        Number of objects.
    between : callable
        Dissimilarities (m, m) between some objects, NaN where unknown.
    d : int
        Embedding dimension.
    """
    if n <= DOUBLE_OBJECTS:
        return np.float64
    sample = between(np.linspace(0, n - 1, SAMPLE_OBJECTS).astype(np.intp))
    if not np.isfinite(sample).all() or not SINGLE_RANGE[0] < sample.max() < SINGLE_RANGE[1]:
        return np.float64
    return np.float32 if classical_stress(sample, d) >= LEAST_STRESS else np.float64


def classical_stress(distances: FloatArray, d: int) -> float:
    """Stress-1 of classical scaling of distances (m, m)."""
    scaled = distances / distances.max()
    values, vectors = np.linalg.eigh(Gram(scaled).form())
    coordinates = vectors[:, -d:] * np.sqrt(np.maximum(values[-d:], 0.0))
    given = squareform(scaled, checks=False)
    return float(np.linalg.norm(pdist(coordinates) - given) / np.linalg.norm(given))


# Pivots of pivot MDS.
PIVOTS = 100


def principal_axes(configuration: FloatArray) -> FloatArray:
    """Centre a configuration and rotate it to its principal axes, with fixed signs.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> turned = mds.principal_axes(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> np.abs(turned).round(6)
    array([[2., 0.],
           [0., 0.],
           [2., 0.]])
    """
    centered = configuration - configuration.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return fix_signs(centered @ axes[:, ::-1])


def linear(points: FloatArray, d: int) -> FloatArray:
    """Principal components, the classical scaling of Euclidean distances."""
    centered = points - points.mean(axis=0)
    found = centered @ np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :d]
    return _pad_columns(found, d)


def classical(pairs: Pairs, d: int, rng: np.random.Generator, threads: int) -> FloatArray:
    """Classical scaling; unknown distances are replaced by shortest paths of known ones."""
    gram = Gram(_complete_matrix(pairs, threads), threads=threads)
    return gram.coordinates(solve(gram.problem(), d, "auto", rng))


def pivot(distances: FloatArray, d: int) -> FloatArray:
    """Pivot MDS (Brandes and Pich, 2007) of distances (k, n) from k objects to all n."""
    squares = np.square(distances, dtype=np.float64).T
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True)
    centered = -0.5 * (centered + squares.mean())
    values, vectors = np.linalg.eigh(centered.T @ centered)
    singular = np.sqrt(np.maximum(values[::-1][:d], 1e-300))
    # With k of n columns the singular values are about √(k/n) of the full kernel's eigenvalues.
    eigenvalues = singular * np.sqrt(len(squares) / len(distances))
    return _pad_columns(centered @ vectors[:, ::-1][:, :d] / singular * np.sqrt(eigenvalues), d)


def pivot_distances(pairs: Pairs, rng: np.random.Generator, threads: int) -> FloatArray:
    """Distances from random pivots to all objects; unknown ones are shortest paths."""
    chosen = np.sort(rng.choice(pairs.n, min(PIVOTS, pairs.n), replace=False))
    if pairs.ends is not None or (pairs.weights is not None and not pairs.weights.all()):
        return geodesics(known_graph(pairs), chosen, threads=threads)
    everyone = np.arange(pairs.n)
    rows = np.zeros((len(chosen), pairs.n))
    for row, object_ in zip(rows, chosen, strict=True):
        others = everyone[everyone != object_]
        row[others] = pairs.dissimilarities[pairs.index(np.full(len(others), object_), others)]
    return rows


def random(pairs: Pairs, d: int, rng: np.random.Generator) -> FloatArray:
    """Draw normal coordinates whose mean squared distance is that of the dissimilarities."""
    known = pairs.sum(np.ones(len(pairs.dissimilarities)))
    square = pairs.sum(pairs.dissimilarities.astype(np.float64) ** 2) / max(known, 1.0)
    return rng.normal(scale=np.sqrt(square / (2 * d)), size=(pairs.n, d))


def _complete_matrix(pairs: Pairs, threads: int) -> FloatArray:
    square = pairs.square()
    unknown = np.isnan(square)
    if unknown.any():
        rows, columns = np.nonzero(~unknown)
        known = csr_array((square[rows, columns], (rows, columns)), shape=square.shape)
        paths = geodesics(known, threads=threads)
        square[unknown] = paths[unknown]
    return square


def count_components(pairs: Pairs) -> int:
    """Count the connected components of the graph of known pairs."""
    if pairs.weights is None and pairs.ends is None:
        return 1
    return int(components(known_graph(pairs)).max()) + 1


def known_graph(pairs: Pairs) -> csr_array:
    """Symmetric graph of the known pairs; a zero dissimilarity is a stored edge."""
    rows, columns = pairs.all_ends()
    lengths = pairs.dissimilarities.astype(np.float64)
    if pairs.weights is not None:
        known = pairs.weights > 0
        rows, columns, lengths = rows[known], columns[known], lengths[known]
    ends = (np.r_[rows, columns], np.r_[columns, rows])
    return csr_array((np.r_[lengths, lengths], ends), shape=(pairs.n, pairs.n))


def _pad_columns(found: FloatArray, d: int) -> FloatArray:
    """Append columns of zeros up to dimension d."""
    return np.pad(found, ((0, 0), (0, d - found.shape[1])))


def sample_pivot_distances(space: Space, rng: np.random.Generator) -> FloatArray:
    """Distances from random pivots to all rows of a space."""
    chosen = np.sort(rng.choice(space.n, min(PIVOTS, space.n), replace=False))
    return space.distances_of(space.rows(chosen))

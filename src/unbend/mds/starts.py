"""Where minimisation begins."""

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.eigen import fix_signs, solve
from unbend.gram import Gram
from unbend.graphs import components, geodesics
from unbend.mds.pairs import Pairs
from unbend.neighbors import Space

# Objects whose distances to all others a pivot start takes.
PIVOTS = 100


def principal_axes(configuration: FloatArray) -> FloatArray:
    """Centre a configuration and turn it to its principal axes, with fixed signs."""
    centred = configuration - configuration.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return fix_signs(centred @ axes[:, ::-1])


def linear(points: FloatArray, d: int) -> FloatArray:
    """Principal components: what classical scaling of Euclidean distances gives."""
    centred = points - points.mean(axis=0)
    if centred.shape[1] > len(centred):
        values, vectors = np.linalg.eigh(centred @ centred.T)
        found = vectors[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 0.0))
    else:
        found = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :d]
    return _widened(found, d)


def classical(pairs: Pairs, d: int, rng: np.random.Generator, threads: int) -> FloatArray:
    """Classical scaling; distances that are not known go along the shortest path of known ones."""
    gram = Gram(_completed(pairs, threads), threads=threads)
    return gram.coordinates(solve(gram.problem(), d, "auto", rng))


def pivot(distances: FloatArray, d: int) -> FloatArray:
    """Pivot MDS (Brandes and Pich, 2007) of distances (k, n) from k objects to all n."""
    squares = np.square(distances, dtype=np.float64).T
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True)
    centred = -0.5 * (centred + squares.mean())
    values, vectors = np.linalg.eigh(centred.T @ centred)
    singular = np.sqrt(np.maximum(values[::-1][:d], 1e-300))
    # With k of n columns the singular values are about √(k/n) of the full kernel's eigenvalues.
    eigenvalues = singular * np.sqrt(len(squares) / len(distances))
    return _widened(centred @ vectors[:, ::-1][:, :d] / singular * np.sqrt(eigenvalues), d)


def pivots_of(pairs: Pairs, rng: np.random.Generator, threads: int) -> FloatArray:
    """Distances of some objects, chosen at random, to all; unknown ones along known paths."""
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
    """Draw normal coordinates with distances of about the right size."""
    known = pairs.sum(np.ones(len(pairs.dissimilarities)))
    square = pairs.sum(pairs.dissimilarities.astype(np.float64) ** 2) / max(known, 1.0)
    return rng.normal(scale=np.sqrt(square / (2 * d)), size=(pairs.n, d))


def _completed(pairs: Pairs, threads: int) -> FloatArray:
    square = pairs.square()
    unknown = np.isnan(square)
    if unknown.any():
        rows, columns = np.nonzero(~unknown)
        known = csr_array((square[rows, columns], (rows, columns)), shape=square.shape)
        paths = geodesics(known, threads=threads)
        square[unknown] = paths[unknown]
    return square


def parts(pairs: Pairs) -> int:
    """Count the parts between which no distance is known."""
    if pairs.weights is None and pairs.ends is None:
        return 1
    return int(components(known_graph(pairs)).max()) + 1


def known_graph(pairs: Pairs) -> csr_array:
    """Known pairs as the edges of a graph, both ways; a dissimilarity of zero is one too."""
    rows, columns = pairs.all_ends()
    lengths = pairs.dissimilarities.astype(np.float64)
    if pairs.weights is not None:
        known = pairs.weights > 0
        rows, columns, lengths = rows[known], columns[known], lengths[known]
    ends = (np.r_[rows, columns], np.r_[columns, rows])
    return csr_array((np.r_[lengths, lengths], ends), shape=(pairs.n, pairs.n))


def _widened(found: FloatArray, d: int) -> FloatArray:
    """Add columns of zeros where there are fewer than d."""
    return np.pad(found, ((0, 0), (0, d - found.shape[1])))


def pivots_among(space: Space, rng: np.random.Generator) -> FloatArray:
    """Distances of some rows of a space, chosen at random, to all."""
    chosen = np.sort(rng.choice(space.n, min(PIVOTS, space.n), replace=False))
    return space.distances_of(space.rows(chosen))

"""Spectral embedding of all pairs of rows from a few columns of affinities (slides (69)).

W ≈ C A⁻¹ C' gives every degree, d = C A⁻¹ C'1, and with it the columns of D^-½ W D^-½, whose
leading eigenvectors are the bottom of the normalised Laplacian (Fowlkes, Belongie, Chung and Malik,
IEEE PAMI 26, 2004). No neighbourhoods, no n × n matrix: five passes over n × m affinities.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks, row_products
from unbend.gram.columns import ColumnPasses
from unbend.graphs.weights import weights_of
from unbend.lowrank.nystrom import column_axes, inverse_root
from unbend.neighbors import Space

# Degrees below this share of the greatest are what the approximation lost: they are raised to it.
LEAST_DEGREE = 1e-6


@dataclass(frozen=True, eq=False)
class SpectralColumns:
    """Eigenvectors f of W f = λ D f, at any row from its affinities to the landmarks.

    The eigenvector to λ = 1, which is constant, is the first. `vectors` are f at all rows, with
    unit length in D; `degree` is d = c'`degree_weights`, at least `least`, and D^½ f =
    (c/√d)'`weights`; `volume` is the sum of all degrees.
    """

    values: FloatArray
    vectors: FloatArray
    degree: FloatArray
    degree_weights: FloatArray
    weights: FloatArray
    least: float
    volume: float

    def __call__(self, affinities: FloatArray) -> FloatArray:
        """Extend f to rows whose affinities (rows, m) to the landmarks are given."""
        degree = np.maximum(affinities @ self.degree_weights, self.least)
        return np.asarray(affinities @ self.weights / degree[:, None])


def spectral_columns(columns: ColumnPasses, count: int) -> SpectralColumns:
    """Find `count` eigenvectors of the random walk on all rows, the constant one included.

    `columns` pass −2w(x, x_j) for affinities w, as `SimilarityColumns` do.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.spatial.distance import cdist
    >>> from unbend.gram.columns import SimilarityColumns
    >>> points = np.repeat([0.0, 1.0], 50)[:, None] + np.linspace(0, 0.1, 100)[:, None]
    >>> few = np.arange(0, 100, 10)
    >>> columns = SimilarityColumns(points, few, lambda x: np.exp(-9 * cdist(x, points[few]) ** 2))
    >>> found = spectral_columns(columns, 2)
    >>> second = found.vectors[:, 1]
    >>> bool(np.all(second[:50] * second[0] > 0) and np.all(second[50:] * second[0] < 0))
    True
    """
    block = -0.5 * columns.squares_between()
    root = inverse_root(block)
    total = columns.reduce_blocks(lambda s: -0.5 * s.sum(axis=0))
    degree_weights = root @ (root.T @ total)
    largest = columns.reduce_blocks(
        lambda s: np.max(-0.5 * (s @ degree_weights), keepdims=True), np.maximum
    )
    least = LEAST_DEGREE * float(largest[0])

    def degrees(s: FloatArray) -> FloatArray:
        return np.maximum(-0.5 * (s @ degree_weights), least)

    def products(s: FloatArray) -> FloatArray:
        degree = degrees(s)
        scaled = -0.5 * (s @ root) / np.sqrt(degree)[:, None]
        return np.append((scaled.T @ scaled).ravel(), degree.sum())

    sums = columns.reduce_blocks(products)
    cross = sums[:-1].reshape(root.shape[1], root.shape[1])
    found, axes = column_axes(root, cross, count)
    # Axes give D^½ f √λ; unit vectors take one division more.
    weights = axes / np.sqrt(np.maximum(found, np.finfo(np.float64).tiny))
    degree = columns.collect(degrees)
    vectors = columns.collect(lambda s: -0.5 * (s @ weights)) / degree[:, None]
    volume = float(sums[-1])
    return SpectralColumns(found, vectors, degree, degree_weights, weights, least, volume)


@dataclass(frozen=True, eq=False)
class WeightedDistances:
    """Affinities w(d(x, x_j)) of rows to the landmarks, which are some rows of a space."""

    space: Space
    landmarks: IntArray
    weight: Callable[[FloatArray], FloatArray]

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return an array (rows, m)."""
        near = self.space.take(self.landmarks)
        distances = near.distances_of(self.space.narrow(rows, self.landmarks))
        return weights_of(distances, self.weight)


@dataclass(frozen=True, eq=False)
class SpectralPlaces:
    """New samples by the affinities to the landmarks: f, or D^½ f where `scaled`.

    `axes` turn affinities into f times the degree, whose share of the whole is at least `least`.
    """

    affinities: WeightedDistances
    axes: FloatArray
    degree_weights: FloatArray
    least: float
    scaled: bool

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        placed = np.empty((len(new), self.axes.shape[1]))
        for rows in row_chunks(len(new), 16 * len(self.axes)):
            affinities = self.affinities(new[rows])
            degree = row_products(affinities, self.degree_weights[:, None])
            degree = np.maximum(degree, self.least)
            sums = row_products(affinities, self.axes)
            placed[rows] = sums / (np.sqrt(degree) if self.scaled else degree)
        return placed

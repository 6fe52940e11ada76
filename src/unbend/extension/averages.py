"""Extensions by weighted averages over the nearest fitted rows."""

from dataclasses import dataclass
from typing import final

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.extension.extension import NeighborExtension, Rule
from unbend.graphs.weights import Affinity, Weight
from unbend.local import barycentric_weights
from unbend.neighbors import Neighbors, PointSpace, Space
from unbend.validation.arrays import stored_type

# Least share of the degree by which a sum over neighbours is divided.
LEAST_SHARE = 0.1
# Multiple of the distance of its farthest neighbour from which on a row is on another sheet.
APART = 2.0
# Least ridge with which the equations of weights are solved by columns: they lose its digits.
LEAST_REG = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Barycentric(NeighborExtension):
    """y = Σ w_j y_j over the nearest fitted rows, with the weights that write x by the x_j."""

    coordinates: FloatArray
    reg: float = 1e-3

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        placed = np.empty((len(new), self.coordinates.shape[1]))
        left = self._place_in_few_columns(new, indices, placed)
        for rows in row_chunks(len(left), 32 * (indices.shape[1] + 1) ** 2, 1 << 22):
            near = indices[left[rows]]
            local = self.space.coordinates_of(new[left[rows]], near)
            weights = barycentric_weights(local, self.reg)
            placed[left[rows]] = np.einsum("ij,ijk->ik", weights, self.coordinates[near])
        return placed

    def _place_in_few_columns(
        self, new: FloatArray, indices: IntArray, placed: FloatArray
    ) -> IntArray:
        """Place samples that have no more columns than neighbours; return those that are left."""
        everyone = np.arange(len(new))
        space, k = self.space, indices.shape[1]
        few = isinstance(space, PointSpace) and space.is_euclidean and space.features.shape[1] <= k
        if not few or self.reg < LEAST_REG or not len(new):
            return everyone
        assert isinstance(space, PointSpace)
        kernels.place_barycentric(
            np.ascontiguousarray(space.features, dtype=stored_type(space.features)),
            _doubles(self.coordinates),
            _doubles(space.features_of(new)),
            np.ascontiguousarray(indices, dtype=np.int32),
            self.reg,
            space.workers,
            placed,
        )
        return everyone[~np.isfinite(placed).all(axis=1)]


@final
@dataclass(frozen=True, eq=False)
class BarycentricOnSheet(NeighborExtension):
    """The same by rows on the sheet of the nearest one: some of the nearest may lie on another.

    A sample between two sheets has neighbours on both, which lie far from each other in the chart;
    weights of both would place it between them. `reach` is the distance in the chart from each
    fitted row to the farthest of its neighbours.
    """

    coordinates: FloatArray
    reach: FloatArray

    @classmethod
    def of(
        cls, space: Space, rule: Rule, coordinates: FloatArray, neighbors: Neighbors
    ) -> "BarycentricOnSheet":
        """Measure how far the neighbours of each row lie in the chart."""
        rows = neighbors.rows
        away = np.linalg.norm(coordinates[neighbors.indices] - coordinates[rows], axis=1)
        reach = np.zeros(len(coordinates))
        np.maximum.at(reach, rows, away)
        return cls(space, rule, coordinates, reach)

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        places, nearest = self.coordinates, indices[:, 0]
        away = np.linalg.norm(places[indices] - places[nearest, None], axis=2).max(axis=1)
        mixed = np.flatnonzero(away > APART * self.reach[nearest])
        if len(mixed):
            chart = PointSpace(places)
            near, _ = chart.nearest_of(places[nearest[mixed]], indices.shape[1])
            indices = indices.copy()
            indices[mixed] = near
        by_weights = Barycentric(self.space, self.rule, places)
        return by_weights.place(new, indices, distances)


@final
@dataclass(frozen=True, eq=False)
class Harmonic(NeighborExtension):
    """Laplacian eigenvectors extended to new samples (Bengio et al., 2004).

    L f = λ M f read at one vertex, (d − λ m) f(x) = Σ_j w(x, x_j) f_j, with m = d or m = 1; the
    D^½ scaling multiplies by √d. A fitted row of mass m counts as m rows in one place.
    """

    weight: Weight
    vectors: FloatArray
    values: FloatArray
    plain: bool
    scaled: bool
    masses: FloatArray | None = None

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        near = np.isfinite(distances)
        # The nearest row is a neighbour, however far: its distance fills the gaps.
        weights = np.where(near, self.weight(np.where(near, distances, distances[:, :1])), 0.0)
        _follow_nearest_where_vanished(weights)
        if self.masses is not None:
            weights = weights * self.masses[indices]
        degree = weights.sum(axis=1, keepdims=True)
        sums = _combine(self.space, self.vectors, indices, weights)
        own = degree - self.values * (1.0 if self.plain else degree)
        # Rough vectors, of eigenvalues near the degree, would be blown up: nothing is known of
        # them between the fitted rows, so they are only averaged.
        placed = sums / np.maximum(own, LEAST_SHARE * degree)
        return np.asarray(placed * np.sqrt(degree) if self.scaled else placed)


@final
@dataclass(frozen=True, eq=False)
class DiffusionExtension(NeighborExtension):
    """Eigenvectors of a diffusion extended to new samples: λ f(x) = Σ_j p(x, x_j) f_j.

    p(x, ·) are the affinities of x, normalised as those of the fitted rows were. A fitted row has
    itself among its neighbours, so the formula is exact there and continuous around it. With a
    `volume`, f is multiplied by φ₀(x), the root of the share of x in it. A fitted row of mass m
    counts as m rows in one place.
    """

    affinity: Affinity
    density: FloatArray
    vectors: FloatArray
    values: FloatArray
    alpha: float
    volume: float | None = None
    masses: FloatArray | None = None

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        weights = self.affinity.of_new(indices, distances)
        _follow_nearest_where_vanished(weights)
        if self.masses is not None:
            weights = weights * self.masses[indices]
        own = weights.sum(axis=1, keepdims=True) ** self.alpha
        weights = weights / self.density[indices]
        degree = weights.sum(axis=1, keepdims=True)
        placed = _combine(self.space, self.vectors, indices, weights / degree) / self.values
        if self.volume is None:
            return np.asarray(placed)
        return np.asarray(placed * np.sqrt(degree / own / self.volume))


def _follow_nearest_where_vanished(weights: FloatArray) -> None:
    """Give samples so far that all their weights vanish the coordinates of their nearest row.

    Products of subnormal weights with masses would be zero, too.
    """
    vanished = weights.sum(axis=1) < np.sqrt(np.finfo(float).tiny)
    weights[vanished] = 0.0
    weights[vanished, 0] = 1.0


def _combine(
    space: Space, values: FloatArray, indices: IntArray, weights: FloatArray
) -> FloatArray:
    """Weighted sums (m, d) of the values (n, d) of some rows for each sample."""
    sums = np.empty((len(indices), values.shape[1]))
    near = np.ascontiguousarray(indices, dtype=np.int32)
    workers = space.workers if isinstance(space, PointSpace) else 1
    kernels.combine_rows(_doubles(values), near, _doubles(weights), workers, sums)
    return sums


def _doubles(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)

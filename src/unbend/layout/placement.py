"""New samples in a fixed layout."""

from dataclasses import dataclass
from typing import final

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.extension import NeighborExtension
from unbend.layout.affinities import Affinities, GivenAffinities
from unbend.layout.repulsion import Field, Repulsion, box_of

# Steps of a new sample at most; a few suffice.
STEPS = 200
# A sample nearer to a fitted row than this share of its distance to the next one is drawn towards
# the coordinates of that row, in proportion.
NEAR = 0.5


@final
@dataclass(frozen=True, eq=False)
class LayoutExtension(NeighborExtension):
    """Each new sample minimises its own divergence against the fixed layout.

    y minimises ρ Σ_j p_j log(1 + |y − y_j|²) + (n / Z) Σ_j 1 / (1 + |y − y_j|²), which is what a
    fitted row sees. Between a fitted row and half-way to the next one the result is interpolated,
    so that the map is continuous there and a row gets its own coordinates.

    Attributes
    ----------
    coordinates : array (n, d)
        The layout.
    affinities : Affinities
    exaggeration : float
        ρ.
    error : float
        Error of the repulsion, relative to its size.
    """

    coordinates: FloatArray
    affinities: Affinities
    exaggeration: float
    error: float

    @cached_property
    def _layout(self) -> FloatArray:
        return np.ascontiguousarray(self.coordinates, dtype=np.float32)

    @cached_property
    def _field(self) -> tuple[Field | None, float]:
        """Potential on a mesh, where there is one, and the sum of w over all ordered pairs."""
        repulsion = Repulsion(self.error)
        if self._layout.shape[1] > 2:
            return None, repulsion(self._layout)[1]
        box = box_of(self._layout)
        while repulsion.adjust(self._layout, box):
            pass
        return repulsion.mesh.field_of(self._layout, box)

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        layout, (field, normalizer) = self._layout, self._field
        placed = np.empty((len(new), layout.shape[1]), dtype=np.float32)
        push = len(layout) / (max(normalizer, 1e-30) * self.exaggeration)
        threads = getattr(self.space, "workers", 1)
        weights = self.affinities.of_rows(distances).astype(np.float32)
        near = np.ascontiguousarray(indices, dtype=np.int32)
        if field is None:
            opening = Repulsion(self.error).opening
            kernels.place_by_tree(near, weights, layout, opening, push, STEPS, threads, placed)
        else:
            kernels.place_on_mesh(
                near, weights, layout, field.origin, field.spacing, field.nodes, field.potential,
                push, STEPS, threads, placed,
            )  # fmt: skip
        if isinstance(self.affinities, GivenAffinities):
            # Affinities have no distance at which a sample is a fitted row.
            return placed.astype(np.float64)
        own = self.coordinates[indices[:, 0]]
        if distances.shape[1] == 1:
            return own
        # Fitted rows are distinct, so that the second distance is not zero.
        share = np.minimum(1.0, distances[:, :1] / (NEAR * distances[:, 1:2]))
        return np.asarray(own + share * (placed - own))


@final
@dataclass(frozen=True, eq=False)
class EigenmapsExtension(NeighborExtension):
    """Laplacian eigenvectors of affinities, extended by the eigen-equation read at one vertex."""

    vectors: FloatArray
    values: FloatArray
    affinities: Affinities

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples at Σ_j p_j f_j / (1 − λ)."""
        weights = self.affinities.of_rows(distances)
        means = np.einsum("ij,ijk->ik", weights, self.vectors[indices])
        # Rough vectors, of eigenvalues near one, are only averaged, not blown up.
        return np.asarray(means / np.maximum(1.0 - self.values, 0.1))

"""Out-of-sample extension: from the fitted rows of a method to new samples."""

from unbend.extension.averages import (
    Barycentric,
    BarycentricOnSheet,
    DiffusionExtension,
    Harmonic,
)
from unbend.extension.extension import Extension, NeighborExtension, Rule
from unbend.extension.linear import (
    Linear,
    LinearInverse,
    ProjectionInverse,
    SparseLinear,
    subspace_distances,
)
from unbend.extension.nystrom import AllGeodesics, Distances, GeodesicNystrom, Nystrom
from unbend.extension.placement import EmbeddingResult, Piece, Placement, barycentric_preimage

__all__ = [
    "AllGeodesics",
    "Barycentric",
    "BarycentricOnSheet",
    "DiffusionExtension",
    "Distances",
    "EmbeddingResult",
    "Extension",
    "GeodesicNystrom",
    "Harmonic",
    "Linear",
    "LinearInverse",
    "NeighborExtension",
    "Nystrom",
    "Piece",
    "Placement",
    "ProjectionInverse",
    "Rule",
    "SparseLinear",
    "barycentric_preimage",
    "subspace_distances",
]

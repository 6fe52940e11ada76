"""Placing new samples: fitted rows keep their place, pieces place their own."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.extension.averages import Barycentric
from unbend.extension.extension import Extension, NeighborExtension, Rule
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.space import COMPARED


@dataclass(frozen=True, eq=False)
class EmbeddingResult:
    """What a method makes of its spectrum: coordinates, their extension, fitted attributes."""

    coordinates: FloatArray
    extension: Extension
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Piece:
    """One component: its rows, its extension, and the scale and offset of its coordinates."""

    rows: IntArray
    extension: Extension
    factor: float
    offset: FloatArray


@dataclass(frozen=True, eq=False)
class Placement:
    """Send new samples to the piece of the nearest fitted row; duplicates of that row join it."""

    space: Space
    embedding: FloatArray
    owner: IntArray
    pieces: tuple[Piece, ...]

    @classmethod
    def by_one(cls, space: Space, embedding: FloatArray, extension: Extension) -> "Placement":
        """Place by one extension, but duplicates of a fitted row where that row is."""
        everyone = np.arange(len(embedding))
        piece = Piece(everyone, extension, 1.0, np.zeros(embedding.shape[1]))
        return cls(space, embedding, np.zeros_like(everyone), (piece,))

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        return self.place(new, *self.neighbors(new))

    def neighbors(self, new: FloatArray) -> tuple[IntArray, FloatArray]:
        """Find as many nearest fitted rows as the extension, or a score of outlyingness, needs."""
        shared = self._shared_extension()
        k = max(COMPARED, shared.rule.k if shared else 1)
        return self.space.nearest_of(new, min(k, self.space.n))

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples whose nearest fitted rows are known."""
        shared = self._shared_extension()
        if shared:
            indices = indices[:, : shared.rule.k]
            distances = shared.rule.limit(distances[:, : shared.rule.k])
        nearest = indices[:, 0]
        apart = distances[:, 0] > 0
        if shared and apart.all():
            piece = self.pieces[0]
            return np.asarray(piece.factor * shared.place(new, indices, distances) + piece.offset)
        placed = self.embedding[nearest].astype(np.float64)
        for number, piece in enumerate(self.pieces):
            mine = np.flatnonzero(apart & (self.owner[nearest] == number))
            if len(mine):
                if shared:
                    found = shared.place(new[mine], indices[mine], distances[mine])
                else:
                    found = piece.extension(self.space.narrow(new[mine], piece.rows))
                placed[mine] = piece.factor * found + piece.offset
        return placed

    def _shared_extension(self) -> NeighborExtension | None:
        """Return the extension of the only piece, if it asks the same space for neighbours."""
        extension = self.pieces[0].extension
        if len(self.pieces) == 1 and isinstance(extension, NeighborExtension):
            return extension if extension.space is self.space else None
        return None


def barycentric_preimage(
    space: Space | None, embedding: FloatArray, k: int | None = None
) -> Placement | None:
    """Reconstruct rows from the k nearest coordinates, by default twice as many as a simplex has.

    None where there are no points to reconstruct.
    """
    if not isinstance(space, PointSpace):
        return None
    coordinates, k = PointSpace(embedding), k or 2 * (embedding.shape[1] + 1)
    back = Barycentric(coordinates, Rule(k), space.points)
    return Placement.by_one(coordinates, space.points, back)

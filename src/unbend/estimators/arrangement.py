"""Components of a fit arranged side by side, and rows placed by the extension of landmarks."""

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.extension import EmbeddingResult, Piece, Placement
from unbend.graphs.connect import Connection
from unbend.neighbors import Space
from unbend.report import step

# Empty space between neighbouring components, relative to their mean width.
GAP = 0.2


def arrange_components(
    space: Space, connection: Connection, results: list[EmbeddingResult], isometric: bool
) -> tuple[FloatArray, Placement]:
    """Coordinates of all rows, and the extension to new samples.

    Rows in no group are placed by the extension of the first; several groups are arranged side by
    side along the first axis. Vectors of unit length are first brought to one spread for all.
    """
    groups, n = connection.groups, len(connection.component)
    if len(groups[0]) == n:
        coordinates = results[0].coordinates
        return coordinates, Placement.by_one(space, coordinates, results[0].extension)
    d = results[0].coordinates.shape[1]
    owner, inside = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
    alone = isometric or len(groups) == 1
    factors = [1.0 if alone else float(np.sqrt(len(rows) / n)) for rows in groups]
    scaled = [f * result.coordinates for f, result in zip(factors, results, strict=True)]
    embedding, pieces = np.zeros((n, d)), []
    offsets = _side_by_side(scaled)
    for number, rows in enumerate(groups):
        owner[rows], inside[rows] = number, True
        embedding[rows] = scaled[number] + offsets[number]
        pieces.append(Piece(rows, results[number].extension, factors[number], offsets[number]))
    outside = np.flatnonzero(~inside)
    if len(outside):
        embedding[outside] = results[0].extension(space.narrow(space.rows(outside), groups[0]))
    return embedding, Placement(space, embedding, owner, tuple(pieces))


def place_rows(rows: Space, placement: Placement) -> tuple[FloatArray, IntArray]:
    """Coordinates of rows by the extension of landmarks, and the nearest landmark of each."""
    coordinates = np.empty((rows.n, placement.embedding.shape[1]))
    nearest = np.empty(rows.n, dtype=np.intp)
    for some in row_chunks(rows.n, 1024):
        new = rows.rows(np.arange(some.start, some.stop))
        indices, distances = placement.neighbors(new)
        coordinates[some], nearest[some] = placement.place(new, indices, distances), indices[:, 0]
        step(some.stop, rows.n)
    return coordinates, nearest


def _side_by_side(parts: list[FloatArray]) -> FloatArray:
    d = parts[0].shape[1]
    if len(parts) == 1:
        return np.zeros((1, d))
    widths = np.array([np.ptp(part[:, 0]) for part in parts])
    starts = np.concatenate(([0.0], np.cumsum(widths[:-1] + GAP * max(widths.mean(), 1e-300))))
    firsts = np.array([part[:, 0].min() for part in parts])
    offsets = np.zeros((len(parts), d))
    offsets[:, 0] = starts - firsts
    return offsets

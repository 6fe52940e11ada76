"""The coordinate stage of a fit: parts laid side by side, and new rows sent to theirs."""

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.extension import Fitted, Piece, Placement
from unbend.neighbors import Space

# Empty space between neighbouring parts, relative to their mean width.
GAP = 0.2


def lay_out(
    space: Space,
    parts: list[IntArray],
    fitted: list[Fitted],
    isometric: bool,
) -> tuple[FloatArray, Placement]:
    """Coordinates of all rows, and the extension to new ones.

    Rows outside a single part are placed by its extension; several parts are laid along the first
    axis without overlap. Vectors of unit length are first brought to one spread for all parts.
    """
    n, d = space.n, fitted[0].coordinates.shape[1]
    owner = np.zeros(n, dtype=np.intp)
    for number, rows in enumerate(parts):
        owner[rows] = number
    factors = [1.0 if isometric else float(np.sqrt(len(rows) / n)) for rows in parts]
    if len(parts) == 1:
        factors = [1.0]
    laid = [factor * part.coordinates for factor, part in zip(factors, fitted, strict=True)]
    offsets = _side_by_side(laid)
    embedding = np.zeros((n, d))
    for rows, part, offset in zip(parts, laid, offsets, strict=True):
        embedding[rows] = part + offset
    pieces = tuple(
        Piece(rows, part.extension, factor, offset)
        for rows, part, factor, offset in zip(parts, fitted, factors, offsets, strict=True)
    )
    inside = np.zeros(n, dtype=bool)
    inside[np.concatenate(parts)] = True
    outside = np.flatnonzero(~inside)
    if len(outside):
        embedding[outside] = fitted[0].extension(space.narrow(space.rows(outside), parts[0]))
    return embedding, Placement(space, embedding, owner, pieces)


def _side_by_side(parts: list[FloatArray]) -> list[FloatArray]:
    d = parts[0].shape[1]
    if len(parts) == 1:
        return [np.zeros(d)]
    widths = np.array([np.ptp(part[:, 0]) for part in parts])
    starts = np.concatenate(([0.0], np.cumsum(widths[:-1] + GAP * max(widths.mean(), 1e-300))))
    firsts = np.array([part[:, 0].min() for part in parts])
    offsets = np.zeros((len(parts), d))
    offsets[:, 0] = starts - firsts
    return list(offsets)

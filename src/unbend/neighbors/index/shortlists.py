"""Candidates by products of matrices: for every row those whose distance is at least smallest.

Keys a_i + b_j − 2 x_i·y_j are lower bounds of squared distances, if squares are lowered by what
rounding can do. Kernels offer them to the lists of both rows while they are in registers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.report import step

# Rows of a tile: its coordinates stay in cache while those of another tile pass by.
TILE = 480
# Rows come in whole blocks: panels of 24 in single precision, and of 12 in double precision.
BLOCK = 24
# Products (multiply and add) between two looks at the progress callback.
WORK = 4e9

# Keys of the candidates of each row, ascending, and their indices.
Lists: TypeAlias = tuple[FloatArray, IntArray]


@dataclass(frozen=True, eq=False)
class Rounded:
    """Centred and scaled rows, and their squares lowered by what rounding can make of them.

    Rows lie in panels of 96 bytes side by side (panel, coordinate, row of the panel), filled up to
    whole blocks by rows whose squares are NaN: these are near nothing.
    """

    panels: FloatArray
    squares: FloatArray

    @classmethod
    def empty(cls, count: int, columns: int, dtype: type[np.floating]) -> "Rounded":
        """Make room for some rows."""
        padded = -(-count // BLOCK) * BLOCK
        width = 96 // np.dtype(dtype).itemsize
        panels = np.zeros((padded // width, columns, width), dtype)
        return cls(panels, np.full(padded, np.nan, dtype))

    def put(self, first: int, rows: FloatArray, squares: FloatArray) -> None:
        """Write some rows, from the first of a block on."""
        count, (_, columns, width) = len(rows), self.panels.shape
        self.squares[first : first + count] = squares
        whole = count // width * width
        panels = self.panels.transpose(0, 2, 1)[first // width :]
        panels[: whole // width] = rows[:whole].reshape(-1, width, columns)
        if whole < count:
            panels[whole // width, : count - whole] = rows[whole:]


class Shortlists(NamedTuple):
    """At least the `length` smallest keys so far of each row, unsorted, as kernels keep them.

    A list holds `sizes` of its places; what is beyond `bounds` need not be offered.
    """

    keys: FloatArray
    bounds: FloatArray
    indices: IntArray
    sizes: IntArray
    length: int

    @classmethod
    def empty(cls, rows: int, length: int, dtype: type[np.floating]) -> "Shortlists":
        """Make lists with room for half as many again."""
        room = -(-(length + max(length // 2, 8)) // 8) * 8
        return cls(
            np.empty((rows, room), dtype=dtype),
            np.full(rows, np.inf, dtype=dtype),
            np.empty((rows, room), dtype=np.int32),
            np.zeros(rows, dtype=np.int32),
            length,
        )

    def sorted(self, rows: int, threads: int) -> Lists:
        """Give the smallest keys of the first rows, ascending, and their indices."""
        keys = np.empty((rows, self.length), dtype=self.keys.dtype)
        indices = np.empty((rows, self.length), dtype=np.int32)
        kernels.sort_shortlists(*self, threads, keys, indices)
        return keys, indices


def among_themselves(points: Rounded, length: int, threads: int) -> Shortlists:
    """Candidates of every row; the products of two tiles serve the rows of both."""
    count, columns = len(points.squares), points.panels.shape[1]
    lists, tile = Shortlists.empty(count, length, points.squares.dtype.type), _tile(columns)
    at_once = max(threads, int(WORK / (tile**2 * max(1, columns))))
    tiles = -(-count // tile)
    done, total = 0, tiles * (tiles + 1) // 2
    for pairs in _rounds(tiles):
        for first in range(0, len(pairs), at_once):
            some = np.array(pairs[first : first + at_once], dtype=np.int64)
            kernels.offer_pairs(points.panels, points.squares, some, tile, threads, *lists)
            done += len(some)
            step(done, total)
    return lists


def among_fitted(queries: Rounded, fitted: Rounded, length: int, threads: int) -> Shortlists:
    """Candidates of every query among the fitted rows."""
    lists = Shortlists.empty(len(queries.squares), length, queries.squares.dtype.type)
    tile = _tile(queries.panels.shape[1])
    kernels.offer_columns(
        queries.panels, queries.squares, fitted.panels, fitted.squares, tile, threads, *lists
    )
    return lists


def _tile(columns: int) -> int:
    """Rows of a tile, fewer where they are very long: whole blocks."""
    return int(np.clip(np.sqrt(WORK / max(1, columns)), BLOCK, TILE)) // BLOCK * BLOCK


def _rounds(tiles: int) -> Iterator[list[tuple[int, int]]]:
    """Pairs of tiles, each tile at most once in a round: first with itself, then with every other.

    For an odd number m the pairs with i + j = r modulo m share no tile, and every pair has one r.
    """
    yield [(tile, tile) for tile in range(tiles)]
    odd = tiles | 1
    for r in range(odd):
        yield [(i, j) for i in range(tiles) if i < (j := (r - i) % odd) < tiles]

"""Exact Euclidean neighbours in many columns: matrix products propose, differences decide.

|a − b|² = |a|² + |b|² − 2ab is one matrix product, in single precision first. Its rounding is
bounded, so each row gets candidates ordered by a *lower bound* of their distance; distances are
computed by differences in double precision, nearest candidates first. If the bounds do not prove
that no nearer row was missed, the row is searched again in double precision, and finally compared
with all rows.

Candidates are kept in shortlists: keys a_i + b_j − 2 x_i·y_j are lower bounds of squared distances
if squares are reduced by a bound of the rounding. Kernels offer each key to the lists of both rows
while it is in registers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg.blas import sgemm, ssyrk

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.protocol import (
    contiguous_points,
    contiguous_queries,
    drop_self,
    require_built,
)
from unbend.report import step
from unbend.validation.arrays import largest_magnitude, stored_type
from unbend.validation.scalars import check_count, check_threads

# Extra candidates, since rounding swaps near ties. Twice as many take up to a third more time; with
# half as many a third of the rows of tight clusters are unsure.
SPARE = 8
# Most rows and numbers of the sample of the median, its fewest rows, and largest distance of the
# mean from it relative to the median distance.
MIDDLE, MIDDLE_NUMBERS, FEWEST_MIDDLE, OUTSIDE = 1000, 1 << 13, 9, 4.0
# Bytes of rows that are averaged at once, in cache.
AVERAGED = 1 << 20
# Least number of queries between two calls of the progress callback.
LEAST = 96
# Rows of a tile, whose coordinates stay in cache.
TILE = 480
# Block of rows: a panel has 24 in single and 12 in double precision.
BLOCK = 24
# Multiply-adds between two calls of the progress callback.
WORK = 4e9
# Bytes of rows that are centred at once: new memory for all of them costs more than the arithmetic.
CENTERED = 1 << 21
# Columns from which on all products of few rows are BLAS's: panels of longer rows leave the cache.
# 400 rows of 1000, 4000 and 10 304 columns take 4.1, 12 and 26 ms so, and 3.9, 18 and 66 in panels.
LONG_ROWS = 2000


# Keys of the candidates of each row, ascending, and their indices.
Lists: TypeAlias = tuple[FloatArray, IntArray]


@dataclass(frozen=True)
class BruteForce:
    """Exact Euclidean search of all pairs by blocked matrix products; a `NeighborIndex`.

    Parameters
    ----------
    threads : int
        Number of threads; an estimator sets it to its `n_jobs`.
    cloud : Cloud, optional
        Set by `build`.

    Examples
    --------
    >>> import numpy as np
    >>> index = BruteForce().build(np.arange(5.0)[:, None] ** 2)
    >>> index.query(np.array([[3.0]]), 2)
    (array([[2, 1]], dtype=int32), array([[1., 2.]]))
    """

    threads: int = 1
    cloud: "Cloud | None" = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_threads(self.threads)

    def build(self, points: FloatArray) -> "BruteForce":
        """Return an index of the points."""
        return replace(self, cloud=Cloud.of(contiguous_points(points)))

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row."""
        cloud = require_built(self.cloud, self)
        rows = contiguous_queries(rows, k, cloud.points.shape)
        return cloud.nearest_of(rows, k, self.threads)

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other points of every point."""
        cloud = require_built(self.cloud, self)
        check_count(k, len(cloud.points) - 1)
        return cloud.neighbors(k, self.threads)


@dataclass(frozen=True, eq=False)
class Cloud:
    """Fitted rows as they are stored; `scale` is a power of two that prevents overflow of squares.

    Distances are computed in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> line = Cloud.of(np.arange(5.0)[:, None] ** 2)
    >>> line.neighbors(1)[0].ravel()
    array([1, 0, 1, 2, 3], dtype=int32)
    """

    points: FloatArray
    center: FloatArray
    scale: float

    @classmethod
    def of(cls, points: FloatArray) -> "Cloud":
        """Compute centre and scale of some rows."""
        points = np.ascontiguousarray(points, dtype=stored_type(points))
        if not len(points):
            return cls(points, np.zeros(points.shape[1]), _scale(0.0))
        center = _middle(points)
        # Half of a bound of the spread, which cannot overflow: a power of two makes no difference.
        spread = largest_magnitude(points) / 2 + float(np.abs(center).max(initial=0.0)) / 2
        return cls(points, center, _scale(spread) / 2)

    def neighbors(self, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other rows of every row."""
        return _search(self, None, k, threads)

    def nearest_of(self, new: FloatArray, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Find the k rows nearest to each new sample."""
        return _search(self, np.ascontiguousarray(new, dtype=np.float64), k, threads)

    def rank_candidates(
        self, queries: FloatArray, candidates: IntArray, k: int, threads: int = 1
    ) -> tuple[IntArray, FloatArray]:
        """Find the k nearest of each query's candidates, sorted by distance, ties by index."""
        nearest = np.empty((len(queries), k), dtype=np.int32)
        queries, everyone = np.ascontiguousarray(queries), np.arange(len(queries), dtype=np.int32)
        away, bounds = np.empty(nearest.shape), np.zeros(candidates.shape)
        sure = np.empty(len(queries), dtype=np.bool_)
        # Squared distances of far queries must not overflow either.
        farthest = float(np.abs(queries / 2 - self.center / 2).max())
        scale = min(self.scale, _scale(farthest))
        kernels.rank(
            self.points, queries, everyone, scale, candidates, bounds, True, threads, nearest,
            away, sure,
        )  # fmt: skip
        return nearest, away

    def round_panels(self, points: FloatArray, dtype: type[np.floating]) -> "RoundedPanels":
        """Round rows for products in some precision."""
        rounded = RoundedPanels.empty(len(points), points.shape[1], dtype)
        for chunk, centered, squares in self.centered_rows(points, dtype):
            rounded.write(chunk.start, centered, squares)
        return rounded

    def centered_rows(
        self, points: FloatArray, dtype: type[np.floating]
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield blocks of rows, centred and scaled, and their squares for some precision.

        Squares are reduced so that a_i + b_j − 2 p_ij is at most the squared distance. With unit
        roundoff u and d columns the product errs by less than d u |a||b|, rounding of the numbers
        adds 2u, and the sums 4u, each relative to |a|² + |b|²; underflow adds less than `least`.
        """
        d = points.shape[1]
        unit = float(np.finfo(dtype).eps) / 2
        share = 1.01 * (d + 12) * unit
        least = (d + 1) * float(np.finfo(dtype).tiny) * 2.0**53
        for chunk in _chunks(points):
            centered = points[chunk] - self.center
            centered *= self.scale
            squares = (1 - share) * np.einsum("ij,ij->i", centered, centered) - least
            yield chunk, centered, squares

    def round_rows(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Round rows for products of BLAS in single precision, and their squares."""
        rounded, squares = np.empty(points.shape, np.float32), np.empty(len(points), np.float32)
        for rows, centered, reduced in self.centered_rows(points, np.float32):
            rounded[rows], squares[rows] = centered, reduced
        return rounded, squares


def _middle(points: FloatArray) -> FloatArray:
    """Find a central point, relative to which |a|² + |b|² − 2ab loses few digits.

    The mean, or the median of a sample if outliers dominate the mean.
    """
    # Weights, so that the sum cannot overflow. By blocks, which are converted if they are single.
    mean = np.zeros(points.shape[1])
    for rows in row_chunks(len(points), 8 * points.shape[1], AVERAGED):
        mean += np.full(rows.stop - rows.start, 1 / len(points)) @ points[rows]
    most = min(MIDDLE, max(FEWEST_MIDDLE, MIDDLE_NUMBERS // max(1, points.shape[1])))
    some = points[:: -(-len(points) // most)].astype(np.float64, copy=False)
    median = np.median(some, axis=0)
    usual = float(np.median(np.abs(some / 2 - median / 2).max(axis=1)))
    outliers = float(np.abs(mean / 2 - median / 2).max()) > OUTSIDE * usual
    return np.asarray(median if outliers else mean)


def _scale(largest: float) -> float:
    """Power of two that scales the largest number to 2⁴⁰, far from overflow in float32."""
    return float(np.ldexp(1.0, int(np.clip(40 - np.frexp(largest)[1], -1000, 1000))))


def _chunks(points: FloatArray) -> list[slice]:
    """Blocks of rows, each from a multiple of `BLOCK` on."""
    n, size = len(points), 16 * BLOCK * points.shape[1]
    blocks = row_chunks(-(-n // BLOCK), size, CENTERED)
    return [slice(block.start * BLOCK, min(block.stop * BLOCK, n)) for block in blocks]


@dataclass(frozen=True, eq=False)
class RoundedPanels:
    """Centred and scaled rows, and their squares reduced by a bound of the rounding.

    Rows are stored in panels of 96 bytes (panel, coordinate, row of the panel), padded to whole
    blocks by rows whose squares are NaN.
    """

    panels: FloatArray
    squares: FloatArray

    @classmethod
    def empty(cls, count: int, columns: int, dtype: type[np.floating]) -> "RoundedPanels":
        """Allocate panels for some rows."""
        padded = -(-count // BLOCK) * BLOCK
        width = 96 // np.dtype(dtype).itemsize
        panels = np.zeros((padded // width, columns, width), dtype)
        return cls(panels, np.full(padded, np.nan, dtype))

    def write(self, first: int, rows: FloatArray, squares: FloatArray) -> None:
        """Write rows, starting at a block."""
        count, (_, columns, width) = len(rows), self.panels.shape
        self.squares[first : first + count] = squares
        whole = count // width * width
        panels = self.panels.transpose(0, 2, 1)[first // width :]
        panels[: whole // width] = rows[:whole].reshape(-1, width, columns)
        if whole < count:
            panels[whole // width, : count - whole] = rows[whole:]


class Shortlists(NamedTuple):
    """At least the `length` smallest keys of each row, unsorted.

    A list has `sizes` entries; keys beyond `bounds` need not be offered.
    """

    keys: FloatArray
    bounds: FloatArray
    indices: IntArray
    sizes: IntArray
    length: int

    @classmethod
    def empty(cls, rows: int, length: int, dtype: type[np.floating]) -> "Shortlists":
        """Allocate lists with half as many spare entries."""
        room = -(-(length + max(length // 2, 8)) // 8) * 8
        return cls(
            np.empty((rows, room), dtype=dtype),
            np.full(rows, np.inf, dtype=dtype),
            np.empty((rows, room), dtype=np.int32),
            np.zeros(rows, dtype=np.int32),
            length,
        )

    def sort(self, rows: int, threads: int) -> Lists:
        """Return the smallest keys of the first rows, ascending, and their indices."""
        keys = np.empty((rows, self.length), dtype=self.keys.dtype)
        indices = np.empty((rows, self.length), dtype=np.int32)
        kernels.sort_shortlists(*self, threads, keys, indices)
        return keys, indices


def candidates_within(points: RoundedPanels, length: int, threads: int) -> Shortlists:
    """Candidates of every row; the products of two tiles are offered to the rows of both."""
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


def candidates_between(
    queries: RoundedPanels, fitted: RoundedPanels, length: int, threads: int
) -> Shortlists:
    """Candidates of every query among the fitted rows."""
    lists = Shortlists.empty(len(queries.squares), length, queries.squares.dtype.type)
    tile = _tile(queries.panels.shape[1])
    kernels.offer_columns(
        queries.panels, queries.squares, fitted.panels, fitted.squares, tile, threads, *lists
    )
    return lists


def _tile(columns: int) -> int:
    """Rows of a tile, a multiple of blocks, fewer if rows are very long."""
    return int(np.clip(np.sqrt(WORK / max(1, columns)), BLOCK, TILE)) // BLOCK * BLOCK


def _rounds(tiles: int) -> Iterator[list[tuple[int, int]]]:
    """Yield rounds of disjoint pairs of tiles: first each with itself, then with every other.

    For an odd number m the pairs with i + j = r modulo m share no tile, and every pair has one r.
    """
    yield [(tile, tile) for tile in range(tiles)]
    odd = tiles | 1
    for r in range(odd):
        yield [(i, j) for i in range(tiles) if i < (j := (r - i) % odd) < tiles]


def _search(
    cloud: Cloud, new: FloatArray | None, k: int, threads: int
) -> tuple[IntArray, FloatArray]:
    """Single precision first, then double precision for unsure rows, then all pairs."""
    queries = cloud.points if new is None else new
    itself = np.arange(len(queries)) if new is None else np.full(len(queries), -1)
    indices = np.empty((len(queries), k), dtype=np.int32)
    distances = np.empty((len(queries), k))
    unsure: IntArray = np.arange(len(queries))
    others = len(cloud.points) - (new is None)
    # Products are faster only if few rows are candidates.
    # The scale is that of the fitted rows.
    if 4 * (k + SPARE) < others and (new is None or in_range(cloud, queries)):
        for dtype in (np.float32, np.float64):
            if len(unsure):
                if new is None and len(unsure) == len(queries):
                    found = _candidates_of_all(cloud, k + SPARE, dtype, threads)
                else:
                    found = _candidates_of_queries(
                        cloud, queries, itself, unsure, dtype, k + SPARE, threads
                    )
                unsure = rank(cloud, queries, unsure, found, threads, indices, distances)
    _compare_all(cloud, queries, itself, unsure, threads, indices, distances)
    return indices, distances


def _candidates_of_all(cloud: Cloud, length: int, dtype: type[np.floating], threads: int) -> Lists:
    """Candidates of every fitted row."""
    n, columns = cloud.points.shape
    if columns >= LONG_ROWS and n * n * columns <= WORK and dtype is np.float32:
        return candidates_of_long_rows(cloud, None, length)
    panels = cloud.round_panels(cloud.points, dtype)
    return candidates_within(panels, length, threads).sort(n, threads)


def candidates_of_long_rows(cloud: Cloud, queries: FloatArray | None, length: int) -> Lists:
    """Candidates of every fitted row, or of queries, by one product in single precision.

    The bound of its rounding holds for sums in any order.
    """
    rounded, squares = cloud.round_rows(cloud.points)
    if queries is None:
        own = squares
        # The lower triangle of a matrix by columns is the upper one by rows.
        keys = ssyrk(-2.0, rounded.T, trans=1, lower=1).T
        keys += np.triu(keys, 1).T
    else:
        asked, own = cloud.round_rows(queries)
        keys = sgemm(-2.0, rounded.T, asked.T, trans_a=1).T
    keys += own[:, None] + squares
    if queries is None:
        np.fill_diagonal(keys, np.inf)
    shape = len(keys), length
    nearest, smallest = np.empty(shape, np.int32), np.empty(shape, np.float32)
    kernels.smallest(keys, 1, nearest, smallest)
    return smallest, nearest


def in_range(cloud: Cloud, queries: FloatArray) -> bool:
    """Whether the scaled squares of all queries are far from overflow."""
    reach = 2.0**50 / cloud.scale
    return all(np.abs(queries[c] - cloud.center).max() < reach for c in _chunks(queries))


def _candidates_of_queries(
    cloud: Cloud,
    queries: FloatArray,
    itself: IntArray,
    some: IntArray,
    dtype: type[np.floating],
    length: int,
    threads: int,
) -> Lists:
    """Candidates of some queries among the fitted rows."""
    n, columns = cloud.points.shape
    if columns >= LONG_ROWS and len(some) * n * columns <= WORK and dtype is np.float32:
        keys, indices = candidates_of_long_rows(cloud, queries[some], length + 1)
        return drop_self(indices, keys, itself[some])[::-1]
    fitted = cloud.round_panels(cloud.points, dtype)
    found, size = [], fitted.panels.size
    chunks = row_chunks(len(some), size, max(int(WORK), LEAST * size))
    for number, chunk in enumerate(chunks):
        rounded = cloud.round_panels(queries[some[chunk]], dtype)
        lists = candidates_between(rounded, fitted, length + 1, threads)
        found.append(lists.sort(len(some[chunk]), threads))
        step(number + 1, len(chunks))
    keys, indices = (np.concatenate(lists) for lists in zip(*found, strict=True))
    return drop_self(indices, keys, itself[some])[::-1]


def rank(
    cloud: Cloud,
    queries: FloatArray,
    some: IntArray,
    found: Lists,
    threads: int,
    indices: IntArray,
    distances: FloatArray,
) -> IntArray:
    """Write the nearest candidates of some queries, and return the queries that are not sure."""
    keys, candidates = found
    sure = np.empty(len(some), dtype=np.bool_)
    kernels.rank(
        cloud.points, np.ascontiguousarray(queries), some.astype(np.int32), cloud.scale,
        candidates, keys, False, threads, indices, distances, sure,
    )  # fmt: skip
    return some[~sure]


def _compare_all(
    cloud: Cloud,
    queries: FloatArray,
    itself: IntArray,
    some: IntArray,
    threads: int,
    indices: IntArray,
    distances: FloatArray,
) -> None:
    """Compare some queries with every fitted row."""
    everyone = np.arange(len(cloud.points), dtype=np.int32)
    for rows, others in _everyone_else(everyone, itself, some):
        found = cloud.rank_candidates(queries[rows], others, indices.shape[1], threads)
        indices[rows], distances[rows] = found


def _everyone_else(
    everyone: IntArray, itself: IntArray, some: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Blocks of queries, and for each of them the fitted rows that it is compared with."""
    chunks = row_chunks(len(some), 24 * len(everyone), 1 << 24)
    for number, chunk in enumerate(chunks):
        rows = some[chunk]
        others = np.broadcast_to(everyone, (len(rows), len(everyone)))
        if len(rows) and itself[rows[0]] >= 0:
            others = others[others != itself[rows, None]].reshape(len(rows), -1)
        yield rows, np.ascontiguousarray(others)
        step(number + 1, len(chunks))

"""Overlapping cells of rows: the start of NN-descent, and its search for new samples.

Centres of k-means on a sample; a row belongs to the cells of its few nearest centres, so that near
rows share a cell though a border lies between them. Rows are centred, rounded to single precision
and, if they are long, projected to their leading principal axes. They are stored in the order of
their cells, so that near rows are near in memory.
"""

from dataclasses import dataclass, replace

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.brute_force import (
    BLOCK,
    Cloud,
    Lists,
    RoundedPanels,
    candidates_between,
)

# Stored rows have a multiple of this many columns.
LANES = 8
# Largest number of principal axes of the projection, and of rows from which they are estimated.
AXES, AXES_ROWS = 160, 2048
# Explained variance that is enough for fewer axes, and what their number is a multiple of. With 80
# axes, not 160, a descent took 4 to 28 % less time on drawn strokes (0.96) and a quarter less on
# smooth fields (0.96 to 0.99).
KEPT, FEWER = 0.95, 16
# Explained variance above which only the projection is used: for handwritten digits (0.95) the
# first 23 candidates contain 0.998 of 15 neighbours.
ENOUGH = 0.9
# Bytes of rows that are projected at once: the working set of larger blocks leaves the cache.
MAPPED = 1 << 22
# Rows with norms beyond this multiple of the median are outliers, ignored for the axes.
FARTHEST = 64.0
# Rows of the sample for each centre, and steps of k-means.
SAMPLED, STEPS = 24, 2
# Cost of a round of descent in pairs of a cell for each row, and the share of missing neighbours
# that it leaves, as measured on word vectors.
ROUND, LEFT = 2500.0, 0.55
# Rows of the largest cell relative to the mean; larger ones, as of duplicates, are split.
LARGEST = 8


@dataclass(frozen=True, eq=False)
class Projection:
    """Map to single precision: centre, scale, and principal axes of long rows."""

    cloud: Cloud
    axes: FloatArray | None
    residual: bool

    @classmethod
    def of(cls, cloud: Cloud, rng: np.random.Generator) -> "Projection":
        """Rows of few columns are not projected."""
        if cloud.points.shape[1] <= AXES:
            return cls(cloud, None, False)
        axes, share = _axes(cloud, rng)
        return cls(cloud, axes, share < ENOUGH)

    @property
    def columns(self) -> int:
        """Number of columns, a multiple of `LANES`."""
        d = self.cloud.points.shape[1]
        used = d if self.axes is None else self.axes.shape[1] + d * self.residual
        return int(-(-used // LANES) * LANES)

    def map(self, points: FloatArray, order: IntArray | None = None) -> FloatArray:
        """Project rows, in some order, padded by zeros."""
        rows = np.zeros((len(points), self.columns), dtype=np.float32)
        for chunk in row_chunks(len(points), 12 * points.shape[1], MAPPED):
            single = single_precision(self.cloud, points[chunk if order is None else order[chunk]])
            if self.axes is None:
                rows[chunk, : single.shape[1]] = single
                continue
            along, m = single @ self.axes, self.axes.shape[1]
            rows[chunk, :m] = along
            if self.residual:
                rows[chunk, m : m + single.shape[1]] = single - along @ self.axes.T
        return rows


def single_precision(cloud: Cloud, points: FloatArray) -> FloatArray:
    """Centred and scaled rows in single precision."""
    centered = points - cloud.center
    centered *= cloud.scale
    return np.asarray(centered, dtype=np.float32)


def _axes(cloud: Cloud, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Approximate leading principal axes and their explained variance.

    By two steps of orthogonal iteration on the covariance of a sample.
    """
    n, d = cloud.points.shape
    some = np.sort(rng.choice(n, min(n, AXES_ROWS), replace=False))
    sample = single_precision(cloud, cloud.points[some])
    # Outliers would dominate the axes.
    lengths = np.linalg.norm(sample, axis=1)
    if lengths.any():
        sample = sample[lengths <= FARTHEST * np.median(lengths[lengths > 0])]
    # Scaled to at most one, so that products do not overflow in single precision.
    sample = sample / max(float(np.abs(sample).max()), 1e-30)
    found = rng.standard_normal((d, AXES)).astype(np.float32)
    for _ in range(2):
        found = np.linalg.qr(sample.T @ (sample @ found))[0]
    along = (sample @ found).astype(np.float64)
    values, turn = np.linalg.eigh(along.T @ along)
    total = float(np.square(sample, dtype=np.float64).sum())
    shares = np.cumsum(values[::-1]) / total if total > 0 else np.ones(len(values))
    enough = FEWER * (1 + int(np.searchsorted(shares, KEPT)) // FEWER)
    count = min(enough, len(values))
    axes = np.linalg.qr(found @ turn[:, ::-1])[0][:, :count]
    return np.ascontiguousarray(axes, dtype=np.float32), float(shares[count - 1])


@dataclass(frozen=True, eq=False)
class Cells:
    """Members of overlapping cells, one after another and ascending within each."""

    members: IntArray
    first: IntArray

    @classmethod
    def of(cls, assigned: IntArray, count: int, largest: int) -> "Cells":
        """Invert the cells (n, overlap) of each row; cells beyond `largest` rows are split."""
        n, overlap = assigned.shape
        flat = assigned.ravel()
        order = np.argsort(flat, kind="stable")
        sizes = np.bincount(flat, minlength=count)
        pieces = np.maximum(1, -(-sizes // largest))
        first = np.concatenate(([0], np.cumsum(sizes)))
        offsets = [
            np.linspace(a, b, p + 1)[:-1] for a, b, p in zip(first, first[1:], pieces, strict=False)
        ]
        starts = np.append(np.concatenate(offsets), n * overlap).astype(np.int64)
        return cls((order // overlap).astype(np.int32), starts)


def choose_centers(
    rows: FloatArray, count: int, rng: np.random.Generator, threads: int
) -> FloatArray:
    """Centres of cells, by a few steps of k-means on a sample."""
    n = len(rows)
    some = np.sort(rng.choice(n, min(n, SAMPLED * count), replace=False))
    sample = rows[some]
    centers = sample[rng.choice(len(sample), count, replace=False)]
    for _ in range(STEPS):
        nearest = nearest_centers(sample, centers, 1, threads)[:, 0]
        order = np.argsort(nearest, kind="stable")
        taken, first, sizes = np.unique(nearest[order], return_index=True, return_counts=True)
        # Divided before the sum, which may then not overflow.
        shares = sample[order] / np.repeat(sizes, sizes)[:, None].astype(np.float32)
        centers[taken] = np.add.reduceat(shares, first, axis=0)
    return centers


def nearest_centers(rows: FloatArray, centers: FloatArray, count: int, threads: int) -> IntArray:
    """Numbers (n, count) of the nearest centres of each row, nearest first."""
    fitted, chunks = _panels(centers), row_chunks(len(rows), 12 * rows.shape[1], multiple=BLOCK)
    found = np.empty((len(rows), count), dtype=np.int32)
    for chunk in chunks:
        queries = _panels(rows[chunk])
        lists: Lists = candidates_between(queries, fitted, count, threads).sort(
            chunk.stop - chunk.start, threads
        )
        found[chunk] = lists[1]
    return found


def _panels(rows: FloatArray) -> RoundedPanels:
    panels = RoundedPanels.empty(len(rows), rows.shape[1], np.float32)
    panels.write(0, rows, np.einsum("ij,ij->i", rows, rows))
    return panels


def order_centers(centers: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sort centres so that near ones are mostly near in the order: leaves of a random tree."""
    parts = [np.arange(len(centers))]
    while len(parts) < len(centers) // 2:
        along = centers @ rng.standard_normal(centers.shape[1], dtype=np.float32)
        halves = []
        for part in parts:
            sorted_part = part[np.argsort(along[part], kind="stable")]
            halves += [sorted_part[: len(part) // 2], sorted_part[len(part) // 2 :]]
        parts = halves
    return centers[np.concatenate(parts)]


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Rows in the order of their cells; row i is row `order[i]` of the cloud."""

    projection: Projection
    rows: FloatArray
    order: IntArray
    centers: FloatArray
    assigned: IntArray

    @classmethod
    def build(
        cls, cloud: Cloud, size: int, overlap: int, rng: np.random.Generator, threads: int
    ) -> "CellIndex":
        """Divide rows into cells of `size` rows in the mean, each row in `overlap` of them."""
        projection = Projection.of(cloud, rng)
        rows = projection.map(cloud.points)
        count = max(overlap, len(rows) // size)
        centers = order_centers(choose_centers(rows, count, rng, threads), rng)
        assigned = nearest_centers(rows, centers, overlap, threads)
        order = np.argsort(assigned[:, 0], kind="stable")
        if projection.axes is None:
            # Rounded again rather than copied: both copies would be the peak of a search.
            del rows
            rows = projection.map(cloud.points, order)
        else:
            rows = rows[order]
        return cls(projection, rows, order, centers, assigned[order])

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def cells(self, overlap: int) -> Cells:
        """Members of all cells, each row in some of its own."""
        largest = LARGEST * overlap * max(1, self.n // len(self.centers))
        return Cells.of(self.assigned[:, :overlap], len(self.centers), largest)

    def with_other_cells(self, rng: np.random.Generator, threads: int) -> "CellIndex":
        """Divide the same rows into as many other cells."""
        centers = choose_centers(self.rows, len(self.centers), rng, threads)
        assigned = nearest_centers(self.rows, centers, self.assigned.shape[1], threads)
        return replace(self, centers=centers, assigned=assigned)

    def choose_overlap(self, places: IntArray, near: IntArray, recall: float, length: int) -> int:
        """Choose how many cells of each row are compared, so that cells and descent cost least.

        `near` (m, k) are the exact neighbours of the rows at some places. A round costs as much as
        `ROUND` pairs for each row and leaves `LEFT` of the neighbours that were missed. Rows whose
        cells do not fill a list of some length cost as much as pairs with all.
        """
        costs = []
        for overlap in range(1, self.assigned.shape[1] + 1):
            some = self.assigned[:, :overlap]
            sizes = np.bincount(some.ravel(), minlength=len(self.centers))
            short = np.count_nonzero(sizes[some].max(axis=1) <= length)
            pairs = np.square(sizes, dtype=np.float64).sum() / 2 + short * self.n
            both = some[places][:, None, :, None] == some[near][:, :, None, :]
            missed = 1 - float(both.any(axis=(2, 3)).mean())
            rounds = np.log(max(missed, 1e-9) / max(1 - recall, 1e-4)) / np.log(1 / LEFT)
            costs.append(pairs / self.n + ROUND * max(0.0, float(np.ceil(rounds))))
        return 1 + int(np.argmin(costs))


@dataclass(frozen=True, eq=False)
class PackedCells:
    """Rows in panels, each in the cell of its nearest centre only, for searches of new samples.

    `first` has the offset of each cell, a multiple of the width of a panel; `places` the row of the
    cloud at each offset, and -1 where a panel is padded.
    """

    index: CellIndex
    panels: FloatArray
    squares: FloatArray
    first: IntArray
    places: IntArray

    @classmethod
    def of(cls, index: CellIndex) -> "PackedCells":
        """Pack rows relative to the centre of their cell."""
        own, columns = index.assigned[:, 0], index.rows.shape[1]
        sizes = np.bincount(own, minlength=len(index.centers))
        first = np.concatenate(([0], np.cumsum(-(-sizes // BLOCK) * BLOCK)))
        start = np.concatenate(([0], np.cumsum(sizes)))
        at = first[own] + np.arange(index.n) - start[own]
        places = np.full(first[-1], -1, dtype=np.int32)
        places[at] = index.order
        panels = RoundedPanels.empty(len(places), columns, np.float32)
        share = 1 - 1.01 * (columns + 48) * float(np.finfo(np.float32).eps) / 2
        for chunk in row_chunks(len(places), 12 * columns, multiple=BLOCK):
            some = places[chunk] >= 0
            rows = np.zeros((len(some), columns), dtype=np.float32)
            mine = slice(*np.searchsorted(at, (chunk.start, chunk.stop)))
            rows[some] = index.rows[mine] - index.centers[own[mine]]
            squares = np.where(some, share * np.einsum("ij,ij->i", rows, rows), np.nan)
            panels.write(chunk.start, rows, squares)
        return cls(index, panels.panels, panels.squares, first, places)

    def candidates(self, new: FloatArray, probes: int, length: int, threads: int) -> Lists:
        """Lower bounds of squared distances to, and numbers of, the nearest rows in some cells.

        Missing candidates have the number -1.
        """
        queries = self.index.projection.map(new)
        cells = nearest_centers(queries, self.index.centers, probes, threads)
        keys = np.empty((len(new), length), dtype=np.float32)
        found = np.empty((len(new), length), dtype=np.int32)
        kernels.probe_cells(
            queries, cells, self.panels, self.squares, self.index.centers, self.first, threads,
            keys, found,
        )  # fmt: skip
        missing = ~np.isfinite(keys)
        found[missing] = 0
        numbers = self.places[found]
        numbers[missing] = -1
        return np.maximum(keys, 0), numbers

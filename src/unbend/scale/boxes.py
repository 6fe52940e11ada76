"""Exact neighbours by boxes, and approximate ones by cells: pure functions of NumPy blocks.

Every row lies in one box. A box is searched alone; rows whose ball of the k-th distance reaches
another box ask that one, and answers are merged by (distance, row number). So the neighbours are
those of one search over all rows, to the last bit, whatever the boxes are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.neighbors import PointSpace
from unbend.neighbors.metrics import Metric

# Distances to a box are rounded; a ball reaches it if it does so by a little less.
ROUNDING = 1.0 + 1e-12


@dataclass(frozen=True, eq=False)
class Boxes:
    """A complete binary tree of splits, node by node: rows above the value go right."""

    columns: IntArray
    values: FloatArray

    @property
    def count(self) -> int:
        """Number of boxes."""
        return len(self.columns) + 1

    def assign(self, rows: FloatArray) -> IntArray:
        """Return the box of each row; equal rows share one."""
        node = np.zeros(len(rows), dtype=np.intp)
        everyone = np.arange(len(rows))
        for _ in range(self.count.bit_length() - 1):
            node = 2 * node + 1 + (rows[everyone, self.columns[node]] > self.values[node])
        return node - len(self.columns)


def split_boxes(sample: FloatArray, count: int) -> Boxes:
    """Split at medians of a sample, across its widest column, into a power of two of boxes.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = split_boxes(np.arange(8.0)[:, None], 4)
    >>> boxes.assign(np.array([[0.0], [2.0], [5.0], [100.0]])).tolist()
    [0, 1, 2, 3]
    """
    columns, values = np.zeros(count - 1, dtype=np.intp), np.zeros(count - 1)
    inside: dict[int, FloatArray] = {0: sample}
    for node in range(count - 1):
        rows = inside.pop(node)
        if len(rows):
            columns[node] = int(np.argmax(np.ptp(rows, axis=0)))
            values[node] = float(np.median(rows[:, columns[node]]))
        right = rows[:, columns[node]] > values[node]
        inside[2 * node + 1], inside[2 * node + 2] = rows[~right], rows[right]
    return Boxes(columns, values)


Piece = tuple[FloatArray, IntArray]


def split_part(rows: FloatArray, start: int, boxes: Boxes) -> list[Piece]:
    """Rows of a partition by box, with their numbers, in double precision."""
    return [
        (rows[some].astype(np.float64), _numbers(start, some))
        for some in _places_by_group(boxes.assign(rows), boxes.count)
    ]


def split_cells(rows: FloatArray, start: int, centers: FloatArray, overlap: int) -> list[Piece]:
    """Rows of a partition by cell, each in the `overlap` cells with the nearest centers."""
    nearest = nearest_centers(rows, centers, overlap)
    places = np.repeat(np.arange(len(rows)), nearest.shape[1])
    return [
        (rows[places[some]].astype(np.float64), _numbers(start, places[some]))
        for some in _places_by_group(nearest.ravel(), len(centers))
    ]


def _numbers(start: int, places: IntArray) -> IntArray:
    """Row numbers, in 32 bits where these are enough: lists of neighbours are most of a box."""
    short = start + len(places) + int(places.max(initial=0)) < np.iinfo(np.int32).max
    return (start + places).astype(np.int32 if short else np.int64)


def nearest_centers(rows: FloatArray, centers: FloatArray, count: int) -> IntArray:
    """Cells of each row, its home first."""
    space = PointSpace(centers)
    return space.nearest_of(rows.astype(np.float64), min(count, space.n))[0]


def _places_by_group(group: IntArray, count: int) -> list[IntArray]:
    """Places of the entries of each of `count` groups, in order."""
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(count + 1))
    return [order[low:high] for low, high in pairwise(edges)]


def take_home(cell: "BoxNeighbors", centers: FloatArray) -> dict[int, "BoxNeighbors"]:
    """Rows of a cell by their home."""
    home = nearest_centers(cell.space.points, centers, 1)[:, 0]
    parts = _places_by_group(home, len(centers))
    return {number: cell.take(some) for number, some in enumerate(parts) if len(some)}


def merge_cells(own: "BoxNeighbors", others: Sequence["BoxNeighbors"]) -> "BoxNeighbors":
    """Merge the neighbours that rows of one home found in all their cells."""
    indices, distances = own.indices.copy(), own.distances.copy()
    for other in others:
        places = np.searchsorted(own.numbers, other.numbers)
        indices[places], distances[places] = nearest_of_both(
            (indices[places], distances[places]), (other.indices, other.distances)
        )
    return replace(own, space=replace(own.space), indices=indices, distances=distances)


def nearest_in_part(
    rows: FloatArray, start: int, queries: FloatArray, k: int, metric: Metric
) -> tuple[IntArray, FloatArray]:
    """Nearest rows of a partition to some queries, by number; k, filled up with infinity."""
    inside = min(k, len(rows))
    indices = np.full((len(queries), k), np.iinfo(np.int64).max)
    distances = np.full((len(queries), k), np.inf)
    if inside:
        space = PointSpace(np.ascontiguousarray(rows, dtype=np.float64), metric)
        near, distances[:, :inside] = space.nearest_of(queries, inside)
        indices[:, :inside] = near.astype(np.int64) + start
    return indices, distances


@dataclass(frozen=True, eq=False)
class BoxRows:
    """Rows of a box, by ascending number, with what others ask it for, but no lists.

    `reach` is the distance of each row to its k-th neighbour so far. `twins` are pairs of numbers,
    of a duplicate row that was left out and of the row that stands for it.
    """

    space: PointSpace
    numbers: IntArray
    reach: FloatArray
    twins: IntArray

    def __sizeof__(self) -> int:
        """Bytes, for the scheduler: tasks go where their largest argument is."""
        arrays = (self.space.points, self.numbers, self.reach, self.twins)
        return sum(array.nbytes for array in arrays)

    def measure_bounds(self) -> tuple[FloatArray, FloatArray, float]:
        """Lowest and highest value of each column, and the largest k-th distance."""
        points = self.space.points
        if not len(points):
            return np.full(points.shape[1], np.inf), np.full(points.shape[1], -np.inf), -np.inf
        return points.min(axis=0), points.max(axis=0), float(self.reach.max())


# Neighbours of the rows of a box, by number, and their distances.
Lists = tuple[IntArray, FloatArray]


@dataclass(frozen=True, eq=False)
class BoxNeighbors:
    """Rows of a box, by ascending number, with their nearest so far, nearest first.

    Rows with fewer than k have infinite distances at the end. `twins` are pairs of numbers, of a
    duplicate row that was left out and of the row that stands for it.
    """

    space: PointSpace
    numbers: IntArray
    indices: IntArray
    distances: FloatArray
    twins: IntArray

    def __sizeof__(self) -> int:
        """Bytes, for the scheduler: tasks go where their largest argument is."""
        arrays = (self.space.points, self.numbers, self.indices, self.distances, self.twins)
        return sum(array.nbytes for array in arrays)

    def separate(self) -> tuple[BoxRows, Lists]:
        """Return the rows, which others ask, and the lists, which can be freed once merged."""
        reach = self.distances[:, -1].copy()
        lists = self.indices, self.distances
        return BoxRows(self.space, self.numbers, reach, self.twins), lists

    def take(self, places: IntArray) -> "BoxNeighbors":
        """Restrict to some of the rows; duplicates that were left out stay with the cell."""
        return BoxNeighbors(
            self.space.take(places),
            self.numbers[places],
            self.indices[places],
            self.distances[places],
            self.twins[np.isin(self.twins[:, 1], self.numbers[places])],
        )


def search_box(pieces: Sequence[Piece], k: int, metric: Metric, distinct: bool) -> BoxNeighbors:
    """Find neighbours inside a box; with `distinct` among rows that differ from each other."""
    numbers = np.concatenate([piece[1] for piece in pieces])
    order = np.argsort(numbers)
    numbers = numbers[order]
    space = PointSpace(np.concatenate([piece[0] for piece in pieces])[order], metric)
    indices, distances = _nearest_inside(space, numbers, k)
    twins = np.empty((0, 2), dtype=numbers.dtype)
    if distinct and np.any(distances == 0):
        first, inverse = space.distinct()
        others = np.setdiff1d(np.arange(space.n), first)
        twins = np.column_stack((numbers[others], numbers[first[inverse[others]]]))
        space, numbers = space.take(first), numbers[first]
        indices, distances = _nearest_inside(space, numbers, k)
    return BoxNeighbors(space, numbers, indices, distances, twins)


def _nearest_inside(space: PointSpace, numbers: IntArray, k: int) -> tuple[IntArray, FloatArray]:
    inside = min(k, space.n - 1)
    indices = np.full((space.n, k), np.iinfo(numbers.dtype).max, dtype=numbers.dtype)
    distances = np.full((space.n, k), np.inf)
    if inside > 0:
        near = space.nearest(inside)
        indices[:, :inside] = numbers[near.indices].reshape(-1, inside)
        distances[:, :inside] = near.distances.reshape(-1, inside)
    return indices, distances


@dataclass(frozen=True, eq=False)
class Question:
    """Rows of a box, by place, whose balls reach another box."""

    places: IntArray
    points: FloatArray

    def __sizeof__(self) -> int:
        """Bytes, for the scheduler."""
        return self.places.nbytes + self.points.nbytes


def ask_box(box: BoxRows, low: FloatArray, high: FloatArray) -> Question:
    """Select the rows that may have neighbours between `low` and `high`."""
    places = np.flatnonzero(_reaches(box, low, high))
    return Question(places, box.space.points[places])


def _reaches(box: BoxRows, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether the ball of each row to its k-th neighbour reaches a box."""
    reached = np.empty(box.space.n, dtype=bool)
    norm = box.space.metric.norm
    for some in row_chunks(box.space.n, 24 * len(low), budget=1 << 22):
        points = box.space.points[some]
        nearest = np.clip(points, low, high)
        reached[some] = norm.along(points, nearest) <= box.reach[some] * ROUNDING
    return reached


def answer_box(box: BoxRows, question: Question, k: int) -> Lists:
    """Nearest rows of a box to those of another, by number; k or as many as the box has."""
    k = min(k, box.space.n)
    if not len(question.places) or not k:
        return np.empty((len(question.places), 0), dtype=np.int64), np.empty(
            (len(question.places), 0)
        )
    indices, distances = box.space.nearest_of(question.points, k)
    return box.numbers[indices], distances


def merge_answers(
    box: BoxRows, lists: Lists, questions: Sequence[Question], answers: Sequence[Lists]
) -> BoxNeighbors:
    """Keep the nearest of all answers, ties by row number."""
    indices, distances = lists[0].copy(), lists[1].copy()
    for question, (numbers, lengths) in zip(questions, answers, strict=True):
        places = question.places
        indices[places], distances[places] = nearest_of_both(
            (indices[places], distances[places]), (numbers, lengths)
        )
    # Nobody asks this box any more: a space of its own leaves the search tree to the old one.
    return BoxNeighbors(replace(box.space), box.numbers, indices, distances, box.twins)


def nearest_of_both(one: Lists, other: Lists) -> Lists:
    """Merge two lists of neighbours of each row, nearest first, to the length of the first.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[4, 7]]), np.array([[1.0, 2.0]])
    >>> nearest_of_both(one, (np.array([[3, 9]]), np.array([[1.0, 3.0]])))[0].tolist()
    [[3, 4]]
    """
    k = one[0].shape[1]
    indices = np.concatenate((one[0], other[0]), axis=1)
    distances = np.concatenate((one[1], other[1]), axis=1)
    indices, distances = _sort_neighbors(indices, distances)
    # Overlapping cells find a neighbour twice, at one distance.
    again = (indices[:, 1:] == indices[:, :-1]) & np.isfinite(distances[:, 1:])
    if again.any():
        distances[:, 1:][again] = np.inf
        indices, distances = _sort_neighbors(indices, distances)
    return indices[:, :k], distances[:, :k]


def _sort_neighbors(indices: IntArray, distances: FloatArray) -> tuple[IntArray, FloatArray]:
    order = np.lexsort((indices, distances), axis=1)
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def rows_between(box: BoxNeighbors, low: int, high: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Numbers from `low` to `high` that a box has, their neighbours and the distances."""
    some = slice(*np.searchsorted(box.numbers, (low, high)))
    return box.numbers[some], box.indices[some], box.distances[some]


def order_rows(
    pieces: Sequence[tuple[IntArray, IntArray, FloatArray]],
) -> tuple[IntArray, FloatArray]:
    """Neighbours and distances of the rows of all pieces, by row number."""
    numbers, indices, distances = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    order = np.argsort(numbers)
    return indices[order].astype(np.int64), distances[order]

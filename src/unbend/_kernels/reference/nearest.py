"""Neighbour search: KD-tree, ranking, shortlists of matrix products, NN-descent."""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree as PlainTree

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks

# Relative slack for distances that SciPy sums in another order.
SLACK = 1e-13
# Columns, and bits of each, that the spatial order is by.
COLUMNS, BITS = 3, 10


class KdTree:
    """KD-tree; neighbours are sorted by (distance, index).

    The compiled tree has the 1-, 2- and maximum norm. This one is SciPy's, with distances
    summed column by column, for any p-norm.
    """

    def __init__(self, points: FloatArray, norm: float, threads: int) -> None:
        if not np.isfinite(points).all():
            raise ValueError("the rows must be finite: remove those with NaN or infinity")
        self.norm = norm
        self.points = points
        self.scale = _safe_scale(float(np.abs(points).max()))
        # Balanced trees split at medians, which degenerates with many duplicates.
        self.tree = PlainTree(points * self.scale, balanced_tree=False, compact_nodes=False)

    @property
    def leaves(self) -> int:
        """Number of groups in which `neighbors` goes through the rows; here each is a group."""
        return len(self.points)

    def neighbors(
        self, first: int, last: int, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill the rows of (n, k) arrays that belong to some groups with their nearest others."""
        k = indices.shape[1]
        for i, others, away in self._sort_neighbors(self.points[first:last], k + 1, threads):
            keep = others != first + i
            indices[first + i], distances[first + i] = others[keep][:k], away[keep][:k]

    def nearest_of(
        self, points: FloatArray, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill (m, k) arrays with the rows nearest to each query."""
        if not np.isfinite(points).all():
            raise ValueError("the rows must be finite: remove those with NaN or infinity")
        k = indices.shape[1]
        for i, others, away in self._sort_neighbors(points, k, threads):
            indices[i], distances[i] = others[:k], away[:k]

    def _sort_neighbors(
        self, new: FloatArray, k: int, threads: int
    ) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Yield each row's number and all that is as near as its k-th nearest, in order."""
        scaled = new * self.scale
        everyone = np.arange(len(self.points))
        found = np.asarray(self.tree.query(scaled, [k], p=self.norm, workers=threads)[0])[:, 0]
        for i, reach in enumerate(found):
            near = everyone
            if np.isfinite(reach):
                ball = self.tree.query_ball_point(scaled[i], reach * (1 + SLACK), p=self.norm)
                near = np.asarray(ball)
            away = self._distances(self.points[near], new[i])
            order = np.lexsort((near, away))
            yield i, near[order], away[order]

    def _distances(self, points: FloatArray, row: FloatArray) -> FloatArray:
        scale = _safe_scale(max(np.abs(points).max(), np.abs(row).max()))
        differences = np.abs(points * scale - row * scale)
        if self.norm == np.inf:
            return np.asarray(differences.max(axis=1) / scale)
        powers = np.zeros(len(points))
        for column in differences.T:
            powers += column if self.norm == 1 else column**self.norm
        if self.norm == 2:
            return np.asarray(np.sqrt(powers) / scale)
        return np.asarray(powers ** (1 / self.norm) / scale)


def _safe_scale(largest: float) -> float:
    """Power of two that prevents overflow of squares."""
    if largest == 0 or 2.0**-250 <= largest <= 2.0**400:
        return 1.0
    return float(np.ldexp(1.0, min(-int(np.frexp(largest)[1]), 1000)))


def smallest(values: FloatArray, threads: int, indices: IntArray, keys: FloatArray) -> None:
    """Fill (m, k) arrays with the k smallest of each row, sorted by (value, index)."""
    order = np.argsort(values, axis=1, kind="stable")[:, : indices.shape[1]]
    indices[...] = order
    keys[...] = np.take_along_axis(values, order, axis=1)


def rank(
    points: FloatArray,
    queries: FloatArray,
    rows: IntArray,
    scale: float,
    candidates: IntArray,
    bounds: FloatArray,
    complete: bool,
    threads: int,
    indices: IntArray,
    distances: FloatArray,
    sure: BoolArray,
) -> None:
    """Find the nearest candidates of some rows of the queries by distances from differences.

    They are written to the same rows of (m, k) arrays. `bounds`, ascending, are lower bounds of
    the squared distances times scale²; a query is sure if they prove that no other row is nearer,
    or if the candidates are `complete`.
    """
    k = indices.shape[1]
    for chunk in row_chunks(len(rows), 16 * candidates.shape[1] * points.shape[1]):
        asked, some = queries[rows[chunk]].astype(np.float64), candidates[chunk]
        squares = sum_of_squares((points[some] - asked[:, None]) * scale)
        order = np.lexsort((some, np.sqrt(squares)), axis=1)[:, :k]
        indices[rows[chunk]] = np.take_along_axis(some, order, axis=1)
        nearest = np.take_along_axis(squares, order, axis=1)
        distances[rows[chunk]] = np.sqrt(nearest) / scale
        beyond = nearest[:, -1] * (1 + 4 * np.finfo(np.float64).eps * (points.shape[1] + 9))
        sure[chunk] = complete | (bounds[chunk, -1] > beyond)


def count_nearer(
    points: FloatArray,
    scale: float,
    asked: IntArray,
    approximate: FloatArray,
    slack: FloatArray,
    targets: IntArray,
    threads: int,
    ranks: IntArray,
) -> None:
    """Fill `ranks` (m, k): the rank of each target among all rows by distance from the query.

    Rows are ordered by (distance, index), the asked one left out; the nearest has rank 1.
    `approximate` (m, n) are squared distances of points times the scale, known up to `slack` (m,);
    or it is (m, 0), and the scale one.
    Here by sorting all rows, without what is approximate.
    """
    n = len(points)
    for place, row in enumerate(asked):
        differences = (points - points[row]) * scale
        if approximate.shape[1]:
            squares = sum_of_squares(differences)
        else:
            squares = np.zeros(n)
            for column in differences.T:
                squares += column * column
        order = np.lexsort((np.arange(n), np.sqrt(squares)))
        rank_of = np.empty(n, dtype=np.intp)
        rank_of[order[order != row]] = np.arange(1, n)
        ranks[place] = rank_of[targets[place]]


def sum_of_squares(numbers: FloatArray) -> FloatArray:
    """Sum along the last axis in the order of the compiled kernel: sixteen partial sums."""
    *shape, d = numbers.shape
    padded = np.zeros((*shape, -(-d // 16) * 16))
    padded[..., :d] = numbers * numbers
    sums = np.zeros((*shape, 4, 4))
    for part in np.moveaxis(padded.reshape(*shape, -1, 4, 4), -3, 0):
        sums += part
    lanes = (sums[..., 0, :] + sums[..., 1, :]) + (sums[..., 2, :] + sums[..., 3, :])
    return np.asarray((lanes[..., 0] + lanes[..., 1]) + (lanes[..., 2] + lanes[..., 3]))


FREE = np.iinfo(np.int32).max


def offer_pairs(
    panels: FloatArray,
    squares: FloatArray,
    pairs: IntArray,
    tile: int,
    threads: int,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Offer keys a_i + a_j − 2 x_i·x_j of pairs of tiles to the shortlists of both.

    Rows lie in panels of 96 bytes side by side (panel, coordinate, row of the panel).
    A tile paired with itself starts its lists, which must be empty; no row is offered to
    itself, and no tile may be in two pairs.
    """
    rows, numbers = _unpack(panels), np.arange(len(squares))
    for i, j in pairs:
        first, second = (numbers[t * tile : (t + 1) * tile] for t in (i, j))
        products = rows[first] @ rows[second].T
        offered = (squares[first, None] + squares[second]) - 2 * products
        if i == j:
            np.fill_diagonal(offered, np.nan)
        _offer(offered, first, second, keys, bounds, indices, sizes, length)
        if i != j:
            _offer(offered.T, second, first, keys, bounds, indices, sizes, length)


def offer_columns(
    rows: FloatArray,
    row_squares: FloatArray,
    columns: FloatArray,
    column_squares: FloatArray,
    tile: int,
    threads: int,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Offer keys a_i + b_j − 2 x_i·y_j of panels to the empty shortlists of the rows."""
    everyone, numbers = np.arange(len(row_squares)), np.arange(len(column_squares))
    left, right = _unpack(rows), _unpack(columns)
    for first in range(0, len(numbers), tile):
        some = numbers[first : first + tile]
        offered = (row_squares[:, None] + column_squares[some]) - 2 * (left @ right[some].T)
        _offer(offered, everyone, some, keys, bounds, indices, sizes, length)


def _unpack(panels: FloatArray) -> FloatArray:
    """Rows one after the other."""
    return panels.transpose(0, 2, 1).reshape(-1, panels.shape[1])


def _offer(
    offered: FloatArray,
    own: IntArray,
    others: IntArray,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Keep the smallest of what the lists of `own` have and of what is offered."""
    taken = np.arange(keys.shape[1]) < sizes[own, None]
    every = np.hstack((np.where(taken, keys[own], np.inf), np.nan_to_num(offered, nan=np.inf)))
    at = np.hstack((indices[own], np.broadcast_to(others, offered.shape)))
    at = np.where(np.isinf(every), FREE, at)
    order = np.lexsort((at, every), axis=1)[:, :length]
    kept = np.take_along_axis(every, order, axis=1)
    width = kept.shape[1]
    keys[own, :width], indices[own, :width] = kept, np.take_along_axis(at, order, axis=1)
    sizes[own] = np.sum(np.isfinite(kept), axis=1)
    bounds[own] = kept[:, -1] if width == length else np.inf


def sort_shortlists(
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
    threads: int,
    sorted_keys: FloatArray,
    sorted_indices: IntArray,
) -> None:
    """Fill (m, length) arrays with the smallest of each list, sorted by (key, index).

    Here the lists are sorted already.
    """
    count = len(sorted_keys)
    taken = np.arange(length) < sizes[:count, None]
    sorted_keys[...] = np.where(taken, keys[:count, :length], np.inf)
    sorted_indices[...] = np.where(taken, indices[:count, :length], FREE)


def join(
    rows: FloatArray,
    members: IntArray,
    fresh_members: IntArray,
    counts: IntArray,
    threads: int,
    keys: FloatArray,
    indices: IntArray,
    fresh: IntArray,
) -> None:
    """Offer the members of each group to each other's sorted lists; one of a pair is fresh.

    Of a row of `members` the first `counts` count, of which the first `fresh_members` are
    fresh. Keys are squared distances of single-precision rows, whose columns are a multiple
    of 8; entries that come in are marked in `fresh`.
    """
    width = members.shape[1]
    first, second = np.triu_indices(width, 1)
    for chunk in row_chunks(len(members), 8 * rows.shape[1] * len(first)):
        wanted = (first < fresh_members[chunk, None]) & (second < counts[chunk, None])
        group, pair = np.nonzero(wanted)
        a = members[chunk][group, first[pair]].astype(np.int64)
        b = members[chunk][group, second[pair]].astype(np.int64)
        a, b = np.unique(np.sort(np.stack((a, b)), axis=0), axis=1)
        _merge(a, b, _squares(rows[a] - rows[b]), keys, indices, fresh)


def join_cells(
    rows: FloatArray,
    members: IntArray,
    first: IntArray,
    threads: int,
    keys: FloatArray,
    indices: IntArray,
    fresh: IntArray,
) -> None:
    """Offer the members of each cell, `members[first[c] : first[c + 1]]`, to each other's lists.

    As `join`, except for rounding: the compiled kernel offers a row only as many others as its
    list has entries, those that are nearest by products of matrices.
    """
    for start, stop in itertools.pairwise(first):
        some = members[start:stop].astype(np.int64)
        a, b = (some[place] for place in np.triu_indices(len(some), 1))
        for chunk in row_chunks(len(a), 16 * rows.shape[1]):
            one, other = np.minimum(a[chunk], b[chunk]), np.maximum(a[chunk], b[chunk])
            _merge(one, other, _squares(rows[one] - rows[other]), keys, indices, fresh)


def probe_cells(
    queries: FloatArray,
    probes: IntArray,
    panels: FloatArray,
    squares: FloatArray,
    centers: FloatArray,
    first: IntArray,
    threads: int,
    keys: FloatArray,
    indices: IntArray,
) -> None:
    """Fill (m, length) arrays with the places of the nearest rows in the cells `probes` (m, p).

    Rows lie in panels relative to the centre of their cell, cell c from place `first[c]` to
    `first[c + 1]`; `squares` are reduced by a bound of the rounding, so that keys are lower bounds
    of squared distances. They ascend, ties by place; missing ones are infinite.
    """
    rows, length = _unpack(panels), keys.shape[1]
    share = 1 - 1.01 * (queries.shape[1] + 48) * float(np.finfo(np.float32).eps) / 2
    for query, cells, own_keys, own in zip(queries, probes, keys, indices, strict=True):
        offered, places = [np.empty(0, dtype=np.float32)], [np.empty(0, dtype=np.int64)]
        for cell in cells:
            some = np.arange(first[cell], first[cell + 1])
            away = query - centers[cell]
            offered.append(share * (away @ away) + squares[some] - 2 * (rows[some] @ away))
            places.append(some)
        key, place = np.concatenate(offered), np.concatenate(places)
        key, place = key[~np.isnan(key)], place[~np.isnan(key)]
        order = np.lexsort((place, key))[:length]
        own_keys[...], own[...] = np.inf, FREE
        own_keys[: len(order)], own[: len(order)] = key[order], place[order]


def _squares(differences: FloatArray) -> FloatArray:
    """Sum the squares in the order of the compiled kernel: 32 partial sums."""
    count, columns = differences.shape
    blocks = -(-columns // 32)
    padded = np.zeros((count, 32 * blocks), dtype=np.float32)
    padded[:, :columns] = differences * differences
    parts = np.zeros((count, 4, 8), dtype=np.float32)
    for block in np.moveaxis(padded.reshape(count, blocks, 4, 8), 1, 0):
        parts += block
    lanes = (parts[:, 0] + parts[:, 1]) + (parts[:, 2] + parts[:, 3])
    halves = lanes[:, :4] + lanes[:, 4:]
    return np.asarray((halves[:, 0] + halves[:, 1]) + (halves[:, 2] + halves[:, 3]))


def _merge(
    a: IntArray,
    b: IntArray,
    offered: FloatArray,
    keys: FloatArray,
    indices: IntArray,
    fresh: IntArray,
) -> None:
    """Keep the least of what the lists have and what both ends of the pairs are offered."""
    n, length = keys.shape
    row, place = np.nonzero(indices != FREE)
    owner = np.concatenate((row, a, b))
    member = np.concatenate((indices[row, place], b, a))
    key = np.concatenate((keys[row, place], offered, offered))
    new = np.concatenate((fresh[row, place], np.ones(2 * len(a), dtype=np.uint8)))
    later = np.arange(len(owner)) >= len(row)
    order = np.lexsort((later, member, key, owner))
    owner, member, key, new = owner[order], member[order], key[order], new[order]
    once = np.r_[True, (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])][: len(owner)]
    owner, member, key, new = owner[once], member[once], key[once], new[once]
    rank = _places(owner, n)
    kept = rank < length
    at = owner[kept], rank[kept]
    indices[at], keys[at], fresh[at] = member[kept], key[kept], new[kept]


def _places(owner: IntArray, n: int) -> IntArray:
    """Place of each entry among those of its owner; owners ascend."""
    first = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n))))
    return np.asarray(np.arange(len(owner)) - first[owner])


def priority(seed: int, row: IntArray, member: IntArray) -> IntArray:
    """Give each pair a number that looks random."""
    pair = (row.astype(np.uint64) << np.uint64(32)) | member.astype(np.uint64)
    bits = pair + np.uint64((seed + 0x9E3779B97F4A7C15) % 2**64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def propose(
    indices: IntArray,
    seed: int,
    threads: int,
    fresh: IntArray,
    members: IntArray,
    fresh_members: IntArray,
    counts: IntArray,
) -> None:
    """Fill for each row a group of neighbours and of rows that have it as neighbour.

    At most half the width of `members` are fresh, in either direction, and as many are not;
    entries whose turn has come are no longer `fresh`.
    """
    n, limit = len(indices), members.shape[1] // 2
    row, place = np.nonzero(indices != FREE)
    near, old = indices[row, place], fresh[row, place] == 0
    group, member = np.concatenate((row, near)), np.concatenate((near, row))
    rank, old = priority(seed, group, member), np.concatenate((old, old))
    order = np.lexsort((old, member, rank, group))
    group, member, old = group[order], member[order], old[order]
    once = np.r_[True, (group[1:] != group[:-1]) | (member[1:] != member[:-1])][: len(group)]
    group, member, old = group[once], member[once], old[once]
    members[...] = 0
    new = ~old
    at = _places(group[new], n)
    kept = group[new][at < limit], member[new][at < limit]
    members[kept[0], at[at < limit]] = kept[1]
    fresh_members[...] = np.bincount(kept[0], minlength=n)
    at = _places(group[old], n)
    rest = group[old][at < limit], member[old][at < limit]
    members[rest[0], fresh_members[rest[0]] + at[at < limit]] = rest[1]
    counts[...] = fresh_members + np.bincount(rest[0], minlength=n)
    turn = np.isin(row * n + near, kept[0] * n + kept[1])
    fresh[row[turn], place[turn]] = 0


def spatial_order(points: FloatArray, threads: int, order: IntArray) -> None:
    """Fill the order of rows along a Z-curve through the three widest columns."""
    low, high = points.min(axis=0), points.max(axis=0)
    widest = np.argsort(low - high, kind="stable")[:COLUMNS]
    # Halves, whose difference cannot overflow.
    width = float(high[widest[0]] / 2 - low[widest[0]] / 2)
    keys = np.zeros(len(points), dtype=np.uint32)
    for place, column in enumerate(widest if width > 0 else ()):
        share = (points[:, column] / 2 - low[column] / 2) / width
        steps = np.asarray(share * (2**BITS - 1), dtype=np.uint32)
        keys |= _spread(steps) << np.uint32(place)
    order[...] = np.argsort(keys, kind="stable")


def _spread(steps: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Move ten bits to every third place."""
    for shift, mask in ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)):
        steps = (steps | (steps << np.uint32(shift))) & np.uint32(mask)
    return steps

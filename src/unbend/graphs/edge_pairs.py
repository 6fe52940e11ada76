"""Undirected edges of a neighbourhood graph: selected, joined and removed."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.neighbors import Neighbors


@dataclass(frozen=True, eq=False)
class EdgePairs:
    """Undirected edges, the smaller end first, with their lengths and squared tilts."""

    first: IntArray
    second: IntArray
    lengths: FloatArray
    tilts: FloatArray

    def __len__(self) -> int:
        return len(self.first)

    def select(self, keep: BoolArray | IntArray) -> "EdgePairs":
        """Select some of the edges."""
        return EdgePairs(self.first[keep], self.second[keep], self.lengths[keep], self.tilts[keep])


NOTHING = EdgePairs(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0), np.zeros(0))


def edge_keys(n: int, rows: IntArray, columns: IntArray) -> IntArray:
    """One number for each edge between n rows."""
    return rows.astype(np.int64) * n + columns


def rows_of(neighbors: Neighbors, entries: IntArray) -> IntArray:
    """Rows that own some entries, for few entries faster than `neighbors.rows`."""
    return np.searchsorted(neighbors.offsets, entries, side="right").astype(np.int32) - 1


def undirected_pairs(neighbors: Neighbors, entries: IntArray) -> EdgePairs:
    """Return the edges of some entries, each once; of different lengths both ways the shorter."""
    rows, others = rows_of(neighbors, entries), neighbors.indices[entries]
    lengths = neighbors.distances[entries]
    first, second = np.minimum(rows, others), np.maximum(rows, others)
    order = np.lexsort((lengths, second, first))
    _, once = np.unique(edge_keys(neighbors.n, first, second)[order], return_index=True)
    first, second, lengths = (part[order][once] for part in (first, second, lengths))
    return EdgePairs(
        first.astype(np.intp), second.astype(np.intp), lengths, np.full(len(once), np.nan)
    )


def join_pairs(pairs: EdgePairs, more: EdgePairs) -> EdgePairs:
    """Both, each pair once, with the tilt of its first appearance."""
    names = ("first", "second", "lengths", "tilts")
    both = EdgePairs(*(np.concatenate((getattr(pairs, a), getattr(more, a))) for a in names))
    ends = np.stack((both.first, both.second))
    return both.select(np.unique(ends, axis=1, return_index=True)[1])


def drop_pairs(neighbors: Neighbors, first: IntArray, second: IntArray) -> Neighbors:
    """Remove edges between pairs of rows, the smaller number first, in both directions."""
    if not len(first):
        return neighbors
    rows, others = neighbors.rows, neighbors.indices
    entries = edge_keys(neighbors.n, np.minimum(rows, others), np.maximum(rows, others))
    return neighbors.select(~np.isin(entries, edge_keys(neighbors.n, first, second)))


def row_quantiles(neighbors: Neighbors, share: float) -> FloatArray:
    """Quantile of the distances of each row to its neighbours, infinite where it has none."""
    some = neighbors.counts > 0
    place = neighbors.offsets[:-1] + np.ceil(share * neighbors.counts).astype(np.int64) - 1
    values = np.full(neighbors.n, np.inf)
    values[some] = neighbors.distances[place[some]]
    return values


def members_of(neighbors: Neighbors, rows: IntArray) -> IntArray:
    """Neighbours of rows that all have the same number of them."""
    count = int(neighbors.counts[rows[0]])
    return np.asarray(neighbors.indices[neighbors.offsets[rows, None] + np.arange(count)])

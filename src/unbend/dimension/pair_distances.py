"""Distances between pairs of rows, sorted, as the estimators that count pairs need them."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import TIED, FloatArray, IntArray, distinct_values, row_chunks
from unbend.dimension._rows import Rows

# Pairs measured: the distances of some rows, the centres, to all. At least so many centres.
PAIRS, CENTRES = 4_000_000, 500
# Of them about so many of the nearest are kept for each centre, and at most this share: beyond them
# the size of the data shows, not their dimension. The radius comes from this many centres.
KEPT, SHARE, PROBED = 128, 0.25, 64
# Samples of the bootstrap.
REPEATS = 50


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distances from some rows, the centres, to all others: the nearest pairs, ascending.

    Tied distances are equal to the bit, and all of them or none are among the pairs, so that
    rounding does not decide how many pairs are nearer than one of them.
    """

    distances: FloatArray
    centre: IntArray
    centres: int
    others: int

    @property
    def inflation(self) -> float:
        """What the error of resampled centres lacks.

        Pairs of two centres are counted from both ends, as if they were two.
        """
        return float(np.sqrt(1 + self.centres / (self.others + 1)))

    def sums(self, edges: FloatArray, values: FloatArray) -> FloatArray:
        """Sum the values of pairs nearer than each edge, for each centre (centres, edges).

        Pairs at an edge count half.
        """
        inside = int(np.searchsorted(self.distances, edges[-1], side="right"))
        distances, halves = self.distances[:inside], values[:inside] / 2
        width = len(edges) + 1
        sums = np.zeros(self.centres * width)
        for side in ("left", "right"):
            cells = self.centre[:inside] * width + np.searchsorted(edges, distances, side=side)
            sums += np.bincount(cells, halves, minlength=len(sums))
        return np.asarray(sums.reshape(self.centres, width)[:, :-1].cumsum(axis=1))

    def resample(self, sums: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Totals of such sums over samples of the centres, drawn with replacement."""
        even = np.full(self.centres, 1 / self.centres)
        return np.asarray(rng.multinomial(self.centres, even, REPEATS) @ sums)


def measure_pairs(rows: Rows, rng: np.random.Generator) -> Pairs:
    """Measure pairs from random centres, all rows where there are not too many."""
    n = rows.n
    count = min(n, max(CENTRES, PAIRS // n))
    drawn: IntArray = np.sort(rng.permutation(n)[:count])
    probed = _block(rows, rng.permutation(drawn)[:PROBED])
    kept = min(KEPT / (n - 1), SHARE)
    radius = np.quantile(probed[np.isfinite(probed)], kept) * (1 + TIED)
    distances, centres = [], []
    for chunk in row_chunks(count, 16 * n):
        block = _block(rows, drawn[chunk])
        centre, other = np.nonzero(block <= radius)
        distances.append(block[centre, other])
        centres.append(centre + chunk.start)
    found = np.concatenate(distances)
    order = np.argsort(found, kind="stable")
    distinct, place = distinct_values(found[order])
    return Pairs(distinct[place], np.concatenate(centres)[order], count, n - 1)


def _block(rows: Rows, centres: IntArray) -> FloatArray:
    """Distances of some rows to all, infinite to themselves."""
    block = rows.space.distances_of(rows.space.rows(centres)).copy()
    block[np.arange(len(block)), centres] = np.inf
    return block

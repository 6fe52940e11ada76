"""Columns of a kernel summed over all rows of a Dask collection, for Nyström's approximation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from dask.delayed import delayed

from unbend.arrays import FloatArray, row_chunks
from unbend.gram.columns import ColumnPasses, Rows, Work
from unbend.scale.collections import LazyRows
from unbend.scale.workers import compute_all, ship

Combine = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class LazyColumns(ColumnPasses):
    """The columns of some landmarks in a sample, with sums over all rows of a collection.

    Rows that are collected are those of the sample.
    """

    few: ColumnPasses
    rows: LazyRows

    def __post_init__(self) -> None:
        object.__setattr__(self, "landmarks", self.few.landmarks)
        object.__setattr__(self, "affine", self.few.affine)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the collection: work on blocks does not need it."""
        return {**vars(self), "rows": None}

    @property
    def n(self) -> int:
        """Number of all rows."""
        return self.rows.n

    def squares(self, rows: Rows) -> FloatArray:
        """Squares of some rows of the sample."""
        return self.few.squares(rows)

    def map_blocks(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on the blocks of the sample."""
        return self.few.map_blocks(work)

    def reduce_blocks(self, work: Work, combine: Combine = np.add) -> FloatArray:
        """Combine the work on all blocks, in a tree that depends on the partitions alone."""
        shipped = ship((self.few, work, combine))
        parts = [delayed(reduce_part)(part, shipped) for part in self.rows.parts]
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [
                delayed(_combine)(shipped, *pair) if len(pair) > 1 else pair[0] for pair in pairs
            ]
        total: FloatArray = compute_all(parts)[0]
        return total


def reduce_part(points: FloatArray, shipped: tuple[ColumnPasses, Work, Combine]) -> Any:
    """Combine the work on the rows of a partition; None where it has none."""
    columns, work, combine = shipped
    chunks = row_chunks(len(points), columns.entry_bytes * len(columns.landmarks), budget=1 << 25)
    blocks = (work(columns.squares_of(points[some].astype("float64"))) for some in chunks)
    return reduce(combine, blocks) if len(points) else None


def _combine(shipped: tuple[Any, Any, Combine], one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return shipped[2](one, other)

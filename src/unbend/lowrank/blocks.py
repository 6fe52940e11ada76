"""Matrices that come as blocks of rows: read again for every product, never held as a whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """A matrix as blocks of rows, dense or sparse.

    Parameters
    ----------
    source : sequence of arrays, or function that returns an iterable of them
        The blocks, top to bottom; a function is called for every pass.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.arange(12.0).reshape(6, 2)
    >>> blocks = RowBlocks([matrix[:2], matrix[2:]])
    >>> bool(np.all(blocks @ np.eye(2) == matrix))
    True
    """

    source: Sequence[Any] | Callable[[], Iterable[Any]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source() if callable(self.source) else self.source)

    @property
    def first(self) -> Any:
        """The first block."""
        for block in self:
            return block
        raise ValueError(
            "there are no blocks of rows in this pass: a function must return the same blocks "
            "every time, and an iterator can be read once, which only single_pass_svd does"
        )

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        return np.concatenate([np.asarray(block @ vectors) for block in self])

    def across(self, vectors: FloatArray) -> FloatArray:
        """Return A'·vectors."""
        total, done = None, 0
        for block in self:
            part = np.asarray(block.T @ vectors[done : done + block.shape[0]])
            total, done = part if total is None else total + part, done + block.shape[0]
        if total is None or done != len(vectors):
            raise ValueError(
                f"the blocks have {done} rows in this pass and had {len(vectors)} before: a "
                "function must return the same blocks every time"
            )
        return np.asarray(total)

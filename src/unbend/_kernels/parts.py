"""Parts of NumPy work that the threads of a fit share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, row_chunks

Part = TypeVar("Part")
Result = TypeVar("Result")

# Bytes that a thread copies at once.
COPIED = 1 << 22


def map_parts(
    function: Callable[[Part], Result], parts: Sequence[Part], threads: int
) -> list[Result]:
    """Results of a function for every part, which threads share; in the order of the parts.

    Threads are those of the team that a fit keeps (`kernels.Team`), or start with the call. For
    functions that spend their time in NumPy or in kernels, without the interpreter's lock.

    Examples
    --------
    >>> map_parts(abs, [-1, 2, -3], threads=2)
    [1, 2, 3]
    """
    if threads < 2 or len(parts) < 2:
        return [function(part) for part in parts]
    results: dict[int, Result] = {}

    def run(number: int) -> None:
        results[number] = function(parts[number])

    kernels.run_parts(run, len(parts), threads)
    return [results[number] for number in range(len(parts))]


def copy_rows(rows: FloatArray, threads: int, dtype: Any = np.float64) -> FloatArray:
    """Copy a matrix, by default to double precision, rows one after the other, by threads.

    Examples
    --------
    >>> import numpy as np
    >>> copy_rows(np.array([[1, 2], [3, 4]]).T, threads=2)
    array([[1., 3.],
           [2., 4.]])
    """
    copy = np.empty(rows.shape, dtype)
    chunks = row_chunks(len(rows), 8 * rows[:1].size, COPIED)
    map_parts(lambda some: np.copyto(copy[some], rows[some]), chunks, threads)
    return copy

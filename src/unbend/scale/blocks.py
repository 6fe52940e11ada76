"""Pure functions of blocks of rows: scatter, samples and neighbours, without Dask."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.validation.arrays import largest_magnitude

# Rows that are factorised at once: the copy in double precision stays small.
ROWS_AT_ONCE = 8192
# Constants of the hash of a row number (splitmix64; Steele, Lea and Flood, OOPSLA 2014).
GOLDEN, FIRST_MIX, SECOND_MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Number of rows, their mean, and R with R'R their scatter about it.

    The mean is a sum of two numbers, `mean` and the far smaller `rest`: the difference of two
    means of rows far from the origin would otherwise be rounding. R keeps the small singular
    values that the scatter itself, with their squares, would lose.
    """

    n: int
    mean: FloatArray
    rest: FloatArray
    factor: FloatArray
    largest: float
    single: bool

    @classmethod
    def of(cls, rows: FloatArray) -> "Scatter":
        """Measure the rows of one block.

        Examples
        --------
        >>> import numpy as np
        >>> Scatter.of(np.array([[1.0], [3.0]])).mean
        array([2.])
        """
        n, columns = rows.shape
        chunks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE)]
        mean = np.asarray(rows.mean(axis=0, dtype=np.float64)) if n else np.zeros(columns)
        rest = sum(((rows[some] - mean).sum(axis=0) for some in chunks), np.zeros(columns))
        rest /= max(n, 1)
        factor = np.zeros((0, columns))
        for some in chunks:
            centered = rows[some] - mean
            centered -= rest
            factor = np.asarray(np.linalg.qr(np.vstack((factor, centered)), mode="r"))
        return cls(n, mean, rest, factor, largest_magnitude(rows), rows.dtype == np.float32)

    def merge(self, other: "Scatter") -> "Scatter":
        """Scatter of the rows of both."""
        if not self.n or not other.n:
            return self if self.n else other
        n = self.n + other.n
        between = (other.mean - self.mean) + (other.rest - self.rest)
        step = self.rest + between * (other.n / n)
        mean = self.mean + step
        # What the sum lost to rounding (Knuth's two-sum).
        added = mean - self.mean
        rest = (self.mean - (mean - added)) + (step - added)
        weight = np.sqrt(self.n * (other.n / n))
        stacked = np.vstack((self.factor, other.factor, weight * between))
        factor = np.asarray(np.linalg.qr(stacked, mode="r"))
        largest = max(self.largest, other.largest)
        return Scatter(n, mean, rest, factor, largest, self.single and other.single)


def hash_rows(numbers: IntArray, seed: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Hash global row numbers: the order of the hashes is a random permutation of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> len(set(hash_rows(np.arange(1000), 0).tolist()))
    1000
    """
    with np.errstate(over="ignore"):
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * GOLDEN
        mixed ^= (np.uint64(seed) + np.uint64(1)) * SECOND_MIX
        for shift, factor in ((30, FIRST_MIX), (27, SECOND_MIX)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed ^ (mixed >> np.uint64(31))


def sample_numbers(n: int, count: int, seed: int) -> IntArray:
    """Numbers of the rows with the smallest hashes among n, in order of the hash.

    The same rows for any partitioning; a larger sample begins with the smaller one.

    Examples
    --------
    >>> sample_numbers(100, 3, 0).tolist() == sample_numbers(100, 10, 0).tolist()[:3]
    True
    """
    numbers, hashes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
    for start in range(0, n, 1 << 20):
        some = np.arange(start, min(start + (1 << 20), n))
        mixed = hash_rows(some, seed)
        if len(hashes) == count:
            some, mixed = some[mixed <= hashes[-1]], mixed[mixed <= hashes[-1]]
        numbers, hashes = np.append(numbers, some), np.append(hashes, mixed)
        order = np.lexsort((numbers, hashes))[:count]
        numbers, hashes = numbers[order], hashes[order]
    return numbers

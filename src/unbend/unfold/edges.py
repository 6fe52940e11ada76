"""A graph whose lengths must not grow, as arrays of edges."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges i < j of a connected graph on n vertices, and their squared lengths, all positive.

    Every quantity is relative to the lengths: `stretch` is |yᵢ − yⱼ|²/d² − 1, and a tension u
    stands for the weight u/d² of an edge in the Laplacian.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 4.0]))
    >>> path.stretch(np.array([[0.0], [1.0], [4.0]]))
    array([0.  , 1.25])
    >>> path.laplacian(np.array([1.0, 4.0])).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    n: int
    first: IntArray
    second: IntArray
    squares: FloatArray

    @classmethod
    def of_graph(cls, lengths: csr_array) -> "Edges":
        """Take the edges of a symmetric matrix of lengths, without those of length zero."""
        entries = coo_array(lengths)
        rows, columns = entries.coords
        upper = (rows < columns) & (entries.data > 0)
        squares = np.square(np.asarray(entries.data[upper], dtype=np.float64))
        first, second = rows[upper].astype(np.intp), columns[upper].astype(np.intp)
        return cls(int(lengths.shape[0]), first, second, squares)

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.first)

    @cached_property
    def incidence(self) -> csr_array:
        """Matrix (n, m) with 1 where an edge begins and −1 where it ends."""
        every = np.arange(self.m)
        signs = np.concatenate((np.ones(self.m), -np.ones(self.m)))
        ends = np.concatenate((self.first, self.second))
        return csr_array((signs, (ends, np.concatenate((every, every)))), shape=(self.n, self.m))

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors yᵢ − yⱼ (m, r)."""
        return np.asarray(coordinates[self.first] - coordinates[self.second])

    def stretch(self, coordinates: FloatArray) -> FloatArray:
        """|yᵢ − yⱼ|²/d² − 1 for each edge."""
        squares = np.square(self.differences(coordinates)).sum(axis=1)
        return np.asarray(squares / self.squares - 1.0)

    def laplacian(self, tensions: FloatArray) -> csr_array:
        """Laplacian with weights u/d²."""
        scaled = self.incidence * (tensions / self.squares)
        return csr_array(scaled @ self.incidence.T)

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """L(u) Y, from the differences of Y."""
        return np.asarray(self.incidence @ ((tensions / self.squares)[:, None] * differences))

    def scaled(self) -> tuple["Edges", float]:
        """Give squared lengths the mean one; also what they were divided by."""
        size = float(self.squares.mean())
        return replace(self, squares=self.squares / size), size

"""Gram matrices of distances: −½ H S H with S the squared distances, given as an array."""

from dataclasses import dataclass, replace

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, add_to_pairs
from unbend.cached import cached_property
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.problem import Formable, SpectralProblem
from unbend.eigen.solve import solve
from unbend.gram.centered import Carry, CenteredGram
from unbend.report import step

# Up to this many rows LAPACK finds the lowest eigenvalue, which usually has many others near it;
# beyond, Lanczos to this residual: the value has the square of that error over the gap behind it.
DENSE_LOWEST, LOWEST = 2000, 1e-9
# Most roots on the way to the additive constant; five or six are usual.
ROOTS = 50


@dataclass(frozen=True)
class Squares:
    """(d + constant)², or the argument itself where it is squared already."""

    squared: bool = False
    constant: float = 0.0

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Square distances."""
        if self.squared:
            return distances.astype(np.float64, copy=False)
        wide = distances.astype(np.float64)
        wide += self.constant
        return np.square(wide, out=wide)


@dataclass(frozen=True, eq=False)
class SimilaritySquares:
    """Squared distances that similarities k stand for: k(x, x) + k_jj − 2 k(x, x_j).

    For new samples k(x, x) is left out: centering drops any constant of a row.
    """

    diagonal: FloatArray

    @classmethod
    def of(cls, kernel: FloatArray) -> "SimilaritySquares":
        """Take the diagonal of a kernel, as a copy: a view would hold all of it in memory."""
        return cls(kernel.diagonal().copy())

    def __call__(self, new: FloatArray) -> FloatArray:
        """Convert rows of similarities to the fitted rows."""
        return np.asarray(self.diagonal - 2.0 * new)

    def between_fitted(self, kernel: FloatArray, *, overwrite: bool = False) -> FloatArray:
        """Squared distances between the fitted rows themselves, in place of the kernel or not."""
        squares = np.multiply(kernel, -2.0, out=kernel if overwrite else None)
        add_to_pairs(squares, self.diagonal)
        return squares


@dataclass(frozen=True, eq=False)
class Gram(CenteredGram):
    """−½ H (D + τ)² H + c·H, of distances D or, where `squares` says so, of D² itself.

    The additive constant τ and the spectrum shift c repair an indefinite kernel. Adding τ to every
    distance but the zeros on the diagonal (Cailliez, 1983; book section 8.1.3) is
    ``squares.constant = τ`` with ``spectrum_shift = τ²/2``; adding c to every eigenvalue, which
    adds 2c to the squared distances (Lingoes, 1971), is ``spectrum_shift = c``.

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> gram.operator() @ np.eye(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    distances: FloatArray
    squares: Squares = Squares()
    spectrum_shift: float = 0.0
    threads: int = 1

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.distances)

    @cached_property
    def mean_squares(self) -> FloatArray:
        """Mean of each row of S."""
        return self._times(np.full((self.n, 1), 1.0 / self.n))[:, 0]

    def _times(self, vectors: FloatArray) -> FloatArray:
        """S @ vectors, in double precision whatever that of the distances."""
        result = np.empty((len(self.distances), vectors.shape[1]))
        squared, constant = self.squares.squared, self.squares.constant
        distances = np.ascontiguousarray(self.distances)
        kernels.squared_products(distances, squared, constant, vectors, self.threads, step, result)
        return result

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        n, diagonal = self.n, float(self.squares(self.distances.diagonal()).sum())
        return (n * float(self.mean_squares.mean()) - diagonal) / 2 + self.spectrum_shift * (n - 1)

    def _product(self, vectors: FloatArray) -> FloatArray:
        """Products with the kernel, row block by row block."""
        centered = vectors - vectors.mean(axis=0)
        result = self._times(np.ascontiguousarray(centered, dtype=np.float64))
        return np.asarray(-0.5 * (result - result.mean(axis=0)) + self.spectrum_shift * centered)

    def form(self) -> FloatArray:
        """Compute the kernel itself, for the few rows that LAPACK takes as a whole."""
        formed = np.array(self.squares(self.distances), dtype=np.float64)
        formed -= formed.mean(axis=0)
        formed -= formed.mean(axis=1, keepdims=True)
        formed *= -0.5
        if self.spectrum_shift:
            formed -= self.spectrum_shift / self.n
            formed.flat[:: self.n + 1] += self.spectrum_shift
        return formed

    @property
    def accuracy(self) -> float:
        """Relative error of the kernel: eigenvalues below it are rounding.

        Two ways along one path may be rounded apart, which single precision shows as asymmetry.
        """
        single = 2.0 * float(np.finfo(self.distances.dtype).eps)
        return max(single, super().accuracy)

    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        centered = np.array(self.squares(self.distances[rows]), dtype=np.float64)
        centered -= centered.mean(axis=0)
        small = centered[:, rows] - centered[:, rows].mean(axis=1, keepdims=True)
        return -0.5 * small, lambda vectors: np.asarray(centered.T @ vectors)

    def repair(self, how: str | None) -> "Gram":
        """Make the kernel positive semidefinite; return it as it is if it is so, or for None.

        "additive_constant" adds the least constant to all distances (Cailliez, 1983);
        "spectrum_shift" raises all eigenvalues by the magnitude of the smallest.
        """
        lowest = 0.0 if how is None else self.lowest()
        if lowest >= 0:
            return self
        if how == "spectrum_shift":
            return replace(self, spectrum_shift=self.spectrum_shift - lowest)
        return self._with_constant(additive_constant(self))

    def _with_constant(self, tau: float) -> "Gram":
        """Add τ to all distances but those of rows to themselves."""
        return replace(self, squares=Squares(constant=tau), spectrum_shift=tau**2 / 2)

    def lowest(self) -> float:
        """Smallest eigenvalue on centered vectors; zero where it is negative by rounding alone."""
        return self._lowest(None)[0]

    def _lowest(self, start: FloatArray | None) -> tuple[float, FloatArray]:
        """Return the smallest eigenvalue and its vector (n, 1), from a vector near it if known."""
        matrix = Formable(self.n, self._product, self.form)
        constant = np.ones((self.n, 1))
        problem = SpectralProblem(matrix, "bottom", constant, accuracy=self.accuracy, start=start)
        bottom = solve(problem, 1, Dense() if self.n <= DENSE_LOWEST else Lanczos(tol=LOWEST))
        lowest = float(bottom.values[0])
        rounding = np.finfo(np.float64).eps * self.n * float(self.mean_squares.max())
        return 0.0 if abs(lowest) <= rounding else lowest, bottom.vectors

    def _unshifted(self) -> "Gram":
        return replace(self, spectrum_shift=0.0)


def additive_constant(gram: Gram) -> float:
    """Least τ for which G + 2τF + ½τ²H has no negative eigenvalue (Cailliez, 1983).

    G = −½HD²H and F = −½HDH. No vector v allows less than the larger root of
    v'Gv + 2τ v'Fv + ½τ² v'v, and the vector of the lowest eigenvalue at one τ has a larger root:
    the roots rise to the constant, and every one has about twice the digits of the one before.

    Examples
    --------
    >>> import numpy as np
    >>> longer = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> round(additive_constant(Gram(longer)), 9)  # 1 + τ, 1 + τ and 3 + τ lie on a line
    1.0
    """
    plain = replace(gram, squares=Squares(), spectrum_shift=0.0)
    of_distances = replace(gram, squares=Squares(squared=True), spectrum_shift=0.0)
    tau, vector = 0.0, None
    for _ in range(ROOTS):
        lowest, vector = gram._with_constant(tau)._lowest(vector)
        if lowest >= 0:
            break
        square, linear = (
            float(np.sum(vector * part._product(vector))) for part in (plain, of_distances)
        )
        root = -2.0 * linear + float(np.sqrt(max(4.0 * linear**2 - 2.0 * square, 0.0)))
        if not root > tau:
            break
        tau = root
    return tau

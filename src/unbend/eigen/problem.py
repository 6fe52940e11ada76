"""A method's spectral problem, and its solution, as values."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from unbend.arrays import FloatArray, is_sparse
from unbend.cached import cached_property

# Dense, sparse or products only. SciPy's stubs have no common type for these.
Matrix: TypeAlias = Any

# Up to here LAPACK takes well under a second and nothing can go wrong.
DENSE_ROWS = 600
# With the factor of a graph, and at the top end, an iteration is faster from fewer rows on.
DENSE_FEW_ROWS, DENSE_TOP_ROWS = 300, 200
# Vectors of an iteration's first block that are random, even if more are known.
RANDOM_VECTORS = 2


class Formable(LinearOperator):
    """Products with a symmetric matrix that can be formed for less than products with all units.

    Examples
    --------
    >>> import numpy as np
    >>> twice = Formable(2, lambda vectors: 2.0 * vectors, lambda: 2.0 * np.eye(2))
    >>> twice @ np.ones(2), twice.toarray().tolist()
    (array([2., 2.]), [[2.0, 0.0], [0.0, 2.0]])
    """

    def __init__(
        self,
        n: int,
        product: Callable[[FloatArray], FloatArray],
        form: Callable[[], FloatArray],
    ) -> None:
        super().__init__(np.dtype(np.float64), (n, n))  # type: ignore[call-arg]
        # Called directly by solvers: SciPy's checks take longer than products of small matrices.
        self.product, self._form = product, form

    def _matmat(self, X: FloatArray) -> FloatArray:
        return self.product(X)

    def _matvec(self, x: FloatArray) -> FloatArray:
        return self.product(x.reshape(self.shape[0], 1))

    def toarray(self) -> FloatArray:
        """Form the matrix, as an array that may be overwritten."""
        return self._form()


@dataclass(frozen=True, eq=False)
class SpectralProblem:
    """Symmetric problem A f = λ M f, of which one end is wanted.

    Parameters
    ----------
    matrix : dense, sparse or linear operator
        A, symmetric.
    end : "top" or "bottom"
        Largest or smallest eigenvalues.
    trivial : array (n, t), optional
        Known eigenvectors that carry no information, such as the constant one. They are projected
        out rather than skipped: counting alone cannot distinguish them from coordinates
        that have the same eigenvalue.
    mass : array (n,), optional
        Diagonal of M; the identity if absent.
    nullity : int
        How many further eigenvalues may vanish without anything being wrong: alignment kernels
        of flat data annihilate the d coordinates as well.
    accuracy : float
        Relative error of the matrix itself, such as rounding to single precision: smaller
        residuals mean nothing.
    size : float
        About the largest magnitude of an eigenvalue, where it is known; zero where it is not.
    shift : float
        What is added to every eigenvalue: the problem is that of A plus so much of the identity on
        vectors beside the trivial ones, and a solver, which sees A alone, finds the same vectors.
    start : array (n, s), optional
        Rough eigenvectors, best first, from which an iteration may begin.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import SpectralProblem, solve
    >>> stiffness, mass = np.array([[2.0, -2], [-2, 2]]), np.array([1.0, 3.0])
    >>> problem = SpectralProblem(stiffness, "bottom", trivial=np.ones((2, 1)), mass=mass)
    >>> solve(problem, 1).values.round(6)  # 2 (1/1 + 1/3)
    array([2.666667])
    """

    matrix: Matrix
    end: Literal["top", "bottom"]
    trivial: FloatArray | None = None
    mass: FloatArray | None = None
    nullity: int = 0
    accuracy: float = 0.0
    size: float = 0.0
    shift: float = 0.0
    start: FloatArray | None = None

    @property
    def n(self) -> int:
        """Size of the problem."""
        return int(self.matrix.shape[0])

    @property
    def trivial_basis(self) -> FloatArray:
        """Trivial vectors as a matrix, possibly without columns."""
        return np.zeros((self.n, 0)) if self.trivial is None else self.trivial

    @cached_property
    def norm(self) -> float:
        """Bound of the spectrum, the largest absolute row sum; or for products an estimate."""
        if self.size:
            return self.size
        if isinstance(self.matrix, LinearOperator):
            # A few powers of a fixed vector: a bound from below, good to a small factor.
            vector = np.random.default_rng(0).standard_normal(self.n)
            for _ in range(3):
                length = float(np.linalg.norm(vector))
                if length == 0:
                    return 0.0
                vector = np.asarray(self.matrix @ (vector / length)).ravel()
            return float(np.linalg.norm(vector))
        matrix = self.matrix
        if isinstance(matrix, csr_array):
            # The same entries at the same places, which `abs` would copy.
            places = (matrix.indices, matrix.indptr)
            matrix = csr_array((np.abs(matrix.data), *places), shape=matrix.shape)
            return float((matrix @ np.ones(self.n)).max(initial=0.0))
        return float(np.asarray(abs(matrix).sum(axis=1)).max(initial=0.0))

    def first_vectors(self, width: int, rng: np.random.Generator) -> FloatArray:
        """`width` vectors to begin an iteration from: those known, filled up at random.

        At least `RANDOM_VECTORS` are random, through which the iteration finds what others lack.
        """
        vectors = rng.standard_normal((self.n, width))
        if self.start is not None:
            known = self.start[:, : max(1, width - RANDOM_VECTORS)]
            # A little of everything, so that nothing is missed that the known ones lack.
            size = np.linalg.norm(known, axis=0) / np.sqrt(self.n)
            vectors[:, : known.shape[1]] = known + 1e-3 * size * vectors[:, : known.shape[1]]
        return vectors

    def standard(self) -> "SpectralProblem":
        """Return the same problem with M = I and orthonormal trivial vectors: u = M^½ f."""
        trivial, matrix, start = self.trivial_basis, self.matrix, self.start
        if self.mass is not None:
            root = np.sqrt(self.mass)
            trivial = trivial * root[:, None]
            start = None if start is None else start * root[:, None]
            matrix = _scale(matrix, 1.0 / root)
        if not isinstance(matrix, np.ndarray | LinearOperator):
            matrix = csr_array(matrix)
            if not matrix.has_canonical_format:
                # SciPy sorts entries in place when it likes: not those of the caller, and not while
                # a solver holds the indices in a form of its own.
                matrix = matrix.copy()
                matrix.sum_duplicates()
        basis = np.linalg.qr(trivial)[0]
        return replace(self, matrix=matrix, trivial=basis, mass=None, start=start)


def _scale(matrix: Matrix, factors: FloatArray) -> Matrix:
    """diag(factors) A diag(factors)."""
    if isinstance(matrix, LinearOperator):
        diagonal = aslinearoperator(diags_array(factors))
        return diagonal @ matrix @ diagonal
    if not is_sparse(matrix):
        return factors[:, None] * matrix * factors
    rows: Matrix = csr_array(matrix)
    values = np.repeat(factors, np.diff(rows.indptr))
    values *= rows.data
    values *= factors[rows.indices]
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


class Eigenpairs(NamedTuple):
    """What a solver returns: at least as many pairs as asked for, from the wanted end inwards.

    `converged` says whether those asked for reached the solver's tolerance; `size` is the largest
    magnitude of an eigenvalue that the solver has seen at either end, zero where it does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import Dense, Eigenpairs, SpectralProblem
    >>> problem = SpectralProblem(np.diag([3.0, 2.0, 1.0]), "top")
    >>> pairs = Dense().eigenpairs(problem, 2, np.random.default_rng(0))
    >>> isinstance(pairs, Eigenpairs), pairs.values[:2]
    (True, array([3., 2.]))
    """

    values: FloatArray
    vectors: FloatArray
    converged: bool = True
    size: float = 0.0


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenpairs, in order from the wanted end, with what is known of their accuracy.

    `residuals` are ‖A f − λ M f‖ relative to the size of A; `next_value` estimates
    the first eigenvalue beyond those asked for, which shows how well they are separated.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import SpectralProblem, solve
    >>> found = solve(SpectralProblem(np.diag([3.0, 2.0, 1.0]), "top"), 2)
    >>> found.values, found.next_value, bool(found.residuals.max() < 1e-12)
    (array([3., 2.]), 1.0, True)
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    solver: str
    seconds: float
    converged: bool
    next_value: float
    norm: float

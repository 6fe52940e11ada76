"""Nyström's approximation: a symmetric matrix from a few of its columns (book section 15.1.3).

With A the block of the chosen rows and columns and C = [A B]' the chosen columns, G ≈ C A⁻¹ C'.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import check_product, symmetric_matrix

# Eigenvalues of a block below this share of the largest, times its size, are rounding.
ROUNDING = float(np.finfo(np.float64).eps)


def leading_eigenpairs(block: FloatArray, accuracy: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of a block, largest first, that stand out from its error.

    Those at most `accuracy` times the largest are rounding; those no larger than the most negative
    one cannot be distinguished from what makes the block indefinite, such as bent geodesics.
    """
    values, vectors = np.linalg.eigh((block + block.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    floor = max(accuracy, len(values) * ROUNDING) * float(np.abs(values).max(initial=0.0))
    keep = values > max(floor, -float(values[-1]) if len(values) else 0.0)
    return values[keep], vectors[:, keep]


def nystrom_extension(block: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of A and its eigenvectors carried to all rows: (U; B'U Σ⁻¹) (book (15.17)).

    Parameters
    ----------
    block : array (m, m)
        A, positive semidefinite.
    others : array (m, n - m)
        B: the chosen rows at the other columns.

    Returns
    -------
    values : array (r,)
        Σ, those that are not rounding.
    vectors : array (n, r)
        Not orthogonal; `orthogonal_nystrom` gives those that are.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(30, 3))
    >>> gram = rows @ rows.T
    >>> values, vectors = nystrom_extension(gram[:5, :5], gram[:5, 5:])
    >>> bool(np.allclose((vectors * values) @ vectors.T, gram))
    True
    """
    block, others = _blocks(block, others)
    values, vectors = leading_eigenpairs(block)
    return values, np.concatenate((vectors, others.T @ vectors / values))


def orthogonal_nystrom(block: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of Nyström's approximation C A⁻¹ C' itself (book Theorem 15.3).

    V = C A^-½ U Λ^-½ with UΛU' = S = A + A^-½ BB' A^-½ has orthonormal columns, and
    ‖G − VΛV'‖ = ‖D − B'A⁻¹B‖ for the block D that was never seen (book (15.19)).

    Parameters
    ----------
    block, others : arrays
        A and B, as for `nystrom_extension`.

    Returns
    -------
    values : array (r,)
        Λ, from the largest.
    vectors : array (n, r)
        V.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(30, 3))
    >>> gram = rows @ rows.T
    >>> values, vectors = orthogonal_nystrom(gram[:5, :5], gram[:5, 5:])
    >>> bool(np.allclose(values, np.linalg.eigvalsh(gram)[:-4:-1]))
    True
    """
    block, others = _blocks(block, others)
    return factor_eigenpairs(nystrom_factor(np.concatenate((block, others.T)), block))


def _blocks(block: Any, others: Any) -> tuple[FloatArray, FloatArray]:
    """Return A and B if they can be parts of a symmetric matrix."""
    array, scale = symmetric_matrix(block)
    beside = np.asarray(others)
    if beside.ndim != 2 or len(beside) != len(array):
        raise ValueError(
            f"`others` must have a row for each of the {len(array)} columns chosen, and its shape "
            f"is {beside.shape}"
        )
    return array * scale, check_product(beside)


def nystrom_factor(columns: FloatArray, block: FloatArray, accuracy: float = 0.0) -> FloatArray:
    """F with FF' = C A⁻¹ C', F = C U Σ^-½ over the eigenpairs of A that stand out."""
    values, vectors = leading_eigenpairs(block, accuracy)
    return np.asarray(columns @ (vectors / np.sqrt(values)))


def factor_eigenpairs(factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of FF', from the largest."""
    left, singular, _ = np.linalg.svd(factor, full_matrices=False)
    return np.square(singular), left


def inverse_root(block: FloatArray, accuracy: float = 0.0) -> FloatArray:
    """R with RR' = A⁻¹, over the eigenpairs of A that stand out."""
    values, vectors = leading_eigenpairs(block, accuracy)
    return np.asarray(vectors / np.sqrt(values))


def column_axes(root: FloatArray, cross: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of C A⁻¹ C' and the weights W with which its scaled eigenvectors are V√Λ = C W.

    Of A only the `inverse_root` R is needed, and of C the `cross` products (CR)'(CR), so the
    columns may be made, used and forgotten block by block. They are not formed from C'C: A⁻¹
    would amplify its rounding. At most `count`; fewer where A or C has a lower rank.
    """
    found, turn = leading_eigenpairs(cross)
    return found[:count], np.asarray(root @ turn[:, :count])


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """Nyström's eigenfunctions of a kernel: any row from its similarities to m rows.

    ψ_j(x) = √m/λ_j Σ_i u_ji k(x, x_i) and μ_j = λ_j/m, with u and λ the eigenpairs of the kernel
    of the m rows (slides (60), (61)); at these rows ψ_j = √m u_j.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import Eigenfunctions
    >>> x = np.linspace(0, 1, 20)
    >>> kernel = np.exp(-((x[:, None] - x) ** 2))
    >>> found = Eigenfunctions.of(kernel, 3)
    >>> np.round(found(kernel).T @ found(kernel) / 20, 6) + 0.0  # orthonormal at these rows
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    values: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, kernel: FloatArray, count: int) -> "Eigenfunctions":
        """Take the leading eigenpairs of an (m, m) kernel that stand out, at most `count`."""
        array, scale = symmetric_matrix(kernel)
        values, vectors = leading_eigenpairs(array * scale)
        values, vectors = values[:count], vectors[:, :count]
        m = len(array)
        return cls(values / m, np.sqrt(m) * vectors / values)

    def __call__(self, similarities: FloatArray) -> FloatArray:
        """Values (rows, count) at rows whose similarities (rows, m) are given."""
        return np.asarray(similarities @ self.weights)


@dataclass(frozen=True, eq=False)
class CenteredDistances:
    """The data-dependent kernel of scaling, with means over given rows (slides (65)).

    k(a, b) = −½ (d²(a, b) − E d²(x, b) − E d²(a, x) + E d²(x, x')).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> kernel = CenteredDistances.of(np.subtract.outer(x, x) ** 2)
    >>> np.allclose(kernel(np.subtract.outer(x, x) ** 2), np.outer(x - 2, x - 2))
    True
    """

    means: FloatArray
    mean: float

    @classmethod
    def of(cls, squares: FloatArray) -> "CenteredDistances":
        """Take the means from the squared distances (m, m) between the rows."""
        return cls(squares.mean(axis=0), float(squares.mean()))

    def __call__(self, squares: FloatArray) -> FloatArray:
        """Kernel between any rows and those given, from squared distances (rows, m)."""
        own = squares.mean(axis=1, keepdims=True)
        return np.asarray(-0.5 * (squares - self.means - own + self.mean))


@dataclass(frozen=True, eq=False)
class NormalizedAffinities:
    """The data-dependent kernel of spectral embedding and clustering (slides (69)).

    k(a, b) = w(a, b) / (m √(E w(a, x) E w(x, b))), means over given rows: between these it is
    D^-½ W D^-½, whose top is the bottom of the normalised Laplacian.

    Examples
    --------
    >>> import numpy as np
    >>> affinities = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> NormalizedAffinities.of(affinities)(affinities) @ np.ones(2)
    array([1., 1.])
    """

    means: FloatArray

    @classmethod
    def of(cls, affinities: FloatArray) -> "NormalizedAffinities":
        """Take the means from the affinities (m, m) between the rows."""
        return cls(affinities.mean(axis=0))

    def __call__(self, affinities: FloatArray) -> FloatArray:
        """Kernel between any rows and those given, from affinities (rows, m)."""
        own = affinities.mean(axis=1, keepdims=True)
        return np.asarray(affinities / np.sqrt(own * self.means) / len(self.means))


def pad_with_null_vectors(
    values: FloatArray, vectors: FloatArray, count: int, trivial: FloatArray, rng: Any
) -> tuple[FloatArray, FloatArray]:
    """Add orthonormal vectors of eigenvalue zero where an approximation has fewer than `count`."""
    lacking = count - len(values)
    if lacking <= 0:
        return values, vectors
    known = np.column_stack((trivial, vectors))
    drawn = rng.standard_normal((len(vectors), lacking))
    extra = np.linalg.qr(np.column_stack((known, drawn)))[0][:, known.shape[1] :]
    return np.concatenate((values, np.zeros(lacking))), np.column_stack((vectors, extra))

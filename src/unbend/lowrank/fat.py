"""Fast anisotropic transformations (book section 15.3): a kernel's leading vectors in few products.

Some m columns of the kernel, or m random mixtures of all, span a subspace that wraps the wanted
coordinates; the kernel carries an orthonormal basis Q of it on to KQ, whose singular vectors on
the side of the rows give them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, is_sparse
from unbend.lowrank.inputs import as_operand, check_product
from unbend.lowrank.sketch import Sketch, apply_sketch, sketch_matrix
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_integer

Mode = Literal["gat", "irat", "prat"]
MODES: tuple[str, ...] = get_args(Mode)
# Share of its size by which a kernel may differ from its transpose, in single precision too.
ASYMMETRY = 1e-4
# Vectors beyond the wanted ones, where no number is given.
BESIDE = 15

Apply = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class ApproximatePairs:
    """Approximate eigenpairs of a symmetric matrix from the span of a few vectors.

    `residuals` are ‖Kv − λv‖ of every pair, in the units of K.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray

    def deviation_bound(self, count: int) -> float:
        """Bound of the sine of the largest angle between the first `count` vectors and exact ones.

        Davis and Kahan: ‖R‖ / gap, R the residuals of the wanted vectors and the gap that to the
        next pair, less the residual of that. It holds if no eigenvalue was missed altogether; it
        is infinite where there is no gap.
        """
        if count >= len(self.values):
            return 0.0 if not np.any(self.residuals > 0) else np.inf
        next_value, error = self.values[count], self.residuals[count]
        gap = float(np.abs(self.values[:count] - next_value).min() - error)
        size = float(np.sqrt(np.square(self.residuals[:count]).sum()))
        return size / gap if gap > 0 else (0.0 if size == 0 else np.inf)


def range_vectors(
    columns: Apply,
    n: int,
    m: int,
    mode: Mode,
    sketch: Sketch,
    rng: np.random.Generator,
    norms: FloatArray | None = None,
) -> FloatArray:
    """Vectors (n, m) whose span wraps the coordinates, by products with the kernel alone.

    "gat" takes the columns of largest norm, "irat" columns at random, "prat" random mixtures.
    Where the kernel gives products only, `norms` is None and they are estimated by m of these.
    """
    if mode == "prat":
        return columns(sketch_matrix(n, m, sketch, rng))
    if mode == "irat":
        chosen = rng.choice(n, m, replace=False)
    else:
        if norms is None:
            norms = np.linalg.norm(columns(rng.standard_normal((n, m))), axis=1)
        chosen = np.argsort(-norms, kind="stable")[:m]
    units = np.zeros((n, m))
    units[chosen, np.arange(m)] = 1.0
    return columns(units)


def _basis_beside(vectors: FloatArray, trivial: FloatArray) -> FloatArray:
    """Orthonormal columns that span the vectors, all orthogonal to the trivial ones."""
    basis = np.linalg.qr(np.column_stack((trivial, vectors)))[0][:, trivial.shape[1] :]
    # Once more, with nothing of the trivial vectors left: twice is enough (Kahan).
    basis = basis - trivial @ (trivial.T @ basis)
    return np.asarray(np.linalg.qr(np.column_stack((trivial, basis)))[0][:, trivial.shape[1] :])


def ritz_pairs(
    leading: Apply, own: Apply, wrap: FloatArray, trivial: FloatArray, top: bool
) -> ApproximatePairs:
    """Eigenpairs of `own` in the span of Q and `leading`·Q, Q a basis of the wrapping vectors.

    `leading` is a matrix whose top is the wanted end of `own`: the same matrix, or its dual.
    Singular values of KQ are |λ|, and singular vectors mix λ with −λ: pairs, their signs and
    their order come from v'Kv (Rayleigh and Ritz). Q itself stays in the span: for the top its
    images are there already, and vectors come out several times nearer.
    """
    first = _basis_beside(wrap, trivial)
    led = leading(first)
    if 2 * first.shape[1] > len(first) - trivial.shape[1]:
        basis = _basis_beside(led, trivial)
        image = own(basis)
    else:
        second = _basis_beside(led, np.column_stack((trivial, first)))
        basis = np.column_stack((first, second))
        image = np.column_stack((led if top else own(first), own(second)))
    small = basis.T @ image
    if top and np.linalg.norm(small - small.T) > ASYMMETRY * np.linalg.norm(image):
        raise ValueError("the kernel is not symmetric: use (K + K.T) / 2 if it should be")
    values, turn = np.linalg.eigh((small + small.T) / 2)
    order = slice(None, None, -1) if top else slice(None)
    values, turn = values[order][: first.shape[1]], turn[:, order][:, : first.shape[1]]
    vectors = basis @ turn
    errors = image @ turn
    errors -= vectors * values
    errors -= trivial @ (trivial.T @ errors)
    return ApproximatePairs(values, vectors, np.linalg.norm(errors, axis=0))


def ritz_pairs_of(matrix: Apply, vectors: FloatArray) -> ApproximatePairs:
    """Judge orthonormal vectors as eigenvectors of another matrix."""
    image = matrix(vectors)
    values = np.einsum("ij,ij->j", vectors, image)
    return ApproximatePairs(values, vectors, np.linalg.norm(image - vectors * values, axis=0))


def fat(
    kernel: Any,
    d: int,
    mode: Mode = "prat",
    *,
    m: int | None = None,
    sketch: Sketch = "gaussian",
    diffusion: bool = False,
    rng: np.random.Generator | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Leading eigenvalues and vectors of a kernel by an anisotropic transformation.

    Parameters
    ----------
    kernel : array, sparse array or LinearOperator (n, n)
        Symmetric; only products with it are used, and for ``mode="gat"`` its column norms.
    d : int
        How many vectors.
    mode : {"gat", "irat", "prat"}
        Greedy columns, random columns, random mixtures.
    m : int, optional
        Vectors that wrap the wanted ones; d + 15 by default.
    sketch : str
        Law of the mixtures.
    diffusion : bool
        Whether the kernel is one of diffusion maps: the leading vector is trivial, is left out,
        and the others are divided by it.
    rng : Generator, optional
        A fixed one by default.

    Returns
    -------
    values : array (d,)
        From the largest; an indefinite kernel may have negative ones among them.
    vectors : array (n, d)
        Of unit length, unless divided.
    bound : float
        `ApproximatePairs.deviation_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(300, 4))
    >>> values, vectors, bound = fat(rows @ rows.T, 2, "irat")
    >>> bool(np.allclose(values, np.linalg.eigvalsh(rows.T @ rows)[:-3:-1])), bound < 1e-10
    (True, True)
    """
    kernel = as_operand(kernel)
    _check_mode(mode)
    n, skipped = int(kernel.shape[0]), int(diffusion)
    if kernel.shape != (n, n):
        raise ValueError(f"a kernel must be square and symmetric, and it is {kernel.shape}")
    d = check_integer("d", d, 1, n - skipped)
    rng = np.random.default_rng(0) if rng is None else rng
    count = d + skipped
    size = min(count + BESIDE if m is None else check_integer("m", m, 1), n)
    if size < count:
        raise ValueError(f"m={m} vectors cannot hold {count}: use at least {count}")

    def product(vectors: FloatArray) -> FloatArray:
        return check_product(np.asarray(kernel @ vectors))

    trivial = np.zeros((n, 0))
    norms = column_norms(kernel, trivial) if mode == "gat" else None
    wrap = range_vectors(product, n, size, mode, sketch, rng, norms)
    found = ritz_pairs(product, product, wrap, trivial, top=True)
    vectors = found.vectors[:, skipped:count]
    if diffusion:
        vectors = vectors / found.vectors[:, :1]
    return found.values[skipped:count], vectors, found.deviation_bound(count)


def fat_rows(
    rows: FloatArray,
    d: int,
    mode: Mode = "prat",
    *,
    m: int | None = None,
    sketch: Sketch = "gaussian",
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Coordinates of centered rows by an anisotropic transformation of them (book Remark 15.2).

    The columns of X take the place of those of a kernel: with Q a basis of some of them, or of
    mixtures, the coordinates are Q times the principal components of Q'X.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 2)) @ np.ones((2, 40))
    >>> fat_rows(rows, 1).shape
    (200, 1)
    """
    _check_mode(mode)
    points = np.asarray(check_rows(rows, "matrix", min_rows=1, scale=False), dtype=np.float64)
    centered = check_product(points) - np.mean(points, axis=0)
    rng = np.random.default_rng(0) if rng is None else rng
    n, width = centered.shape
    d = check_integer("d", d, 1, min(n, width))
    size = min(d + BESIDE if m is None else check_integer("m", m), n, width)
    if size < d:
        raise ValueError(f"m={size} vectors cannot hold {d}: use at least {d}, and as many columns")
    if mode == "prat":
        wrap = apply_sketch(centered, size, sketch, rng)
    else:
        norms = np.linalg.norm(centered, axis=0) if mode == "gat" else rng.permutation(width)
        wrap = centered[:, np.argsort(-norms, kind="stable")[:size]]
    basis = np.linalg.qr(wrap)[0]
    left, singular, _ = np.linalg.svd(basis.T @ centered, full_matrices=False)
    return np.asarray(basis @ (left[:, :d] * singular[:d]))


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is not known: use one of {MODES}")


def column_norms(matrix: Any, trivial: FloatArray) -> FloatArray | None:
    """Norms of the columns beside trivial ones, which are orthonormal; None for products alone."""
    if isinstance(matrix, LinearOperator):
        return None
    squares = np.asarray(
        matrix.power(2).sum(axis=0) if is_sparse(matrix) else np.einsum("ij,ij->j", matrix, matrix)
    ).ravel()
    along = np.asarray(matrix.T @ trivial)
    return np.asarray(np.sqrt(np.maximum(squares - np.square(along).sum(axis=1), 0.0)))

"""Principal axes of centered rows (book section 5.2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray, row_chunks
from unbend.eigen.dense import eigenpairs_at_end
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.solve import solve
from unbend.gram.centered import PointGram
from unbend.report import note, step, warn

# Up to this side of data whose other side is not this many times as long, and beyond these shares
# of all axes (by XX' and by X'X), decomposing the rows themselves takes no longer than the
# eigenvectors of the smaller of XX' and X'X.
SMALL_SIDE, LONG = 16, 50
LARGE_SHARE = {"dual": 1 / 4, "covariance": 1 / 2}
# Up to this side LAPACK finds these eigenvectors; beyond, Lanczos to the tolerance.
DENSE_SIDE, TOLERANCE = 2000, 1e-13
# σ_d/σ₁ from which XX' and X'X are good enough: they square the condition number, so the rounding
# of their eigenvectors is σ₁/2σ_d times that of the rows' singular vectors.
WELL_CONDITIONED = 1e-2
# Rows of a block of X'X, and blocks that are kept at once.
PRODUCT_ROWS, AT_ONCE = 2048, 16


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Orthonormal rows `axes`, singular values along them, noise variance, iterations taken.

    Singular values that are roots of eigenvalues are `squared`: these have lost digits, which the
    lengths of the coordinates have not.
    """

    axes: FloatArray
    singular: FloatArray
    noise: float | None = None
    iterations: int = 1
    squared: bool = False

    def with_exact_values(self, coordinates: FloatArray) -> "PrincipalAxes":
        """Return these with singular values to rounding, given the coordinates of the rows."""
        if not self.squared:
            return self
        off = coordinates - coordinates.mean(axis=0)
        return replace(self, singular=np.sqrt(np.einsum("ij,ij->j", off, off)), squared=False)


def exact_axes(
    centered: FloatArray, d: int, rng: np.random.Generator, threads: int = 1
) -> PrincipalAxes:
    """Axes to rounding, by the fastest way that gives them so; the report records which and why.

    Eigenvectors of the smaller of XX' and X'X, checked to be well conditioned; else a singular
    value decomposition of the rows, after a QR decomposition. The axes do not depend on `threads`.
    """
    n, columns = centered.shape
    side = min(n, columns)
    small = side <= SMALL_SIDE and max(n, columns) < LONG * side
    name = "dual" if n < columns else "covariance"
    if small or d > LARGE_SHARE[name] * side:
        note(solver="full", because=f"{n} x {columns} rows, {d} axes: fastest")
        return full_axes(centered, d)
    found, converged = _gram_axes(centered, d, rng, by_rows=n < columns, threads=threads)
    ratio = float(found.singular[-1] / found.singular[0])
    if converged and ratio >= WELL_CONDITIONED:
        note(solver=name, because=f"{n} x {columns} rows, well conditioned", smallest_ratio=ratio)
        return found
    note(solver="full", because=f"ill-conditioned for '{name}'", smallest_ratio=ratio)
    return full_axes(centered, d)


def full_axes(centered: FloatArray, d: int) -> PrincipalAxes:
    """Axes by a singular value decomposition of the triangular factor of the rows."""
    n, columns = centered.shape
    if n >= columns:
        _, singular, axes = np.linalg.svd(np.linalg.qr(centered, mode="r"))
        return PrincipalAxes(axes[:d], singular[:d])
    basis, factor = np.linalg.qr(centered.T)
    _, singular, axes = np.linalg.svd(factor.T)
    return PrincipalAxes(axes[:d] @ basis.T, singular[:d])


def dual_axes(centered: FloatArray, d: int, rng: np.random.Generator) -> PrincipalAxes:
    """Axes from the n × n Gram matrix XX': v = X'u/σ, for more columns than rows."""
    return _gram_axes(centered, d, rng, by_rows=True)[0]


def _gram_axes(
    centered: FloatArray, d: int, rng: np.random.Generator, *, by_rows: bool, threads: int = 1
) -> tuple[PrincipalAxes, bool]:
    """Axes from XX' (`by_rows`) or X'X, and whether they converged."""
    gram = PointGram(centered if by_rows else centered.T)
    converged = True
    if gram.n <= DENSE_SIDE or 10 * d > gram.n:
        formed = gram.form() if by_rows else column_products(centered, threads)
        values, vectors = eigenpairs_at_end(formed, d, "top")
        if not by_rows and values[-1] >= WELL_CONDITIONED**2 * values[0]:
            return PrincipalAxes(vectors.T, np.sqrt(values), squared=True), True
    else:
        # No vector is trivial: as many axes as rows may be asked for.
        problem = replace(gram.problem(), trivial=None, accuracy=0.0)
        spectrum = solve(problem, d, Lanczos(tol=TOLERANCE), rng)
        vectors, converged = spectrum.vectors, spectrum.converged
    # Singular values come from the rows: √λ would lose half the digits of small ones.
    span = centered.T @ vectors if by_rows else vectors
    return _rotate(centered, span, None, 1), converged


def column_products(rows: FloatArray, threads: int = 1) -> FloatArray:
    """X'X, summed over blocks of rows that threads share; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> column_products(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[10., 14.],
           [14., 20.]])
    """
    blocks = [rows[some] for some in row_chunks(len(rows), 1, PRODUCT_ROWS)]
    # Few at once: each is as large as the result.
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for first in range(0, len(blocks), AT_ONCE):
        some = blocks[first : first + AT_ONCE]
        for part in map_parts(lambda block: np.asarray(block.T @ block), some, threads):
            total += part
    return total


def em_axes(
    centered: FloatArray, d: int, rng: np.random.Generator, tol: float, max_iter: int
) -> PrincipalAxes:
    """Coordinates by least squares given the axes, axes given the coordinates, in turn.

    Never forms a covariance: each iteration costs O(nDd) (Roweis, 1998).
    """

    def improve(loading: FloatArray) -> FloatArray:
        # With orthonormal axes the least-squares coordinates are products.
        coordinates = centered @ np.linalg.qr(loading)[0]
        return np.asarray(np.linalg.lstsq(coordinates, centered, rcond=None)[0].T)

    start = rng.standard_normal((centered.shape[1], d))
    loading, iterations = _until_steady(improve, start, tol, max_iter)
    return _rotate(centered, loading, None, iterations)


def sensible_axes(
    centered: FloatArray, d: int, rng: np.random.Generator, tol: float, max_iter: int
) -> PrincipalAxes:
    """Maximum likelihood for x = Cz + noise of equal variance in all directions.

    The EM iteration of Roweis (1998) and Tipping and Bishop (1999); covariances have the
    divisor n of maximum likelihood.
    """
    n, columns = centered.shape
    total = float(np.square(centered).sum() / n)
    noise = total / columns
    identity = np.eye(d)

    def improve(loading: FloatArray) -> FloatArray:
        nonlocal noise
        if noise <= np.finfo(float).eps * total:
            # No noise is left, and the model is that of `em_axes`.
            coordinates = centered @ np.linalg.qr(loading)[0]
            return np.asarray(np.linalg.lstsq(coordinates, centered, rcond=None)[0].T)
        image = centered.T @ (centered @ loading) / n
        posterior = np.linalg.inv(loading.T @ loading + noise * identity)
        inner = noise * identity + posterior @ (loading.T @ image)
        improved = np.linalg.solve(inner.T, image.T).T
        explained = float(np.sum(image * (improved @ posterior.T)))
        noise = max((total - explained) / columns, np.finfo(float).tiny)
        return np.asarray(improved)

    start = rng.standard_normal((columns, d)) * np.sqrt(max(noise, np.finfo(float).tiny))
    loading, iterations = _until_steady(improve, start, tol, max_iter)
    found = _rotate(centered, loading, noise, iterations)
    # The iteration stops when the axes stand; given these the noise has a closed form.
    left = max(total - float(np.square(found.singular).sum()) / n, 0.0)
    return PrincipalAxes(found.axes, found.singular, left / max(columns - d, 1), iterations)


def _until_steady(
    improve: Callable[[FloatArray], FloatArray], loading: FloatArray, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Iterate until the span of the columns turns by less than `tol`."""
    basis = np.linalg.qr(loading)[0]
    for number in range(max_iter):
        step(number, max_iter)
        loading = improve(loading)
        previous, basis = basis, np.linalg.qr(loading)[0]
        if np.linalg.norm(basis - previous @ (previous.T @ basis), 2) <= tol:
            return loading, number + 1
    warn(f"The principal axes did not converge in {max_iter} iterations. Increase max_iter or tol.")
    return loading, max_iter


def _rotate(
    centered: FloatArray, loading: FloatArray, noise: float | None, iterations: int
) -> PrincipalAxes:
    """Principal axes inside the span of the loading."""
    basis = np.linalg.qr(loading)[0]
    _, singular, rotation = np.linalg.svd(np.linalg.qr(centered @ basis, mode="r"))
    return PrincipalAxes(rotation @ basis.T, singular, noise, iterations)

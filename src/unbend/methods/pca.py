"""Principal component analysis."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.decomposition import PCA as ScikitPCA

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import BLOCK_ROWS, FloatArray, is_sparse, row_chunks
from unbend.eigen import fix_signs
from unbend.estimators.batches import open_batches
from unbend.estimators.embedding import seed_param, threads_param
from unbend.estimators.inputs import check_input
from unbend.estimators.linear import HELD_BYTES, LinearEmbedding, reference_features
from unbend.extension import Linear, LinearInverse
from unbend.gram.principal import PrincipalAxes, dual_axes, em_axes, exact_axes, sensible_axes
from unbend.lazy import scale
from unbend.report import Report, note, stage
from unbend.validation.parameters import (
    Choice,
    Integer,
    Real,
    declare,
    first_param,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer, is_integer
from unbend.validation.threads import threads

# Bytes of rows that a thread works on at once.
CHUNK = 1 << 22
# Solvers that give the axes to rounding: the triangular factor of `fit_batches` does the same.
DIRECT = ("auto", "full", "covariance_eigh")
SCIKIT = ("full", "covariance_eigh", "arpack", "randomized")
SPARSE = ("auto", *SCIKIT)
# Solvers that find all axes, of which a share of the variance takes the first.
COMPLETE = (*DIRECT, "dual")
# Entries up to which 'auto' makes sparse rows dense: 80 MB.
DENSE_ENTRIES = 10**7
# Means beyond this many standard deviations are rounded by more than the rows are.
FAR = 10.0
# Up to this many rows or columns exact axes take no longer than randomised ones.
EXACT_SIDE = 500
# ARPACK starts again from random vectors of its own where the rank is low, and so does not give the
# same bits twice; only sparse rows that are too many to make dense need it.
EXACT_IF_DENSE = ("auto", "arpack")


@final
@declare
class PCA(LinearEmbedding):
    """Principal component analysis: the directions of largest variance.

    Coordinates are (x − mean) A', with the rows of A the top right singular vectors of the centered
    data; variances are σ²/(n − 1).

    ``svd_solver="auto"`` is exact up to rounding. It decomposes the rows (``full``) or the smaller
    of their covariance and Gram matrices, which is used only where it is well conditioned;
    `report_` records the choice and why. Large sparse rows use ``arpack``, at machine precision. By
    name there are scikit-learn's solvers, of which ``arpack`` is for large sparse rows too (others
    have the axes of ``auto``, which are the same to rounding) and ``randomized`` is approximate
    beyond 500 rows and columns (up to there exact axes take less time), and three more: ``dual``
    (the n × n Gram matrix: for more columns than rows), ``em`` (Roweis: two least-squares steps in
    turn, never a covariance) and ``sensible`` (Roweis: the same with isotropic noise, whose
    variance is estimated along).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates; no rows after `fit_batches`.
    components_ : array (n_components, n_features)
        Principal axes, orthonormal rows.
    mean_ : array (n_features,)
        Mean of the rows.
    explained_variance_, explained_variance_ratio_ : array (n_components,)
        Variance along each axis, and its share of the whole.
    singular_values_ : array (n_components,)
        Singular values of the centered data.
    n_components_ : int
        Number of axes: `n_components`, or as many as the requested share of variance needs.
    noise_variance_ : float
        Mean variance of the n_features − n_components directions left out; for ``sensible``, the
        maximum-likelihood estimate, whose variances are σ²/n. scikit-learn (and
        ``unbend.sklearn.PCA``) divides by min(n_samples, n_features) − n_components instead,
        which is larger where there are fewer rows than columns.
    n_iter_ : int
        Iterations taken; 1 for solvers that do not iterate.

    References
    ----------
    Roweis, NIPS 10 (1998); Tipping and Bishop, JRSS B 61 (1999). Book chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> line = np.outer([0.0, 1.0, 2.0], [3.0, 4.0])
    >>> unbend.PCA(n_components=1).fit_transform(line).ravel()
    array([-5.,  0.,  5.])
    """

    n_components: Any = first_param(
        Integer(1),
        Real(0, below=1),
        default=2,
        help="Embedding dimension; a number between 0 and 1 takes the fewest axes that explain "
        "more than this share of the variance ('auto', 'full', 'covariance_eigh', 'dual').",
        kw_only=False,
    )
    svd_solver: str = param(
        "auto",
        Choice("auto", *SCIKIT, "dual", "em", "sensible"),
        help="Solver. 'auto' is exact: 'full', 'dual' or the covariance, by shape and condition "
        "number. 'randomized' is approximate; 'covariance_eigh' and 'dual' square the condition "
        "number.",
    )
    tol: float = param(1e-10, Real(0), help="'em' and 'sensible' stop when an axis turns by less.")
    max_iter: int = param(5000, Integer(1), help="Iterations of 'em' and 'sensible' at most.")
    random_state: Any = seed_param("the iterative solvers")
    n_jobs: int | None = threads_param()

    def fit(self, X: Any, y: None = None) -> "PCA":
        """Fit to the rows of X; sparse rows need 'auto', 'arpack' or 'covariance_eigh'.

        A Dask array or data frame is read once, by partitions, and `embedding_` has no rows.
        """
        with self._fitting() as report, kernels.Team(threads(self.n_jobs)):
            rows = check_input(self, X, reset=True, sparse=self.svd_solver in SPARSE)
            d, workers = self._axes_to_find(rows.shape), threads(self.n_jobs)
            mean = _mean(rows, workers)
            with stage("spectrum"):
                note(solver=self.svd_solver)
                centered, about_mean, total = self._center(rows, mean, d)
                found = self._axes(centered, d) if total > 0 else _no_axes(d, rows.shape[1])
                found = self._truncate(found)
                note(rows=rows.shape[0], columns=rows.shape[1], iterations=found.iterations)
            with stage("coordinates"):
                extension = Linear(mean, fix_signs(found.axes.T).T)
                embedding = _place(extension, centered if about_mean else rows, about_mean, workers)
                found = found.with_exact_values(embedding)
        placed = embedding.astype(rows.dtype, copy=False)
        self._keep_axes(report, found, extension, total, rows.shape, placed)
        if about_mean and centered.nbytes <= HELD_BYTES:
            back = LinearInverse(np.zeros_like(mean), extension.axes)
            self._defer("_reference", partial(reference_features, centered, embedding, back))
        else:
            self._keep_reference(rows, embedding)
        return self

    def fit_batches(self, batches: Iterable[Any]) -> "PCA":
        """Fit incrementally, in memory for one batch and an n_features² array.

        The batches are read twice: for the mean, and for a triangular factor of the centered rows,
        whose singular vectors are theirs. The result is that of `fit` on all rows, up to rounding,
        but `embedding_` has no rows: use `transform` on each batch.

        Examples
        --------
        >>> import numpy as np
        >>> import unbend
        >>> parts = [np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[6.0, 8.0]])]
        >>> model = unbend.PCA(n_components=1).fit_batches(parts)
        >>> [model.transform(part).ravel().tolist() for part in parts]
        [[-5.0, 0.0], [5.0]]
        """
        return self._fit_factor(open_batches, batches)

    def _fit_dask(self, X: Any) -> "PCA":
        """Fit in one pass over the partitions; `embedding_` has no rows."""
        return self._fit_factor(scale().open_rows, X)

    def _fit_factor(self, open_source: Callable[[Any, Any], Any], source: Any) -> "PCA":
        """Fit to the triangular factor of rows that are read some at a time."""
        with self._fitting() as report:
            if self.svd_solver not in DIRECT:
                raise ValueError(
                    f"svd_solver={self.svd_solver!r} needs all rows at once: batches take "
                    f"{', '.join(repr(solver) for solver in DIRECT)}, which are one to them"
                )
            with stage("mean"):
                rows = open_source(self, source)
                shape = (rows.n, rows.columns)
                d = self._axes_to_find(shape)
            with stage("spectrum"):
                note(rows=shape[0], columns=shape[1], solver="triangular factor")
                factor = rows.factor()
                total = float(np.square(factor).sum() / (rows.n - 1))
                found = _axes_of_factor(factor, d) if total > 0 else _no_axes(d, shape[1])
                found = self._truncate(found)
                extension = Linear(rows.mean, fix_signs(found.axes.T).T)
        nothing = np.empty((0, len(found.axes)), dtype=rows.dtype)
        self._keep_axes(report, found, extension, total, shape, nothing)
        return self

    def _keep_axes(
        self,
        report: Report,
        found: PrincipalAxes,
        extension: Linear,
        total: float,
        shape: tuple[int, ...],
        embedding: FloatArray,
    ) -> None:
        mean, axes, dtype = extension.mean, extension.axes, embedding.dtype
        variance = np.square(found.singular) / (shape[0] - 1)
        left = shape[1] - len(axes)
        noise = max(0.0, total - float(variance.sum())) / max(left, 1)
        self._keep(
            report,
            embedding,
            dtype,
            extension,
            LinearInverse(mean, axes),
            components_=axes.astype(dtype),
            mean_=mean.astype(dtype),
            explained_variance_=variance,
            explained_variance_ratio_=variance / (total if total > 0 else 1.0),
            singular_values_=found.singular,
            n_components_=len(axes),
            noise_variance_=noise if found.noise is None else found.noise,
            n_iter_=found.iterations,
        )

    def _axes_to_find(self, shape: tuple[int, ...]) -> int:
        """Return the number of axes to compute: all of them where a share of variance is wanted."""
        if is_integer(self.n_components):
            of = f"with {shape[0]} rows and {shape[1]} columns"
            return check_integer("n_components", self.n_components, 1, min(shape), of)
        if self.svd_solver not in COMPLETE:
            raise ValueError(
                f"n_components={self.n_components} is a share of the variance, and svd_solver="
                f"{self.svd_solver!r} needs the number of axes: pass an integer, or use "
                f"{', '.join(repr(solver) for solver in COMPLETE)}"
            )
        return min(shape)

    def _truncate(self, found: PrincipalAxes) -> PrincipalAxes:
        """Keep the fewest axes that explain more than the requested share of the variance."""
        if is_integer(self.n_components):
            return found
        shares = np.cumsum(np.square(found.singular))
        count = 1 + int(np.sum(shares[:-1] <= self.n_components * shares[-1]))
        note(axes=count, share=self.n_components)
        return replace(found, axes=found.axes[:count], singular=found.singular[:count])

    def _center(self, rows: Any, mean: FloatArray, d: int) -> tuple[Any, bool, float]:
        """Centered rows, whether they are rows − mean, and the sum of the variances of all columns.

        Sparse ones are returned as they are where the solver centers them implicitly.
        """
        if is_sparse(rows):
            small = rows.shape[0] * rows.shape[1] <= DENSE_ENTRIES
            if self.svd_solver not in EXACT_IF_DENSE or not (small or d == min(rows.shape)):
                return rows.astype(np.float64, copy=False), False, _sparse_variance(rows, mean)
            centered, _, total = self._center(rows.toarray(), mean, d)
            return centered, False, total
        workers = threads(self.n_jobs)
        centered, squares = _difference(rows, mean, workers)
        far = bool(np.abs(mean).max() > FAR * np.sqrt(squares / centered.size))
        if far:
            # The mean of rows far from the origin is rounded: the rest would pass for a direction.
            centered, squares = _difference(centered, _mean(centered, workers), workers)
        return centered, not far, float(squares / (len(rows) - 1))

    def _axes(self, centered: Any, d: int) -> PrincipalAxes:
        rng, solver = generator(self.random_state), self.svd_solver
        small = not is_sparse(centered) and min(centered.shape) <= EXACT_SIDE
        if solver == "auto" and is_sparse(centered):
            solver = "arpack"
            note(solver=solver, because="sparse rows, too many to make them dense")
        if (solver in EXACT_IF_DENSE and not is_sparse(centered)) or (
            solver == "randomized" and small
        ):
            return exact_axes(centered, d, rng, threads(self.n_jobs))
        if solver in SCIKIT:
            seed = int(rng.integers(2**31))
            peer = ScikitPCA(d, svd_solver=solver, random_state=seed).fit(centered)
            return PrincipalAxes(peer.components_.astype(np.float64), peer.singular_values_)
        if solver == "dual":
            found = dual_axes(centered, d, rng)
            note(solver=solver)
            return found
        iteration = em_axes if solver == "em" else sensible_axes
        return iteration(centered, d, rng, self.tol, self.max_iter)

    def _new_rows(self, X: Any) -> FloatArray:
        rows: FloatArray = check_input(self, X, reset=False, sparse=self.svd_solver in SPARSE)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in SPARSE
        return tags


def _no_axes(d: int, columns: int) -> PrincipalAxes:
    """Give any axes to rows that are all equal, which have no variance along any."""
    return PrincipalAxes(np.eye(d, columns), np.zeros(d))


def _axes_of_factor(factor: FloatArray, d: int) -> PrincipalAxes:
    _, singular, axes = np.linalg.svd(factor, full_matrices=False)
    return PrincipalAxes(axes[:d], singular[:d])


def _chunks(rows: FloatArray) -> list[slice]:
    """Blocks of rows that threads share, the same for any number of them."""
    return row_chunks(len(rows), rows.itemsize * rows.shape[1], CHUNK, BLOCK_ROWS)


def _is_small(rows: Any) -> bool:
    """Whether rows are one block: calls for each would take longer than the arithmetic."""
    return bool(rows.nbytes <= CHUNK)


def _mean(rows: Any, workers: int) -> FloatArray:
    """Mean of every column."""
    if is_sparse(rows) or _is_small(rows):
        return np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel()
    parts = map_parts(lambda some: rows[some].sum(axis=0, dtype=np.float64), _chunks(rows), workers)
    return np.asarray(sum(parts) / len(rows))


def _difference(rows: FloatArray, mean: FloatArray, workers: int) -> tuple[FloatArray, float]:
    """Rows − mean, and the sum of their squares, which is read while they are in the cache."""
    result = np.empty(rows.shape, np.result_type(rows, mean))

    def subtract(some: slice) -> float:
        part = np.subtract(rows[some], mean, out=result[some])
        return float(np.vdot(part, part))

    return result, sum(map_parts(subtract, _chunks(rows), workers))


def _place(extension: Linear, rows: Any, centered: bool, workers: int) -> FloatArray:
    """Coordinates of rows, or of centered ones, each independent of the others."""
    place = extension.place if centered else extension
    if is_sparse(rows) or _is_small(rows):
        return place(rows)
    return np.concatenate(map_parts(lambda some: place(rows[some]), _chunks(rows), workers))


def _sparse_variance(rows: Any, mean: FloatArray) -> float:
    """Sum of the variances of all columns of sparse rows."""
    n, entries = rows.shape[0], rows.tocsc()
    stored = np.diff(entries.indptr)
    off = np.square(entries.data.astype(np.float64) - np.repeat(mean, stored)).sum()
    return float((off + (n - stored) @ np.square(mean)) / (n - 1))

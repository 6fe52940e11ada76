"""Approximate eigensolvers: Nyström's approximation and fast anisotropic transformations.

Both take the top of a matrix from a few of its columns, or mixtures of them. For a bottom end the
matrix is its dual (book section 15.3.1): the inverse, or σI − K where only products are known.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.eigen.auto import worth_factorising
from unbend.eigen.dense import all_eigenpairs
from unbend.eigen.krylov import Apply, products
from unbend.eigen.problem import Eigenpairs, SpectralProblem
from unbend.eigen.shift_invert import NotPositiveDefinite, analyse, inverse
from unbend.lowrank.fat import (
    BESIDE,
    MODES,
    Mode,
    column_norms,
    range_vectors,
    ritz_pairs,
    ritz_pairs_of,
)
from unbend.lowrank.nystrom import factor_eigenpairs, nystrom_factor, pad_with_null_vectors
from unbend.lowrank.sketch import SKETCHES, Sketch
from unbend.report import note, warn

# Sine of the angle from which on coordinates are no longer those of the kernel.
DOUBTFUL = 0.3


def is_count(value: object) -> bool:
    """Whether a value is an integer of at least one."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


@dataclass(frozen=True)
class Nystrom:
    """Nyström's approximation: the wanted end from m columns of the kernel, sampled at random.

    The eigenvectors are those of C A⁻¹ C', with C the columns and A their block, made orthogonal
    (book Theorem 15.3): exact where the rank of the kernel is at most m. Isomap, kernel PCA and
    classical MDS compute no other columns, so their memory grows with n·m. For sparse kernels whose
    bottom is wanted the columns are those of the inverse. Where the kernel is there, or products
    with it, the report has `deviation_bound`, as for `Fat`.

    Parameters
    ----------
    m : int, optional
        Number of columns; the number of wanted vectors plus 15 by default.

    References
    ----------
    Williams and Seeger, NIPS 13 (2001); Fowlkes, Belongie, Chung and Malik, IEEE PAMI 26 (2004).
    Book section 15.1.3.

    Examples
    --------
    >>> import unbend
    >>> curve = unbend.datasets.s_curve(2000, random_state=0)
    >>> model = unbend.Isomap(eigen_solver=unbend.Nystrom(100))
    >>> unbend.quality.procrustes(curve.chart, model.fit_transform(curve.points)) < 0.01
    True
    """

    m: int | None = None

    def __post_init__(self) -> None:
        if self.m is not None and not is_count(self.m):
            raise ValueError(f"Nystrom m={self.m!r} is not allowed: use an integer of at least 1")

    def sample_columns(self, n: int, count: int, rng: np.random.Generator) -> IntArray:
        """Sample which of n columns are used for `count` vectors, in ascending order."""
        m = min(count + BESIDE if self.m is None else int(self.m), n)
        if m < min(count, n):
            raise ValueError(
                f"eigen_solver=Nystrom(m={self.m}) has fewer columns than the {count} vectors: use "
                "several for each"
            )
        return np.sort(rng.choice(n, m, replace=False))

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return at least `count` approximate eigenpairs."""
        trivial = problem.trivial_basis
        asked = min(count + 1, problem.n - trivial.shape[1])
        chosen = self.sample_columns(problem.n, count, rng)
        units = np.zeros((problem.n, len(chosen)))
        units[chosen, np.arange(len(chosen))] = 1.0
        dual = dual_products(problem, count, threads)
        columns = dual(units)
        factor = nystrom_factor(columns, columns[chosen], problem.accuracy)
        values, vectors = factor_eigenpairs(factor)
        note(columns=len(chosen), rank=len(values))
        values, vectors = pad_with_null_vectors(values, vectors, asked, trivial, rng)
        # With the padding: without a next vector the gap of a kernel of low rank is unknown.
        _note_deviation(ritz_pairs_of(dual, vectors[:, : count + 1]).deviation_bound(count), self)
        if problem.end == "top":
            return Eigenpairs(values, vectors)
        # The columns were those of the dual matrix: the values are v'Kv, near the right end.
        values, vectors = values[:asked], vectors[:, :asked]
        small = vectors.T @ np.asarray(problem.matrix @ vectors)
        values, turn = all_eigenpairs(small)
        return Eigenpairs(values, vectors @ turn)


@dataclass(frozen=True)
class Fat:
    """Fast anisotropic transformation: the wanted end from a few products with the kernel.

    Columns of the kernel, or random mixtures of them, span a subspace that wraps the wanted
    coordinates; the kernel is applied to a basis of it, and the best vectors of the image are
    taken. The bottom end is found as the top of the inverse, or of σI − K where only products are
    known. Trivial vectors are projected out, and signs come from v'Kv. Approximate: the report has
    `deviation_bound`, the sine of the largest angle to the exact vectors (Davis and Kahan).

    Parameters
    ----------
    mode : {"gat", "irat", "prat"}
        Columns of largest norm, columns at random, or random mixtures of all.
    m : int, optional
        Vectors that wrap the wanted ones; their number plus 15 by default.
    sketch : {"gaussian", "sign", "sparse", "hadamard", "fourier"}
        Law of the mixtures of "prat".
    columns_only : bool
        For "irat": use no product but the columns themselves, which Isomap, kernel PCA and
        classical MDS then compute alone. It is `Nystrom` by another name: memory n·m, not n².

    References
    ----------
    Chui and Wang, Int. J. Geomath. 1 (2010). Book section 15.3.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> model = unbend.Isomap(n_neighbors=8, eigen_solver=unbend.Fat("prat", 50))
    >>> unbend.quality.procrustes(roll.chart, model.fit_transform(roll.points)) < 0.01
    True
    >>> model.report_.stage("spectrum").facts["deviation_bound"] < 0.01
    True
    """

    mode: Mode
    m: int | None = None
    sketch: Sketch = "gaussian"
    columns_only: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"Fat mode={self.mode!r} is not known: use one of {MODES}")
        if self.sketch not in SKETCHES:
            raise ValueError(f"Fat sketch={self.sketch!r} is not known: use one of {SKETCHES}")
        if self.m is not None and not is_count(self.m):
            raise ValueError(f"Fat m={self.m!r} is not allowed: use an integer of at least 1")
        if self.columns_only and self.mode != "irat":
            raise ValueError(
                f"Fat columns_only needs mode='irat', and it is {self.mode!r}: only columns drawn "
                "at random can be named before the kernel is known"
            )

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return at least `count` approximate eigenpairs."""
        if self.columns_only:
            return Nystrom(self.m).eigenpairs(problem, count, rng, threads)
        trivial, top = problem.trivial_basis, problem.end == "top"
        most = problem.n - trivial.shape[1]
        m = min(count + BESIDE if self.m is None else int(self.m), most)
        if m < count:
            raise ValueError(
                f"eigen_solver=Fat(m={self.m}) cannot hold {count} vectors: use at least {count}"
            )
        dual = dual_products(problem, count, threads)
        norms = column_norms(problem.matrix, trivial) if self.mode == "gat" and top else None
        span = range_vectors(dual, problem.n, m, self.mode, self.sketch, rng, norms)
        own = _beside_trivial(products(problem.matrix, threads), trivial)
        found = ritz_pairs(dual, own, span, trivial, top)
        bound = 0.0 if m == most else found.deviation_bound(count)
        if not top and bound > 0 and count < m:
            # Where eigenvalues crowd at the bottom the dual matrix separates them better.
            of_dual = ritz_pairs_of(dual, found.vectors[:, : count + 1])
            bound = min(bound, of_dual.deviation_bound(count))
        note(wrapping=m, mode=self.mode)
        _note_deviation(bound, self)
        return Eigenpairs(found.values, found.vectors)


def column_solver(solver: object) -> Nystrom | None:
    """Return the solver that needs no more than a few columns of the kernel, if this is one.

    Examples
    --------
    >>> column_solver(Fat("irat", 50, columns_only=True)), column_solver("auto")
    (Nystrom(m=50), None)
    """
    if isinstance(solver, Fat) and solver.columns_only:
        return Nystrom(solver.m)
    return solver if isinstance(solver, Nystrom) else None


def _note_deviation(bound: float, solver: object) -> None:
    """Record the bound of the deviation from the exact vectors, and warn where it is large."""
    note(deviation_bound=bound)
    if bound > DOUBTFUL:
        angle = f"{np.degrees(np.arcsin(bound)):.0f}°" if bound < 1 else "any angle"
        warn(
            f"The coordinates may deviate by {angle} from those of the kernel "
            f"(eigen_solver={solver!r}). Use a larger m, or eigen_solver='auto'."
        )


def dual_products(problem: SpectralProblem, count: int, threads: int) -> Apply:
    """Products with a matrix whose top is the wanted end of the problem's.

    That is K itself for the top; for the bottom its inverse, if it can be factorised, since only
    that separates crowded eigenvalues; else σI − K with σ about its norm.
    """
    own, trivial = products(problem.matrix, threads), problem.trivial_basis
    if problem.end == "top":
        return _beside_trivial(own, trivial)
    apply = _inverse_products(problem, count, threads)
    if apply is not None:
        note(dual="inverse")
        return _beside_trivial(apply, trivial)
    # For products alone the norm is an estimate from below, which will do: what lies above it turns
    # negative but small.
    shift = problem.norm
    note(dual="complement", complement=shift)
    return _beside_trivial(lambda block: np.asarray(shift * block - own(block)), trivial)


def _beside_trivial(apply: Apply, trivial: FloatArray) -> Apply:
    """P T P for products with T, P the projection beside the trivial vectors."""

    def project(block: FloatArray) -> FloatArray:
        image = apply(block - trivial @ (trivial.T @ block))
        return np.asarray(image - trivial @ (trivial.T @ image))

    return project


def _inverse_products(problem: SpectralProblem, count: int, threads: int) -> Apply | None:
    if not is_sparse(problem.matrix) or problem.norm == 0:
        return None
    most = inf if problem.nullity else worth_factorising(problem, count)
    symbolic = analyse(problem.matrix, most, threads)
    if not symbolic.analysis.complete:
        return None
    try:
        return inverse(problem, symbolic, threads)
    except NotPositiveDefinite:
        return None

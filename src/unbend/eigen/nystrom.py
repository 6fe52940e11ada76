"""Nyström's approximation as an eigensolver."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.eigen.dense import all_eigenpairs
from unbend.eigen.dual import leading
from unbend.eigen.problem import SpectralProblem
from unbend.lowrank.fat import BESIDE, seen_by
from unbend.lowrank.nystrom import Factored, factor_eigenpairs, filled, nystrom_factor
from unbend.report import note, warn

# Sine of the angle from which on coordinates are no longer those of the kernel.
DOUBTFUL = 0.3


@dataclass(frozen=True)
class Nystrom:
    """Nyström's approximation: the wanted end from m columns of the kernel, drawn at random.

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

    @property
    def few_columns(self) -> "Nystrom":
        """The solver itself: it uses columns alone."""
        return self

    def columns(self, n: int, count: int, rng: np.random.Generator) -> IntArray:
        """Draw which of n columns are used for `count` vectors, in ascending order."""
        m = min(count + BESIDE if self.m is None else int(self.m), n)
        if m < min(count, n):
            raise ValueError(
                f"eigen_solver=Nystrom(m={self.m}) is too little for {count} vectors: use several "
                "columns for each"
            )
        return np.sort(rng.choice(n, m, replace=False))

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return at least `count` approximate eigenpairs, and True."""
        asked = min(count + 1, problem.n - problem.trivial_basis.shape[1])
        if isinstance(problem.matrix, Factored):
            # The approximation itself: made by who knew the columns.
            known = problem.matrix.eigenpairs()
            return *filled(*known, asked, problem.trivial_basis, rng), True
        chosen = self.columns(problem.n, count, rng)
        units = np.zeros((problem.n, len(chosen)))
        units[chosen, np.arange(len(chosen))] = 1.0
        dual = leading(problem, count, threads)
        columns = dual(units)
        factor = nystrom_factor(columns, columns[chosen], problem.accuracy)
        values, vectors = factor_eigenpairs(factor)
        note(columns=len(chosen), rank=len(values))
        values, vectors = filled(values, vectors, asked, problem.trivial_basis, rng)
        # With what was filled in: without a next vector the gap of a kernel of low rank is unknown.
        told(seen_by(dual, vectors[:, : count + 1]).deviation_bound(count), self)
        if problem.end == "top":
            return values, vectors, True
        # The columns were those of the dual matrix: the values are v'Kv, near the right end.
        values, vectors = values[:asked], vectors[:, :asked]
        small = vectors.T @ np.asarray(problem.matrix @ vectors)
        values, turn = all_eigenpairs((small + small.T) / 2)
        return values, vectors @ turn, True


def told(bound: float, solver: object) -> None:
    """Note the bound of the deviation from the exact vectors, and warn where it is large."""
    note(deviation_bound=bound)
    if bound > DOUBTFUL:
        angle = f"{np.degrees(np.arcsin(bound)):.0f}°" if bound < 1 else "any angle"
        warn(
            f"the coordinates may be {angle} off those of the kernel (eigen_solver={solver!r}): "
            "use a larger m, or eigen_solver='auto'"
        )


def is_count(value: object) -> bool:
    """Whether a value is a whole number of at least one."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)

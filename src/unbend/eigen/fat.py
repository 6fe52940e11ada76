"""Fast anisotropic transformations as an eigensolver."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.dual import leading, own_products
from unbend.eigen.nystrom import Nystrom, is_count, told
from unbend.eigen.problem import SpectralProblem
from unbend.lowrank.fat import BESIDE, MODES, Mode, column_norms, seen_by, wrapped, wrapping
from unbend.lowrank.sketch import SKETCHES, Sketch
from unbend.report import note


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

    @property
    def few_columns(self) -> Nystrom | None:
        """The same solver where it uses columns alone."""
        return Nystrom(self.m) if self.columns_only else None

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return at least `count` approximate eigenpairs, and True."""
        if self.few_columns is not None:
            return self.few_columns.eigenpairs(problem, count, rng, threads)
        trivial = problem.trivial_basis
        most = problem.n - trivial.shape[1]
        m = min(count + BESIDE if self.m is None else int(self.m), most)
        if m < count:
            raise ValueError(
                f"eigen_solver=Fat(m={self.m}) cannot hold {count} vectors: use at least {count}"
            )
        dual = leading(problem, count, threads)
        norms = (
            column_norms(problem.matrix, trivial)
            if self.mode == "gat" and problem.end == "top"
            else None
        )
        wrap = wrapping(dual, problem.n, m, self.mode, self.sketch, rng, norms)
        found = wrapped(dual, own_products(problem, threads), wrap, trivial, problem.end == "top")
        bound = 0.0 if m == most else found.deviation_bound(count)
        if problem.end == "bottom" and bound > 0 and count < m:
            # Where eigenvalues crowd at the bottom the dual matrix sees the gap better.
            bound = min(bound, seen_by(dual, found.vectors[:, : count + 1]).deviation_bound(count))
        note(wrapping=m, mode=self.mode)
        told(bound, self)
        return found.values, found.vectors, True


def few_columns(solver: object) -> Nystrom | None:
    """Return the solver that needs no more than a few columns of the kernel, if this is one.

    Examples
    --------
    >>> few_columns(Fat("irat", 50, columns_only=True)), few_columns("auto")
    (Nystrom(m=50), None)
    """
    return solver.few_columns if isinstance(solver, Fat | Nystrom) else None

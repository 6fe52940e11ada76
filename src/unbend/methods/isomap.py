"""Isomap: classical scaling of geodesic distances."""

from typing import Any, ClassVar, final

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.eigen import Nystrom, few_columns, solve
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.estimators.neighborhood import Finish, NeighborhoodEmbedding, Part
from unbend.estimators.search import Needs
from unbend.extension import Fitted, GeodesicNystrom
from unbend.gram import Gram, negative_share
from unbend.gram.columns import KnownColumns, placed_by_columns
from unbend.gram.precision import kernel_geodesics
from unbend.graphs import geodesics, undirected
from unbend.lowrank.nystrom import Factored
from unbend.quality import residual_variance
from unbend.report import note, warn
from unbend.validation.parameters import NOTHING, Choice, declare, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Dimensions of the residual-variance curve, and rows it is measured on at most.
CURVE, CURVE_ROWS = 10, 2000
# Up to here the square of the number of rows is small and nothing is gained by single precision.
DOUBLE_ROWS = 1000
# Lengths beyond these are not kept in single precision.
SINGLE_RANGE = (1e-30, 1e30)


@final
@declare
class Isomap(NeighborhoodEmbedding):
    """Isometric feature mapping: distances along the data become straight distances.

    Shortest paths D along the neighbourhood graph stand for geodesics, and the coordinates are
    the top eigenvectors of −½ H D² H, scaled by √λ. Right for surfaces that can be laid flat and
    are convex when flat; holes stretch the paths around them.

    Memory grows with n², four bytes a pair or eight (see `precision`), or with n·m for
    ``eigen_solver=Nystrom(m)``; new rows are placed by the Nyström formula through their
    neighbours.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the kernel.
    geodesics_ : array
        Geodesic distances between the distinct rows (of the first part, where there are several);
        with `Nystrom` or a columns-only `Fat` those from all rows to the landmarks.
    landmarks_ : array (m,)
        The rows whose columns of the kernel were used, among the distinct ones: all, or some with
        such a solver.
    negative_share_ : float
        Share of the eigenvalues' total magnitude that is negative, and so was dropped; estimated
        for more than 600 rows. With landmarks: theirs.
    residual_variance_ : array
        1 − R² between geodesic and embedded distances with 1, 2, … coordinates. With landmarks:
        theirs.
    component_ : array (n_samples,)
        Component of the graph that each row was in.
    report_ : Report
        What every stage did.

    References
    ----------
    Tenenbaum, de Silva and Langford, Science 290 (2000). Book chapter 8; the repairs are its
    section 8.1.3 (Cailliez, 1983) and the raising of all eigenvalues.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> flat = unbend.Isomap(n_neighbors=8).fit_transform(roll.points)
    >>> unbend.quality.procrustes(roll.chart, flat) < 0.01
    True
    """

    repair: str | None = param(
        None,
        Choice("shift", "lift"),
        NOTHING,
        help="What to do about negative eigenvalues: None drops them (best on curved data), "
        "'shift' adds the least constant to all distances, 'lift' raises all eigenvalues.",
    )
    precision: str = param(
        "auto",
        Choice("auto", "single", "double"),
        help="Precision of the geodesics. 'auto' uses single precision beyond 1000 rows if its "
        "rounding moves no wanted eigenvalue by more than 1e-5 of itself, which halves time and "
        "memory, and double precision otherwise; `report_` records which. Sums are always double.",
    )
    isometric: ClassVar[bool] = True
    of_training: ClassVar[tuple[str, ...]] = ("geodesics_",)

    def _needs(self) -> Needs:
        return Needs()

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        solver = few_columns(self.eigen_solver)
        if solver is not None:
            return self._by_columns(part, solver)
        space, neighbors, rule = part.space, part.neighbors, part.rule
        lengths = undirected(neighbors).lengths
        distances = self._geodesics(lengths)
        gram = Gram(distances, threads=threads(self.n_jobs)).repaired(self.repair)
        note(
            repair=str(self.repair),
            shift=gram.squares.shift,
            lift=gram.lift,
            precision=str(distances.dtype),
        )

        def finish(spectrum: Spectrum) -> Fitted:
            if self.precision == "single":
                _check_rounding(spectrum)
            weights = gram.nystrom_weights(spectrum)
            extension = GeodesicNystrom(space, rule, distances, gram, weights)
            fitted = {
                "geodesics_": distances,
                "landmarks_": np.arange(space.n),
                "_gram": gram,
                "_spectrum": spectrum,
            }
            return Fitted(gram.coordinates(spectrum), extension, fitted)

        return gram.problem(), finish

    def _by_columns(self, part: Part, solver: Nystrom) -> tuple[SpectralProblem, Finish]:
        """Geodesics from a few rows only, and the kernel that they tell of."""
        if self.repair is not None:
            raise ValueError(
                f"repair={self.repair!r} needs all geodesics and eigen_solver={solver!r} takes "
                "those from a few rows: use repair=None, or eigen_solver='auto'"
            )
        space, lengths = part.space, undirected(part.neighbors).lengths
        chosen = solver.columns(space.n, self.n_components, generator(self.random_state))
        from_chosen = geodesics(
            lengths,
            chosen,
            dtype=np.float32 if self._single(lengths.data, space.n) else np.float64,
            threads=threads(self.n_jobs),
            instead="use a smaller m, or LTSA",
        )
        distances = np.ascontiguousarray(from_chosen.T)
        gram = Gram(distances[chosen], threads=threads(self.n_jobs))
        placed = placed_by_columns(
            KnownColumns(distances, chosen), self.n_components, gram.accuracy
        )
        note(columns=len(chosen), precision=str(distances.dtype), negative_share=placed.negative)

        def finish(spectrum: Spectrum) -> Fitted:
            turn = np.where(np.sum(spectrum.vectors * placed.coordinates, axis=0) < 0, -1.0, 1.0)
            extension = GeodesicNystrom(
                space, part.rule, distances, gram, placed.weights * turn, placed.mean
            )
            fitted = {
                "geodesics_": distances,
                "landmarks_": chosen,
                "_gram": gram,
                "_spectrum": None,
                "_next_eigenvalue": float(placed.values[-1]),
            }
            return Fitted(placed.coordinates * turn, extension, fitted)

        constant = np.ones((space.n, 1))
        return SpectralProblem(Factored(placed.coordinates), "top", constant), finish

    def _geodesics(self, lengths: csr_array) -> FloatArray:
        """Geodesics between all rows, in the precision that was asked for or is needed."""
        options: dict[str, Any] = {
            "threads": threads(self.n_jobs),
            "instead": "use LandmarkIsomap, or LTSA: their memory grows with n and not n²",
        }
        n = lengths.shape[0]
        if self.precision == "auto" and n > DOUBLE_ROWS and _in_single_range(lengths.data, n):
            return kernel_geodesics(lengths, self.n_components, **options)
        dtype = np.float32 if self._single(lengths.data, n) else np.float64
        return geodesics(lengths, dtype=dtype, **options)

    def _single(self, lengths: FloatArray, n: int) -> bool:
        """Whether single precision was asked for and can hold the lengths."""
        if self.precision != "single" or _in_single_range(lengths, n):
            return self.precision == "single"
        warn(
            "Distances leave the range of single precision (1e-30 to 1e30), so double precision "
            "was used. Rescale X, or use precision='auto'."
        )
        return False

    @property
    def negative_share_(self) -> float:
        """Share of the eigenvalues' total magnitude that is negative, and so was dropped."""
        rng = generator(self.random_state)
        spectrum = self._spectrum or solve(self._gram.problem(), self.n_components, "auto", rng)
        return negative_share(self._gram, spectrum, rng)

    @property
    def residual_variance_(self) -> FloatArray:
        """1 − R² between geodesic and embedded distances with 1, 2, … coordinates.

        Ten dimensions, or as many as were asked for if that is more; on 2000 rows at most.
        """
        gram = self._gram
        n = len(gram.distances)
        count = min(max(CURVE, self.n_components), n - 2)
        solver = "auto" if self._spectrum is None else self.eigen_solver
        spectrum = solve(gram.problem(), count, solver, generator(self.random_state))
        return residual_variance(
            gram.distances, gram.coordinates(spectrum), metric="precomputed", max_rows=CURVE_ROWS
        )


def _check_rounding(spectrum: Spectrum) -> None:
    """Warn of eigenvalues that single precision, asked for by name, may move by over 1 %."""
    # Measured, rounding moves eigenvalues by up to three units of the largest.
    rounding = 3.0 * float(np.finfo(np.float32).eps) * spectrum.norm
    lost = np.flatnonzero(np.abs(spectrum.values) < 100.0 * rounding)
    if len(lost):
        share = abs(float(spectrum.values[lost[0]])) / spectrum.norm
        warn(
            f"Eigenvalue {lost[0] + 1} is {share:.1e} of the largest, so the rounding of "
            "precision='single' may change its coordinate by more than 1 %. Use precision='auto'."
        )


def _in_single_range(lengths: FloatArray, n: int) -> bool:
    """Whether the shortest edge and the longest path stay in the range of single precision."""
    least = float(lengths[lengths > 0].min(initial=1.0))
    return least > SINGLE_RANGE[0] and float(lengths.max(initial=0.0)) * n < SINGLE_RANGE[1]

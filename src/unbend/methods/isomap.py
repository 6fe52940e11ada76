"""Isomap: classical scaling of geodesic distances."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from unbend._kernels.parts import copy_rows
from unbend.arrays import FloatArray, IntArray
from unbend.eigen import Nystrom, Spectrum, column_solver, solve
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.gram import repair_param
from unbend.estimators.kernel import Kernel, KernelEmbedding
from unbend.estimators.neighborhood import Component
from unbend.extension import AllGeodesics, EmbeddingResult, GeodesicNystrom
from unbend.gram import Gram, Squares, negative_share
from unbend.gram.columns import ColumnScaling, KnownColumns, scale_by_columns
from unbend.gram.precision import kernel_geodesics
from unbend.graphs import geodesics, symmetric_geodesics, undirected
from unbend.report import note, warn
from unbend.validation.parameters import FLAG, Choice, declare, param
from unbend.validation.random_state import generator

# Dimensions of the residual-variance curve, and rows it is measured on at most.
CURVE, CURVE_ROWS = 10, 2000
# Up to here the square of the number of rows is small and nothing is gained by single precision.
DOUBLE_ROWS = 1000
# Lengths beyond these are not kept in single precision.
SINGLE_RANGE = (1e-30, 1e30)


@final
@dataclass(frozen=True, eq=False)
class GeodesicKernel(Kernel):
    """Classical scaling of the geodesics between landmarks, which place all rows.

    `geodesics` (n, m) lead along the graph of `lengths` from all rows to the landmarks, of whose
    geodesics `gram` is the Gram matrix; without `landmarks` these are all rows. A `scaling` is
    Nyström's approximation of the kernel of all rows by the landmarks' columns; else the landmarks'
    own kernel is solved.
    """

    geodesics: FloatArray
    lengths: csr_array
    gram: Gram
    landmarks: IntArray | None = None
    scaling: ColumnScaling | None = None
    check_rounding: bool = False
    directed: bool = False

    @classmethod
    def of_landmarks(
        cls,
        component: Component,
        lengths: csr_array,
        landmarks: IntArray,
        distances: FloatArray,
    ) -> "GeodesicKernel":
        """Take the distances (m, n) between the landmarks and all rows."""
        to_landmarks = copy_rows(distances.T, component.threads, distances.dtype)
        gram = Gram(to_landmarks[landmarks], threads=component.threads)
        return cls(component, gram.problem(), to_landmarks, lengths, gram, landmarks)

    def approximate(self, count: int) -> "GeodesicKernel":
        """Take Nyström's approximation by the columns of the landmarks."""
        scaling = scale_by_columns(self._columns, count, self.gram.accuracy)
        return replace(self, scaling=scaling, spectrum=scaling.spectrum)

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Scale the eigenvectors by √λ, and extend them by Nyström's formula."""
        part, gram, means = self.component, self.gram, self.gram.mean_squares
        if self.check_rounding:
            _check_rounding(spectrum)
        if self.scaling is not None:
            coordinates, weights = self.scaling.coordinates, self.scaling.weights
            means = self.scaling.mean
        else:
            weights = gram.nystrom_weights(spectrum)
            coordinates = (
                gram.coordinates(spectrum)
                if self.landmarks is None
                else self._columns.coordinates(gram.mean_squares, weights)
            )
        known = (
            AllGeodesics.from_matrix(self.lengths, self.geodesics, gram.threads, self.directed)
            if self.landmarks is None
            else self.geodesics
        )
        constant = gram.squares.constant
        mean = np.asarray(means @ weights)
        place = GeodesicNystrom(part.space, part.rule, known, weights, mean, constant, gram.threads)
        attributes = {
            "landmarks_": self._columns.landmarks,
            "_paths": known,
            "_repair": (constant, gram.spectrum_shift, gram.threads),
            "_spectrum": None if self.scaling else spectrum,
        }
        return EmbeddingResult(coordinates, place, attributes)

    @property
    def _columns(self) -> KnownColumns:
        everyone = np.arange(len(self.geodesics))
        return KnownColumns(self.geodesics, everyone if self.landmarks is None else self.landmarks)


@declare
class GeodesicEmbedding(KernelEmbedding):
    """Abstract: an embedding of geodesic distances, which it keeps as a graph.

    Attributes
    ----------
    geodesics_ : array
        Geodesic distances between the distinct rows (of the largest component, where each is
        embedded separately); with landmarks those from all rows to the landmarks (n, m). A
        reloaded model computes those between all rows again when they are first asked for.
    """

    denoise: Any = denoise_param()
    isometric: ClassVar[bool] = True
    # Memory and time grow with the square of their number.
    most_landmarks: ClassVar[int] = 2000
    most_compared: ClassVar[int] = 4000

    @property
    def geodesics_(self) -> FloatArray:
        """Geodesic distances between the distinct rows, or from these to the landmarks."""
        check_is_fitted(self)
        known: FloatArray | AllGeodesics = self._paths
        return known.matrix if isinstance(known, AllGeodesics) else known

    @property
    def _gram(self) -> Gram:
        """Gram matrix of the geodesics between the landmarks, or between all rows, as repaired."""
        constant, shift, threads = self._repair
        everyone = isinstance(self._paths, AllGeodesics)
        distances = self.geodesics_ if everyone else self.geodesics_[self.landmarks_]
        return Gram(distances, Squares(constant=constant), shift, threads)


@final
@declare
class Isomap(GeodesicEmbedding):
    """Isometric feature mapping: distances along the data become straight distances.

    Shortest paths D along the neighbourhood graph stand for geodesics, and the coordinates are
    the top eigenvectors of −½ H D² H, scaled by √λ. Right for surfaces that can be flattened and
    are convex when flat; holes stretch the paths around them.

    Memory grows with n², four bytes a pair or eight (see `precision`), or with n·m for
    ``eigen_solver=Nystrom(m)``; new samples are embedded by the Nyström formula through their
    neighbours.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the kernel.
    landmarks_ : array (m,)
        The rows whose columns of the kernel were used, among the distinct ones: all, or some with
        such a solver.
    negative_share_ : float
        Share of the eigenvalues' total magnitude that is negative, and so was dropped; estimated
        for more than 600 rows. With landmarks: theirs.
    energy_loss_ : float
        Σ (d²_ij − ‖y_i − y_j‖²) over all ordered pairs = 2n (trace K − Σ λ kept), of the
        repaired distances where they were (step 4 of the book). With landmarks: theirs.
    residual_variance_ : array
        1 − R² between geodesic and embedded distances with 1, 2, … coordinates. With landmarks:
        theirs.

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

    repair: str | None = repair_param()
    directed: bool = param(
        False,
        FLAG,
        help="Whether paths follow the direction of edges from each row to its neighbours, of "
        "which the shorter of both ways counts; by default edges are joined both ways first.",
    )
    precision: str = param(
        "auto",
        Choice("auto", "single", "double"),
        help="Precision of the geodesics. 'auto' uses single precision beyond 1000 rows if its "
        "rounding moves no wanted eigenvalue by more than 1e-5 of itself, which halves time and "
        "memory, and double precision otherwise; `report_` records which. Sums are always double.",
    )

    def _kernel(self, component: Component) -> GeodesicKernel:
        solver = column_solver(self.eigen_solver)
        if solver is not None:
            return self._column_kernel(component, undirected(component.neighbors).lengths, solver)
        if self.directed:
            lengths = component.neighbors.graph()
            distances = self._directed_geodesics(lengths, component.threads)
        else:
            lengths = undirected(component.neighbors).lengths
            distances = self._geodesics(lengths, component.threads)
        gram = Gram(distances, threads=component.threads)
        if self.repair is not None:
            gram = gram.repair(self.repair)
        note(
            repair=str(self.repair),
            additive_constant=gram.squares.constant,
            spectrum_shift=gram.spectrum_shift,
            precision=str(distances.dtype),
        )
        single = self.precision == "single"
        problem = gram.problem()
        return GeodesicKernel(
            component,
            problem,
            distances,
            lengths,
            gram,
            check_rounding=single,
            directed=self.directed,
        )

    def _column_kernel(
        self, component: Component, lengths: csr_array, solver: Nystrom
    ) -> GeodesicKernel:
        """Geodesics from a few rows only, from which the kernel is approximated."""
        if self.directed:
            raise ValueError(
                f"directed=True needs all geodesics and eigen_solver={solver!r} takes those from a "
                "few rows: use directed=False, or eigen_solver='auto'"
            )
        if self.repair is not None:
            raise ValueError(
                f"repair={self.repair!r} needs all geodesics and eigen_solver={solver!r} takes "
                "those from a few rows: use repair=None, or eigen_solver='auto'"
            )
        n, rng = component.n, generator(self.random_state)
        landmarks = solver.sample_columns(n, self.n_components, rng)
        distances = geodesics(
            lengths,
            landmarks,
            dtype=np.float32 if self._single(lengths.data, n) else np.float64,
            threads=component.threads,
            instead="use a smaller m, or LTSA",
        )
        note(precision=str(distances.dtype))
        kernel = GeodesicKernel.of_landmarks(component, lengths, landmarks, distances)
        return kernel.approximate(self.n_components)

    def _geodesics(self, lengths: csr_array, threads: int) -> FloatArray:
        """Geodesics between all rows, in the precision that was asked for or is needed."""
        n, instead = lengths.shape[0], "use LandmarkIsomap, or LTSA: their memory grows with n"
        if self.precision == "auto" and n > DOUBLE_ROWS and _in_single_range(lengths.data, n):
            return kernel_geodesics(lengths, self.n_components, threads=threads, instead=instead)
        dtype = np.float32 if self._single(lengths.data, n) else np.float64
        return geodesics(lengths, dtype=dtype, threads=threads, instead=instead)

    def _directed_geodesics(self, lengths: csr_array, threads: int) -> FloatArray:
        """Shorter of both directed paths between all rows."""
        n = lengths.shape[0]
        distances = symmetric_geodesics(
            lengths,
            dtype=np.float32 if self._single(lengths.data, n) else np.float64,
            threads=threads,
            instead="use directed=False, or LandmarkIsomap",
        )
        unreached = int(np.sum(np.isinf(distances))) // 2
        if unreached:
            raise ValueError(
                f"{unreached} pairs of rows have no directed path either way: use more neighbours, "
                "or directed=False"
            )
        return distances

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
    def energy_loss_(self) -> float:
        """Sum over ordered pairs of squared geodesics less squared distances in the embedding."""
        gram = self._gram
        spectrum = self._spectrum
        if spectrum is None:
            rng = generator(self.random_state)
            spectrum = solve(gram.problem(), self.n_components, "auto", rng)
        kept = float(gram.positive_values(spectrum).sum())
        return 2.0 * gram.n * (gram.trace - kept)

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
        from unbend.quality import residual_variance

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

"""Spectral methods on neighbourhoods: kernel → spectrum → coordinates of connected rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SpectralProblem, Spectrum, solve
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.neighborhood import (
    Component,
    NeighborhoodEmbedding,
    eigenvalue_attributes,
)
from unbend.extension import Barycentric, EmbeddingResult, Rule
from unbend.local import RowBlocks, align
from unbend.memory import reserve
from unbend.neighbors import METRICS, GraphSpace, PointSpace
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.report import Deferred, note, note_later, stage, step, warn
from unbend.validation.parameters import FUNCTION, Choice, declare, param
from unbend.validation.random_state import generator

# Neighbourhoods handled at once: enough to batch, little enough to stay in cache.
AT_ONCE = 2048
# Eigenvalues below this share of the kernel's size are zero to rounding.
ZERO = 1e-14
# R² on earlier coordinates from which on a coordinate is reported as redundant.
REDUNDANT = 0.8
# Coordinates whose redundancy is measured: the fit of the j-th takes j² operations a neighbour, and
# among so many earlier ones a sample has no near neighbours.
MEASURED = 10


def affinity_metric() -> Any:
    """Declare `metric` of methods that also take a matrix of affinities."""
    return param(
        "euclidean",
        Choice(*METRICS, "precomputed", "affinity"),
        FUNCTION,
        help="Distance between rows. 'precomputed': X holds distances; a sparse X is a graph, "
        "used unchanged, and absent entries are unknown distances. 'affinity': X holds the "
        "weights of all edges, a symmetric matrix, dense or sparse, with its diagonal.",
    )


def check_degrees(degree: FloatArray) -> None:
    """Refuse rows without any edge of positive weight."""
    if np.any(degree <= 0):
        raise ValueError(
            f"{int(np.sum(degree <= 0))} rows have no edge of positive weight: remove them, or use "
            "a larger bandwidth, more neighbours or symmetrization='max'"
        )


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """Abstract: the spectral problem of a component, and what follows from its solution.

    An approximation that has its `spectrum` already leaves nothing to solve.
    """

    component: Component
    problem: SpectralProblem
    spectrum: Spectrum | None = field(default=None, kw_only=True)

    @abstractmethod
    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Return coordinates, their extension to new samples, and fitted attributes."""


@dataclass(frozen=True, eq=False)
class LocalKernel(Kernel):
    """A sum of local blocks: the eigenvectors are the coordinates, extended by local weights."""

    reg: float = 1e-3

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Take the eigenvectors as coordinates."""
        space, rule = self.component.space, Rule(self.component.rule.k)
        extension = Barycentric(space, rule, spectrum.vectors, self.reg)
        return EmbeddingResult(spectrum.vectors, extension)


@declare
class KernelEmbedding(NeighborhoodEmbedding):
    """Abstract: coordinates are eigenvectors of a kernel of the neighbourhoods."""

    @abstractmethod
    def _kernel(self, component: Component) -> Kernel:
        """Return the kernel of connected rows."""

    def _embed(self, component: Component) -> EmbeddingResult:
        self._check_neighbors(component)
        with stage("kernel"):
            kernel = self._kernel(component)
        with stage("spectrum"):
            spectrum = self._solve(kernel)
            check_spectrum(kernel.problem, spectrum, may_denoise=self._may_denoise(component))
            result = kernel.embed(spectrum)
        eigenvalues = eigenvalue_attributes(spectrum.values, spectrum.next_value)
        attributes = {**eigenvalues, **result.attributes}
        return EmbeddingResult(result.coordinates, result.extension, attributes)

    def _check_neighbors(self, component: Component) -> None:
        """Refuse rows without neighbours, which have no local block."""
        alone = int(np.sum(component.neighbors.counts == 0)) if self.local_blocks else 0
        if alone:
            raise ValueError(
                f"{alone} rows of the graph have no neighbours of their own, though others have "
                f"them: {type(self).__name__} needs some for each row, for example graph + graph.T"
            )

    def _may_denoise(self, component: Component) -> bool:
        """Whether the rows were fitted as they are, and `denoise` could project them."""
        space = component.space
        euclidean = isinstance(space, PointSpace) and space.metric is EUCLIDEAN
        free = self._denoising_obstacle(component.given or None) is None
        return getattr(self, "denoise", None) is False and euclidean and free

    def _solve(self, kernel: Kernel) -> Spectrum:
        component, problem, spectrum = kernel.component, kernel.problem, kernel.spectrum
        if spectrum is None:
            rng, count = generator(self.random_state), self.n_components
            return solve(problem, count, self.eigen_solver, rng, component.threads)
        wanted, solver = len(spectrum.values), repr(self.eigen_solver)
        note(rows=component.n, end=problem.end, wanted=wanted, solver=solver, converged=True)
        return spectrum


@declare
class AlignmentEmbedding(KernelEmbedding):
    """Abstract: bottom eigenvectors of Σ SᵢBᵢSᵢ', with one block Bᵢ for each neighbourhood.

    A block is the projector on a basis of few columns, or on all that is orthogonal to it.

    Neighbourhoods contain the point itself: otherwise a point that is nobody's neighbour would
    have a zero row, and the bottom eigenvectors would sit on such points.
    """

    denoise: Any = denoise_param()
    local_blocks: ClassVar[bool] = True
    makes_charts: ClassVar[bool] = True
    # Whether blocks are I − BB' and not BB'.
    complement: ClassVar[bool]

    @abstractmethod
    def _bases(self, coordinates: FloatArray | RowBlocks, threads: int) -> FloatArray:
        """Bases (m, s, w) of neighbourhoods with the given local coordinates (m, s, r)."""

    def _all_bases(self, component: Component, offsets: IntArray, members: IntArray) -> FloatArray:
        """Bases (entries, w) of all neighbourhoods."""
        space, neighbors, threads = component.space, component.neighbors, component.threads
        done, bases = 0, np.empty((0, 0))
        size = int(neighbors.counts.min()) + 1
        equal = size == int(neighbors.counts.max()) + 1
        if equal and isinstance(space, PointSpace) and space.has_short_rows(size):
            rows = np.ascontiguousarray(space.features, dtype=np.float64)
            found = self._bases(RowBlocks(rows, members.reshape(-1, size)), threads)
            return found.reshape(len(members), -1)
        for points, indices in neighbors.blocks(AT_ONCE):
            found = self._bases(space.coordinates(np.column_stack((points, indices))), threads)
            if not done:
                bases = np.empty((len(members), found.shape[2]))
            bases[offsets[points, None] + np.arange(found.shape[1])] = found
            done += len(points)
            step(done, component.n)
        return bases

    def _kernel(self, component: Component) -> LocalKernel:
        neighbors, n = component.neighbors, component.n
        self._check_local_dimension(component)
        self._check_pieces(component)
        entries = int(np.sum(np.square(neighbors.counts + 1)))
        # The pieces overlap, so the kernel has at most half as many entries as they have.
        reserve(6 * entries, f"the kernel of {entries} local entries", "use fewer neighbours")
        offsets, members = neighbors.with_self()
        bases = self._all_bases(component, offsets, members)
        kernel = align(
            n, offsets, members, bases, complement=self.complement, threads=component.threads
        )
        constant = np.ones((n, 1))
        problem = SpectralProblem(kernel, "bottom", constant, nullity=self.n_components)
        return LocalKernel(component, problem)

    def _check_pieces(self, component: Component) -> None:
        """Warn where neighbourhoods overlap too little for one chart."""
        from unbend.graphs.gluing import describe_pieces, rigid_pieces

        pieces = rigid_pieces(component.neighbors, self.n_components)
        if pieces.any():
            note(pieces=int(pieces.max()) + 1)
            auto = "" if isinstance(self.n_neighbors, str) else ", or use n_neighbors='auto'"
            described = describe_pieces(pieces, self.n_components)
            more = "radius" if self.n_neighbors is None else "n_neighbors"
            warn(f"The embedding is not unique: {described}. Increase {more}{auto}.")

    def _check_local_dimension(self, component: Component) -> None:
        """Warn where a wanted direction of the neighbourhoods is curvature.

        Of a curve the second direction is that of its normal, and functions that are affine in
        both turn with it: coordinates then follow the turning of the curve, not its length.
        """
        space, d = component.space, self.n_components
        if d < 2 or isinstance(space, GraphSpace):
            return
        from unbend.graphs.noise import growth_exponents, local_dimension

        growth = growth_exponents(space, d, int(np.median(component.neighbors.counts)))
        note(growth=[float(power) for power in growth])
        local = local_dimension(growth)
        if local < d:
            warn(
                f"The local dimension is {local}, below n_components={d}: the variance of "
                f"neighbourhoods along direction {local + 1} grows as the power "
                f"{growth[local]:.1f} of that along the first, as curvature does (directions of "
                "the data: 1). Coordinates then follow the curvature, and parts may lie on each "
                f"other. Use n_components={local}, or DiffusionMaps, LaplacianEigenmaps or Isomap "
                "where the data close up."
            )


def check_spectrum(
    problem: SpectralProblem, spectrum: Spectrum, *, may_denoise: bool = False
) -> None:
    """Warn of coordinates that are not unique, zero or redundant."""
    check_uniqueness(problem, spectrum)
    if problem.nullity:
        check_redundancy(spectrum.vectors, may_denoise=may_denoise)


def check_uniqueness(problem: SpectralProblem, spectrum: Spectrum) -> None:
    """Warn of coordinates that are not unique or zero."""
    if problem.end == "bottom":
        zero = ZERO * spectrum.norm
        zeros = sum(value <= zero for value in (*spectrum.values.tolist(), spectrum.next_value))
        if zeros > problem.nullity:
            warn(
                f"The kernel has {zeros} or more zero eigenvalues (expected at most "
                f"{problem.nullity}): neighbourhoods overlap too little, so the embedding is not "
                "unique. Increase n_neighbors, or use connect='components'."
            )
    else:
        zero = max(ZERO, problem.accuracy) * spectrum.norm
        if spectrum.values[-1] <= zero:
            positive = int(np.sum(spectrum.values > zero))
            warn(
                f"The kernel has only {positive} positive eigenvalues, so further coordinates are "
                "zero. Lower n_components."
            )


def check_redundancy(vectors: FloatArray, *, may_denoise: bool = False) -> None:
    """Warn of coordinates that are functions of earlier ones."""
    redundancy = note_redundancy(vectors)
    # Noise that is wide against the neighbourhoods does that: their tangents are then its own.
    if redundancy.max() > REDUNDANT:
        denoise = "set denoise='auto', " if may_denoise else ""
        warn(
            f"Coordinate {int(redundancy.argmax()) + 1} is a function of earlier ones (R² "
            f"{redundancy.max():.2f}): the intrinsic dimension is lower, or noise is wider "
            f"than the neighbourhoods. Increase n_neighbors, {denoise}or lower n_components."
        )


def note_redundancy(vectors: FloatArray) -> FloatArray:
    """Record R² of the first coordinates on those before them, from a sample of the rows."""
    redundancy = _redundancy(vectors)
    note(redundancy=[float(r) for r in redundancy])
    return redundancy


def later_redundancy(vectors: FloatArray) -> Deferred:
    """Return the same for a fitted attribute, and record it, to be computed when first read."""
    redundancy = Deferred(lambda: _redundancy(vectors))
    note_later(redundancy=redundancy)
    return redundancy


def _redundancy(vectors: FloatArray) -> FloatArray:
    from unbend.quality import coordinate_redundancy

    return coordinate_redundancy(
        vectors[:, :MEASURED], n_neighbors=min(10, len(vectors) - 1), max_rows=1000
    )

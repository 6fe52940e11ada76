"""Rigid alignment of tangent spaces: a chart that bends the data flat and stretches little.

The tangent plane of each neighbourhood is a chart of it. A chart y of the whole data turns these
planes and joins them. With t_ij the coordinates of neighbour j in the tangent plane of point i, it
minimises

    Σ_i Σ_{j ∈ N(i)} w_ij ‖y_j − y_i − R_i t_ij‖²,    R_i orthogonal,    w_ij = 1/‖t_ij‖²,

in turns: the best R_i of a given chart are orthogonal Procrustes problems of d × d matrices, and
the best chart of given R_i is a system of equations with a graph Laplacian, which is factorised
once (as rigid as possible: Sorkine and Alexa, 2007; Liu et al., 2008). Momentum makes hundreds of
rounds tens. The root of the sum over Σ w_ij ‖t_ij‖² is the strain of the chart, zero if it is
isometric.

The sum has local minima, charts that are folded. So the first chart matters: that of LTSA, and
where its strain is not small classical scaling of the geodesics to some landmarks, too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, diags_array

from unbend.arrays import FloatArray, IntArray
from unbend.denoising.patches import principal_axes
from unbend.eigen import fix_signs
from unbend.eigen.shift_invert import analyse
from unbend.estimators.kernel import (
    AT_ONCE,
    AlignmentEmbedding,
    check_redundancy,
    check_uniqueness,
)
from unbend.estimators.landmarks import farthest_first
from unbend.estimators.neighborhood import Component, eigenvalue_attributes
from unbend.estimators.search import Needs
from unbend.extension import BarycentricOnSheet, EmbeddingResult, Rule
from unbend.gram.columns import KnownColumns, scale_by_columns
from unbend.graphs import undirected
from unbend.local import RowBlocks, affine_bases
from unbend.report import note, stage, step, warn
from unbend.validation.parameters import Integer, Real, declare, param

if TYPE_CHECKING:
    from unbend._kernels.reference import Factor

# Share of the median length below which shorter edges weigh no more than those of that length.
SHORTEST = 0.3
# Factor, at most, by which an edge is longer than its part in the tangent plane where it is still
# taken as one along the surface.
LONGEST = 1.5
# Ridges, relative to the largest eigenvalue and to the trace, of metrics and of single points.
RIDGE, LOCAL_RIDGE = 1e-9, 1e-6
# Strain up to which no other first chart is tried: of 58 surfaces for calibration none was then
# improved by one. And strain from which on the chart is doubtful: 0.2 and more where sheets are
# joined or folded, 0.1 at most where the error is small and noise is not wide against the edges.
EASY, STRAINED = 0.01, 0.15
# Share of the sum, in tolerances, by which a last round may lower it, and share of that of all
# edges below which it is rounding. A strip a hundred times as long as wide moves by less than the
# tolerance in rounds that lower the sum by a fifth, hundreds of rounds before it is straight.
SETTLED, EXACT = 10.0, 1e-12
# Landmarks of the geodesics.
LANDMARKS = 200


@dataclass(frozen=True, eq=False)
class Alignment:
    """A chart (n, d), its strain, and the rounds that led to it."""

    chart: FloatArray
    strain: float
    rounds: int
    converged: bool


@dataclass(frozen=True, eq=False)
class TangentEdges:
    """Edges of a neighbourhood graph in the tangent planes of their first ends.

    Attributes
    ----------
    first, second : array (e,)
        Ends of the edges.
    unit : float
        The median length of the edges.
    along : array (e, d)
        The edge in the tangent plane of its first end, with its length in space, in these units.
    weights : array (e,)
        Weight of each edge, so that its relative stretch counts.
    """

    n: int
    first: IntArray
    second: IntArray
    unit: float
    along: FloatArray
    weights: FloatArray
    threads: int
    # Edges from rotations (e, n d), differences at both ends (n, e), and the factorised system.
    _turned: csr_array
    _ends: csc_array
    _factor: "Factor"

    @classmethod
    def of(cls, component: Component, d: int) -> "TangentEdges":
        """Tangent planes of the neighbourhoods of connected points."""
        neighbors, n = component.neighbors, component.n
        along = np.empty((len(neighbors.indices), d))

        def measure(points: IntArray, indices: IntArray) -> None:
            members = np.column_stack((points, indices))
            places = neighbors.offsets[points, None] + np.arange(indices.shape[1])
            along[places] = _tangent_coordinates(component.space.coordinates(members), d)

        neighbors.map_blocks(measure, AT_ONCE, component.block_threads)
        first, second = neighbors.rows.astype(np.intp), neighbors.indices.astype(np.intp)
        lengths = np.linalg.norm(along, axis=1)
        unit = max(float(np.median(lengths)), np.finfo(float).tiny)
        along /= unit
        weights = np.square(1.0 / np.maximum(lengths / unit, SHORTEST))
        turned = _tangent_rows(along, first, n)
        # An edge is a column with two entries.
        places = np.column_stack((second, first)).astype(np.int32).ravel()
        signed = np.column_stack((weights, -weights)).ravel()
        starts = np.arange(0, len(places) + 1, 2)
        ends = csc_array((signed, places, starts), shape=(n, len(first)))
        factor = _factorise(weights, first, second, n, component.threads)
        threads = component.threads
        return cls(n, first, second, unit, along, weights, threads, turned, ends, factor)

    def align(self, chart: FloatArray, max_iter: int, tol: float) -> Alignment:
        """Improve a chart that is right up to an affine map, until it moves by less than `tol`.

        That is the root mean square of its moves in a round, relative to its spread. The sum must
        fall by little, too: long strips unbend slowly. Rounds begin from charts that are moved
        further in the direction of the round before (Nesterov, 1983).
        The sum at the end of a round, of its rotations, bounds that of the chart from above: where
        it rises the round is made again from the chart itself, and so it never does.
        """
        begin = chart = self._scale(chart)
        floor, bound = EXACT * self._total, np.inf
        rounds, momentum, settled = 0, 1.0, False
        while rounds < max_iter and not settled:
            step(rounds, max_iter)
            edges, rounds = self._turn(self._turns(begin)), rounds + 1
            found = self._join(edges)
            energy = self._energy(found, edges)
            if energy > bound and momentum > 1.0:
                begin, momentum = chart, 1.0
                continue
            following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            begin = found + (momentum - 1.0) / following * (found - chart)
            spread = max(float(np.linalg.norm(found)), np.finfo(float).tiny)
            moved = float(np.linalg.norm(found - chart)) / spread
            settled = moved <= tol and bound - energy <= SETTLED * tol * max(energy, floor)
            chart, bound, momentum = found, energy, following
        return Alignment(self.unit * chart, self._strain(chart), rounds, settled)

    def _turn(self, turns: FloatArray) -> FloatArray:
        """Turn all edges: R_i t_ij."""
        return np.asarray(self._turned @ turns.reshape(-1, turns.shape[2]))

    def _join(self, edges: FloatArray) -> FloatArray:
        """Find the best chart of given rotations, whose edges are turned."""
        chart = np.empty((self.n, edges.shape[1]))
        self._factor.solve(np.ascontiguousarray(self._ends @ edges), self.threads, chart)
        return np.asarray(chart - chart.mean(axis=0))

    def _steps(self, chart: FloatArray) -> FloatArray:
        """Edges of a chart: y_j − y_i."""
        return np.asarray(chart.take(self.second, axis=0) - chart.take(self.first, axis=0))

    def _products(self, edges: FloatArray) -> FloatArray:
        """Σ_j w_ij t_ij e_ij' of each point (n, d, d), of the edges e of a chart."""
        d = edges.shape[1]
        weighted = self.weights[:, None] * edges
        return np.asarray(self._turned.T @ weighted).reshape(self.n, d, d)

    def _turns(self, chart: FloatArray) -> FloatArray:
        """R_i' of each point: the best of a given chart."""
        return nearest_orthogonal(self._products(self._steps(chart)))

    def _scale(self, chart: FloatArray) -> FloatArray:
        """Map a chart affinely so that the mean of its metrics is the identity.

        Of curves the median: single points between two sheets count no more than others.
        """
        d = chart.shape[1]
        gram = self._products(self.along)
        ridge = LOCAL_RIDGE * np.maximum(np.trace(gram, axis1=1, axis2=2), np.finfo(float).tiny)
        gram += ridge[:, None, None] * np.eye(d)
        slopes = np.linalg.solve(gram, self._products(self._steps(chart)))
        metrics = slopes.transpose(0, 2, 1) @ slopes
        middle = np.median(metrics, axis=0) if d == 1 else metrics.mean(axis=0)
        values, axes = np.linalg.eigh(middle)
        scale = np.sqrt(np.maximum(values, RIDGE * max(values[-1], np.finfo(float).tiny)))
        return np.asarray((chart - chart.mean(axis=0)) @ (axes / scale))

    def _energy(self, chart: FloatArray, edges: FloatArray) -> float:
        """Weighted sum of squares of the differences between the edges of a chart and others."""
        return float((self.weights @ np.square(self._steps(chart) - edges)).sum())

    @property
    def _total(self) -> float:
        """Σ w_ij ‖t_ij‖², to which the energy is relative."""
        return max(float((self.weights @ np.square(self.along)).sum()), np.finfo(float).tiny)

    def _strain(self, chart: FloatArray) -> float:
        left = self._energy(chart, self._turn(self._turns(chart)))
        return float(np.sqrt(left / self._total))


def _tangent_rows(along: FloatArray, first: IntArray, n: int) -> csr_array:
    """Matrix (e, n d) that turns edges by the rotations of their first ends, one below another."""
    d = along.shape[1]
    columns = (d * first[:, None] + np.arange(d)).astype(np.int32).ravel()
    starts = np.arange(0, along.size + 1, d)
    return csr_array((along.ravel(), columns, starts), shape=(len(first), n * d))


def _factorise(
    weights: FloatArray, first: IntArray, second: IntArray, n: int, threads: int
) -> "Factor":
    """Factorise the graph Laplacian, with the place of the chart fixed.

    It is free. An entry more on the diagonal, at one point, puts that point at the origin:
    right-hand sides sum to zero, and so nothing else changes.
    """
    forth = coo_array((weights, (first, second)), shape=(n, n)).tocsr()
    both = csr_array(forth + forth.T)
    diagonal: FloatArray = np.asarray(both.sum(axis=1)).ravel()
    diagonal[np.argmax(diagonal)] *= 2
    symbolic = analyse(csr_array(diags_array(diagonal) - both), threads=threads)
    return symbolic.factor(0.0, threads)


def nearest_orthogonal(matrices: FloatArray) -> FloatArray:
    """Orthogonal factors UV' of matrices USV' (n, d, d).

    Of 2 × 2 matrices they are rotations where the determinant is positive, or else reflections, and
    have a closed form, which takes a hundredth of the time of a decomposition.

    Examples
    --------
    >>> nearest_orthogonal(np.array([[[0.0, -3.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, -4.0]]]))
    array([[[ 0., -1.],
            [ 1.,  0.]],
    <BLANKLINE>
           [[ 1.,  0.],
            [ 0., -1.]]])
    """
    if matrices.shape[1] != 2:
        left, _, right = np.linalg.svd(matrices)
        return np.asarray(left @ right)
    (a, b), (c, d) = matrices.transpose(1, 2, 0)
    sign = np.where(a * d >= b * c, 1.0, -1.0)
    cosine, sine = a + sign * d, c - sign * b
    length = np.hypot(cosine, sine)
    # Nothing prefers a direction: the identity.
    cosine, length = np.where(length == 0, 1.0, cosine), np.where(length == 0, 1.0, length)
    cosine, sine = cosine / length, sine / length
    return np.stack((cosine, -sign * sine, sine, sign * cosine), axis=1).reshape(-1, 2, 2)


def _tangent_coordinates(local: FloatArray, d: int) -> FloatArray:
    """Coordinates (m, s − 1, d) of neighbours in the tangent planes of neighbourhoods (m, s, r)."""
    steps = local[:, 1:] - local[:, :1]
    centered = local - local.mean(axis=1, keepdims=True)
    axes = principal_axes(np.ascontiguousarray(centered), min(d, local.shape[2]))
    along = np.zeros((*steps.shape[:2], d))
    along[:, :, : axes.shape[2]] = steps @ axes
    lengths, inside = np.linalg.norm(steps, axis=2), np.linalg.norm(along, axis=2)
    longer = np.minimum(lengths / np.maximum(inside, np.finfo(float).tiny), LONGEST)
    return np.asarray(along * longer[:, :, None])


@final
@declare
class RigidAlignment(AlignmentEmbedding):
    """Rigid alignment of tangent spaces: a chart that keeps lengths, in the units of the data.

    Each neighbourhood is projected on its tangent plane, and the planes are turned and joined so
    that they fit each other with the least strain (as rigid as possible). The coordinates of LTSA,
    or of landmark Isomap where these are strained, are the beginning. Where the data can be
    flattened the chart is isometric: unlike that of LTSA and Hessian LLE in scale too, and unlike
    that of Isomap also around holes. Elsewhere it spreads the distortion evenly.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates along the principal axes of the chart, in the units of the data.
    eigenvalues_ : array (n_components,)
        Sum of squares of each coordinate.
    strain_ : float
        Root mean square error of the edges, relative to their lengths: 0 for an isometric chart.
        Noise across short edges adds to it though the chart may be right: compare that with
        ``denoise="auto"``. Of the largest component where there are several.
    n_iter_ : int
        Rounds of alignment.

    References
    ----------
    Sorkine and Alexa, Symposium on Geometry Processing (2007); Liu, Zhang, Xu, Gotsman and Gortler,
    Computer Graphics Forum 27 (2008). The first chart: Zhang and Zha (2004).

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_hole(1000, random_state=0)
    >>> model = unbend.RigidAlignment(n_neighbors=8).fit(roll.points)
    >>> unbend.quality.procrustes(roll.chart, model.embedding_) < 0.001
    True
    >>> model.strain_ < 0.01
    True
    """

    max_iter: int = param(500, Integer(1), help="Rounds of alignment at most.")
    tol: float = param(
        1e-4,
        Real(0),
        help="Root mean square move of a round, relative to the spread of the chart, at which the "
        "alignment ends, if the energy falls by at most ten times that share.",
    )
    complement: ClassVar[bool] = True
    isometric: ClassVar[bool] = True

    def _needs(self) -> Needs:
        return Needs(neighbors=self.n_components + 1, glued=self.n_components)

    def _bases(self, coordinates: FloatArray | RowBlocks, threads: int) -> FloatArray:
        return affine_bases(coordinates, self.n_components, threads)

    def _embed(self, component: Component) -> EmbeddingResult:
        start = self._start(component)
        with stage("alignment"):
            found = self._align(component, start)
            axes = np.linalg.eigh(found.chart.T @ found.chart)[1][:, ::-1]
            coordinates = fix_signs(found.chart @ axes)
            check_redundancy(coordinates, may_denoise=self._may_denoise(component))
        extension = BarycentricOnSheet.of(
            component.space, Rule(component.rule.k), coordinates, component.neighbors
        )
        attributes = {
            **eigenvalue_attributes(np.square(coordinates).sum(axis=0), np.nan),
            "strain_": found.strain,
            "n_iter_": found.rounds,
        }
        return EmbeddingResult(coordinates, extension, attributes)

    def _start(self, component: Component) -> FloatArray:
        """Chart of LTSA, whose kernel is gone when alignment needs memory of its own."""
        with stage("kernel"):
            kernel = self._kernel(component)
        with stage("spectrum"):
            spectrum = self._solve(kernel)
            check_uniqueness(kernel.problem, spectrum)
        return spectrum.vectors

    def _align(self, component: Component, start: FloatArray) -> Alignment:
        """Align from the chart of LTSA and, where that is strained, from one of geodesics."""
        edges = TangentEdges.of(component, self.n_components)
        found, begun = edges.align(start, self.max_iter, self.tol), "LTSA"
        if found.strain > EASY:
            scaled = scale_to_landmarks(component, start)
            other = edges.align(scaled, self.max_iter, self.tol)
            if other.strain < found.strain:
                found, begun = other, "geodesics to landmarks"
        note(start=begun, strain=found.strain, iterations=found.rounds, converged=found.converged)
        if not found.converged:
            warn(f"Alignment did not converge in {found.rounds} iterations. Increase max_iter.")
        if found.strain > STRAINED:
            warn(
                f"The chart changes the lengths of edges by {found.strain:.0%} (strain): the data "
                f"cannot be flattened to n_components={self.n_components}, edges jump between "
                "sheets of the data, or noise is wide against the neighbourhoods. Check the "
                f"dimension with unbend.choose_dimension, and use {self._remedies(component)}."
            )
        return found

    def _remedies(self, component: Component) -> str:
        """Say what may be done about edges that jump, and about noise."""
        if component.given:
            return "a graph without its unbend.graphs.find_short_circuits, or more rows"
        fewer = "a smaller radius" if self.n_neighbors is None else "fewer neighbours"
        remedies = [fewer, "more rows"]
        if self.short_circuits != "remove":
            remedies.insert(0, "short_circuits='remove'")
        if self._may_denoise(component):
            remedies.append("denoise='auto' if there is noise")
        return f"{', '.join(remedies[:-1])} or {remedies[-1]}"


def scale_to_landmarks(component: Component, start: FloatArray) -> FloatArray:
    """Chart by the geodesics to some landmarks, as landmark Isomap has it.

    They are farthest from each other, beginning at the end of another chart, so that neither the
    order of the rows nor a seed has a part in them.
    """
    first = int(np.argmax(np.square(start - start.mean(axis=0)).sum(axis=1)))
    lengths = undirected(component.neighbors).lengths
    count = min(LANDMARKS, component.n)
    landmarks, distances = farthest_first(count, lengths, first, component.threads)
    columns = KnownColumns(distances.T, landmarks)
    return scale_by_columns(columns, start.shape[1]).coordinates

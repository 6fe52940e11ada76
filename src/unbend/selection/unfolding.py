"""Charts as rigid as possible: the reference that charts of a surface are compared with.

Around each point of a surface without noise the tangent plane is a chart. A chart of the whole
surface turns these local ones and joins them: in turns the rotations that fit the chart best are
found, and the chart that fits the rotations best, which is a sparse system of equations (Sorkine
and Alexa, 2007). The errors of all edges are averaged, so that the result is mostly nearer to the
true chart than the one that it begins with; where that one is torn or folded, strain remains.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from unbend.arrays import FloatArray, IntArray
from unbend.denoising.patches import principal_axes
from unbend.neighbors import PointSpace

# Rounds in which rotations and the chart are found in turns.
ROUNDS = 30
# Share of the median edge below which shorter edges count no more than those of that length.
SHORTEST = 0.3
# Factor, at most, by which an edge is longer than its part in the tangent plane where it is still
# taken as one along the surface.
LONGEST = 1.5
# Ridges, relative to the diagonal, that are rounding in the system of all rows (which leaves the
# place of the chart open) and in those of single rows; and of interpolations, which few rows
# in one direction would extrapolate.
RIDGE, LOCAL_RIDGE, SMOOTH = 1e-9, 1e-6, 0.05
# Neighbours that rows not in the chart are interpolated from: for each dimension, and more.
EACH_DIMENSION, MORE = 2, 4


@dataclass(frozen=True, eq=False)
class Unfolding:
    """A chart as rigid as possible, and its strain.

    Attributes
    ----------
    chart : array (m, d)
        Coordinates of the points.
    strain : float
        Root mean square difference between edges of the chart and turned edges of the tangent
        planes, relative to the latter: 0 where the chart is isometric.
    """

    chart: FloatArray
    strain: float


@dataclass(frozen=True, eq=False)
class TangentEdges:
    """Edges of a graph on a surface, in the tangent planes of their first ends.

    Attributes
    ----------
    first, second : array (e,)
        Ends of the edges, each in both directions.
    along : array (e, d)
        The edge in the tangent plane of its first end, with its length in space.
    weights : array (e,)
        Weight of each edge; long ones have less.
    """

    first: IntArray
    second: IntArray
    along: FloatArray
    weights: FloatArray
    # Sums over the edges of each first end, and the factorised system of all rows.
    _sums: csr_array
    _system: SuperLU

    @classmethod
    def of(cls, surface: FloatArray, graph: csr_array, size: int, d: int) -> "TangentEdges":
        """Tangent planes by patches of so many points of a surface."""
        edges, n = graph.tocoo(), len(surface)
        first, second = edges.row.astype(np.intp), edges.col.astype(np.intp)
        around, _ = PointSpace(surface).nearest_of(surface, size)
        patches = surface[around]
        axes = principal_axes(patches - patches.mean(axis=1, keepdims=True), d)
        steps = surface[second] - surface[first]
        along = np.einsum("eci,ec->ei", axes[first], steps)
        lengths, inside = np.linalg.norm(steps, axis=1), np.linalg.norm(along, axis=1)
        tiny = np.finfo(float).tiny
        along *= np.minimum(lengths / np.maximum(inside, tiny), LONGEST)[:, None]
        usual = max(float(np.median(lengths)), tiny)
        weights = np.square(usual / np.maximum(lengths, SHORTEST * usual))
        ones = np.arange(len(first))
        sums = csr_array((weights, (first, ones)), shape=(n, len(first)))
        both = coo_array((weights, (first, second)), shape=(n, n)).tocsr()
        both = both + both.T
        degrees = np.asarray(both.sum(axis=1)).ravel()
        system = diags_array(degrees + RIDGE * degrees.mean()) - both
        return cls(first, second, along, weights, sums, splu(system.tocsc()))

    def unfold(self, chart: FloatArray) -> Unfolding:
        """Make a chart as rigid as possible, from one that is right up to an affine map."""
        found = self._even(chart)
        turns = self._turns(found)
        for _ in range(ROUNDS):
            steps = self.weights[:, None] * np.einsum("ei,eij->ej", self.along, turns[self.first])
            target = _sum_at(self.second, steps, len(found)) - _sum_at(
                self.first, steps, len(found)
            )
            found = self._system.solve(target)
            turns = self._turns(found)
        return Unfolding(found, self._strain(found, turns))

    def _products(self, chart: FloatArray) -> FloatArray:
        """Sum products of tangent and chart coordinates over the edges of each row."""
        steps = chart[self.second] - chart[self.first]
        products = self.along[:, :, None] * steps[:, None, :]
        n, d = len(chart), chart.shape[1]
        return np.asarray((self._sums @ products.reshape(-1, d * d)).reshape(n, d, d))

    def _turns(self, chart: FloatArray) -> FloatArray:
        """Orthogonal maps (n, d, d) that fit the edges of each row best."""
        left, _, right = np.linalg.svd(self._products(chart))
        return np.asarray(left @ right)

    def _even(self, chart: FloatArray) -> FloatArray:
        """Map a chart affinely so that the mean of its metrics is the identity."""
        n, d = chart.shape
        squares = self.along[:, :, None] * self.along[:, None, :]
        gram = np.asarray(self._sums @ squares.reshape(-1, d * d)).reshape(n, d, d)
        slopes = _solve_ridge(gram, self._products(chart), LOCAL_RIDGE)
        metrics = slopes.transpose(0, 2, 1) @ slopes
        # Of curves the median: single rows between two sheets count no more than others.
        middle = np.median(metrics, axis=0) if d == 1 else metrics.mean(axis=0)
        values, axes = np.linalg.eigh(middle)
        scale = np.sqrt(np.maximum(values, RIDGE * max(values[-1], np.finfo(float).tiny)))
        return np.asarray((chart - chart.mean(axis=0)) @ (axes / scale))

    def _strain(self, chart: FloatArray, turns: FloatArray) -> float:
        steps = chart[self.second] - chart[self.first]
        rest = steps - np.einsum("ei,eij->ej", self.along, turns[self.first])
        total = float(self.weights @ np.square(self.along).sum(axis=1))
        left = float(self.weights @ np.square(rest).sum(axis=1))
        return float(np.sqrt(left / max(total, np.finfo(float).tiny)))


def _solve_ridge(gram: FloatArray, right: FloatArray, share: float) -> FloatArray:
    """Solve small systems (n, d, d) with a ridge relative to the trace of each."""
    ridge = share * np.maximum(np.trace(gram, axis1=1, axis2=2), np.finfo(float).tiny)
    return np.asarray(np.linalg.solve(gram + ridge[:, None, None] * np.eye(gram.shape[1]), right))


def _sum_at(places: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Sum the rows of values at each of n places."""
    return np.column_stack([np.bincount(places, column, n) for column in values.T])


def interpolate(surface: FloatArray, chart: FloatArray, points: FloatArray) -> FloatArray:
    """Return coordinates of points near a surface by affine maps of the points around each.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(400, 2))
    >>> inner = rng.uniform(0.2, 0.8, size=(50, 2))
    >>> bool(np.abs(interpolate(plane, 3 * plane, inner) - 3 * inner).max() < 0.05)
    True
    """
    d = chart.shape[1]
    around, _ = PointSpace(surface).nearest_of(
        points, min(EACH_DIMENSION * d + MORE, len(surface) - 1)
    )
    patches, values = surface[around], chart[around]
    center, middle = patches.mean(axis=1, keepdims=True), values.mean(axis=1, keepdims=True)
    axes = principal_axes(patches - center, d)
    along = (patches - center) @ axes
    across = along.transpose(0, 2, 1)
    slopes = _solve_ridge(across @ along, across @ (values - middle), SMOOTH / d)
    return np.asarray(((points[:, None] - center) @ axes @ slopes + middle)[:, 0])

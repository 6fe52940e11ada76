"""Trials on a sample: what denoised rows show, and which method lays a surface out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.denoising import Denoised, denoise, measure_noise
from unbend.denoising import Sample as NoiseSample
from unbend.denoising.patches import principal_axes
from unbend.denoising.reduction import reduce_columns
from unbend.estimators.neighborhood import Component
from unbend.extension import BarycentricOnSheet, Rule
from unbend.graphs import components, geodesics, undirected
from unbend.graphs.connect import bridge, connect_components
from unbend.graphs.short_circuits import handle_short_circuits
from unbend.methods.rigid_alignment import TangentEdges, scale_to_landmarks
from unbend.neighborhood_sizes import choose_number
from unbend.neighbors import PointSpace
from unbend.selection.inputs import Sample, make_method
from unbend.selection.relief import Relief, name_relief

# Rows that are fitted in a trial, and those whose geodesics are compared with each chart.
ROWS, COMPARED = 3000, 150
# Methods that are tried, and their parameters beside the dimension.
_ROBUST: Mapping[str, Any] = {"denoise": "auto", "short_circuits": "remove"}
CHARTS: Mapping[str, Mapping[str, Any]] = {
    "RigidAlignment": {**_ROBUST, "n_neighbors": 10},
    "LTSA": {**_ROBUST, "n_neighbors": "auto"},
    "Isomap": {"n_neighbors": "auto", "short_circuits": "remove"},
    "PCA": {},
}
# Share of the rows, those nearest to the surface, that the reference is made of, and displacement
# relative to the distance of neighbours up to which all rows are; multiple of the median
# displacement up to which rows are compared with it, for those beyond may be outliers; and share of
# the rows whose neighbours in the chart are no farther apart than is stated.
NEAR, STILL, REGULAR, MOST = 0.9, 0.3, 3.5, 0.9
# Neighbours of the reference, at least; rounds of its alignment, and move of a round at which they
# end. With as many as noise and bending ask for 339 of 397 charts for calibration were good, with
# these 344.
FEWEST, MOST_ROUNDS, MOVED = 8, 50, 1e-4
# Multiple of the median difference beyond which a row has no part in the error of a chart.
MISPLACED = 6.0
# Distance of neighbours (`ChartMisfit.neighbors`) from which on a chart is folded: 0.5 and more
# where noise or few rows join the sheets of a roll, 0.37 at most elsewhere. It may have less strain
# than a chart that keeps neighbours together, because it joins what edges across sheets join.
FOLDED = 0.45
# Multiple of a wide gap of a curve, wider than this share of them, up to which its ends meet.
MEETING, MOST_GAPS = 3.0, 0.98
# Share of the rows that a piece of a curve has, others are outliers; and cosine, at least, of the
# angle between a curve and a bridge over its gap.
LARGE, ALONG = 0.02, 0.7
# Share of rows farthest from the middle of a chart that its scale is measured without, and the
# rounds in which they are found.
FAR, ROUNDS = 0.05, 3


@dataclass(frozen=True)
class ChartMisfit:
    """How badly a chart lays a surface out.

    Attributes
    ----------
    error : float
        Root mean square difference of the worse coordinate from the reference, relative to its
        spread, after the best affine map. Of the reference itself its strain.
    geodesics : float
        Median difference between geodesics of the surface and distances in the chart, after the
        best affine map, over the median geodesic.
    neighbors : float
        Distance on the surface between a row and the mean of its neighbours in the chart, over the
        spread of the surface; nine rows of ten have less.
    torn : bool
        Whether the reference has torn a closed curve.
    """

    error: float
    geodesics: float
    neighbors: float
    torn: bool = False


@dataclass(frozen=True)
class Trials:
    """Misfits of the charts that were tried, by method, and of the reference.

    `relief` says whether the rows lie on waves about a plane or in a bowl.
    """

    charts: Mapping[str, ChartMisfit] = field(default_factory=dict)
    reference: ChartMisfit | None = None
    relief: Relief = ""


def denoised_sample(sample: Sample, d: int) -> Sample | None:
    """Project a sample onto the surface that patches show; None where they show none."""
    try:
        return Sample(denoise(sample.values, d).points, sample.metric)
    except ValueError:
        return None


def try_charts(sample: Sample, d: int) -> Trials:
    """Misfit of the chart by each method, where a surface can be estimated at all."""
    values = sample.values
    found = measure_noise(NoiseSample.of(PointSpace(values), d), d)
    if not len(found.sizes):
        return Trials()
    # Where none shows the surface, the patches that come nearest to it.
    patch = found.patch_size or int(found.sizes[found.ratio.argmin()])
    projected = denoise(values, d, patch_size=patch)
    if found.patch_size is not None and found.hides(len(values)) < 1:
        # Patches would only cut off what bends.
        projected = replace(projected, points=values)
    return compare_charts(_fit_charts(values, d), projected, d)


def _fit_charts(values: FloatArray, d: int) -> dict[str, FloatArray]:
    """Fit all methods to rows, and return the embeddings of those that do not fail."""
    charts = {}
    for name, parameters in CHARTS.items():
        try:
            model = make_method(name, n_components=d, **parameters).fit(values)
        except ValueError:
            continue
        charts[name] = np.asarray(model.embedding_, dtype=float)
    return charts


def compare_charts(charts: Mapping[str, FloatArray], projected: Denoised, d: int) -> Trials:
    """Compare charts of all rows with the reference, the most rigid chart of rows without noise.

    It is the one of least strain among those aligned from each of the charts, and from geodesics,
    as far as these do not fold.
    """
    away = projected.displacement
    # Without noise those beside gaps are moved farthest, a little: all take part.
    spacing = float(np.median(PointSpace(projected.points).nearest(1).distances))
    near = away <= max(float(np.quantile(away, NEAR)), STILL * spacing)
    points = _narrow(projected.points, d)
    known = np.ascontiguousarray(points[near])
    surface = _connect(known, d)
    some = np.unique(np.linspace(0, surface.n - 1, COMPARED).astype(np.intp))
    lengths = geodesics(undirected(surface.neighbors).lengths, some)[:, some]
    edges = TangentEdges.of(surface, d)
    begun = [scale_to_landmarks(surface, known[:, :d]), *(chart[near] for chart in charts.values())]
    rigid = [edges.align(chart, MOST_ROUNDS, MOVED) for chart in begun if np.isfinite(chart).all()]
    measured = [measure_chart(one.chart, known, lengths, some) for one in rigid]
    least = min(range(len(rigid)), key=lambda i: (measured[i][1] > FOLDED, rigid[i].strain))
    best = rigid[least]
    reference = np.empty((len(points), d))
    reference[near] = best.chart
    if not near.all():
        extension = BarycentricOnSheet.of(
            surface.space, surface.rule, best.chart, surface.neighbors
        )
        reference[~near] = extension(np.ascontiguousarray(points[~near]))
    regular = near | (away <= REGULAR * np.median(away))
    misfits = {
        name: ChartMisfit(
            chart_error(reference[regular], chart[regular]),
            *measure_chart(chart[near], known, lengths, some),
        )
        for name, chart in charts.items()
    }
    bent = misfits["PCA"].error if "PCA" in misfits else np.inf
    relief = name_relief(known, d, float(np.median(away)), bent, best.strain)
    torn = _torn(best.chart, known)
    return Trials(misfits, ChartMisfit(best.strain, *measured[least], torn), relief)


def _connect(points: FloatArray, d: int) -> Component:
    """Connect rows without noise to their neighbours, few as they need not be averaged over."""
    space = PointSpace(points)
    k = choose_number(space, d, FEWEST, measured=False, glued=d).n_neighbors
    found = handle_short_circuits(space, space.nearest(k), "remove", d, d + 1, False)
    joined = connect_components(space, found, "bridge", True, "rows").neighbors
    return Component(space, joined, Rule(k), 1, np.arange(len(points)))


def continues(sample: Sample, d: int, k: int) -> bool:
    """Whether the parts of a curve are pieces of one: shortest bridges go on in their directions.

    Small parts are left out; less than two others have no bridge between them.

    Examples
    --------
    >>> t = np.concatenate((np.linspace(0, 1, 60), np.linspace(1.5, 3, 90)))
    >>> arc = np.column_stack((np.cos(t), np.sin(t)))
    >>> beside = np.concatenate((arc, arc + [0, 3]))
    >>> continues(Sample(arc, "euclidean"), 1, 8), continues(Sample(beside, "euclidean"), 1, 8)
    (True, False)
    """
    if d > 1 or sample.metric != "euclidean":
        return False
    label = components(sample.space.nearest(k).graph())
    large = np.bincount(label) >= LARGE * len(sample)
    if large.sum() < 2:
        return False
    points = np.ascontiguousarray(sample.values[large[label]])
    space = PointSpace(points)
    added = bridge(space, components(space.nearest(k).graph()))
    ways = points[added.second] - points[added.first]
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), np.finfo(float).tiny)
    for ends in (added.first, added.second):
        around, _ = space.nearest_of(points[ends], k + 1)
        patches = points[around]
        axes = principal_axes(patches - patches.mean(axis=1, keepdims=True), 1)[:, :, 0]
        if np.abs(np.einsum("ec,ec->e", axes, ways)).min() < ALONG:
            return False
    return True


def _torn(chart: FloatArray, surface: FloatArray) -> bool:
    """Whether a chart has torn a closed curve: its ends meet, up to gaps as there are others.

    The graph of the chart may lack the few edges that close the curve.
    """
    if chart.shape[1] > 1:
        return False
    order = np.argsort(chart[:, 0], kind="stable")
    gaps = np.linalg.norm(np.diff(surface[order], axis=0), axis=1)
    between = float(np.linalg.norm(surface[order[0]] - surface[order[-1]]))
    return between <= MEETING * float(np.quantile(gaps, MOST_GAPS))


def _narrow(points: FloatArray, d: int) -> FloatArray:
    """Leave out directions in which points of a surface do not differ: they cost time."""
    reduction = reduce_columns(points, d)
    return points if reduction is None else reduction.narrow(points)


def chart_error(reference: FloatArray, chart: FloatArray) -> float:
    """Error of the worse principal coordinate of a reference by the best affine map of a chart.

    Relative to the spread of that coordinate, and without rows that are misplaced: extrapolations
    of outliers would decide otherwise.

    Examples
    --------
    >>> plane = np.random.default_rng(0).uniform(size=(300, 2))
    >>> chart_error(plane, plane @ [[1, 2], [3, 4]]) < 1e-9
    True
    >>> chart_error(plane, np.abs(plane - 0.5)) > 0.9
    True
    """
    if not np.isfinite(chart).all():
        return np.inf
    rest = np.abs(_affine_residual(reference, chart))
    usual = np.maximum(np.median(rest, axis=0), np.finfo(float).tiny)
    kept = (rest <= MISPLACED * usual).all(axis=1)
    reference, chart = reference[kept], chart[kept]
    centered = reference - reference.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2].T
    spread = np.square(centered @ axes).mean(axis=0)
    left = np.square(_affine_residual(reference, chart) @ axes).mean(axis=0)
    return float(np.sqrt(np.max(left / np.maximum(spread, np.finfo(float).tiny))))


def _affine_residual(values: FloatArray, chart: FloatArray) -> FloatArray:
    """Return what the best affine map of a chart leaves of some values."""
    functions = np.column_stack((np.ones(len(chart)), chart))
    return np.asarray(values - functions @ np.linalg.lstsq(functions, values, rcond=None)[0])


def measure_chart(
    chart: FloatArray, surface: FloatArray, geodesics: FloatArray, rows: IntArray
) -> tuple[float, float]:
    """Measure a chart of a surface by geodesics between some rows, and by its neighbours.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(300, 2))
    >>> lengths = np.linalg.norm(plane[:100, None] - plane[:100], axis=2)
    >>> right = measure_chart(plane @ [[1, 2], [3, 4]], plane, lengths, np.arange(100))
    >>> folded = measure_chart(np.abs(plane - 0.5), plane, lengths, np.arange(100))
    >>> bool(right[0] < 1e-9), bool(folded[0] > 0.1), bool(folded[1] > 5 * right[1])
    (True, True, True)
    """
    even = _whiten(chart)
    if even is None:
        return np.inf, np.inf
    return _miss(even[rows], geodesics), _scatter(even, surface)


def _whiten(chart: FloatArray) -> FloatArray | None:
    """Give all combinations of coordinates variance one, up to far rows; None where one has none.

    The measures know no affine maps, as the coordinates of local methods are up to one.
    """
    even, inside = chart, np.isfinite(chart).all(axis=1)
    for _ in range(ROUNDS):
        centered = chart - chart[inside].mean(axis=0)
        variances, axes = np.linalg.eigh(centered[inside].T @ centered[inside] / inside.sum())
        if not variances[0] > np.finfo(float).eps * variances[-1]:
            return None
        even = centered @ axes / np.sqrt(variances)
        far = np.square(even).sum(axis=1)
        inside = far <= np.quantile(far, 1 - FAR)
    return np.ascontiguousarray(even)


def _miss(chart: FloatArray, geodesics: FloatArray) -> float:
    """Median share of geodesics that distances in a chart miss after the best linear map.

    Squared distances are linear in the products of coordinate differences. Their weights make the
    errors those of distances.
    """
    first, second = np.triu_indices(len(geodesics), 1)
    lengths = geodesics[first, second]
    known = np.isfinite(lengths) & (lengths > 0)
    first, second, lengths = first[known], second[known], lengths[known]
    if not len(lengths):
        return np.inf
    apart = chart[first] - chart[second]
    one, other = np.triu_indices(chart.shape[1])
    products = apart[:, one] * apart[:, other]
    form = np.linalg.lstsq(products / lengths[:, None], lengths, rcond=None)[0]
    drawn = np.sqrt(np.maximum(products @ form, 0.0))
    return float(np.median(np.abs(drawn - lengths)) / np.median(lengths))


def _scatter(chart: FloatArray, surface: FloatArray) -> float:
    """Distance of rows of a surface from the mean of their neighbours in a chart."""
    n, d = chart.shape
    count = min(2 * d + 6, n - 1)
    around = PointSpace(chart).nearest(count).indices.reshape(n, -1)
    away = np.linalg.norm(surface - surface[around].mean(axis=1), axis=1)
    spread = np.sqrt(np.square(surface - surface.mean(axis=0)).sum(axis=1).mean())
    return float(np.quantile(away, MOST) / max(spread, np.finfo(float).tiny))

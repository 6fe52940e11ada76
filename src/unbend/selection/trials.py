"""Trials on a sample: what denoised rows show, and which method lays a surface out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising import Sample as NoiseSample
from unbend.denoising import denoise, measure_noise
from unbend.denoising.sampling import shuffle_distinct
from unbend.neighbors import PointSpace
from unbend.selection.inputs import Sample, make_method

# Rows that are fitted in a trial, and those whose geodesics are compared with each chart.
ROWS, COMPARED = 1000, 150
# Methods that are tried on surfaces, and one more on curves. On 77 surfaces of benchmarks/noise for
# calibration (700 rows, known dimension) one of the first four is within a tenth of the best of
# eleven methods on 91 %, the one with the smallest score on 79 %, and LTSA alone on 60 %.
SURFACE_CHARTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "PCA": ("PCA", {}),
    "LTSA": ("LTSA", {"denoise": "auto", "n_neighbors": "auto"}),
    "LTSA, wide": ("LTSA", {"denoise": "auto", "n_neighbors": 25}),
    "Isomap": ("Isomap", {"n_neighbors": "auto"}),
}
CURVE_CHARTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **SURFACE_CHARTS,
    "Isomap, denoised": ("Isomap", {"denoise": "auto", "n_neighbors": "auto"}),
}
# Factors of the scores. Charts by wide neighbourhoods are smooth, which the measures favour. Other
# methods have to be clearly better than LTSA on denoised rows, which checks how even its chart is
# and was as good as the best on 11 of 14 surfaces for calibration; the first factor makes that 13,
# and the second, which changes none of them, was set after a look at 53 others.
FACTORS = {"LTSA": 1.0, "LTSA, wide": 1.35}
OTHERS = 2.0
# Patches by which the stretch of a chart is measured: how many there are, their rows for each
# coefficient of a plane at least, and the part of the rows that they hold at most.
PATCHES, EACH_COEFFICIENT, PART = 120, 8, 4
# Squared stretch relative to the mean below which a chart counts as collapsed.
COLLAPSED = 1e-6
# Share of the rows, those nearest to the surface, by which charts are compared; and of these the
# share whose neighbours in the chart are no farther apart than is stated.
NEAR, MOST = 0.9, 0.9
# Share of rows farthest from the middle of a chart that its scale is measured without, and the
# rounds in which they are found.
FAR, ROUNDS = 0.05, 3


@dataclass(frozen=True)
class ChartMisfit:
    """How badly a chart lays a surface out.

    Attributes
    ----------
    geodesics : float
        Median difference between geodesics of the surface and distances in the chart, after the
        best affine map, over the median geodesic.
    neighbors : float
        Distance on the surface between a row and the mean of its neighbours in the chart, over the
        spread of the surface; nine rows of ten have less.
    stretch : float
        Root mean square logarithm of the squared factors by which the chart stretches patches of
        the surface, after the affine map that makes their mean one.
    factor : float
        Factor of the score, by the method.
    """

    geodesics: float
    neighbors: float
    stretch: float
    factor: float = 1.0

    @property
    def score(self) -> float:
        """The product, by which charts are compared; smaller is better."""
        return self.geodesics * self.neighbors * self.stretch * self.factor


def chart_parameters(name: str) -> tuple[str, Mapping[str, Any]]:
    """Return the method of a chart that was tried, and its parameters."""
    return CURVE_CHARTS[name]


def denoised_sample(sample: Sample, d: int) -> Sample | None:
    """Project a sample onto the surface that patches show; None where they show none."""
    try:
        return Sample(denoise(sample.values, d).points, sample.metric)
    except ValueError:
        return None


def try_charts(sample: Sample, d: int) -> Mapping[str, ChartMisfit]:
    """Misfit of the chart by each method, where a surface can be estimated at all."""
    values = sample.values[shuffle_distinct(sample.values)[:ROWS]]
    found = measure_noise(NoiseSample.of(PointSpace(values), d), d)
    if not len(found.sizes):
        return {}
    # Where none shows the surface, the patches that come nearest to it.
    patch = found.patch_size or int(found.sizes[found.ratio.argmin()])
    projected = denoise(values, d, patch_size=patch)
    near = projected.displacement <= np.quantile(projected.displacement, NEAR)
    surface = np.ascontiguousarray(projected.points[near])
    geodesics = _geodesics(surface, d)
    size = min(max(patch, EACH_COEFFICIENT * (d + 1)), len(surface) // PART)
    misfits = {}
    for name, (method, parameters) in (SURFACE_CHARTS if d > 1 else CURVE_CHARTS).items():
        try:
            model = make_method(method, n_components=d, **parameters).fit(values)
        except ValueError:
            continue
        chart = np.asarray(model.embedding_, dtype=float)[near]
        misfit = measure_chart(chart, surface, geodesics, size)
        misfits[name] = replace(misfit, factor=FACTORS.get(name, OTHERS))
    return misfits


def _geodesics(surface: FloatArray, d: int) -> FloatArray:
    """Geodesics between the first rows, by a graph without edges that jump between sheets."""
    graph = make_method("Isomap", n_components=d, n_neighbors="auto", short_circuits="remove")
    some = slice(min(COMPARED, len(surface)))
    return np.asarray(graph.fit(surface).geodesics_[some, some])


def measure_chart(
    chart: FloatArray, surface: FloatArray, geodesics: FloatArray, size: int
) -> ChartMisfit:
    """Measure a chart of a surface by geodesics of its first rows and patches of so many rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(300, 2))
    >>> lengths = np.linalg.norm(plane[:100, None] - plane[:100], axis=2)
    >>> right = measure_chart(plane @ [[1, 2], [3, 4]], plane, lengths, 40)
    >>> folded = measure_chart(np.abs(plane - 0.5), plane, lengths, 40)
    >>> bool(right.geodesics < 1e-9), bool(right.stretch < 1e-9), bool(folded.score > 0.01)
    (True, True, True)
    """
    even = _whiten(chart)
    if even is None:
        return ChartMisfit(np.inf, np.inf, np.inf)
    return ChartMisfit(
        _miss(even, geodesics), _scatter(even, surface), _stretch(even, surface, size)
    )


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


def _stretch(chart: FloatArray, surface: FloatArray, size: int) -> float:
    """How much the stretch of tangents by a chart varies between patches and directions."""
    around, _ = PointSpace(surface).nearest_of(surface[:PATCHES], size)
    patches = surface[around] - surface[around].mean(axis=1, keepdims=True)
    axes = np.linalg.svd(patches, full_matrices=False)[2][:, : chart.shape[1]]
    along = patches @ axes.transpose(0, 2, 1)
    values = chart[around] - chart[around].mean(axis=1, keepdims=True)
    slopes = np.linalg.pinv(along) @ values
    metrics = slopes.transpose(0, 2, 1) @ slopes
    # Of curves the median: a patch that holds two sheets counts no more than others.
    middle = np.median(metrics, axis=0) if chart.shape[1] == 1 else metrics.mean(axis=0)
    mean, turn = np.linalg.eigh(middle)
    even = turn / np.sqrt(np.maximum(mean, np.finfo(float).eps * mean[-1]))
    squares = np.linalg.eigvalsh(even.T @ metrics @ even)
    return float(np.sqrt(np.square(np.log(np.maximum(squares, COLLAPSED))).mean()))

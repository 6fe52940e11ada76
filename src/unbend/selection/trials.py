"""Trials on a sample: what denoised rows show, and which of two methods lays a surface out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import linalg

from unbend.arrays import FloatArray
from unbend.denoising import Sample as NoiseSample
from unbend.denoising import denoise, measure_noise
from unbend.denoising.sampling import shuffle_distinct
from unbend.neighbors import PointSpace
from unbend.selection.inputs import Sample, make_method

# Rows that are fitted in a trial, and those whose geodesics are compared.
ROWS, COMPARED = 1000, 150
# Methods that are tried on a curve. On 23 curves, of the calibration half and of the families of
# benchmarks/noise/more_surfaces.py with other seeds, LTSA alone was within a tenth of the best of
# ten methods on 52 %, Isomap alone on 26 %, and the one with the smaller root mean square misfit of
# geodesics on 70 %; absolute values, as here, were looked at on the first seven: five.
OF_CURVES = ("LTSA", "Isomap")
# Patches by which charts are compared: how many there are, their rows for each coefficient of a
# plane at least, and the part of the rows that they hold at most. Otherwise they are half of those
# that denoise, which do not reach another sheet: there the right chart has jumps.
PATCHES, EACH_COEFFICIENT, PART = 60, 4, 8


def denoised_sample(sample: Sample, d: int) -> Sample | None:
    """Project a sample onto the surface that patches show; None where they show none."""
    try:
        return Sample(denoise(sample.values, d).points, sample.metric)
    except ValueError:
        return None


def try_charts(sample: Sample, d: int) -> Mapping[str, float]:
    """Misfit of the charts by PCA and by LTSA on denoised rows, where both can be fitted."""
    rows = shuffle_distinct(sample.values)[:ROWS]
    values = sample.values[rows]
    found = measure_noise(NoiseSample.of(PointSpace(values), d), d)
    least = EACH_COEFFICIENT * (d + 1)
    if not len(found.sizes) or least >= len(rows):
        return {}
    # Where none shows the surface, the patches that come nearest to it.
    patch = found.patch_size or int(found.sizes[found.ratio.argmin()])
    surface = denoise(values, d, patch_size=patch).points
    most = max(len(rows) // PART, least)
    size = most if found.patch_size is None else min(max(found.patch_size // 2, least), most)
    open_ = {"n_neighbors": "auto", "denoise": "auto"}
    misfits = {}
    for name, parameters in (("PCA", {}), ("LTSA", open_)):
        try:
            model = make_method(name, n_components=d, **parameters).fit(values)
        except ValueError:
            return {}
        misfits[name] = chart_misfit(np.asarray(model.embedding_, dtype=float), surface, d, size)
    return misfits


def chart_misfit(chart: FloatArray, surface: FloatArray, d: int, size: int) -> float:
    """Share of a chart's variance within patches of a surface that tangents do not explain.

    Of all combinations of the coordinates that with the largest share counts: where a coordinate is
    a function of the others, or a fold of the surface, there is one that patches do not explain.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(300, 2))
    >>> bool(chart_misfit(plane @ [[1, 2], [3, 4]], plane, 2, 40) < 1e-9)
    True
    >>> bool(chart_misfit(np.abs(plane - 0.5), plane, 2, 40) > 0.03)
    True
    """
    around, _ = PointSpace(surface).nearest_of(surface[:PATCHES], size)
    patches = surface[around] - surface[around].mean(axis=1, keepdims=True)
    axes = np.linalg.svd(patches, full_matrices=False)[2][:, :d]
    along = patches @ axes.transpose(0, 2, 1)
    basis = np.linalg.qr(along)[0]
    values = chart[around] - chart[around].mean(axis=1, keepdims=True)
    rest = values - basis @ (basis.transpose(0, 2, 1) @ values)
    total = np.einsum("bsi,bsj->ij", values, values)
    scale = np.finfo(float).eps * max(float(np.trace(total)), np.finfo(float).tiny)
    left = np.einsum("bsi,bsj->ij", rest, rest)
    return float(linalg.eigvalsh(left, total + scale * np.eye(len(total)))[-1])


def try_on_curve(sample: Sample) -> Mapping[str, float]:
    """Misfit of the geodesics of denoised rows by each method that is tried, on some rows."""
    rows = shuffle_distinct(sample.values)[:ROWS]
    part = Sample(sample.values[rows], sample.metric)
    clean = denoised_sample(part, 1)
    if clean is None:
        return {}
    some = slice(COMPARED)
    geodesics = clean.fit("Isomap", n_components=1, n_neighbors="auto").geodesics_[some, some]
    misfits = {}
    for name in OF_CURVES:
        try:
            embedding = _curve_method(name).fit(part.values).embedding_
        except ValueError:
            continue
        misfits[name] = curve_misfit(np.asarray(embedding)[some, 0], np.asarray(geodesics))
    return misfits


def _curve_method(name: str) -> Any:
    return make_method(name, n_components=1, n_neighbors="auto", denoise="auto")


def curve_misfit(positions: FloatArray, geodesics: FloatArray) -> float:
    """Share of the geodesics that distances along a line miss, at the best scale.

    By absolute values: geodesics to outliers are those of no curve, and squares would follow them.

    Examples
    --------
    >>> positions = np.array([0.0, 1.0, 3.0])
    >>> lengths = np.abs(positions[:, None] - positions)
    >>> curve_misfit(positions, 2 * lengths)
    0.0
    >>> bool(curve_misfit(np.array([0.0, 3.0, 1.0]), lengths) > 0.3)
    True
    """
    pairs = np.triu_indices(len(positions), 1)
    truth = geodesics[pairs]
    apart = np.abs(positions[pairs[0]] - positions[pairs[1]])
    known = np.isfinite(truth) & (truth > 0)
    truth, apart = truth[known], apart[known]
    scale = (apart @ truth) / max(float(apart @ apart), np.finfo(float).tiny)
    return float(np.abs(scale * apart - truth).sum() / max(truth.sum(), np.finfo(float).tiny))

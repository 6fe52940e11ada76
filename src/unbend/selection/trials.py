"""Trials on a sample: what denoised rows show, and which of two methods lays out a curve."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising import denoise
from unbend.denoising.sampling import shuffle_distinct
from unbend.selection.inputs import Sample, make_method

# Rows that are fitted in a trial, and those whose geodesics are compared.
ROWS, COMPARED = 1000, 150
# Methods that are tried on a curve. On 23 curves, of the calibration half and of the families of
# benchmarks/noise/more_surfaces.py with other seeds, LTSA alone was within a tenth of the best of
# ten methods on 52 %, Isomap alone on 26 %, and the one with the smaller root mean square misfit of
# geodesics on 70 %; absolute values, as here, were looked at on the first seven: five.
OF_CURVES = ("LTSA", "Isomap")


def denoised_sample(sample: Sample, d: int) -> Sample | None:
    """Project a sample onto the surface that patches show; None where they show none."""
    try:
        return Sample(denoise(sample.values, d).points, sample.metric)
    except ValueError:
        return None


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

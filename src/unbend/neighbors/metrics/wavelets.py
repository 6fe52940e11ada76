"""Wavelet coefficients as features (book 3.1.1), by PyWavelets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.neighbors.metrics.signals import shaped

DEFAULTS: dict[str, Any] = {"wavelet": "db2", "level": 1, "keep": 1}


def coarse_bands(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix the wavelet, the number of levels, and how many of the level + 1 bands are kept."""
    shape = shaped(points, params)["shape"]
    wavelet, level, keep = (params.get(key, default) for key, default in DEFAULTS.items())
    if not isinstance(wavelet, str) or wavelet not in _pywt().wavelist(kind="discrete"):
        raise ValueError(f"wavelet={wavelet!r} is none of pywt.wavelist(kind='discrete')")
    filter_bank = _pywt().Wavelet(wavelet)
    # Meyer's filter, cut off, is orthogonal in name only.
    if not filter_bank.orthogonal or abs(np.sum(np.square(filter_bank.dec_lo)) - 1.0) > 1e-9:
        raise ValueError(
            f"wavelet={wavelet!r} is not orthogonal, so that its coefficients do not keep "
            "distances: use one of the families haar, db, sym, coif"
        )
    least = min((size for size in shape if size > 1), default=1)
    if not isinstance(level, int | np.integer) or not 1 <= level <= np.log2(least):
        raise ValueError(
            f"level={level!r} must be an integer from 1 to {int(np.log2(least))}, as often as "
            f"{least} numbers can be halved"
        )
    if not isinstance(keep, int | np.integer) or not 1 <= keep <= level + 1:
        raise ValueError(
            f"keep={keep!r} must be an integer from 1, the coarsest band alone, to {level + 1}"
        )
    return {"shape": shape, "wavelet": wavelet, "level": int(level), "keep": int(keep)}


def wavelet_bands(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Coefficients of the coarsest bands of an orthogonal wavelet with periodised borders.

    Zeros are added at the end of axes that cannot be halved so often: they change no distance.
    """
    shape, level = constants["shape"], constants["level"]
    axes = [axis for axis, size in enumerate(shape, 1) if size > 1]
    padding = [(0, -size % 2**level if size > 1 else 0) for size in shape]
    coarse = np.pad(rows.reshape(-1, *shape), [(0, 0), *padding])
    details: list[FloatArray] = []
    for depth in range(level):
        bands = _pywt().dwtn(coarse, constants["wavelet"], mode="periodization", axes=axes)
        coarse = bands.pop("a" * len(axes))
        # Of the level + 1 bands, coarsest first, that of this depth is number level + 1 - depth.
        if constants["keep"] > level - depth:
            details += [bands[key] for key in sorted(bands)]
    return np.concatenate([band.reshape(len(rows), -1) for band in (coarse, *details)], axis=1)


def _pywt() -> Any:
    try:
        import pywt
    except ImportError as error:
        raise ImportError(
            "metric='wavelet' needs PyWavelets: pip install 'unbend[signal]'"
        ) from error
    return pywt

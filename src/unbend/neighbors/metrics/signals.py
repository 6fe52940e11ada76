"""Features of signals and pictures: frequencies, phases, differences (book 3.1.1).

Rows are signals, or the pixels of pictures or volumes of a given `shape`, the last axis fastest.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import fft

from unbend.arrays import FloatArray, IntArray

# A Fourier coefficient below this share of the largest is zero but for rounding: no phase.
NO_PHASE = 64 * np.finfo(np.float64).eps


def shaped(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix the shape of a row."""
    columns = points.shape[1]
    given = params.get("shape")
    if given is None:
        return {"shape": (columns,)}
    if not isinstance(given, tuple | list) or not given or not all(map(_positive, given)):
        raise ValueError(f"shape={given!r} must be a tuple of sizes, such as (height, width)")
    shape = tuple(int(size) for size in given)
    if np.prod(shape) != columns:
        raise ValueError(
            f"shape={shape} has {np.prod(shape)} numbers and a row has {columns}: give the shape "
            "of the pictures that the rows of X were made of"
        )
    return {"shape": shape}


def differentiable(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix the shape of a row that has differences."""
    constants = shaped(points, params)
    if points.shape[1] < 2:
        raise ValueError("metric='derivative' needs rows of two numbers or more")
    return constants


def low_frequencies(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix how many frequencies are kept along each axis: half of them unless given.

    An axis of m numbers has the frequencies 0, 1, …, ⌊m/2⌋.
    """
    shape = shaped(points, params)["shape"]
    there = tuple(size // 2 + 1 for size in shape)
    keep = params.get("keep")
    if keep is None:
        # Of very short rows no fewer than two, where there are two: one is only the mean.
        keep = tuple(min(count, max(2, (count + 1) // 2)) for count in there)
    elif _positive(keep):
        keep = tuple(min(int(keep), count) for count in there) if keep <= max(there) else (keep,)
    whole = isinstance(keep, tuple | list) and all(map(_positive, keep))
    if not whole or len(keep) != len(there) or any(k > c for k, c in zip(keep, there, strict=True)):
        counts = " x ".join(map(str, there))
        raise ValueError(
            f"keep={params['keep']!r} is not allowed: it must be a number of frequencies, or one "
            f"for each side of shape, from 1 to {counts}"
        )
    return {"shape": shape, "keep": tuple(int(k) for k in keep)}


def several_frequencies(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix the frequencies kept, of which there must be two along some axis, to differ by one."""
    constants = low_frequencies(points, params)
    if max(constants["keep"]) < 2:
        raise ValueError(
            "metric='fourier_phase_difference' compares neighbouring frequencies and only one is "
            "kept: use a larger keep, on rows of two numbers or more"
        )
    return constants


def fourier(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Low frequencies as real numbers, Re F(k) − Im F(k) for k and −k alike (Hartley, 1942).

    Over k and −k their squares add up to |F(k)|² + |F(−k)|²; with nothing cut off the map is
    orthogonal.
    """
    shape, keep = constants["shape"], constants["keep"]
    axes = tuple(range(1, len(shape) + 1))
    spectrum = fft.fftn(rows.reshape(-1, *shape), axes=axes, norm="ortho")
    for axis, size, count in zip(axes, shape, keep, strict=True):
        spectrum = np.take(spectrum, _both_ends(size, count), axis=axis)
    return np.asarray((spectrum.real - spectrum.imag).reshape(len(rows), -1))


def phases(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Arguments of the low frequencies, in (−π, π]; zero where there is no such frequency."""
    return _phases(rows, constants, "fourier_phase").reshape(len(rows), -1)


def phase_differences(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Differences of the phases of neighbouring frequencies along each axis, modulo 2π."""
    angles = _phases(rows, constants, "fourier_phase_difference")
    differences = _along_axes(angles)
    return np.asarray(np.clip(np.remainder(differences + np.pi, 2 * np.pi) - np.pi, -np.pi, np.pi))


def derivatives(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Differences of neighbouring numbers along each axis, or what has the same norm.

    Pictures have nearly twice as many differences as pixels. A cosine transform (type II) makes the
    sum of their squares diagonal, Σ_k Σ_a 4 sin²(πk_a / 2m_a) |C(k)|², with one feature a pixel.
    """
    shape = constants["shape"]
    if len(shape) == 1:
        return np.diff(rows, axis=1)
    axes = tuple(range(1, len(shape) + 1))
    # From the first pixel: a constant added to a picture of whole numbers changes no bit.
    spectrum = fft.dctn((rows - rows[:, :1]).reshape(-1, *shape), axes=axes, norm="ortho")
    steps = [2.0 * np.sin(np.pi * np.arange(size) / (2 * size)) for size in shape]
    squares = sum(np.square(step) for step in np.ix_(*steps))
    return np.asarray((spectrum * np.sqrt(squares)).reshape(len(rows), -1)[:, 1:])


def _along_axes(values: FloatArray) -> FloatArray:
    count = len(values)
    parts = [np.diff(values, axis=axis).reshape(count, -1) for axis in range(1, values.ndim)]
    return np.concatenate(parts, axis=1)


def _phases(rows: FloatArray, constants: Mapping[str, Any], name: str) -> FloatArray:
    shape, keep = constants["shape"], constants["keep"]
    axes = tuple(range(1, len(shape) + 1))
    # A real row has F(−k) = conj F(k): half of the last axis tells all.
    spectrum = fft.rfftn(rows.reshape(-1, *shape), axes=axes, norm="ortho")
    largest = np.abs(spectrum).max(axis=axes, keepdims=True)
    if not np.all(largest > 0):
        raise ValueError(
            f"metric={name!r} compares phases and a row has none, since it is zero: remove such "
            "rows"
        )
    for axis, size, count in zip(axes[:-1], shape, keep, strict=False):
        # Ascending from −k to k, so that neighbours differ by one.
        spectrum = np.take(spectrum, np.sort(_signed(size, count)) % size, axis=axis)
    spectrum = spectrum[..., : keep[-1]]
    return np.where(np.abs(spectrum) > NO_PHASE * largest, np.angle(spectrum), 0.0)


def _both_ends(size: int, count: int) -> IntArray:
    """Places of the frequencies k with |k| < count in a transform of some size."""
    places = np.arange(size)
    return places[np.minimum(places, size - places) < count]


def _signed(size: int, count: int) -> IntArray:
    places = _both_ends(size, count)
    return np.where(places > size // 2, places - size, places)


def _positive(value: object) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(whole and value > 0)  # type: ignore[operator]


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

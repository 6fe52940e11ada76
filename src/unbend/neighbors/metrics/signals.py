"""Features of signals and images: Fourier, phase, derivative and wavelet features (book 3.1.1).

Rows are signals, or flattened images or volumes of a given `shape`, in C order.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import fft

from unbend.arrays import FloatArray, IntArray

# Fourier coefficients below this fraction of the largest are rounding and have no phase.
NO_PHASE = 64 * np.finfo(np.float64).eps


def fix_shape(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Shape of a row."""
    columns = points.shape[1]
    given = params.get("shape")
    if given is None:
        return {"shape": (columns,)}
    if not isinstance(given, tuple | list) or not given or not all(map(_positive, given)):
        raise ValueError(f"shape={given!r} must be a tuple of sizes, such as (height, width)")
    shape = tuple(int(size) for size in given)
    if np.prod(shape) != columns:
        raise ValueError(
            f"shape={shape} has {np.prod(shape)} entries and a row has {columns}: pass the shape "
            "of the images in the rows of X"
        )
    return {"shape": shape}


def fix_derivative(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Shape of a row with at least two entries."""
    constants = fix_shape(points, params)
    if points.shape[1] < 2:
        raise ValueError("metric='derivative' needs rows of at least two numbers")
    return constants


def fix_frequencies(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Shape, and number of frequencies kept along each axis: half of them by default.

    An axis of m numbers has the frequencies 0, 1, …, ⌊m/2⌋.
    """
    shape = fix_shape(points, params)["shape"]
    there = tuple(size // 2 + 1 for size in shape)
    keep = params.get("keep")
    if keep is None:
        # At least two, if there are two: the first is the mean.
        keep = tuple(min(count, max(2, (count + 1) // 2)) for count in there)
    elif _positive(keep):
        keep = tuple(min(int(keep), count) for count in there) if keep <= max(there) else (keep,)
    whole = isinstance(keep, tuple | list) and all(map(_positive, keep))
    if not whole or len(keep) != len(there) or any(k > c for k, c in zip(keep, there, strict=True)):
        counts = " x ".join(map(str, there))
        raise ValueError(
            f"keep={params['keep']!r} is not allowed: it must be an integer, or one for each side "
            f"of shape, from 1 to {counts}"
        )
    return {"shape": shape, "keep": tuple(int(k) for k in keep)}


def fix_frequency_pairs(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Constants of `fix_frequencies`, with at least two frequencies along some axis."""
    constants = fix_frequencies(points, params)
    if max(constants["keep"]) < 2:
        raise ValueError(
            "metric='fourier_phase_difference' compares consecutive frequencies and only one is "
            "kept: increase keep, with rows of at least two numbers"
        )
    return constants


def fourier(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Low frequencies of the Hartley transform, Re F(k) − Im F(k) (Hartley, 1942).

    Over k and −k the squares sum to |F(k)|² + |F(−k)|²; with all frequencies the map is orthogonal.
    """
    shape, keep = constants["shape"], constants["keep"]
    axes = tuple(range(1, len(shape) + 1))
    spectrum = fft.fftn(rows.reshape(-1, *shape), axes=axes, norm="ortho")
    for axis, size, count in zip(axes, shape, keep, strict=True):
        spectrum = np.take(spectrum, _both_ends(size, count), axis=axis)
    return np.asarray((spectrum.real - spectrum.imag).reshape(len(rows), -1))


def phases(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Phases of the low frequencies, in (−π, π]; zero where the amplitude vanishes."""
    return _phases(rows, constants, "fourier_phase").reshape(len(rows), -1)


def phase_differences(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Phase differences of consecutive frequencies along each axis, modulo 2π."""
    angles = _phases(rows, constants, "fourier_phase_difference")
    differences = _along_axes(angles)
    return np.asarray(np.clip(np.remainder(differences + np.pi, 2 * np.pi) - np.pi, -np.pi, np.pi))


def derivatives(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Finite differences along each axis, or features of the same norm.

    Images have nearly twice as many differences as pixels. A cosine transform (type II) makes the
    sum of their squares diagonal, Σ_k Σ_a 4 sin²(πk_a / 2m_a) |C(k)|², one feature per pixel.
    """
    shape = constants["shape"]
    if len(shape) == 1:
        return np.diff(rows, axis=1)
    axes = tuple(range(1, len(shape) + 1))
    # Relative to the first pixel: a constant added to an integer image changes no bit.
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
    # A real row has F(−k) = conj F(k): half of the last axis suffices.
    spectrum = fft.rfftn(rows.reshape(-1, *shape), axes=axes, norm="ortho")
    largest = np.abs(spectrum).max(axis=axes, keepdims=True)
    if not np.all(largest > 0):
        raise ValueError(f"metric={name!r} is undefined for a row that is zero: remove such rows")
    for axis, size, count in zip(axes[:-1], shape, keep, strict=False):
        # Ascending from −k to k.
        spectrum = np.take(spectrum, np.sort(_signed_frequencies(size, count)) % size, axis=axis)
    spectrum = spectrum[..., : keep[-1]]
    return np.where(np.abs(spectrum) > NO_PHASE * largest, np.angle(spectrum), 0.0)


def _both_ends(size: int, count: int) -> IntArray:
    """Positions of the frequencies |k| < count in a transform of some size."""
    places = np.arange(size)
    return places[np.minimum(places, size - places) < count]


def _signed_frequencies(size: int, count: int) -> IntArray:
    places = _both_ends(size, count)
    return np.where(places > size // 2, places - size, places)


def _positive(value: object) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(whole and value > 0)  # type: ignore[operator]


DEFAULTS: dict[str, Any] = {"wavelet": "db2", "level": 1, "keep": 1}


def fix_wavelet(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Shape, wavelet, number of levels, and number of the level + 1 bands that are kept."""
    shape = fix_shape(points, params)["shape"]
    wavelet, level, keep = (params.get(key, default) for key, default in DEFAULTS.items())
    if not isinstance(wavelet, str) or wavelet not in _pywt().wavelist(kind="discrete"):
        raise ValueError(
            f"wavelet={wavelet!r} is not allowed: it must be in pywt.wavelist(kind='discrete')"
        )
    filter_bank = _pywt().Wavelet(wavelet)
    # The truncated Meyer filter is orthogonal in name only.
    if not filter_bank.orthogonal or abs(np.sum(np.square(filter_bank.dec_lo)) - 1.0) > 1e-9:
        raise ValueError(
            f"wavelet={wavelet!r} is not orthogonal and does not preserve distances: use one of "
            "the families haar, db, sym, coif"
        )
    least = min((size for size in shape if size > 1), default=1)
    if not isinstance(level, int | np.integer) or not 1 <= level <= np.log2(least):
        raise ValueError(
            f"level={level!r} is not allowed: it must be an integer from 1 to "
            f"{int(np.log2(least))} for {least} entries"
        )
    if not isinstance(keep, int | np.integer) or not 1 <= keep <= level + 1:
        raise ValueError(
            f"keep={keep!r} is not allowed: it must be an integer from 1, the coarsest band, to "
            f"{level + 1}"
        )
    return {"shape": shape, "wavelet": wavelet, "level": int(level), "keep": int(keep)}


def wavelet_bands(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Coefficients of the coarsest bands of an orthogonal wavelet with periodised borders.

    Axes are zero-padded to a multiple of 2^level, which changes no distance.
    """
    shape, level = constants["shape"], constants["level"]
    axes = [axis for axis, size in enumerate(shape, 1) if size > 1]
    padding = [(0, -size % 2**level if size > 1 else 0) for size in shape]
    coarse = np.pad(rows.reshape(-1, *shape), [(0, 0), *padding])
    details: list[FloatArray] = []
    for depth in range(level):
        bands = _pywt().dwtn(coarse, constants["wavelet"], mode="periodization", axes=axes)
        coarse = bands.pop("a" * len(axes))
        # Of the level + 1 bands, coarsest first, this is number level + 1 - depth.
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

"""The distances of the book's section 3.1.1 between two rows, as their definitions read.

Sums over numbers: no FFT, no feature map, one pair at a time.
"""

import cmath
import itertools
import math

import numpy as np
from numpy.typing import ArrayLike


def minkowski(x: ArrayLike, a: ArrayLike, p: float = 2, w: ArrayLike | None = None) -> float:
    """(Σ w |x_i − a_i|^p)^(1/p); the largest difference for an infinite p."""
    sizes = [abs(s - t) for s, t in zip(x, a, strict=True)]
    if p == math.inf:
        return max(sizes)
    weights = [1.0] * len(sizes) if w is None else w
    return sum(c * s**p for c, s in zip(weights, sizes, strict=True)) ** (1 / p)


def manhattan(x: ArrayLike, a: ArrayLike) -> float:
    return minkowski(x, a, 1)


def template(x: ArrayLike, a: ArrayLike) -> float:
    return minkowski(x, a, math.inf)


def angular(x: ArrayLike, a: ArrayLike, measure: str = "arc") -> float:
    """Return the chord ‖x/|x| − a/|a|‖ of the book, or the angle it belongs to: 2 arcsin(½ ‖·‖).

    The angle by Kahan's formula, which keeps its digits near 0 and π.
    """
    u, v = _unit(x), _unit(a)
    chord = minkowski(u, v)
    return chord if measure == "chord" else 2 * math.atan2(chord, minkowski(u, [-c for c in v]))


def cosine(x: ArrayLike, a: ArrayLike) -> float:
    return 1.0 - math.fsum(s * t for s, t in zip(_unit(x), _unit(a), strict=True))


def correlation(x: ArrayLike, a: ArrayLike) -> float:
    return cosine(np.asarray(x) - np.mean(x), np.asarray(a) - np.mean(a))


def weighted(x: ArrayLike, a: ArrayLike, M: ArrayLike) -> float:
    """√((x − a)' M⁻¹ (x − a)), equation (3.1) with the root it lacks."""
    difference = np.asarray(x) - np.asarray(a)
    return math.sqrt(difference @ np.linalg.solve(M, difference))


def weighted_basis(x: ArrayLike, a: ArrayLike, B: ArrayLike, weights: ArrayLike) -> float:
    """√(Σ λ_i (B⁻¹(x − a))_i²), equation (3.2) with its root."""
    inside = np.linalg.solve(B, np.asarray(x) - np.asarray(a))
    return math.sqrt(sum(c * s * s for c, s in zip(weights, inside, strict=True)))


def derivative(x: ArrayLike, a: ArrayLike, shape: tuple[int, ...] | None = None) -> float:
    """Root of the sum of squared differences between neighbours of x − a, along every axis."""
    difference = _grid(np.asarray(x) - np.asarray(a), shape)
    total = 0.0
    for place in itertools.product(*map(range, difference.shape)):
        for axis in range(difference.ndim):
            after = tuple(p + (i == axis) for i, p in enumerate(place))
            if after[axis] < difference.shape[axis]:
                total += (difference[after] - difference[place]) ** 2
    return math.sqrt(total)


def coefficient(row: np.ndarray, frequency: tuple[int, ...]) -> complex:
    """Return F(k) = Σ x(p) exp(−2πi Σ k_a p_a / m_a) / √D."""
    turns = sum(
        k * p / m for k, p, m in zip(frequency, np.indices(row.shape), row.shape, strict=True)
    )
    return complex(np.sum(row * np.exp(-2j * np.pi * turns))) / math.sqrt(row.size)


def fourier(x: ArrayLike, a: ArrayLike, keep: int, shape: tuple[int, ...] | None = None) -> float:
    """√(Σ |F(x − a)(k)|²) over the frequencies −keep < k_a < keep, each once."""
    difference = _grid(np.asarray(x) - np.asarray(a), shape)
    axes = [_frequencies(size, keep) for size in difference.shape]
    return math.sqrt(sum(abs(coefficient(difference, k)) ** 2 for k in itertools.product(*axes)))


def fourier_phase(
    x: ArrayLike, a: ArrayLike, keep: int, shape: tuple[int, ...] | None = None
) -> float:
    """√(Σ (arg F(x)(k) − arg F(a)(k))²), differences modulo 2π, last frequency not negative."""
    first, second = _phases(_grid(x, shape), keep), _phases(_grid(a, shape), keep)
    return math.sqrt(sum(_turn(first[k] - second[k]) ** 2 for k in first))


def fourier_phase_difference(
    x: ArrayLike, a: ArrayLike, keep: int, shape: tuple[int, ...] | None = None
) -> float:
    """Do the same with differences of arg F(x) − arg F(a) between neighbouring frequencies."""
    first, second = _phases(_grid(x, shape), keep), _phases(_grid(a, shape), keep)
    total = 0.0
    for k in first:
        for axis in range(len(k)):
            after = tuple(f + (i == axis) for i, f in enumerate(k))
            if after in first:
                there, here = first[after] - second[after], first[k] - second[k]
                total += _turn(there - here) ** 2
    return math.sqrt(total)


def wavelet(x: ArrayLike, a: ArrayLike, low: list[float], level: int = 1) -> float:
    """‖L(x) − L(a)‖ with L the low-pass filter at every second place of the row, periodised."""
    smooth = list(np.asarray(x) - np.asarray(a))
    for _ in range(level):
        size, middle = len(smooth), len(low) // 2
        smooth = [
            sum(c * smooth[(2 * m + middle - j) % size] for j, c in enumerate(low))
            for m in range(size // 2)
        ]
    return math.sqrt(sum(s * s for s in smooth))


def _unit(x: ArrayLike) -> list[float]:
    length = math.hypot(*x)
    return [float(c) / length for c in x]


def _grid(x: ArrayLike, shape: tuple[int, ...] | None) -> np.ndarray:
    row = np.asarray(x, dtype=float)
    return row if shape is None else row.reshape(shape)


def _frequencies(size: int, keep: int) -> list[int]:
    return [k for k in range(-((size - 1) // 2), size // 2 + 1) if abs(k) < keep]


def _phases(row: np.ndarray, keep: int) -> dict[tuple[int, ...], float]:
    axes = [_frequencies(size, keep) for size in row.shape]
    axes[-1] = [k for k in axes[-1] if k >= 0]
    return {k: cmath.phase(coefficient(row, k)) for k in itertools.product(*axes)}


def _turn(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)

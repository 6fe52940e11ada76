"""Surfaces whose sheets lie close to each other: for calibration, where rolls are kept to judge."""

from collections.abc import Callable

import numpy as np

from benchmarks.noise.more_surfaces import by_arc_length, product_of_curves, sides_of
from benchmarks.noise.surfaces import Array, Surface


def accordion(rng: np.random.Generator, d: int) -> Surface:
    """Make the graph of a sine of one to three periods, times intervals."""
    height, end = rng.uniform(1.0, 3.0), rng.uniform(1.0, 3.0) * 2 * np.pi

    def curve(t: Array) -> Array:
        return np.column_stack((t, height * np.sin(t)))

    spline, length = by_arc_length(curve, end)
    return product_of_curves("accordion", [(spline, length)], sides_of(rng, length, d - 1))


def log_spiral(rng: np.random.Generator, d: int) -> Surface:
    """Make a spiral whose sheets are the farther apart the farther out, times intervals."""
    growth, end = rng.uniform(0.08, 0.2), rng.uniform(1.5, 4.0) * np.pi

    def curve(t: Array) -> Array:
        return np.exp(growth * t)[:, None] * np.column_stack((np.cos(t), np.sin(t)))

    spline, length = by_arc_length(curve, end)
    return product_of_curves("log_spiral", [(spline, length)], sides_of(rng, length, d - 1))


FOLDED_FAMILIES: dict[str, Callable[[np.random.Generator, int], Surface]] = {
    "accordion": accordion,
    "log_spiral": log_spiral,
}

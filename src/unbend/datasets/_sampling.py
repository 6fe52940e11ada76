"""Sampling of surfaces and of sets of pictures: arguments, random generators, noise."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.datasets.containers import Pictures, Surface
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_choice, check_integer, check_real, is_real

Sampling: TypeAlias = Literal["area", "parameter"]

SAMPLINGS = ("area", "parameter")

# Docstrings of the parameters that all surfaces, and all sets of pictures, share.
_RANDOM_STATE = (
    "None, int, numpy.random.Generator or numpy.random.RandomState\n    Source of randomness."
)
_NOISE = "float\n    Standard deviation of the Gaussian noise added to each "
SURFACE_PARAMETERS = {
    "n": "int\n    Number of points.",
    "noise": f"{_NOISE}coordinate of the points.",
    "random_state": _RANDOM_STATE,
}
PICTURE_PARAMETERS = {
    "n": "int or tuple of int\n    Number of pictures; or, for a grid, its numbers of values of "
    "each varying\n    parameter, as (51, 25).",
    "size": "int or (int, int)\n    Height and width of each picture, in pixels; one number for "
    "both.",
    "color": "bool\n    Whether pictures have three channels, red, green and blue.",
    "noise": f"{_NOISE}pixel.",
    "random_state": _RANDOM_STATE,
}


@dataclass(frozen=True)
class Sampler:
    """Arguments common to all data sets, checked."""

    n: int
    noise: float
    by_area: bool
    rng: np.random.Generator
    # Values of each varying parameter of a grid, where they were given.
    counts: tuple[int, ...] | None = None

    def surface(
        self,
        points: FloatArray,
        chart: FloatArray,
        *,
        name: str,
        isometric: bool,
        labels: IntArray | None = None,
    ) -> Surface:
        """Add the noise and return the surface.

        The noise is sampled last: a seed gives the same chart at any noise level.
        """
        if self.noise > 0:
            points = points + self.rng.normal(scale=self.noise, size=points.shape)
        return Surface(points, chart, name, isometric, labels)

    def pictures(
        self, images: FloatArray, chart: FloatArray, name: str, labels: tuple[str, ...]
    ) -> Pictures:
        """Add the noise and return the pictures; see `surface`."""
        if self.noise > 0:
            images = images + self.rng.normal(scale=self.noise, size=images.shape)
        return Pictures(images, chart, name, labels)


def make_sampler(
    n: object,
    noise: object,
    sampling: object,
    random_state: object,
    samplings: tuple[str, ...] = SAMPLINGS,
) -> Sampler:
    """Check the arguments common to all data sets."""
    check_choice("sampling", sampling, samplings)
    counts = None
    if isinstance(n, tuple | list) and samplings is PICTURE_SAMPLINGS:
        counts = tuple(check_integer("each number of n", count) for count in n)
        if sampling == "random":
            raise ValueError(
                f"n={n!r} is a grid and sampling is 'random': pass sampling='grid' or 'shuffled', "
                "or one number"
            )
    return Sampler(
        counts=counts,
        n=prod(counts) if counts else check_integer("n", n),
        noise=check_real("noise", noise, 0),
        by_area=sampling == "area",
        rng=_generator(random_state),
    )


def _generator(random_state: Any) -> np.random.Generator:
    """Make a generator; unlike for fits, None is not a fixed seed."""
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        # Drawing the seed advances the caller's state, so that a second surface differs.
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return generator(random_state, stream=None)


def rejection_sample(n: int, propose: Callable[[int], FloatArray]) -> FloatArray:
    """Sample n rows by rejection; `propose(m)` returns at most m accepted rows."""
    parts: list[FloatArray] = []
    missing = n
    while missing > 0:
        parts.append(propose(missing))
        missing -= len(parts[-1])
    return np.concatenate(parts)


PictureSampling: TypeAlias = Literal["random", "grid", "shuffled"]
Range: TypeAlias = tuple[float, float]

PICTURE_SAMPLINGS = ("random", "grid", "shuffled")


def sample_ranges(sampler: Sampler, sampling: str, ranges: list[Range]) -> FloatArray:
    """Sample rows of parameters, one column per range, ends included."""
    low, high = np.transpose(ranges)
    if sampling == "random":
        return sampler.rng.uniform(low, high, (sampler.n, len(ranges)))
    varying = low < high
    steps = iter(_steps(sampler, int(varying.sum()), sampling))
    axes = [
        np.linspace(*ends, next(steps) if varies else 1)
        for ends, varies in zip(ranges, varying, strict=True)
    ]
    rows = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(sampler.n, -1)
    return _order(sampler, sampling, rows)


def sample_angles(sampler: Sampler, sampling: str) -> FloatArray:
    """Sample one column of angles in [0, 360) degrees."""
    if sampling == "random":
        return sampler.rng.uniform(0, 360, (sampler.n, 1))
    return _order(sampler, sampling, 360 * np.arange(sampler.n)[:, None] / sampler.n)


def check_range(name: str, value: object) -> Range:
    """Return `value` as two finite floats in ascending order."""
    wrong = f"{name} must be a pair (lowest, highest) of finite numbers, not {value!r}."
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(wrong)
    if not all(map(is_real, value)):
        raise TypeError(wrong)
    low, high = float(value[0]), float(value[1])
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise ValueError(wrong)
    return low, high


def _steps(sampler: Sampler, varying: int, sampling: str) -> tuple[int, ...]:
    """Return the number of grid lines along each varying parameter, the same unless given."""
    n, counts = sampler.n, sampler.counts
    if counts is not None:
        if len(counts) != varying:
            raise ValueError(
                f"n={counts!r} has {len(counts)} numbers and {varying} parameters vary: pass one "
                "for each"
            )
        return counts
    steps: int = round(n ** (1 / max(varying, 1)))
    if steps**varying != n:
        below = steps - (steps**varying > n)
        nearest = " or ".join(str(m) for m in sorted({below**varying, (below + 1) ** varying}))
        raise ValueError(
            f"With sampling={sampling!r} and {varying} varying parameters n must be the number of "
            f"points of a grid, such as {nearest}, not {n}."
        )
    return (steps,) * varying


def check_size(size: object) -> tuple[int, int]:
    """Return the height and width of a picture."""
    if isinstance(size, tuple | list):
        if len(size) != 2:
            raise ValueError(f"size={size!r} is not allowed: it must be a number, or two")
        height, width = (check_integer("each number of size", side) for side in size)
        return height, width
    side = check_integer("size", size)
    return side, side


def _order(sampler: Sampler, sampling: str, rows: FloatArray) -> FloatArray:
    return sampler.rng.permutation(rows) if sampling == "shuffled" else rows

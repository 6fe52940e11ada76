"""What the surfaces share: the checks of their arguments, the random generator, the noise."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Integral, Real
from typing import Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.datasets.containers import Pictures, Surface

Sampling: TypeAlias = Literal["area", "parameter"]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

SAMPLINGS = ("area", "parameter")


@dataclass(frozen=True)
class Draw:
    """The checked arguments that every surface takes."""

    n: int
    noise: float
    by_area: bool
    rng: np.random.Generator

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

        The noise is drawn last, so that the same seed gives the same chart at any noise.
        """
        if self.noise > 0:
            points = points + self.rng.normal(scale=self.noise, size=points.shape)
        return Surface(points, chart, name, isometric, labels)


def begin(
    n: object,
    noise: object,
    sampling: object,
    random_state: object,
    samplings: tuple[str, ...] = SAMPLINGS,
) -> Draw:
    """Check the arguments that every surface takes."""
    if sampling not in samplings:
        allowed = " or ".join(repr(name) for name in samplings)
        raise ValueError(f"sampling must be {allowed}, but it is {sampling!r}.")
    return Draw(
        n=checked_count("n", n),
        noise=checked_number("noise", noise, least=0, strict=False),
        by_area=sampling == "area",
        rng=_generator(random_state),
    )


def checked_count(name: str, value: object) -> int:
    """Return `value` as a positive `int`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, but it is {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, but it is {value}.")
    return int(value)


def checked_number(
    name: str, value: object, *, least: float, most: float = inf, strict: bool = True
) -> float:
    """Return `value` as a finite `float` between `least` and `most`, both excluded if `strict`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, but it is {value!r}.")
    number = float(value)
    inside = least < number < most if strict else least <= number <= most
    if not (isfinite(number) and inside):
        relation = "greater than" if strict else "at least"
        upper = "" if most == inf else f" and less than {most:g}"
        raise ValueError(f"{name} must be finite, {relation} {least:g}{upper}, but it is {value}.")
    return number


def fill(n: int, accepted: Callable[[int], FloatArray]) -> FloatArray:
    """Rejection sampling: `accepted(m)` returns at most m rows, and is asked until n are there."""
    parts: list[FloatArray] = []
    missing = n
    while missing > 0:
        parts.append(accepted(missing))
        missing -= len(parts[-1])
    return np.concatenate(parts)


def _generator(random_state: object) -> np.random.Generator:
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        # Drawing the seed moves the caller's state on, so that a second surface differs.
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise TypeError(
            "random_state must be None, an integer, a numpy.random.Generator or a "
            f"numpy.random.RandomState, but it is {random_state!r}."
        )
    if random_state < 0:
        raise ValueError(f"random_state must not be negative, but it is {random_state}.")
    return np.random.default_rng(int(random_state))


PictureSampling: TypeAlias = Literal["random", "grid", "shuffled"]
Range: TypeAlias = tuple[float, float]

PICTURE_SAMPLINGS = ("random", "grid", "shuffled")


def within(draw: Draw, sampling: str, ranges: list[Range]) -> FloatArray:
    """Rows of parameters, one column a range, its ends included."""
    low, high = np.transpose(ranges)
    if sampling == "random":
        return draw.rng.uniform(low, high, (draw.n, len(ranges)))
    varying = low < high
    steps = _steps(draw.n, int(varying.sum()), sampling)
    axes = [
        np.linspace(*ends, steps if varies else 1)
        for ends, varies in zip(ranges, varying, strict=True)
    ]
    rows = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(draw.n, -1)
    return _ordered(draw, sampling, rows)


def around(draw: Draw, sampling: str) -> FloatArray:
    """One column of angles from 0 to 360 degrees, the latter left out."""
    if sampling == "random":
        return draw.rng.uniform(0, 360, (draw.n, 1))
    return _ordered(draw, sampling, 360 * np.arange(draw.n)[:, None] / draw.n)


def finished(
    draw: Draw, images: FloatArray, chart: FloatArray, name: str, labels: tuple[str, ...]
) -> Pictures:
    """Add the noise, drawn last so that the same seed gives the same chart at any noise."""
    if draw.noise > 0:
        images = images + draw.rng.normal(scale=draw.noise, size=images.shape)
    return Pictures(images, chart, name, labels)


def checked_range(name: str, value: object) -> Range:
    """Return `value` as two finite floats in order."""
    wrong = f"{name} must be a pair (lowest, highest) of finite numbers, but it is {value!r}."
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(wrong)
    if any(isinstance(end, bool) or not isinstance(end, Real) for end in value):
        raise TypeError(wrong)
    low, high = float(value[0]), float(value[1])
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise ValueError(wrong)
    return low, high


def _steps(n: int, varying: int, sampling: str) -> int:
    """Grid lines along each varying parameter, as many along one as along another."""
    steps: int = round(n ** (1 / max(varying, 1)))
    if steps**varying != n:
        below = steps - (steps**varying > n)
        nearest = " or ".join(str(m) for m in sorted({below**varying, (below + 1) ** varying}))
        raise ValueError(
            f"With sampling={sampling!r} and {varying} varying parameters, n must be the number of "
            f"points of a grid, such as {nearest}, but it is {n}."
        )
    return steps


def _ordered(draw: Draw, sampling: str, rows: FloatArray) -> FloatArray:
    return draw.rng.permutation(rows) if sampling == "shuffled" else rows

"""What the picture sets share: their samplings, the checks of their arguments, the noise."""

from math import isfinite
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets._draw import Draw
from unbend.datasets.pictures import Pictures

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

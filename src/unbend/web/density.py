"""Maps of more points than a browser draws without a graphics processor: counts per pixel."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray

# Pixels of a picture along either side; more than any screen shows of one map.
MOST_PIXELS = 4096
SIDES = ("left", "right", "bottom", "top")
# A map of one coordinate is drawn as a strip: its rows get heights that look random.
STRIP, FACTOR = 4096, 2654435761


@dataclass(frozen=True)
class Window:
    """The part of a map that is drawn, and the pixels that it is drawn with."""

    left: float
    right: float
    bottom: float
    top: float
    width: int
    height: int

    @classmethod
    def from_query(cls, given: Mapping[str, str]) -> "Window":
        """Check what a browser asked for."""
        try:
            left, right, bottom, top = (float(given[name]) for name in SIDES)
            width, height = int(given["width"]), int(given["height"])
        except (KeyError, ValueError):
            raise ValueError("a window has left, right, bottom, top, width and height") from None
        made = cls(left, right, bottom, top, width, height)
        finite = all(np.isfinite((left, right, bottom, top)))
        if not finite or made.left >= made.right or made.bottom >= made.top:
            raise ValueError("a window has finite sides, left before right and bottom before top")
        if not all(1 <= count <= MOST_PIXELS for count in (width, height)):
            raise ValueError(f"a window has 1 to {MOST_PIXELS} pixels along each side")
        return made


def strip_heights(rows: IntArray) -> FloatArray:
    """Return the heights at which rows of a map of one coordinate are drawn, in [-1/4, 1/4)."""
    return np.asarray(((rows * FACTOR % STRIP) / STRIP - 0.5) * 0.5)


def count_points(coordinates: FloatArray, rows: IntArray, window: Window) -> IntArray:
    """Return two planes (2, height, width): the points in each pixel, and a row of one of them.

    The first line is the top one. Colours are those of the rows, so that they need no rule of their
    own here; as in a scatter plot, the last of the points in a pixel is the one that is seen.

    Examples
    --------
    >>> points = np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.1], [5.0, 5.0]])
    >>> counts, seen = count_points(points, np.array([0, 2, 4, 6]), Window(0, 1, 0, 1, 2, 2))
    >>> counts.tolist(), seen.tolist()
    ([[2, 0], [0, 1]], [[2, 0], [0, 4]])
    """
    x = coordinates[:, 0]
    y = coordinates[:, 1] if coordinates.shape[1] > 1 else strip_heights(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        column = np.floor((x - window.left) * (window.width / (window.right - window.left)))
        line = np.floor((window.top - y) * (window.height / (window.top - window.bottom)))
    shown = (column >= 0) & (column < window.width) & (line >= 0) & (line < window.height)
    pixel = (line[shown] * window.width + column[shown]).astype(np.intp)
    counts = np.bincount(pixel, minlength=window.width * window.height)
    seen = np.zeros_like(counts)
    seen[pixel] = rows[shown]
    return np.stack((counts, seen)).reshape(2, window.height, window.width)

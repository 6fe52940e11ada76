"""Surfaces and pictures with the coordinates that they were sampled from."""

from dataclasses import dataclass
from typing import ClassVar

from unbend.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Surface:
    """Points of a surface in space with the coordinates that they were sampled from.

    Parameters
    ----------
    points : ndarray of shape (n, 3)
        The points, noise included.
    chart : ndarray of shape (n, d)
        The true coordinates of each point on the surface, without noise.
    name : str
        The surface's name in `unbend.datasets.SURFACES`.
    isometric : bool
        Whether the chart preserves the lengths of curves, so that an embedding can be compared
        with it by distances; otherwise only by neighbourhoods.
    labels : ndarray of shape (n,) or None
        The component of the surface of each point, if it has several.

    Examples
    --------
    >>> from unbend.datasets import swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> roll.points.shape, roll.chart.shape, roll.isometric
    ((500, 3), (500, 2), True)
    """

    points: FloatArray
    chart: FloatArray
    name: str
    isometric: bool
    labels: IntArray | None = None

    def __post_init__(self) -> None:
        n = len(self.points)
        if self.points.shape != (n, 3) or self.chart.ndim != 2 or len(self.chart) != n:
            raise ValueError(
                "A surface needs points of shape (n, 3) and a chart of shape (n, d), "
                f"but they are {self.points.shape} and {self.chart.shape}."
            )
        if self.labels is not None and self.labels.shape != (n,):
            raise ValueError(
                f"A surface of {n} points needs labels of shape ({n},), "
                f"but they are {self.labels.shape}."
            )


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures of one size with the parameters that they were rendered from.

    Parameters
    ----------
    images : ndarray of shape (n, height, width) or (n, height, width, 3)
        The pictures, noise included, the top row first: 0 is black and 1 is white, or the full
        red, green or blue. Values are not clipped, so that noise stays Gaussian.
    chart : ndarray of shape (n, p)
        The true parameters of each picture.
    name : str
        The set's name in `unbend.datasets.PICTURES`.
    labels : tuple of str
        Names of the columns of the chart.

    Attributes
    ----------
    isometric : bool
        False: equal steps of a parameter change the pictures by different amounts.

    Examples
    --------
    >>> from unbend.datasets import turning_object
    >>> views = turning_object(10, random_state=0)
    >>> views.images.shape, views.points.shape, views.chart.shape
    ((10, 64, 64), (10, 4096), (10, 3))
    >>> views.labels
    ('left–right', 'up–down', 'light')
    """

    images: FloatArray
    chart: FloatArray
    name: str
    labels: tuple[str, ...]
    isometric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        shape = (len(self.images), len(self.labels))
        color = self.images.ndim == 4 and self.images.shape[3] == 3
        if not (self.images.ndim == 3 or color) or self.chart.shape != shape:
            raise ValueError(
                "Pictures need images of shape (n, height, width), or (n, height, width, 3), and a "
                f"chart of shape (n, p) with p labels, but they are {self.images.shape}, "
                f"{self.chart.shape} and {self.labels}."
            )

    @property
    def points(self) -> FloatArray:
        """The pictures as points, pixel after pixel: (n, height · width · channels)."""
        return self.images.reshape(len(self.images), -1)

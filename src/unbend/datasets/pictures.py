"""The value that every picture function returns."""

from dataclasses import dataclass
from typing import ClassVar

from unbend.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pictures:
    """Grey pictures of one size together with the parameters they were drawn from.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        The pictures, noise included, the top row first: 0 is black and 1 is white. Noise is not
        cut off there, so that it stays Gaussian.
    chart : ndarray of shape (n, p)
        The true parameters of each picture.
    name : str
        The set's name in `unbend.datasets.PICTURES`.
    labels : tuple of str
        What the columns of the chart are.

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
        if self.images.ndim != 3 or self.chart.shape != shape:
            raise ValueError(
                "Pictures need images of shape (n, height, width) and a chart of shape (n, p) "
                f"with p labels, but they are {self.images.shape}, {self.chart.shape} and "
                f"{self.labels}."
            )

    @property
    def points(self) -> FloatArray:
        """The pictures as points: the rows of each, one after another, (n, height * width)."""
        _, height, width = self.images.shape
        return self.images.reshape(-1, height * width)

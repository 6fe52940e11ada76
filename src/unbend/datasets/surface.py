"""The value that every surface function returns."""

from dataclasses import dataclass

from unbend.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Surface:
    """Points of a surface in space together with the coordinates they were drawn from.

    Parameters
    ----------
    points : ndarray of shape (n, 3)
        The points, noise included.
    chart : ndarray of shape (n, d)
        The true coordinates of each point on the surface, without noise.
    name : str
        The surface's name in `unbend.datasets.SURFACES`.
    isometric : bool
        Whether the chart keeps the length of every curve drawn on the surface, so that a
        method may be judged by distances; otherwise judge it by neighbourhoods only.
    labels : ndarray of shape (n,) or None
        The part of the surface each point belongs to, where it has separate parts.

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

"""Where rows of a single coordinate are drawn: along a line, in a lane for each class."""

import numpy as np

from unbend.arrays import FloatArray
from unbend.plot.colors import Coloring, Labels, Values

# Share of a lane's height over which its points are spread.
SPREAD = 0.7


def beside_the_line(coordinate: FloatArray, colors: Coloring) -> tuple[FloatArray, list[str]]:
    """Give one coordinate a second: the value, or a place in the lane of the class.

    Parameters
    ----------
    coordinate : array (n, 1)
        The coordinate.
    colors : Coloring
        Values are drawn against the coordinate; classes get lanes, the first on top.

    Returns
    -------
    positions : array (n, 2)
        Points in the plane.
    lanes : list of str
        Names of the lanes, from below; empty where there are none.

    Examples
    --------
    >>> from unbend.plot.colors import coloring
    >>> positions, lanes = beside_the_line(np.array([[5.0], [6.0]]), coloring(["b", "a"], 2))
    >>> positions[:, 0].tolist(), positions[:, 1].round().astype(int).tolist(), lanes
    ([5.0, 6.0], [0, 1], ['b', 'a'])
    """
    n = len(coordinate)
    if isinstance(colors, Values) and colors.known.all():
        return np.column_stack((coordinate, colors.values)), []
    # Low-discrepancy heights fill the lane evenly, whatever the order of the rows.
    heights = (np.arange(n) * ((np.sqrt(5) - 1) / 2)) % 1 - 0.5
    places, lanes = np.zeros(n), []
    if isinstance(colors, Labels):
        for lane, group in enumerate(reversed(colors.groups())):
            places[group.rows] = lane
            lanes.append(group.name)
    return np.column_stack((coordinate, places + SPREAD * heights)), lanes

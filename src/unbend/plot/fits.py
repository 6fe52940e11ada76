"""Estimates of the dimension beside the curves that they were read from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unbend.dimension import Dimension
from unbend.plot.colors import PALETTE
from unbend.plot.style import FAINT, INK, LABEL, SMALL, new_picture, plain, soften

ACROSS = 3


def dimension_fits(found: Dimension | Sequence[Dimension], *, title: str | None = None) -> Figure:
    """Draw the curves that estimates of the intrinsic dimension were read from.

    A panel for each: the curve, the range from which the estimate was read (shaded) and, where it
    is a fit, what it predicts (dashed). An estimate is to be believed where the curve follows the
    dashed line, or is level, over a wide range.

    Parameters
    ----------
    found : Dimension or sequence of Dimension
        What functions of `unbend.dimension` returned.
    title : str, optional
        Title of all.

    Returns
    -------
    Figure
        Not shown.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> figure = unbend.plot.dimension_fits([unbend.dimension.mle(X), unbend.dimension.pca(X)])
    >>> [axes.get_title(loc="left").split(":")[0] for axes in figure.axes]
    ['mle', 'pca']
    """
    given = [found] if isinstance(found, Dimension) else list(found)
    if not given or not all(isinstance(one, Dimension) for one in given):
        raise ValueError("give what functions of unbend.dimension returned, at least one")
    columns = min(ACROSS, len(given))
    rows = -(-len(given) // columns)
    figure = new_picture(3.4 * columns + 0.4, 2.8 * rows)
    grid = figure.add_gridspec(rows, columns)
    for number, one in enumerate(given):
        axes: Any = figure.add_subplot(grid[number // columns, number % columns])
        _draw(axes, one)
    if title:
        figure.suptitle(plain(title), fontsize=LABEL, x=0.01, ha="left")
    return figure


def _draw(axes: Axes, found: Dimension) -> None:
    curve = found.curve
    lines = np.reshape(curve.y, (len(curve.x), -1))
    single = lines.shape[1] == 1
    for number, line in enumerate(lines.T):
        marker = "o-" if single else "-"
        color = PALETTE[0] if single else PALETTE[number % len(PALETTE)]
        axes.plot(curve.x, line, marker, color=color, lw=1, ms=3)
    if curve.line is not None:
        axes.plot(curve.x, curve.line, "--", color=INK, lw=1)
    # An edge, since some are read at a single place.
    axes.axvspan(*curve.fitted, color=PALETTE[5], alpha=0.25, lw=1.5)
    axes.set_xlabel(plain(curve.x_label), fontsize=SMALL)
    axes.set_ylabel(plain(curve.y_label), fontsize=SMALL)
    axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
    soften(axes)
    told = f"{found.method}: {found.dimension:.2f} ± {found.uncertainty:.2f}"
    axes.set_title(told, fontsize=LABEL, loc="left")

"""What the neighbourhoods of a data graph can show."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unbend.graphs import Consistency
from unbend.plot.colors import PALETTE
from unbend.plot.style import (
    FAINT,
    INK,
    LABEL,
    SMALL,
    VECTOR_MARKS,
    entitle,
    new_picture,
    point_alpha,
    point_size,
    soften,
)


def consistency(report: Consistency, *, title: str | None = None) -> Figure:
    """Draw the local noise of a data graph, and how much other neighbourhoods would hide.

    On the left, the share of each neighbourhood's variance outside its best d-plane against its
    radius; neighbourhoods that span too few directions are marked. On the right, what the last
    coordinate costs local methods over what would hide it, for every number of neighbours that was
    tried: above one it is lost.

    Parameters
    ----------
    report : Consistency
        What `unbend.graphs.consistency` found of points or distances.
    title : str, optional
        Title; by default what is wrong.

    Returns
    -------
    Figure
        Not shown.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(500, noise=0.1, random_state=0).points
    >>> figure = unbend.plot.consistency(unbend.graphs.consistency(X, d=2, n_neighbors=8))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['radius of the neighbourhood', 'number of neighbours']
    """
    if not isinstance(report, Consistency) or report.outside is None:
        raise ValueError(
            "there are no neighbourhoods to draw: give the result of unbend.graphs.consistency of "
            "points or distances"
        )
    figure = new_picture(9.6, 3.8)
    shares, sizes = figure.subplots(1, 2)
    _draw_shares(shares, report)
    _draw_sizes(sizes, report)
    for axes in (shares, sizes):
        axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
        axes.set_axisbelow(True)
        soften(axes)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(fontsize=SMALL, frameon=False)
    entitle(shares, title or "; ".join(report.problems()) or "nothing is wrong")
    return figure


def _draw_shares(axes: Axes, report: Consistency) -> None:
    n = len(report.radius)
    share = np.zeros(n) if report.outside is None else report.outside
    thin = np.isin(np.arange(n), report.thin)
    for rows, color, name in (
        (~thin, PALETTE[0], None),
        (thin, PALETTE[1], f"fewer than {report.d} directions"),
    ):
        if rows.any():
            axes.scatter(
                report.radius[rows],
                share[rows],
                s=point_size(n),
                alpha=point_alpha(n),
                color=color,
                label=name,
                linewidths=0,
                rasterized=n > VECTOR_MARKS,
            )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("radius of the neighbourhood", fontsize=LABEL)
    axes.set_ylabel(f"share outside the best {report.d}-plane", fontsize=LABEL)


def _draw_sizes(axes: Axes, report: Consistency) -> None:
    axes.plot(report.tried, report.hidden_by_size, "-", color=PALETTE[0], lw=1)
    axes.plot(report.n_neighbors, report.hidden, "o", color=PALETTE[0], ms=6, label="this graph")
    axes.axhline(1, color=INK, lw=1, ls="--", zorder=0)
    if report.suggested is not None:
        label = f"suggested: {report.suggested}"
        axes.axvline(report.suggested, color=PALETTE[1], lw=1, label=label, zorder=0)
    axes.set_xscale("log")
    if np.all(report.hidden_by_size > 0) and report.hidden > 0:
        axes.set_yscale("log")
    axes.set_xlabel("number of neighbours", fontsize=LABEL)
    axes.set_ylabel(f"cost of coordinate {report.d} over what hides it", fontsize=LABEL)

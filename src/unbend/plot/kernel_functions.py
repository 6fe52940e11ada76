"""Eigenfunctions of a kernel, over the line or the plane."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.lowrank import Eigenfunctions
from unbend.plot.colors import PALETTE
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import (
    INK,
    LABEL,
    SMALL,
    TITLE,
    finish_axes,
    lighten_frame,
    new_figure,
    plain,
    point_alpha,
    point_size,
)
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_integer

# Points of the grid along an axis: of a line, of each axis of a plane; and the margin around the
# rows, as a share of their range.
LINE, PLANE, MARGIN = 400, 120, 0.1
# Panels in a row.
ACROSS = 4


@complete_docstring(PARAMETERS, FIGURE)
def eigenfunctions(
    functions: Eigenfunctions,
    kernel: Callable[[FloatArray, FloatArray], FloatArray],
    points: Any,
    *,
    count: int = 4,
    title: str | None = None,
) -> Figure:
    """Draw the leading eigenfunctions of a kernel by Nyström's formula, with their eigenvalues.

    Over the line each is a curve, over the plane an image with lines of equal value; the rows from
    which they were found are marked.

    Parameters
    ----------
    functions : Eigenfunctions
        Those of the kernel of the rows: ``Eigenfunctions.of(kernel(points, points), count)``.
    kernel : callable
        Similarities (a, b) of a rows and b rows.
    points : array (m, 1) or (m, 2)
        The rows, in the order of the kernel that the functions were found from.
    count : int
        How many, from the largest eigenvalue, at most as many as there are.
    title : str, optional
        Title.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> gauss = lambda a, b: np.exp(-np.square(a[:, None] - b).sum(axis=2))
    >>> x = np.random.default_rng(0).normal(size=(300, 1))
    >>> functions = unbend.lowrank.Eigenfunctions.of(gauss(x, x), 4)
    >>> figure = unbend.plot.eigenfunctions(functions, gauss, x)
    >>> len(figure.axes), figure.axes[-1].get_ylabel()
    (2, 'eigenvalue')
    """
    rows = np.asarray(check_rows(points, "points", min_rows=2), dtype=np.float64)
    if rows.shape[1] > 2:
        raise ValueError(
            f"points has {rows.shape[1]} columns, and functions are drawn over one or two: pass "
            "points of a line or a plane"
        )
    if len(rows) != functions.weights.shape[0]:
        raise ValueError(
            f"points has {len(rows)} rows and the functions were found from "
            f"{functions.weights.shape[0]}: pass the same rows"
        )
    shown = min(check_integer("count", count), functions.weights.shape[1])
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = MARGIN * np.where(high > low, high - low, 1.0)
    ends = np.column_stack((low - margin, high + margin)).tolist()
    draw = _over_line if rows.shape[1] == 1 else _over_plane
    figure = draw(functions, kernel, rows, ends, shown)
    if title is not None:
        figure.suptitle(plain(title), fontsize=TITLE, x=0.01, ha="left")
    return figure


def _over_line(
    functions: Eigenfunctions, kernel: Any, rows: FloatArray, ends: Any, shown: int
) -> Figure:
    figure = new_figure(9.6, 3.8)
    curves, values = figure.subplots(1, 2, width_ratios=(2, 1))
    grid = np.linspace(ends[0][0], ends[0][1], LINE)[:, None]
    heights = functions(kernel(grid, rows))[:, :shown]
    for number in range(shown):
        color = PALETTE[number % len(PALETTE)]
        curves.plot(grid[:, 0], heights[:, number], color=color, lw=1.2, label=f"ψ{number + 1}")
    curves.plot(rows[:, 0], np.full(len(rows), heights.min()), "|", color=INK, ms=5, alpha=0.4)
    finish_axes(curves, "x", "ψ(x)")
    curves.legend(fontsize=SMALL, frameon=False)
    _draw_values(values, functions, shown)
    return figure


def _over_plane(
    functions: Eigenfunctions, kernel: Any, rows: FloatArray, ends: Any, shown: int
) -> Figure:
    down = -(-(shown + 1) // ACROSS)
    figure = new_figure(2.6 * ACROSS, 2.6 * down)
    panels = figure.subplots(down, ACROSS, squeeze=False).ravel()
    first, second = (np.linspace(low, high, PLANE) for low, high in ends)
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    heights = functions(kernel(grid, rows))
    for number in range(shown):
        axes = panels[number]
        values = heights[:, number].reshape(PLANE, PLANE)
        size = float(np.abs(values).max()) or 1.0
        axes.imshow(
            values,
            origin="lower",
            extent=(*ends[0], *ends[1]),
            cmap="RdBu_r",
            vmin=-size,
            vmax=size,
            aspect="auto",
        )
        axes.contour(first, second, values, levels=7, colors=INK, linewidths=0.4)
        look = {"s": point_size(len(rows)) / 4, "alpha": point_alpha(len(rows)), "linewidths": 0}
        axes.scatter(rows[:, 0], rows[:, 1], color=INK, **look)
        axes.set_title(f"ψ{number + 1}: {functions.values[number]:.3g}", fontsize=LABEL, loc="left")
        axes.tick_params(labelsize=SMALL)
        lighten_frame(axes)
    for empty in panels[shown + 1 :]:
        empty.remove()
    _draw_values(panels[shown], functions, shown)
    return figure


def _draw_values(axes: Any, functions: Eigenfunctions, shown: int) -> None:
    number = np.arange(1, shown + 1)
    axes.plot(number, functions.values[:shown], "o-", color=PALETTE[0], lw=1, ms=5)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    finish_axes(axes, "number", "eigenvalue")

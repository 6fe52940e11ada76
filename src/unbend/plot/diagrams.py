"""Distances and ranks before and after, drawn over all pairs."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from unbend import quality
from unbend.arrays import FloatArray, IntArray
from unbend.neighbors import MetricName
from unbend.plot.colors import PALETTE
from unbend.plot.inputs import drawable, method_name
from unbend.plot.style import (
    FAINT,
    INK,
    LABEL,
    SMALL,
    VECTOR_MARKS,
    axes_or_new,
    drawing_order,
    entitle,
    figure_of,
    plain,
    soften,
    value_colours,
)

Kind = Literal["r_nx", "q_nx", "lcmc"]
# Pairs that are drawn of a Shepard diagram: more only make it darker.
MOST_PAIRS = 50_000
# Cells of the picture of a co-ranking matrix, along each side.
MOST_CELLS = 400
# Lines of one colour, told apart.
DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1)))
SPOKEN = {
    "r_nx": "R_NX: neighbours kept, beyond chance",
    "q_nx": "Q_NX: neighbours kept",
    "lcmc": "LCMC: neighbours kept, less those by chance",
}


def shepard(
    X: Any,
    embedding: Any,
    *,
    metric: MetricName = "euclidean",
    max_rows: int = 1000,
    random_state: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Figure:
    """Draw distances in the embedding against those in the data.

    Points on the line keep the distances of the data up to one factor; those below it were drawn
    together, those above torn apart. Give geodesics for surfaces that are bent.

    Parameters
    ----------
    X : array (n, D) or (n, n)
        The data, or with ``metric="precomputed"`` their distances.
    embedding : array (n, p) or fitted estimator
        The coordinates.
    metric : {"euclidean", "precomputed"}
        Whether X holds points or distances.
    max_rows : int
        Above this number of rows, pairs of that many drawn at random; of those pairs at most
        50 000 are drawn.
    random_state : int
        Seed of the drawing.
    title : str, optional
        Title; by default the correlations.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    See Also
    --------
    unbend.quality.shepard : The numbers.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> figure = unbend.plot.shepard(roll.points, unbend.PCA().fit(roll.points))
    >>> figure.axes[0].get_xlabel()
    'distance in the data'
    """
    coordinates = drawable(embedding).coordinates
    found = quality.shepard(
        X, coordinates, metric=metric, max_rows=max_rows, random_state=random_state
    )
    shown = np.sort(drawing_order(len(found.data))[:MOST_PAIRS])
    axes = axes_or_new(ax)
    look: dict[str, Any] = {"s": 3, "alpha": float(np.clip(300 / len(shown) ** 0.7, 0.05, 0.8))}
    rasterized = len(shown) > VECTOR_MARKS
    across, up = found.data[shown], found.embedded[shown]
    axes.scatter(across, up, color=PALETTE[0], linewidths=0, rasterized=rasterized, **look)
    squares = float(found.data @ found.data)
    factor = float(found.data @ found.embedded) / squares if squares > 0 else 0.0
    end = float(found.data.max())
    label = f"one factor, {factor:.3g}"
    axes.plot([0, end], [0, factor * end], "--", color=INK, lw=1, label=label)
    told = f"Pearson {found.pearson:.3f}, Spearman {found.spearman:.3f}"
    _finish(axes, "distance in the data", "distance in the embedding", title or told)
    return figure_of(axes)


def coranking_matrix(
    X: Any,
    embedding: Any,
    *,
    metric: MetricName = "euclidean",
    max_rows: int = 2000,
    random_state: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Figure:
    """Draw how many pairs have each rank in the data and each rank in the embedding.

    A perfect embedding has all on the diagonal. What lies on one side of it came nearer than it
    was, on the other went farther. Ranks are put together where there are more than 400.

    Parameters
    ----------
    X : array (n, D) or (n, n)
        The data, or with ``metric="precomputed"`` their distances.
    embedding : array (n, p) or fitted estimator
        The coordinates.
    metric : {"euclidean", "precomputed"}
        Whether X holds points or distances.
    max_rows : int
        Above this number of rows, that many drawn at random are looked at alone.
    random_state : int
        Seed of the drawing.
    title : str, optional
        Title.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    See Also
    --------
    unbend.quality.coranking_matrix : The numbers.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(100, random_state=0)
    >>> figure = unbend.plot.coranking_matrix(roll.points, roll.chart)
    >>> int(figure.axes[0].images[0].get_array().sum()) == 100 * 99
    True
    """
    coordinates = drawable(embedding).coordinates
    n, data = len(coordinates), np.asarray(X)
    if n > max_rows:
        rows = np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))
        coordinates, data = coordinates[rows], data[rows]
        data = data[:, rows] if metric == "precomputed" else data
    counts = quality.coranking_matrix(data, coordinates, metric=metric)
    axes = axes_or_new(ax, 5.2, 4.6)
    cells, size = blocks(counts), len(counts)
    extent = (0.5, size + 0.5, size + 0.5, 0.5)
    shown = np.ma.masked_equal(cells, 0)
    image = axes.imshow(
        shown, cmap=value_colours(), norm=LogNorm(1, max(2, cells.max())), extent=extent
    )
    figure = figure_of(axes)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label("pairs", fontsize=LABEL)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL)
    _finish(axes, "rank in the embedding", "rank in the data", title, grid=False)
    return figure


def blocks(counts: IntArray) -> IntArray:
    """Sum a matrix over blocks, so that no side has more than 400.

    Examples
    --------
    >>> blocks(np.ones((800, 800), dtype=int)).shape
    (400, 400)
    """
    step = -(-len(counts) // MOST_CELLS)
    starts = np.arange(0, len(counts), step)
    return np.asarray(np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1))


def quality_curves(
    X: Any,
    embeddings: Any,
    *,
    kind: Kind = "r_nx",
    metric: MetricName = "euclidean",
    max_rows: int = 2000,
    random_state: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Figure:
    """Draw how many of the k nearest are kept, over all k.

    High at small k, neighbourhoods are kept; high at large k only, the rough arrangement. Bands
    are standard errors where rows were sampled; the area under each curve over log k is told.

    Parameters
    ----------
    X : array (n, D) or (n, n)
        The data, or with ``metric="precomputed"`` their distances.
    embeddings : array (n, p), fitted estimator, or mapping of names to these
        One embedding, or several to compare.
    kind : {"r_nx", "q_nx", "lcmc"}
        Which curve: between random (0) and perfect (1), the plain share, or the share less chance.
    metric : {"euclidean", "precomputed"}
        Whether X holds points or distances.
    max_rows, random_state
        As for `unbend.quality.coranking`.
    title : str, optional
        Title.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    See Also
    --------
    unbend.quality.coranking : The numbers.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> figure = unbend.plot.quality_curves(roll.points, {"laid out": roll.chart})
    >>> len(figure.axes[0].lines[0].get_ydata())
    198
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, but it is {kind!r}")
    entries = embeddings if isinstance(embeddings, Mapping) else {_name(embeddings): embeddings}
    if not entries:
        raise ValueError("there is nothing to draw: give at least one embedding")
    axes = axes_or_new(ax)
    for number, (name, given) in enumerate(entries.items()):
        found = quality.coranking(
            X,
            drawable(given).coordinates,
            metric=metric,
            max_rows=max_rows,
            random_state=random_state,
        )
        curve: FloatArray = getattr(found, kind)
        error = found.r_nx_error if kind == "r_nx" else found.q_nx_error
        area = getattr(found, f"{kind}_auc")
        k = np.arange(1, len(curve) + 1)
        colour = PALETTE[number % len(PALETTE)]
        label = f"{plain(str(name))} ({area:.3f})".strip()
        style = DASHES[number // len(PALETTE) % len(DASHES)]
        axes.plot(k, curve, color=colour, lw=1.2, ls=style, label=label)
        if error.any():
            bounds = (curve - error, curve + error)
            axes.fill_between(k, *bounds, color=colour, alpha=0.2, lw=0)
    axes.set_xscale("log")
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1)
    _finish(axes, "neighbours k", SPOKEN[kind], title)
    return figure_of(axes)


def _name(embedding: Any) -> str:
    return method_name(embedding) if hasattr(embedding, "fit") else ""


def _finish(axes: Axes, across: str, up: str, title: str | None, grid: bool = True) -> None:
    axes.set_xlabel(across, fontsize=LABEL)
    axes.set_ylabel(up, fontsize=LABEL)
    if grid:
        axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
        axes.set_axisbelow(True)
    soften(axes)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=SMALL, frameon=False)
    entitle(axes, title)

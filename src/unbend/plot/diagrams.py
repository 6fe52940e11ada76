"""Shepard diagrams, co-ranking matrices and curves of neighbourhood preservation."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from unbend import quality
from unbend.arrays import FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.plot.colors import PALETTE
from unbend.plot.inputs import drawable, method_name
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import (
    INK,
    LABEL,
    SMALL,
    VECTOR_MARKS,
    axes_or_new,
    drawing_order,
    figure_of,
    finish_axes,
    legend_beside,
    plain,
    value_colormap,
)
from unbend.validation.scalars import check_choice

Kind = Literal["r_nx", "q_nx", "lcmc"]
# Largest number of pairs in a Shepard diagram.
MOST_PAIRS = 50_000
# Largest number of cells along each side of a co-ranking matrix.
MOST_CELLS = 400
# Beyond this many curves a legend among them would hide some.
FEW_CURVES = 4
# Line styles of curves with the same colour.
DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1)))
Y_LABELS = {
    "r_nx": "neighbourhood preservation R_NX",
    "q_nx": "neighbourhood preservation Q_NX",
    "lcmc": "neighbourhood preservation LCMC",
}


@complete_docstring(PARAMETERS, FIGURE)
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

    Points on the line preserve distances up to one factor; below it pairs are compressed, above it
    stretched. Use geodesic distances for curved manifolds.

    Parameters
    ----------
    max_rows : int
        Beyond this number of rows, a random sample of that size; at most 50 000 of its pairs are
        drawn.
    title : str, optional
        Title; by default the correlations.

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
    default = f"Pearson {found.pearson:.3f}, Spearman {found.spearman:.3f}"
    finish_axes(axes, "distance in the data", "distance in the embedding", title or default)
    return figure_of(axes)


@complete_docstring(PARAMETERS, FIGURE)
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
    """Draw the co-ranking matrix: counts of pairs by rank in the data and in the embedding.

    A perfect embedding has all pairs on the diagonal. Pairs on one side of it are intrusions, on
    the other extrusions. More than 400 ranks are binned.

    Parameters
    ----------
    max_rows : int
        Beyond this number of rows, a random sample of that size.

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
        shown, cmap=value_colormap(), norm=LogNorm(1, max(2, cells.max())), extent=extent
    )
    figure = figure_of(axes)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label("pairs", fontsize=LABEL)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL)
    finish_axes(axes, "rank in the embedding", "rank in the data", title, grid=False)
    return figure


def blocks(counts: IntArray) -> IntArray:
    """Sum a matrix over blocks, to at most 400 cells along each side.

    Examples
    --------
    >>> blocks(np.ones((800, 800), dtype=int)).shape
    (400, 400)
    """
    step = -(-len(counts) // MOST_CELLS)
    starts = np.arange(0, len(counts), step)
    return np.asarray(np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1))


@complete_docstring(PARAMETERS, FIGURE)
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
    """Draw neighbourhood preservation over the number of neighbours k.

    High values at small k show local, at large k global preservation. Bands are standard errors
    where rows were sampled; the legend has the area under each curve over log k.

    Parameters
    ----------
    embeddings : array (n, p), fitted estimator, or mapping of names to these
        One embedding, or several to compare.
    kind : {"r_nx", "q_nx", "lcmc"}
        R_NX between random (0) and perfect (1), the fraction Q_NX, or Q_NX less chance.
    max_rows, random_state
        As for `unbend.quality.coranking`.

    See Also
    --------
    unbend.quality.coranking : The numbers.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> figure = unbend.plot.quality_curves(roll.points, {"chart": roll.chart})
    >>> len(figure.axes[0].lines[0].get_ydata())
    198
    """
    check_choice("kind", kind, get_args(Kind))
    entries = embeddings if isinstance(embeddings, Mapping) else {_name(embeddings): embeddings}
    if not entries:
        raise ValueError("there is nothing to draw: pass at least one embedding")
    axes = axes_or_new(ax) if len(entries) <= FEW_CURVES else axes_or_new(ax, 8.0)
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
        color = PALETTE[number % len(PALETTE)]
        label = f"{plain(str(name))} ({area:.3f})".strip()
        style = DASHES[number // len(PALETTE) % len(DASHES)]
        axes.plot(k, curve, color=color, lw=1.2, ls=style, label=label)
        if error.any():
            bounds = (curve - error, curve + error)
            axes.fill_between(k, *bounds, color=color, alpha=0.2, lw=0)
    axes.set_xscale("log")
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1)
    finish_axes(axes, "neighbours k", Y_LABELS[kind], title)
    if len(entries) > FEW_CURVES:
        legend_beside(axes)
    return figure_of(axes)


def _name(embedding: Any) -> str:
    return method_name(embedding) if hasattr(embedding, "fit") else ""

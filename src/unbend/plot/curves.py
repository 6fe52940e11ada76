"""Curves that tell how many coordinates the data needs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unbend import quality
from unbend.arrays import FloatArray
from unbend.dimension import Dimension
from unbend.graphs import Consistency
from unbend.plot.colors import MARKERS, PALETTE
from unbend.plot.inputs import drawable, method_name
from unbend.plot.style import (
    FAINT,
    INK,
    LABEL,
    SMALL,
    VECTOR_MARKS,
    axes_or_new,
    entitle,
    figure_of,
    new_picture,
    plain,
    point_alpha,
    point_size,
    soften,
)
from unbend.quality._seen import Metric

# Spectra that span more than this are drawn on a logarithmic axis.
DECADES = 100.0


def spectrum(
    estimator: Any, *, d: int | None = None, title: str | None = None, ax: Any = None
) -> Figure:
    """Draw the eigenvalues that a fitted estimator holds, with its gap and number of coordinates.

    Fit with more components than needed, and choose as many as lie before a gap (not so for LTSA
    and Hessian LLE, whose kernel depends on the number). Gaps are told as ratios of neighbouring
    eigenvalues. The eigenvalue after the last, where the solver met it, is drawn hollow; for PCA
    it is the mean variance of all directions left out.

    Parameters
    ----------
    estimator : fitted estimator or array (m,)
        Holds `eigenvalues_` or `explained_variance_`; or the values themselves.
    d : int, optional
        Number of coordinates to mark; by default as many as the estimator has.
    title : str, optional
        Title; by default the name of the method.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> figure = unbend.plot.spectrum(unbend.Isomap(n_components=6).fit(X), d=2)
    >>> figure.axes[0].get_ylabel()
    'eigenvalue'
    """
    values, beyond, quantity = _eigenvalues(estimator)
    count = _checked_d(d, len(values))
    every = values if np.isnan(beyond) else np.append(values, beyond)
    axes = axes_or_new(ax)
    axes.plot(np.arange(1, len(values) + 1), values, "o-", color=PALETTE[0], lw=1, ms=5)
    if len(every) > len(values):
        axes.plot(len(every), beyond, "o", color=PALETTE[0], mfc="white", ms=5, label="left out")
    if _spread(every) > DECADES:
        axes.set_yscale("log")
    elif every.min() >= 0:
        axes.set_ylim(bottom=0)
    if len(every) > 1:
        gap = quality.widest_gap(every)
        label = f"widest gap, after {gap}{_ratio(every, gap)}"
        axes.axvspan(gap, gap + 1, color=PALETTE[5], alpha=0.25, lw=0, label=label)
    _mark(axes, count, _ratio(every, count))
    _finish(axes, "number", quantity, title or _title(estimator, "spectrum"))
    return figure_of(axes)


def residual_variance(
    embedding: Any,
    X: Any = None,
    *,
    metric: Metric = "euclidean",
    d: int | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Figure:
    """Draw how much of the distances 1, 2, … coordinates leave unexplained.

    The curve falls until there are as many coordinates as the data has dimensions.

    Parameters
    ----------
    embedding : fitted estimator, array (n, p), or mapping of names to these
        A fitted `Isomap` without X is compared with its geodesics; a mapping gives a curve for
        each entry.
    X : array (n, D) or (n, n), optional
        The rows that were embedded, or with ``metric="precomputed"`` their distances.
    metric : {"euclidean", "precomputed"}
        Whether X holds points or distances.
    d : int, optional
        Number of coordinates to mark; by default that of the estimator.
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
    unbend.quality.residual_variance : The numbers.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> figure = unbend.plot.residual_variance(unbend.Isomap(n_neighbors=8).fit(X))
    >>> len(figure.axes[0].lines[0].get_xdata())
    10
    """
    entries = embedding if isinstance(embedding, Mapping) else {"": embedding}
    if not entries:
        raise ValueError("there is nothing to draw: give at least one embedding")
    curves = {str(name): _curve(given, X, metric) for name, given in entries.items()}
    axes = axes_or_new(ax)
    for number, (name, curve) in enumerate(curves.items()):
        look: dict[str, Any] = {
            "color": PALETTE[number % len(PALETTE)],
            "marker": MARKERS[number // 8 % 5][0],
        }
        axes.plot(
            np.arange(1, len(curve) + 1), curve, lw=1, ms=5, label=plain(name) or None, **look
        )
    only: Any = None if isinstance(embedding, Mapping) else embedding
    longest = max(map(len, curves.values()))
    if d is not None or hasattr(only, "n_components"):
        _mark(axes, _checked_d(only.n_components if d is None else d, longest))
    axes.set_ylim(0, max(axes.get_ylim()[1], 1e-12))
    named = "" if isinstance(embedding, Mapping) else _title(embedding, "")
    _finish(axes, "number of coordinates", "residual variance (1 − R²)", title or named)
    return figure_of(axes)


def _eigenvalues(estimator: Any) -> tuple[FloatArray, float, str]:
    """Values, the one after them or NaN, and what they are."""
    if hasattr(estimator, "eigenvalues_"):
        beyond = float(getattr(estimator, "next_eigenvalue_", np.nan))
        return _checked_values(estimator.eigenvalues_), beyond, "eigenvalue"
    if hasattr(estimator, "explained_variance_"):
        values = _checked_values(estimator.explained_variance_)
        left = len(values) < getattr(estimator, "n_features_in_", 0)
        return values, float(estimator.noise_variance_) if left else np.nan, "variance"
    if callable(getattr(estimator, "fit", None)):
        raise ValueError(
            f"this {method_name(estimator)} holds no eigenvalues: fit a method that has a spectrum"
        )
    return _checked_values(estimator), np.nan, "eigenvalue"


def _checked_values(given: Any) -> FloatArray:
    values = np.asarray(given)
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iuf":
        raise ValueError("a spectrum is a list of numbers, or a fitted estimator that holds one")
    if not np.isfinite(values).all():
        raise ValueError("the spectrum contains NaN or infinity")
    return values.astype(np.float64)


def _checked_d(d: int | None, most: int) -> int:
    if d is None:
        return most
    if isinstance(d, bool) or not isinstance(d, int | np.integer) or not 1 <= d <= most:
        raise ValueError(f"d must be a whole number from 1 to {most}, but it is {d!r}")
    return int(d)


def _curve(given: Any, X: Any, metric: Metric) -> FloatArray:
    if X is not None:
        coordinates = drawable(given).coordinates
        return quality.residual_variance(np.asarray(X), coordinates, metric=metric)
    if hasattr(given, "residual_variance_"):
        return np.asarray(given.residual_variance_)
    raise ValueError(
        "there are no distances to compare with: give X, the rows that were embedded, or a fitted "
        "Isomap, which holds its geodesics"
    )


def _spread(values: FloatArray) -> float:
    """Ratio of the largest to the smallest; one where a logarithm is not possible."""
    return float(values.max() / values.min()) if values.min() > 0 else 1.0


def _title(estimator: Any, what: str) -> str:
    return f"{method_name(estimator)} {what}".strip() if hasattr(estimator, "fit") else ""


def _ratio(values: FloatArray, count: int) -> str:
    """Tell the ratio of the eigenvalues around a gap, where there is one."""
    pair = np.sort(values[count - 1 : count + 1])
    return f" (× {pair[1] / pair[0]:.3g})" if len(pair) == 2 and pair[0] > 0 else ""


def _mark(axes: Axes, count: int, remark: str = "") -> None:
    axes.axvline(count, color=INK, lw=1, ls="--", zorder=0, label=f"d = {count}{remark}")


def _finish(axes: Axes, across: str, up: str, title: str) -> None:
    axes.set_xlabel(across, fontsize=LABEL)
    axes.set_ylabel(up, fontsize=LABEL)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    soften(axes)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=SMALL, frameon=False)
    entitle(axes, title)


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

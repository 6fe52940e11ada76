"""Plots of spectra, residual variance, dimension estimates and the consistency of a graph."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unbend import quality
from unbend.arrays import FloatArray
from unbend.dimension import Dimension
from unbend.docstrings import complete_docstring
from unbend.graphs import Consistency
from unbend.neighbors import MetricName
from unbend.plot.colors import MARKERS, PALETTE
from unbend.plot.inputs import drawable, method_name
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import (
    FAINT,
    INK,
    LABEL,
    SMALL,
    VECTOR_MARKS,
    add_title,
    axes_or_new,
    figure_of,
    finish_axes,
    lighten_frame,
    new_figure,
    plain,
    point_alpha,
    point_size,
)
from unbend.validation.scalars import check_integer

# Ratio of eigenvalues beyond which the axis is logarithmic.
DECADES = 100.0


@complete_docstring(PARAMETERS, FIGURE)
def spectrum(
    estimator: Any, *, d: int | None = None, title: str | None = None, ax: Any = None
) -> Figure:
    """Draw the eigenvalues of a fitted estimator, the widest gap and the embedding dimension.

    Fit with more components than needed and keep those before the gap (except for LTSA and Hessian
    LLE, whose kernel depends on their number). Gaps are labelled with the ratio of consecutive
    eigenvalues. A hollow marker is the next eigenvalue, if the solver computed it; for PCA it is
    the mean variance of the discarded directions.

    Parameters
    ----------
    estimator : fitted estimator or array (m,)
        Estimator with `eigenvalues_` or `explained_variance_`, or the values.
    d : int, optional
        Embedding dimension to mark; by default that of the estimator, and of an array none.
    title : str, optional
        Title; by default the name of the method.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> figure = unbend.plot.spectrum(unbend.Isomap(n_components=6).fit(X), d=2)
    >>> figure.axes[0].get_ylabel()
    'eigenvalue'
    """
    values, beyond, quantity = _eigenvalues(estimator)
    count = _check_dimension(d, len(values))
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
    if d is not None or hasattr(estimator, "fit"):
        _mark(axes, count, _ratio(every, count))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    finish_axes(axes, "number", quantity, title or _title(estimator, "spectrum"))
    return figure_of(axes)


@complete_docstring(PARAMETERS, FIGURE)
def residual_variance(
    embedding: Any,
    X: Any = None,
    *,
    metric: MetricName = "euclidean",
    d: int | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Figure:
    """Draw the residual variance of distances for 1, 2, … coordinates.

    The curve decreases up to the intrinsic dimension of the data.

    Parameters
    ----------
    embedding : fitted estimator, array (n, p), or mapping of names to these
        A fitted `Isomap` without X is compared with its geodesics; a mapping gives a curve for
        each entry.
    X : array (n, D) or (n, n), optional
        The embedded data, or with ``metric="precomputed"`` their distances.
    d : int, optional
        Embedding dimension to mark; by default that of the estimator.

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
        raise ValueError("there is nothing to draw: pass at least one embedding")
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
        _mark(axes, _check_dimension(only.embedding_.shape[1] if d is None else d, longest))
    axes.set_ylim(0, max(axes.get_ylim()[1], 1e-12))
    named = "" if isinstance(embedding, Mapping) else _title(embedding, "")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    finish_axes(axes, "embedding dimension", "residual variance (1 − R²)", title or named)
    return figure_of(axes)


def _eigenvalues(estimator: Any) -> tuple[FloatArray, float, str]:
    """Values, the next one or NaN, and the name of the quantity."""
    if hasattr(estimator, "eigenvalues_"):
        beyond = float(getattr(estimator, "next_eigenvalue_", np.nan))
        return _check_values(estimator.eigenvalues_), beyond, "eigenvalue"
    if hasattr(estimator, "explained_variance_"):
        values = _check_values(estimator.explained_variance_)
        left = len(values) < getattr(estimator, "n_features_in_", 0)
        return values, float(estimator.noise_variance_) if left else np.nan, "variance"
    if callable(getattr(estimator, "fit", None)):
        raise ValueError(f"{method_name(estimator)} has no eigenvalues: fit a spectral method")
    return _check_values(estimator), np.nan, "eigenvalue"


def _check_values(given: Any) -> FloatArray:
    values = np.asarray(given)
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iuf":
        raise ValueError("a spectrum is an array of numbers, or a fitted spectral estimator")
    if not np.isfinite(values).all():
        raise ValueError("the spectrum contains NaN or infinity: remove these values")
    return values.astype(np.float64)


def _check_dimension(d: int | None, most: int) -> int:
    if d is None:
        return most
    return check_integer("d", d, 1, most, "as there are no more coordinates")


def _curve(given: Any, X: Any, metric: MetricName) -> FloatArray:
    if X is not None:
        coordinates = drawable(given).coordinates
        return quality.residual_variance(np.asarray(X), coordinates, metric=metric)
    if hasattr(given, "residual_variance_"):
        return np.asarray(given.residual_variance_)
    raise ValueError(
        "there are no distances to compare with: pass X, the embedded data, or a fitted Isomap, "
        "which has geodesic distances"
    )


def _spread(values: FloatArray) -> float:
    """Ratio of the largest to the smallest; one where a logarithm is not possible."""
    return float(values.max() / values.min()) if values.min() > 0 else 1.0


def _title(estimator: Any, what: str) -> str:
    return f"{method_name(estimator)} {what}".strip() if hasattr(estimator, "fit") else ""


def _ratio(values: FloatArray, count: int) -> str:
    """Format the ratio of the eigenvalues around a gap, if positive."""
    pair = np.sort(values[count - 1 : count + 1])
    return f" (× {pair[1] / pair[0]:.3g})" if len(pair) == 2 and pair[0] > 0 else ""


def _mark(axes: Axes, count: int, remark: str = "") -> None:
    axes.axvline(count, color=INK, lw=1, ls="--", zorder=0, label=f"d = {count}{remark}")


ACROSS = 3


@complete_docstring(PARAMETERS, FIGURE)
def dimension_fits(found: Dimension | Sequence[Dimension], *, title: str | None = None) -> Figure:
    """Draw the curves from which intrinsic dimensions were estimated.

    Each panel shows the curve, the range of the fit (shaded) and, for regressions, the fitted line
    (dashed). An estimate is reliable where the curve follows the dashed line, or is constant, over
    a wide range.

    Parameters
    ----------
    found : Dimension or sequence of Dimension
        Results of functions of `unbend.dimension`.
    title : str, optional
        Title of the figure.

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
        raise ValueError("pass at least one result of a function of unbend.dimension")
    columns = min(ACROSS, len(given))
    rows = -(-len(given) // columns)
    figure = new_figure(3.4 * columns + 0.4, 2.8 * rows)
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
    # With an edge, since some ranges are a single point.
    axes.axvspan(*curve.fitted, color=PALETTE[5], alpha=0.25, lw=1.5)
    axes.set_xlabel(plain(curve.x_label), fontsize=SMALL)
    axes.set_ylabel(plain(curve.y_label), fontsize=SMALL)
    axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
    lighten_frame(axes)
    axes.set_title(str(found), fontsize=LABEL, loc="left")


@complete_docstring(PARAMETERS, FIGURE)
def consistency(report: Consistency, *, title: str | None = None) -> Figure:
    """Draw the local noise of a data graph, and its effect for other neighbourhood sizes.

    Left: the fraction of each neighbourhood's variance outside its best d-plane against its radius;
    rank-deficient neighbourhoods are marked. Right: the cost of the last coordinate for local
    methods relative to the cost at which noise hides it, for every number of neighbours tried;
    above one the coordinate is lost.

    Parameters
    ----------
    report : Consistency
        Result of `unbend.graphs.consistency` for points or distances.
    title : str, optional
        Title; by default the problems.

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
            "there are no neighbourhoods to draw: pass the result of unbend.graphs.consistency for "
            "points or distances"
        )
    figure = new_figure(9.6, 3.8)
    shares, sizes = figure.subplots(1, 2)
    _draw_shares(shares, report)
    _draw_sizes(sizes, report)
    add_title(shares, title or "; ".join(report.problems()) or "no problems")
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
    finish_axes(axes, "radius of the neighbourhood", f"share outside the best {report.d}-plane")


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
    finish_axes(axes, "number of neighbours", f"cost of coordinate {report.d} over what hides it")


@complete_docstring(PARAMETERS, FIGURE)
def eigenfunctions(
    points: Any, values: Any, *, eigenvalues: Any = None, title: str | None = None
) -> Figure:
    """Draw eigenfunctions of a kernel: curves over a line, or colours in the plane.

    Parameters
    ----------
    points : array (n,), (n, 1) or (n, 2)
        Where the functions were evaluated.
    values : array (n, count)
        Values of at most 12 functions, such as those of `lowrank.Eigenfunctions`.
    eigenvalues : array (count,), optional
        Written above each function.
    title : str, optional
        Title of the figure.

    Examples
    --------
    >>> import unbend
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> line = np.linspace(-2, 2, 101)
    >>> gauss = lambda a, b: np.exp(-2.0 * np.subtract.outer(a, b) ** 2)
    >>> functions = unbend.lowrank.Eigenfunctions.of(gauss(x, x), 4)
    >>> figure = unbend.plot.eigenfunctions(
    ...     line, functions(gauss(line, x)), eigenvalues=functions.values
    ... )
    >>> len(figure.axes)
    4
    """
    places, heights = np.asarray(points, dtype=np.float64), np.asarray(values, dtype=np.float64)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2 or places.shape[1] not in (1, 2):
        raise ValueError(f"points has the shape {places.shape}: pass one or two columns")
    if heights.ndim != 2 or len(heights) != len(places) or not 1 <= heights.shape[1] <= 12:
        raise ValueError(
            f"values has the shape {heights.shape} and there are {len(places)} points: pass a row "
            "for each point, and 1 to 12 columns"
        )
    count = heights.shape[1]
    spectrum_values = np.asarray([] if eigenvalues is None else eigenvalues, dtype=np.float64)
    if len(spectrum_values) not in (0, count):
        raise ValueError(
            f"there are {len(spectrum_values)} eigenvalues and {count} functions: pass one each"
        )
    across = min(4, count)
    figure = new_figure(2.6 * across, 2.3 * -(-count // across))
    order = np.argsort(places[:, 0], kind="stable")
    limit = float(np.abs(heights).max())
    for number in range(count):
        axes: Any = figure.add_subplot(-(-count // across), across, number + 1)
        column = heights[:, number]
        if places.shape[1] == 1:
            axes.axhline(0, color=FAINT, lw=0.5)
            axes.plot(places[order, 0], column[order], color=PALETTE[0])
        else:
            size = point_size(len(places))
            axes.scatter(*places.T, c=column, s=size, cmap="RdBu_r", vmin=-limit, vmax=limit)
            axes.set_aspect("equal")
        lighten_frame(axes)
        name = f"{number + 1}"
        name += f": {spectrum_values[number]:.3g}" if len(spectrum_values) else ""
        axes.set_title(name, fontsize=SMALL)
    if title:
        figure.suptitle(plain(title), fontsize=LABEL)
    return figure

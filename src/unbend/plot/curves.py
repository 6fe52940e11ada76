"""Curves that tell how many coordinates the data needs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unbend import quality
from unbend.arrays import FloatArray
from unbend.neighbors import MetricName
from unbend.plot.colors import MARKERS, PALETTE
from unbend.plot.inputs import drawable, method_name
from unbend.plot.style import (
    FAINT,
    INK,
    LABEL,
    SMALL,
    axes_or_new,
    entitle,
    figure_of,
    plain,
    soften,
)

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
    metric: MetricName = "euclidean",
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


def _curve(given: Any, X: Any, metric: MetricName) -> FloatArray:
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

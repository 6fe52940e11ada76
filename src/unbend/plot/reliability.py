"""Where in a picture an embedding is right, and where it would fall another time."""

from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from unbend.arrays import BoolArray, FloatArray
from unbend.plot.colors import PALETTE
from unbend.plot.inputs import Named, drawable
from unbend.plot.scattering import scatter
from unbend.plot.style import SMALL, VECTOR_MARKS, drawing_order
from unbend.quality import Measure

# Ellipses that can be told apart in one picture.
MOST_ELLIPSES = 400


def point_quality(
    embedding: Any,
    measure: Measure,
    *,
    name: str = "quality",
    title: str | None = None,
    method: Any = None,
    ax: Any = None,
) -> Figure:
    """Draw an embedding in the colours of what each point contributes to a measure.

    Rows that the measure was not taken from are grey.

    Parameters
    ----------
    embedding : array (n, p) or fitted estimator
        The coordinates.
    measure : Measure
        What a function of `unbend.quality` returned, with its `local` values.
    name : str
        What the colour bar says.
    title : str, optional
        Title; by default the name and the number.
    method : str, estimator or class, optional
        What made the embedding, as for `scatter`.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> model = unbend.PCA().fit(roll.points)
    >>> trust = unbend.quality.trustworthiness(roll.points, model.embedding_)
    >>> figure = unbend.plot.point_quality(model, trust, name="trustworthiness")
    >>> figure.axes[0].get_title(loc="left")
    'trustworthiness 0.94...'
    """
    n = drawable(embedding, None, method).n
    if not isinstance(measure, Measure) or not len(measure.local):
        raise TypeError("measure must be a Measure of unbend.quality, which knows its points")
    if len(measure.local) > n or measure.rows.max() >= n:
        raise ValueError(f"the measure is of other rows: the embedding has {n}")
    values = np.full(n, np.nan)
    values[measure.rows] = measure.local
    told = f"{name} {float(measure):.4f}"
    return scatter(embedding, Named(values, name), title=title or told, method=method, ax=ax)


def stability_ellipses(
    embedding: Any,
    resampled: Any,
    color: Any = None,
    *,
    level: float = 0.95,
    title: str | None = None,
    method: Any = None,
    ax: Any = None,
) -> Figure:
    """Draw where each point would fall with another sample.

    An ellipse is that of the normal distribution with the mean and covariance of the places a point
    took in the parts of the rows that it was in. Parts of one sample differ less than samples do:
    where they hold the share f of the rows, the covariance is multiplied by f / (1 - f), as the
    jackknife does that leaves several rows out [1]_. Of more than 400 points an even share has an
    ellipse.

    Parameters
    ----------
    embedding : array (n, 2) or fitted estimator
        The embedding of all rows.
    resampled : array (r, n, 2)
        Embeddings of parts of the rows aligned with it, NaN where a row was not in the part: what
        `unbend.selection.resampled` returns.
    color : array (n,), optional
        Colours of the points, as for `scatter`.
    level : float
        Share of the distribution that an ellipse holds.
    title : str, optional
        Title.
    method : str, estimator or class, optional
        What made the embedding, as for `scatter`.
    ax : Axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    Figure
        Not shown.

    References
    ----------
    .. [1] J. Shao and C. F. J. Wu, "A general theory for jackknife variance estimation", The
       Annals of Statistics 17 (1989), 1176-1197.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> model = unbend.Isomap(n_neighbors=8).fit(roll.points)
    >>> moved = unbend.selection.resampled(model, roll.points, n_resamples=4)
    >>> figure = unbend.plot.stability_ellipses(model, moved)
    >>> figure.axes[0].get_xlabel()
    'Isomap 1'
    """
    coordinates = drawable(embedding, color, method).coordinates
    places = np.asarray(resampled, dtype=np.float64)
    if coordinates.shape[1] != 2 or places.ndim != 3 or places.shape[1:] != coordinates.shape:
        raise ValueError(
            f"resampled must be (parts, {len(coordinates)}, 2) for an embedding of 2 columns, but "
            f"their shapes are {places.shape} and {coordinates.shape}"
        )
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, and it is {level}")
    figure = scatter(embedding, color, title=title, method=method, ax=ax)
    axes = figure.axes[0] if ax is None else ax
    present: BoolArray = np.asarray(np.isfinite(places).all(axis=2))
    often = np.flatnonzero(present.sum(axis=0) >= 2)
    rows = np.sort(often[drawing_order(len(often))[:MOST_ELLIPSES]])
    centres, widths, heights, angles = ellipses(places[:, rows], level)
    widening = _widening(float(present.mean()))
    axes.add_collection(
        EllipseCollection(
            widening * widths,
            widening * heights,
            angles,
            units="xy",
            offsets=centres,
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors=PALETTE[1],
            linewidths=0.7,
            alpha=0.7,
            zorder=3,
            rasterized=len(rows) > VECTOR_MARKS,
        )
    )
    if len(rows) < len(often):
        remark = f"ellipses of {len(rows)} of {len(often)} points"
        axes.annotate(remark, (0, 0), xycoords="axes fraction", fontsize=SMALL, va="bottom")
    return figure


def _widening(share: float) -> float:
    """Return how much wider samples spread than parts of one that hold a share of its rows."""
    return float(np.sqrt(share / (1 - share))) if 0 < share < 1 else 1.0


def ellipses(
    places: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centres, full axes and angles in degrees of the normal distributions of places (r, n, 2).

    Examples
    --------
    >>> square = np.array([[[1.0, 0.0]], [[-1.0, 0.0]], [[0.0, 2.0]], [[0.0, -2.0]]])
    >>> centres, widths, heights, angles = ellipses(square, level=1 - np.exp(-0.5))
    >>> bool(np.isclose(widths[0] / heights[0], 2)), float(angles[0] % 180)
    (True, 90.0)
    """
    present: BoolArray = np.asarray(np.isfinite(places).all(axis=2))[..., None]
    times = present.sum(axis=0)
    centres = np.where(present, places, 0).sum(axis=0) / times
    off = np.where(present, places - centres, 0)
    covariances = np.einsum("rni,rnj->nij", off, off) / (times[..., None] - 1)
    values, vectors = np.linalg.eigh(covariances)
    # The square of the radius in units of the deviation is exponential in the plane.
    reach = 2 * np.sqrt(-2 * np.log(1 - level))
    axes = reach * np.sqrt(np.maximum(values, 0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    return centres, axes[:, 1], axes[:, 0], angles

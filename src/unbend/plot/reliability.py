"""Quality and stability of an embedding, point by point."""

from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from unbend.arrays import BoolArray, FloatArray
from unbend.docstrings import complete_docstring
from unbend.plot.colors import PALETTE
from unbend.plot.inputs import ColorColumn, drawable
from unbend.plot.scattering import scatter
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import SMALL, VECTOR_MARKS, drawing_order
from unbend.quality import Measure
from unbend.validation.scalars import check_real

# Largest number of ellipses in one figure.
MOST_ELLIPSES = 400


@complete_docstring(PARAMETERS, FIGURE)
def point_quality(
    embedding: Any,
    measure: Measure,
    *,
    name: str = "quality",
    title: str | None = None,
    method: Any = None,
    ax: Any = None,
) -> Figure:
    """Colour an embedding by each point's contribution to a quality measure.

    Rows outside the sample of the measure are grey.

    Parameters
    ----------
    measure : Measure
        Result of a function of `unbend.quality`, with its `local` values.
    name : str
        Label of the colour bar.
    title : str, optional
        Title; by default the name and the value.

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
        raise TypeError("measure must be a Measure of unbend.quality with local values")
    if len(measure.local) > n or measure.rows.max() >= n:
        raise ValueError(
            f"the measure is of other rows than the {n} of the embedding: compute it for these"
        )
    values = np.full(n, np.nan)
    values[measure.rows] = measure.local
    default = f"{name} {float(measure):.4f}"
    return scatter(
        embedding, ColorColumn(values, name), title=title or default, method=method, ax=ax
    )


@complete_docstring(PARAMETERS, FIGURE)
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
    """Draw confidence ellipses of the points under resampling.

    An ellipse is that of the normal distribution with the mean and covariance of a point's
    positions over the subsamples that contain it. Subsamples vary less than independent samples:
    if they hold the fraction f of the rows, the covariance is multiplied by f / (1 - f), as in the
    delete-d jackknife [1]_. Of more than 400 points a random sample has ellipses.

    Parameters
    ----------
    embedding : array (n, 2) or fitted estimator
        The embedding of all rows.
    resampled : array (r, n, 2)
        Aligned embeddings of subsamples, NaN where a row is not in the subsample: the result of
        `unbend.selection.resample`.
    color : array (n,), optional
        Colours of the points, as for `scatter`.
    level : float
        Probability content of an ellipse.

    References
    ----------
    .. [1] J. Shao and C. F. J. Wu, "A general theory for jackknife variance estimation", The
       Annals of Statistics 17 (1989), 1176-1197.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> model = unbend.Isomap(n_neighbors=8).fit(roll.points)
    >>> moved = unbend.selection.resample(model, roll.points, n_resamples=4)
    >>> figure = unbend.plot.stability_ellipses(model, moved)
    >>> figure.axes[0].get_xlabel()
    'Isomap 1'
    """
    coordinates = drawable(embedding, color, method).coordinates
    places = np.asarray(resampled, dtype=np.float64)
    if coordinates.shape[1] != 2 or places.ndim != 3 or places.shape[1:] != coordinates.shape:
        raise ValueError(
            f"resampled must be (subsamples, {len(coordinates)}, 2) for an embedding of dimension "
            f"2; the shapes are {places.shape} and {coordinates.shape}"
        )
    check_real("level", level, 0, 1, closed="neither")
    figure = scatter(embedding, color, title=title, method=method, ax=ax)
    axes = figure.axes[0] if ax is None else ax
    present: BoolArray = np.asarray(np.isfinite(places).all(axis=2))
    often = np.flatnonzero(present.sum(axis=0) >= 2)
    rows = np.sort(often[drawing_order(len(often))[:MOST_ELLIPSES]])
    centers, widths, heights, angles = ellipses(places[:, rows], level)
    # Ratio of the deviation of samples to that of subsamples with this fraction of the rows.
    share = float(present.mean())
    widening = float(np.sqrt(share / (1 - share))) if 0 < share < 1 else 1.0
    axes.add_collection(
        EllipseCollection(
            widening * widths,
            widening * heights,
            angles,
            units="xy",
            offsets=centers,
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


def ellipses(
    places: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centres, full axes and angles in degrees of normal ellipses of positions (r, n, 2).

    Examples
    --------
    >>> square = np.array([[[1.0, 0.0]], [[-1.0, 0.0]], [[0.0, 2.0]], [[0.0, -2.0]]])
    >>> centres, widths, heights, angles = ellipses(square, level=1 - np.exp(-0.5))
    >>> bool(np.isclose(widths[0] / heights[0], 2)), float(angles[0] % 180)
    (True, 90.0)
    """
    present: BoolArray = np.asarray(np.isfinite(places).all(axis=2))[..., None]
    times = present.sum(axis=0)
    centers = np.where(present, places, 0).sum(axis=0) / times
    off = np.where(present, places - centers, 0)
    covariances = np.einsum("rni,rnj->nij", off, off) / (times[..., None] - 1)
    values, vectors = np.linalg.eigh(covariances)
    # In the plane the squared Mahalanobis radius is exponential.
    reach = 2 * np.sqrt(-2 * np.log(1 - level))
    axes = reach * np.sqrt(np.maximum(values, 0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    return centers, axes[:, 1], axes[:, 0], angles

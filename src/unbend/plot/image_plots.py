"""Images on an embedding, and embeddings of pixels as images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from scipy.spatial import KDTree

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.plot.inputs import drawable
from unbend.plot.scattering import scatter
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import (
    LABEL,
    SMALL,
    drawing_order,
    new_figure,
    plain,
    value_colormap,
)
from unbend.validation.scalars import check_real, is_integer

# Side of a thumbnail as a fraction of the width of the axes.
SIDE = 0.06
MOST_FEATURES = 12


@complete_docstring(PARAMETERS, FIGURE)
def thumbnails(
    embedding: Any,
    images: Any,
    color: Any = None,
    *,
    side: float = SIDE,
    title: str | None = None,
    method: Any = None,
    ax: Any = None,
) -> Figure:
    """Draw a two-dimensional embedding with thumbnails at as many points as there is room for.

    Thumbnails are centred on their points and do not overlap at any zoom; the choice is
    deterministic.

    Parameters
    ----------
    embedding : array (n, 2) or fitted estimator
        The coordinates.
    images : array (n, height, width) or (n, height, width, 3), or sequence of n such arrays
        Grey or RGB, as in `Images.pictures`. Grey values are scaled to the range of all images;
        colours are in [0, 1], or in [0, 255] if one is above 1.
    color : array (n,), optional
        Colours of the points, as for `scatter`.
    side : float
        Longer side of a thumbnail, as a fraction of the width of the axes.

    Returns
    -------
    Figure
        Not shown; the images are ``figure.axes[0].images``.

    Examples
    --------
    >>> import unbend
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits().images[:300]
    >>> flat = unbend.PCA().fit_transform(digits.reshape(300, 64))
    >>> figure = unbend.plot.thumbnails(flat, digits)
    >>> 20 < len(figure.axes[0].images) < 300
    True
    """
    coordinates = drawable(embedding, color, method).coordinates
    if coordinates.shape[1] != 2:
        raise ValueError(
            f"thumbnails need an embedding of dimension 2, not {coordinates.shape[1]}: select two "
            "columns"
        )
    check_real("side", side, 0, 1, closed="neither")
    pictures = check_images(images, len(coordinates))
    figure = scatter(embedding, color, title=title, method=method, ax=ax)
    axes = figure.axes[0] if ax is None else ax
    figure.draw_without_rendering()
    limits = axes.get_xlim(), axes.get_ylim()
    room, per_pixel = (
        axes.get_window_extent(),
        axes.transData.inverted().transform([(0, 0), (1, 1)]),
    )
    box = side * room.width * np.abs(per_pixel[1] - per_pixel[0])
    least, most = _range(pictures)
    grey = Normalize(least, most)
    for row in non_overlapping(coordinates, box):
        shape = np.array(pictures[row].shape[1::-1], dtype=np.float64)
        half = box / 2 * shape / shape.max()
        (left, low), (right, high) = coordinates[row] - half, coordinates[row] + half
        # Not by imshow, which recomputes the limits of the axes for each image.
        extent = (left, right, low, high)
        image = AxesImage(axes, cmap="gray", norm=grey, extent=extent, zorder=3)
        image.set_data(pictures[row])
        axes.add_image(image)
        image.set_clip_path(axes.patch)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    return figure


def non_overlapping(points: FloatArray, box: FloatArray) -> IntArray:
    """Rows whose boxes do not overlap, chosen greedily in a fixed random order.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.4, 0.0], [0.0, 2.0]])
    >>> sorted(non_overlapping(points, np.ones(2)).tolist())[-1]
    2
    """
    # Slightly larger, so that rounding does not make boxes touch.
    scaled = points / (box * (1 + 1e-9))
    tree, free = KDTree(scaled), np.ones(len(points), dtype=bool)
    taken = []
    for row in drawing_order(len(points)).tolist():
        if free[row]:
            taken.append(row)
            free[tree.query_ball_point(scaled[row], 1.0, p=np.inf)] = False
    return np.sort(np.array(taken, dtype=np.intp))


def check_images(images: Any, n: int) -> list[Any]:
    """Check n grey or RGB images, and scale colours to [0, 1]."""
    pictures = [np.asarray(image) for image in images]
    if len(pictures) != n:
        raise ValueError(f"there are {len(pictures)} images and {n} points: pass one per point")
    for number, picture in enumerate(pictures):
        color = picture.ndim == 3 and picture.shape[2] in (3, 4)
        if not (picture.ndim == 2 or color) or picture.size == 0:
            raise ValueError(
                f"image {number} has the shape {picture.shape}: pass (height, width) for grey or "
                "(height, width, 3) for RGB images"
            )
    return _display_colors(pictures)


def _display_colors(pictures: list[Any]) -> list[Any]:
    """Scale floating-point colours in [0, 255] to [0, 1], as matplotlib expects."""
    colored = [picture for picture in pictures if picture.ndim == 3]
    fractions = all(picture.dtype.kind == "f" for picture in colored)
    if not colored or not fractions or max(picture.max() for picture in colored) <= 1:
        return pictures
    return [np.clip(picture / 255, 0, 1) if picture.ndim == 3 else picture for picture in pictures]


def _range(pictures: Sequence[Any]) -> tuple[float, float]:
    grey = [picture for picture in pictures if picture.ndim == 2]
    if not grey:
        return 0.0, 1.0
    return float(min(one.min() for one in grey)), float(max(one.max() for one in grey))


@complete_docstring(PARAMETERS, FIGURE)
def feature_images(
    embedding: Any,
    shape: tuple[int, int],
    *,
    mask: Any = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    method: Any = None,
) -> Figure:
    """Draw each coordinate of an embedding of pixels as an image.

    The samples are the pixels of a cube of rows × columns × bands, ``cube.reshape(-1, bands)``.

    Parameters
    ----------
    embedding : array (rows · columns, p) or fitted estimator
        Coordinates of the pixels, row by row; with a mask only of those in it.
    shape : (int, int)
        Rows and columns of the image.
    mask : array (rows, columns) of bool, optional
        Embedded pixels; the others are blank.
    names : sequence of str, optional
        Titles of the images; by default the method and a number.
    title : str, optional
        Title of the figure.

    Examples
    --------
    >>> import unbend
    >>> cube = np.random.default_rng(0).normal(size=(6, 8, 5))
    >>> model = unbend.PCA(n_components=3).fit(cube.reshape(-1, 5))
    >>> figure = unbend.plot.feature_images(model, (6, 8))
    >>> [axes.get_title() for axes in figure.axes][:3]
    ['PCA 1', 'PCA 2', 'PCA 3']
    """
    drawn = drawable(embedding, None, method)
    rows, columns = check_shape(shape)
    kept = _check_mask(mask, rows, columns)
    if kept.sum() != drawn.n:
        raise ValueError(
            f"the image has {kept.sum()} pixels and the embedding {drawn.n} rows: pass the shape, "
            "and the mask, of the embedded pixels"
        )
    count = drawn.coordinates.shape[1]
    if count > MOST_FEATURES:
        raise ValueError(
            f"at most {MOST_FEATURES} coordinates can be drawn, not {count}: select some"
        )
    titles = [str(name) for name in (drawn.columns if names is None else names)]
    if len(titles) != count:
        raise ValueError(f"there are {len(titles)} names and {count} coordinates: pass one each")
    across = min(4, count)
    down = -(-count // across)
    height = float(np.clip(2.4 * rows / columns, 1.2, 4.8))
    figure = new_figure(2.6 * across, (height + 0.4) * down)
    grid = figure.add_gridspec(down, across)
    for number, (values, name) in enumerate(zip(drawn.coordinates.T, titles, strict=True)):
        image = np.full((rows, columns), np.nan)
        image[kept] = values
        axes: Any = figure.add_subplot(grid[number // across, number % across])
        axes.imshow(image, cmap=value_colormap(), interpolation="nearest")
        axes.set_title(plain(name), fontsize=SMALL)
        axes.set_axis_off()
    if title:
        figure.suptitle(plain(title), fontsize=LABEL)
    return figure


def check_shape(shape: Any) -> tuple[int, int]:
    """Check the rows and columns of an image."""
    sides = tuple(shape) if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(is_integer(side) and side > 0 for side in sides):
        given = repr(shape) if isinstance(shape, tuple | list) else f"a {type(shape).__name__}"
        raise ValueError(f"shape must be the rows and columns of the image, not {given}")
    return int(sides[0]), int(sides[1])


def _check_mask(mask: Any, rows: int, columns: int) -> BoolArray:
    if mask is None:
        return np.ones((rows, columns), dtype=bool)
    kept = np.asarray(mask)
    if kept.shape != (rows, columns) or kept.dtype != bool:
        raise ValueError(f"mask must be a boolean array ({rows}, {columns})")
    return kept

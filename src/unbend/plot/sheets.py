"""Sheets of images: data sets, the mean and the axes of a linear model, and reconstructions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.plot.image_plots import check_images, check_shape
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import LABEL, SMALL, new_figure, plain
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_choice, check_integer

MOST_IMAGES = 400
# Inches across one image, and for its name.
CELL, NAME = 0.8, 0.2
SCALES = ("shared", "each")


@complete_docstring(PARAMETERS, FIGURE)
def image_sheet(
    images: Any,
    *,
    names: Sequence[Any] | None = None,
    columns: int | None = None,
    scale: str = "shared",
    title: str | None = None,
) -> Figure:
    """Draw images side by side, row by row.

    Parameters
    ----------
    images : array (n, height, width) or (n, height, width, 3), or sequence of n such arrays
        Grey or RGB, at most 400.
    names : sequence of n, optional
        Written above the images.
    columns : int, optional
        Images in a row; by default about as many as there are rows.
    scale : {"shared", "each"}
        Whether grey values have one range, from black to white, or each image its own.

    Examples
    --------
    >>> import unbend
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> figure = unbend.plot.image_sheet(digits.images[:20], names=digits.target[:20], columns=10)
    >>> len(figure.axes), figure.axes[3].get_title()
    (20, '3')
    """
    check_choice("scale", scale, SCALES)
    pictures = [np.asarray(image) for image in images]
    if not 1 <= len(pictures) <= MOST_IMAGES:
        raise ValueError(
            f"images has {len(pictures)} images: a sheet shows 1 to {MOST_IMAGES}, so select some"
        )
    pictures = check_images(pictures, len(pictures))
    words = [""] * len(pictures) if names is None else [str(name) for name in names]
    if len(words) != len(pictures):
        raise ValueError(f"there are {len(words)} names and {len(pictures)} images: pass one each")
    across = int(np.ceil(np.sqrt(len(pictures)))) if columns is None else columns
    return _sheet(pictures, words, check_integer("columns", across), scale, title)


@complete_docstring(PARAMETERS, FIGURE)
def eigenimages(
    model: Any, shape: tuple[int, int], *, count: int = 15, title: str | None = None
) -> Figure:
    """Draw the mean and the axes of a linear model of images, such as eigenfaces.

    Parameters
    ----------
    model : fitted PCA, RandomProjection or SubspaceRecognizer
        A model of images, each a row of pixels.
    shape : (int, int)
        Height and width of the images.
    count : int
        Number of axes, or all where there are fewer.

    Examples
    --------
    >>> import unbend
    >>> from sklearn.datasets import load_digits
    >>> model = unbend.PCA(n_components=9).fit(load_digits().data)
    >>> figure = unbend.plot.eigenimages(model, (8, 8))
    >>> [axes.get_title() for axes in figure.axes][:3]
    ['mean', '1', '2']
    """
    axes, mean = _linear(model)
    height, width = check_shape(shape)
    if axes.shape[1] != height * width:
        raise ValueError(
            f"the model has {axes.shape[1]} features and an image {height * width} pixels: pass "
            "the height and width of the images that it was fitted to"
        )
    shown = axes[: check_integer("count", count)]
    rows = shown if mean is None else np.vstack([mean, shown])
    names = [*([] if mean is None else ["mean"]), *map(str, range(1, len(shown) + 1))]
    images = list(rows.reshape(-1, height, width))
    return _sheet(images, names, min(8, len(images)), "each", title)


@complete_docstring(PARAMETERS, FIGURE)
def reconstructions(
    model: Any,
    images: Any,
    components: Sequence[int] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw images and, below each, what a linear model restores of it.

    Parameters
    ----------
    model : fitted PCA or SubspaceRecognizer
        A model of images of this shape, whose axes are orthonormal.
    images : array (n, height, width)
        Grey images, at most 20.
    components : sequence of int, optional
        Numbers of axes to restore with, a row of images each; by default all.

    Examples
    --------
    >>> import unbend
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> model = unbend.PCA(n_components=20).fit(digits.data)
    >>> figure = unbend.plot.reconstructions(model, digits.images[:6], [5, 20])
    >>> len(figure.axes)
    18
    """
    axes, mean = _linear(model)
    if mean is None:
        raise ValueError(f"{type(model).__name__} has no mean to restore images from: pass a PCA")
    pictures = np.asarray(images)
    if pictures.ndim != 3 or not 1 <= len(pictures) <= 20:
        raise ValueError(
            f"images has the shape {pictures.shape}: pass 1 to 20 grey images, (n, height, width)"
        )
    rows = check_rows(pictures.reshape(len(pictures), -1), "images", min_rows=1)
    if rows.shape[1] != axes.shape[1]:
        raise ValueError(
            f"the images have {rows.shape[1]} pixels and the model {axes.shape[1]} features: pass "
            "images of the size that it was fitted to"
        )
    counts = [len(axes)] if components is None else list(components)
    sheet, names = [rows], [""] * len(rows)
    for count in counts:
        some = axes[: check_integer("components", count, 1, len(axes), "axes of the model")]
        squares = np.square(some).sum(axis=1)
        sheet.append(mean + ((rows - mean) @ some.T / squares) @ some)
        names += [f"{count} axes", *[""] * (len(rows) - 1)]
    shown = list(np.concatenate(sheet).reshape(-1, *pictures.shape[1:]))
    return _sheet(shown, names, len(rows), "shared", title)


def _linear(model: Any) -> tuple[FloatArray, FloatArray | None]:
    """Return the axes of a fitted linear model, and its mean where it has one."""
    axes = getattr(model, "components_", None)
    if axes is None:
        raise ValueError(
            f"{type(model).__name__} has no components_: pass a fitted linear model, such as PCA"
        )
    dense = axes.toarray() if hasattr(axes, "toarray") else np.asarray(axes)
    return dense, getattr(model, "mean_", None)


def _sheet(
    pictures: list[Any], names: list[str], across: int, scale: str, title: str | None
) -> Figure:
    down = -(-len(pictures) // across)
    height = max(image.shape[0] / image.shape[1] for image in pictures) * CELL
    named = any(names)
    figure = new_figure(CELL * across, (height + NAME * named) * down + 0.4 * bool(title))
    grid = figure.add_gridspec(down, across)
    grey = [image for image in pictures if image.ndim == 2]
    limits = (min(map(np.min, grey)), max(map(np.max, grey))) if grey else (None, None)
    for place, (image, name) in enumerate(zip(pictures, names, strict=True)):
        axes: Any = figure.add_subplot(grid[place // across, place % across])
        low, high = limits if scale == "shared" else (None, None)
        axes.imshow(image, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
        axes.set_axis_off()
        if name:
            axes.set_title(plain(name), fontsize=SMALL - 2, pad=2)
    if title:
        figure.suptitle(plain(title), fontsize=LABEL)
    return figure

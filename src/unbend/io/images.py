"""Images: a folder, a list of files or an array, one row of numbers for each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.io.arrays import load_npy, load_npz
from unbend.io.files import file_of
from unbend.io.folders import Gathered, files_of, is_folder, is_paths
from unbend.io.idx import is_idx, load_idx
from unbend.io.numerals import Array
from unbend.io.pictures import SUFFIXES, Kind, picture, picture_kind
from unbend.io.reading import is_file
from unbend.io.table import Table
from unbend.memory import reserve
from unbend.report import step, warn


@dataclass(frozen=True, eq=False)
class Images:
    """Images of one size as the rows of a table; what `read_images` returns.

    NumPy and the estimators take them for the values of the table.

    Attributes
    ----------
    table : Table
        One row for each image: its pixels line by line, the colours of a pixel together. The ids
        are names of files, the label the folders they lie in.
    size : tuple of int
        Height and width, and 3 where the images have colours.
    inverted : bool
        Whether they were black on white and have been made white on black.
    turned : float or None
        Where they were: what each pixel was taken from.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> images = unbend.io.read_images(np.arange(24).reshape(2, 3, 4))
    >>> images.values.shape, images.size, images.pictures.shape
    ((2, 12), (3, 4), (2, 3, 4))
    """

    table: Table
    size: tuple[int, ...]
    inverted: bool
    turned: float | None = None

    @property
    def values(self) -> FloatArray:
        """The pixels, one row for each image."""
        return self.table.values

    @property
    def pictures(self) -> FloatArray:
        """The images as such, (n, height, width) or (n, height, width, 3)."""
        return self.table.values.reshape(-1, *self.size)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of images and of values of each."""
        return self.table.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.table.dtype

    def __len__(self) -> int:
        return len(self.table)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.table.__array__(dtype, copy)

    def kind(self) -> dict[str, Any]:
        """Size, colours and inversion, in JSON: what `like` needs of these images.

        Returns
        -------
        dict
            To be kept with a model, as ``model.save(path, about=images.kind())``.

        Examples
        --------
        >>> import numpy as np
        >>> import unbend
        >>> images = unbend.io.read_images(np.arange(24).reshape(2, 3, 4), invert=True)
        >>> images.kind()
        {'size': [3, 4], 'turned': 23.0}
        >>> unbend.io.read_images(np.ones((1, 3, 4)), like=images.kind()).values[0, 0].item()
        22.0
        """
        return {"size": list(self.size), "turned": self.turned}


def read_images(
    source: Any,
    *,
    colour: bool | None = None,
    invert: bool | str = "auto",
    like: Images | Mapping[str, Any] | None = None,
) -> Images:
    """Read images of one size: from a folder, a list of files, or an array.

    Parameters
    ----------
    source : path, list of paths, or array (n, height, width) or (n, height, width, 3 or 4)
        A folder of PNG, JPEG, TIFF, BMP, GIF, WebP or PNM files, with those in its subfolders,
        whose names then are the label; a list of such files; an array, or the NPY, NPZ or IDX
        file that holds one. Files need Pillow.
    colour : bool, optional
        Whether to keep colours: False makes images grey, True gives grey ones three equal colours.
        By default the first image decides, and another kind among the rest is refused.
    invert : bool or 'auto', default='auto'
        Whether to exchange black and white. 'auto' does so, and warns, for images of two values
        that are mostly white, as scans of writing are: what is drawn should be the numbers that
        are not zero.
    like : Images or dict, optional
        Images that were read before, or their `kind()`: new ones must have their size, and get
        their colours and inversion; the settings above are then not looked at.

    Returns
    -------
    Images
        Pixels in single precision, which holds 8 and 16 bits exactly: 0 is black. Transparency is
        left out; images that a camera marked as turned are turned.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> strokes = np.full((5, 8, 8), 255, dtype=np.uint8)
    >>> strokes[:, 3] = 0
    >>> images = unbend.io.read_images(strokes, invert=True)
    >>> images.pictures[0, 2:5, 0].tolist()
    [0.0, 255.0, 0.0]
    """
    if not isinstance(invert, bool) and invert != "auto":
        raise ValueError(f"invert={invert!r} is not allowed: it must be True, False or 'auto'")
    if like is None:
        return _read(source, colour, invert)
    kind = like.kind() if isinstance(like, Images) else like
    size = tuple(kind["size"])
    images = _read(source, len(size) == 3, False)
    if images.size != size:
        sizes = [f"{width} x {height}" for height, width in (images.size[:2], size[:2])]
        raise ValueError(f"new images are {sizes[0]} and those before are {sizes[1]}: resize them")
    if kind["turned"] is None:
        return images
    np.subtract(kind["turned"], images.values, out=images.values)
    return replace(images, inverted=True, turned=kind["turned"])


def _read(source: Any, colour: bool | None, invert: bool | str) -> Images:
    if is_folder(source):
        return _from_files(files_of(source, SUFFIXES, "images"), colour, invert)
    if is_paths(source) or _is_names(source):
        return _from_files(files_of(source, None, "images"), colour, invert)
    array, where = _array(source)
    return _from_array(array, where, colour, invert)


def _is_names(source: Any) -> bool:
    return isinstance(source, list | tuple) and all(isinstance(item, str) for item in source)


def _from_files(files: Gathered, colour: bool | None, invert: bool | str) -> Images:
    first = picture_kind(files.paths[0])
    kind = Kind(first.height, first.width, first.colour if colour is None else colour, first.bits)
    n = len(files.paths)
    # Whole numbers beyond 16 bits are rare among images, and lose digits in single precision.
    values = _room(n, kind.size, np.float64 if first.bits > 16 else np.float32, "the images")
    for place, path in enumerate(files.paths):
        pixels = picture(path, kind, files.paths[0], convert=colour is not None)
        values[place] = pixels.reshape(-1)
        step(place + 1, n)
    return _images(values, kind.size, files.ids, files.label, invert)


def _room(n: int, size: tuple[int, ...], dtype: Any, what: str) -> FloatArray:
    needed = n * prod(size) * np.dtype(dtype).itemsize
    reserve(needed, what, "take fewer images, or smaller ones")
    return np.empty((n, prod(size)), dtype=dtype)


def _array(source: Any) -> tuple[Array, str]:
    """Array of what was given, or of the file that holds it."""
    if not is_file(source):
        return np.asarray(source), "the array"
    file = file_of(source)
    with file.open() as stream:
        head = stream.read(8)
    if is_idx(head):
        return load_idx(file), file.name
    if head.startswith(b"\x93NUMPY"):
        return load_npy(file), file.name
    if head.startswith(b"PK"):
        arrays = {name: held for name, held in load_npz(file).items() if held.ndim in (3, 4)}
        if len(arrays) == 1:
            return next(iter(arrays.values())), file.name
        raise ValueError(f"{file.name} holds {len(arrays)} arrays of images: save one by itself")
    raise ValueError(
        f"{file.name} holds no array of images (NPY, NPZ and IDX do): pass a folder, or a list of "
        "files of images"
    )


def _from_array(array: Array, where: str, colour: bool | None, invert: bool | str) -> Images:
    """Take an array of grey images, or of images with three colours, or four with transparency."""
    coloured = array.ndim == 4 and array.shape[3] in (3, 4)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if (array.ndim != 3 and not coloured) or array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(
            f"{where} has the shape {array.shape} and the type {array.dtype}: images are numbers, "
            "(n, height, width) or (n, height, width, 3)"
        )
    kind = Kind(array.shape[1], array.shape[2], coloured if colour is None else colour)
    wide = array.dtype.itemsize > (4 if array.dtype.kind == "f" else 2)
    values = _room(len(array), kind.size, np.float64 if wide else np.float32, f"images of {where}")
    for part in row_chunks(len(array), 64 * prod(array.shape[1:])):
        values[part] = _coloured(array[part], kind.colour).reshape(-1, prod(kind.size))
    if not np.isfinite(values).all():
        raise ValueError(f"{where} holds pixels that are not finite: put numbers in their place")
    return _images(values, kind.size, None, None, invert)


def _coloured(images: Array, colour: bool) -> Array:
    """Grey of colours, or three equal colours of grey."""
    if images.ndim == 3:
        return np.repeat(images[..., None], 3, axis=3) if colour else images
    return images[..., :3] if colour else images[..., :3] @ np.array([0.299, 0.587, 0.114])


def _images(
    values: FloatArray,
    size: tuple[int, ...],
    ids: Array | None,
    label: Array | None,
    invert: bool | str,
) -> Images:
    inverted = invert is True or (invert == "auto" and len(size) == 2 and _is_mostly_white(values))
    turned = float(values.min()) + float(values.max()) if inverted else None
    if turned is not None:
        np.subtract(turned, values, out=values)
    if inverted and invert == "auto":
        warn(
            "the images have two values and are mostly white: black and white were exchanged; pass "
            "invert=False to keep them, or invert=True to exchange without this warning"
        )
    height, width = size[:2]
    pixels = [f"y{y}x{x}" for y in range(height) for x in range(width)]
    names = pixels if len(size) == 2 else [f"{name}{c}" for name in pixels for c in "rgb"]
    table = Table(
        values=values,
        columns=tuple(names),
        label=label,
        label_name=None if label is None else "folder",
        ids=ids,
        id_name=None if ids is None else "file",
        rows=np.arange(len(values)),
    )
    return Images(table, size, bool(inverted), turned)


def _is_mostly_white(values: FloatArray) -> bool:
    """Whether all images together have two values, and more of the larger."""
    low, high = values.min(), values.max()
    white = 0
    for part in row_chunks(len(values), values.shape[1]):
        some = values[part]
        count = int(np.count_nonzero(some == high))
        if low == high or count + np.count_nonzero(some == low) < some.size:
            return False
        white += count
    return 2 * white > values.size

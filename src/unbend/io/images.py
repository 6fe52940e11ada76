"""Images: a folder, a list of files or an array, one row of numbers for each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.folders import Gathered, files_of, is_folder, is_paths
from unbend.io.numerals import Array
from unbend.io.pictures import SUFFIXES, Kind, picture, picture_kind, pixels_of
from unbend.io.scans import Tally
from unbend.io.stacks import from_stack, room, stack_of
from unbend.io.table import Table
from unbend.report import step, warn
from unbend.validation.scalars import is_integer


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
    resampled : bool
        Whether a size was asked for, to which all were brought.

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
    resampled: bool = False

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
        {'size': [3, 4], 'turned': 23.0, 'resampled': False}
        >>> unbend.io.read_images(np.ones((1, 3, 4)), like=images.kind()).values[0, 0].item()
        22.0
        """
        return {"size": list(self.size), "turned": self.turned, "resampled": self.resampled}


def read_images(
    source: Any,
    *,
    color: bool | None = None,
    invert: bool | str = "auto",
    size: tuple[int, int] | None = None,
    array: str | None = None,
    like: Images | Mapping[str, Any] | None = None,
) -> Images:
    """Read images of one size: from a folder, a list of files, or an array.

    Parameters
    ----------
    source : path, list of paths, or array (n, height, width) or (n, height, width, 3 or 4)
        A folder of PNG, JPEG, TIFF, BMP, GIF, WebP or PNM files, with those in its subfolders,
        whose names then are the label; a list of such files; an array, or the NPY, NPZ, IDX, HDF5
        or MAT file that holds one. Files of pictures need Pillow.
    color : bool, optional
        Whether to keep colours: False makes images grey, True gives grey ones three equal colours.
        By default the first image decides, and another kind among the rest is refused.
    invert : bool or 'auto', default='auto'
        Whether to exchange black and white. 'auto' does so, and warns, for images of two values
        that are mostly white, as scans of writing are, also where black and white are stored
        as colours: what is drawn should be the numbers that
        are not zero.
    size : (int, int), optional
        Height and width to which images of different sizes are brought, stretched where the
        proportions differ: by Pillow's bilinear filter, which takes the mean over the pixels that
        become one. By default all must have the size of the first.
    array : str, optional
        Which array of an NPZ, HDF5 or MAT file that holds several is the images.
    like : Images or dict, optional
        Images that were read before, or their `kind()`: new ones must have their size, or are
        brought to it where those before were, and get their colours and inversion; `colour`,
        `invert` and `size` are then not looked at.

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
        return _read(source, color, invert, _checked_size(size), array)
    kind = like.kind() if isinstance(like, Images) else like
    shape = tuple(kind["size"])
    # Models of an earlier version do not say, and knew no other sizes.
    wanted = shape[:2] if kind.get("resampled", False) else None
    images = _read(source, len(shape) == 3, False, wanted, array)
    if images.size != shape:
        sizes = [f"{width} x {height}" for height, width in (images.size[:2], shape[:2])]
        raise ValueError(
            f"new images are {sizes[0]} and those before are {sizes[1]}: resize them, or read "
            "those before with size="
        )
    if kind["turned"] is None:
        return images
    np.subtract(kind["turned"], images.values, out=images.values)
    return replace(images, inverted=True, turned=kind["turned"])


def _checked_size(size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    sides = tuple(size) if isinstance(size, tuple | list) else ()
    if len(sides) != 2 or not all(is_integer(side) and side > 0 for side in sides):
        raise ValueError(f"size={size!r} is not allowed: it must be (height, width), in pixels")
    return int(sides[0]), int(sides[1])


def _read(
    source: Any,
    color: bool | None,
    invert: bool | str,
    size: tuple[int, int] | None,
    array: str | None,
) -> Images:
    tally = Tally()
    folder = is_folder(source)
    if folder or is_paths(source) or _is_names(source):
        if array is not None:
            raise ValueError(f"array={array!r} names an array of a file, and files were given")
        files = files_of(source, SUFFIXES if folder else None, "images")
        values, shape = _from_files(files, color, size, tally)
        images = _images(values, shape, files.ids, files.label)
    else:
        held, where = stack_of(source, size, array)
        images = _images(*from_stack(held, where, color, size, tally), None, None)
    return replace(_turned(images, tally, invert), resampled=size is not None)


def _is_names(source: Any) -> bool:
    return isinstance(source, list | tuple) and all(isinstance(item, str) for item in source)


def _from_files(
    files: Gathered, color: bool | None, size: tuple[int, int] | None, tally: Tally
) -> tuple[FloatArray, tuple[int, ...]]:
    first = picture_kind(files.paths[0])
    height, width = (first.height, first.width) if size is None else size
    kind = Kind(height, width, first.color if color is None else color, first.bits)
    n, cut = len(files.paths), []
    # Whole numbers beyond 16 bits are rare among images, and lose digits in single precision.
    values = room(n, kind.size, np.float64 if first.bits > 16 else np.float32, "the images")
    for place, path in enumerate(files.paths):
        read = picture(path, kind, files.paths[0], convert=color is not None, resample=bool(size))
        tally.add(read.pixels, kind.color)
        values[place] = pixels_of(read, kind).reshape(-1)
        if read.cut:
            cut.append(path)
        step(place + 1, n)
    if cut:
        others = "" if len(cut) == 1 else f" and {len(cut) - 1} more"
        warn(
            f"{cut[0]}{others} in 16 bits for each colour were read in 8, which is all that Pillow "
            "reads: pass an array of their pixels to keep 16"
        )
    return values, kind.size


def _turned(images: Images, tally: Tally, invert: bool | str) -> Images:
    """Exchange black and white where it is asked for, or where the images are scans."""
    if not (invert is True or (invert == "auto" and tally.is_mostly_white)):
        return images
    turned = tally.least + tally.most
    np.subtract(turned, images.values, out=images.values)
    if invert == "auto":
        warn(
            "the images have two values and are mostly white: black and white were exchanged; pass "
            "invert=False to keep them, or invert=True to exchange without this warning"
        )
    return replace(images, inverted=True, turned=turned)


def _images(
    values: FloatArray, size: tuple[int, ...], ids: Array | None, label: Array | None
) -> Images:
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
    return Images(table, size, inverted=False)

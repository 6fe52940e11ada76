"""Images: a folder, a list of files or an array, one row of pixels for each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.io.arrays import describe_arrays, load_idx, load_npy, load_npz, pick_array
from unbend.io.hdf5 import open_arrays
from unbend.io.image_files import (
    SUFFIXES,
    ImageFile,
    ImageKind,
    PixelRange,
    read_image,
    resample,
)
from unbend.io.matlab import load_mat
from unbend.io.numerals import Array
from unbend.io.reading import check_no_array
from unbend.io.source import FileList, Source, is_file, is_folder, is_paths, list_files, open_source
from unbend.io.table import Table
from unbend.memory import reserve
from unbend.report import step, warn
from unbend.validation.scalars import is_integer

# Pixels of the longer side of a thumbnail.
LONGEST = 128


@dataclass(frozen=True, eq=False)
class Images:
    """Images of one size as the rows of a table; what `read_images` returns.

    NumPy and the estimators take them for the values of the table.

    Attributes
    ----------
    table : Table
        One row for each image: its pixels line by line, the colours of a pixel together. The ids
        are names of files, the label their folders.
    size : tuple of int
        Height and width, and 3 where the images have colours.
    inverted : bool
        Whether black and white were inverted.
    turned : float or None
        Where they were: the number from which each pixel was subtracted.
    resampled : bool
        Whether all were resized.

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
        Whether to invert black and white. 'auto' does so, and warns, for images of two values that
        are mostly white, as scans of writing are, also where black and white are stored as colours:
        strokes should be the numbers that are not zero.
    size : (int, int), optional
        Height and width to which images are resized, stretched where the proportions differ: by
        Pillow's bilinear filter, which takes the mean over the pixels that become one. By default
        all must have the size of the first.
    array : str, optional
        Which array of an NPZ, HDF5 or MAT file that holds several is the images.
    like : Images or dict, optional
        Images that were read before, or their `kind()`: new ones must have their size, or are
        brought to it where those before were, and get their colours and inversion; `color`,
        `invert` and `size` are then ignored.

    Returns
    -------
    Images
        Pixels in single precision, which holds 8 and 16 bits exactly: 0 is black. Transparency is
        left out; images are rotated as their camera says.

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
        return _read(source, color, invert, _check_size(size), array)
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


def _check_size(size: Any) -> tuple[int, int] | None:
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
    pixel_range = PixelRange()
    folder = is_folder(source)
    if folder or is_paths(source) or _is_names(source):
        if array is not None:
            raise ValueError(f"array={array!r} names an array of a file, and files were given")
        files = list_files(source, SUFFIXES if folder else None, "images")
        values, shape = _from_files(files, color, size, pixel_range)
        images = _images(values, shape, files.ids, files.label)
    else:
        held, where = _load_stack(source, size, array)
        images = _images(*_from_stack(held, where, color, size, pixel_range), None, None)
    return replace(_invert(images, pixel_range, invert), resampled=size is not None)


def _is_names(source: Any) -> bool:
    return isinstance(source, list | tuple) and all(isinstance(item, str) for item in source)


def _from_files(
    files: FileList, color: bool | None, size: tuple[int, int] | None, pixel_range: PixelRange
) -> tuple[FloatArray, tuple[int, ...]]:
    n, cut = len(files.paths), []
    first: ImageFile | None = None
    values: FloatArray = np.empty(0)
    shape: tuple[int, ...] = ()
    for place, path in enumerate(files.paths):
        image = read_image(path, color, first, resize=size is not None)
        if first is None:
            first, shape = image, (*(size or image.kind.size[:2]), *image.kind.size[2:])
            # Integers beyond 16 bits are rare among images, and lose digits in single precision.
            dtype = np.float64 if image.kind.bits > 16 else np.float32
            values = _allocate(n, shape, dtype, "the images")
        pixel_range.add(image.pixels, image.kind.color)
        fits = image.pixels.shape == shape
        values[place] = (
            image.pixels if fits else resample(image.pixels, (shape[0], shape[1]))
        ).reshape(-1)
        if image.cut:
            cut.append(path)
        step(place + 1, n)
    if cut:
        others = "" if len(cut) == 1 else f" and {len(cut) - 1} more"
        warn(
            f"{cut[0]}{others} in 16 bits for each colour were read in 8, which is all that Pillow "
            "reads: pass an array of their pixels to keep 16"
        )
    return values, shape


def _invert(images: Images, pixel_range: PixelRange, invert: bool | str) -> Images:
    """Invert black and white where it is asked for, or where the images are scans."""
    if not (invert is True or (invert == "auto" and pixel_range.is_mostly_white)):
        return images
    turned = pixel_range.least + pixel_range.most
    np.subtract(turned, images.values, out=images.values)
    if invert == "auto":
        warn(
            "the images have two values and are mostly white: black and white were inverted; pass "
            "invert=False to keep them, or invert=True to invert without this warning"
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


def _allocate(n: int, size: tuple[int, ...], dtype: Any, what: str) -> FloatArray:
    """Allocate an array for `n` images, if memory allows."""
    needed = n * prod(size) * np.dtype(dtype).itemsize
    reserve(needed, what, "take fewer images, or smaller ones by size=")
    return np.empty((n, prod(size)), dtype=dtype)


def _load_stack(source: Any, size: tuple[int, int] | None, array: str | None) -> tuple[Array, str]:
    """Array of what was given, or of the file that holds it."""
    if is_file(source):
        source = open_source(source)
        return _load_file(source, array), source.name
    if array is not None:
        raise ValueError(f"array={array!r} names an array of a file, and no file was given")
    try:
        return np.asarray(source), "the array"
    except ValueError as error:
        if size is None:
            raise ValueError(
                "the images are of different sizes: bring all to one height and width by size="
            ) from error
    return np.stack([resample(np.asarray(image), size) for image in source]), "the list"


def _load_file(source: Source, array: str | None) -> Array:
    """Take the array that is asked for, or the only one that can be images."""
    kind = source.format
    if kind == "npz":
        return _choose(load_npz(source), array, source.name)
    if kind == "mat":
        return _choose(load_mat(source), array, source.name)
    if kind in ("hdf5", "mat 7.3"):
        with open_arrays(source) as arrays:
            return _choose(arrays, array, source.name)
    check_no_array(array, source.name)
    if kind == "idx":
        return load_idx(source)
    if kind == "npy":
        return load_npy(source)
    raise ValueError(
        f"{source.name} holds no array of images (NPY, NPZ, IDX, HDF5 and MAT do): pass a folder, "
        "or a list of files of images"
    )


def _choose(arrays: Any, array: str | None, where: str) -> Array:
    if array is not None:
        return np.asarray(pick_array(arrays, array, where)[:])
    found = [name for name, held in arrays.items() if held.ndim in (3, 4)]
    if len(found) == 1:
        return np.asarray(arrays[found[0]][:])
    if not found:
        raise ValueError(
            f"{where} holds no array of images, which is (n, height, width) or (n, height, width, "
            f"3), but {describe_arrays(arrays)}"
        )
    raise ValueError(
        f"{where} holds several arrays of images ({describe_arrays(arrays, found)}): name one "
        "by array="
    )


def _from_stack(
    array: Array,
    where: str,
    color: bool | None,
    size: tuple[int, int] | None,
    pixel_range: PixelRange,
) -> tuple[FloatArray, tuple[int, ...]]:
    """Rows of an array of grey images, or of three colours, or four with transparency."""
    coloured = array.ndim == 4 and array.shape[3] in (3, 4)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if (array.ndim != 3 and not coloured) or array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(
            f"{where} has the shape {array.shape} and the type {array.dtype}: images are numbers, "
            "(n, height, width) or (n, height, width, 3)"
        )
    height, width = array.shape[1:3] if size is None else size
    kind = ImageKind(height, width, coloured if color is None else color)
    wide = array.dtype.itemsize > (4 if array.dtype.kind == "f" else 2)
    values = _allocate(
        len(array), kind.size, np.float64 if wide else np.float32, f"images of {where}"
    )
    for part in row_chunks(len(array), 64 * prod(array.shape[1:])):
        pixels = _convert_colors(array[part], kind.color)
        if not np.isfinite(pixels).all():
            raise ValueError(f"{where} holds pixels that are not finite: replace them with numbers")
        pixel_range.add(pixels, kind.color)
        if pixels.shape[1:3] != (height, width):
            pixels = np.stack([resample(image, (height, width)) for image in pixels])
        values[part] = pixels.reshape(-1, prod(kind.size))
    return values, kind.size


def _convert_colors(images: Array, color: bool) -> Array:
    """Grey of colours, or three equal colours of grey."""
    if images.ndim == 3:
        return np.repeat(images[..., None], 3, axis=3) if color else images
    return images[..., :3] if color else images[..., :3] @ np.array([0.299, 0.587, 0.114])


def read_thumbnails(source: Any) -> list[FloatArray]:
    """Read the images of a folder as they are, or any source of `read_images`, as thumbnails.

    They may have different sizes, and are not inverted: nothing is compared.
    """
    if not is_folder(source):
        return [_shrink(np.asarray(image)) for image in read_images(source).pictures]
    paths = list_files(source, SUFFIXES, "images").paths
    return [_shrink(read_image(path).pixels.astype(np.float32)) for path in paths]


def _shrink(pixels: FloatArray) -> FloatArray:
    height, width = pixels.shape[:2]
    share = LONGEST / max(height, width)
    if share >= 1:
        return pixels
    return resample(pixels, (max(round(height * share), 1), max(round(width * share), 1)))

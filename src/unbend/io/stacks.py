"""Arrays of images, in memory or in files."""

from math import prod
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.io.arrays import load_npy, load_npz
from unbend.io.files import File, file_of
from unbend.io.hdf5 import open_arrays
from unbend.io.idx import is_idx, load_idx
from unbend.io.mat import load_mat
from unbend.io.named import listed
from unbend.io.numerals import Array
from unbend.io.pictures import Kind, resampled
from unbend.io.reading import is_file
from unbend.io.scans import Tally
from unbend.memory import reserve


def room(n: int, size: tuple[int, ...], dtype: Any, what: str) -> FloatArray:
    """Take memory for so many images, if there is."""
    needed = n * prod(size) * np.dtype(dtype).itemsize
    reserve(needed, what, "take fewer images, or smaller ones by size=")
    return np.empty((n, prod(size)), dtype=dtype)


def stack_of(source: Any, size: tuple[int, int] | None, array: str | None) -> tuple[Array, str]:
    """Array of what was given, or of the file that holds it."""
    if is_file(source):
        file = file_of(source)
        return _of_file(file, array), file.name
    if array is not None:
        raise ValueError(f"array={array!r} names an array of a file, and no file was given")
    try:
        return np.asarray(source), "the array"
    except ValueError as error:
        if size is None:
            raise ValueError(
                "the images are of different sizes: bring all to one height and width by size="
            ) from error
    return np.stack([resampled(np.asarray(image), size) for image in source]), "the list"


def _of_file(file: File, array: str | None) -> Array:
    with file.open() as stream:
        head = stream.read(8)
    if head.startswith((b"PK", b"\x89HDF", b"MATLAB")):
        return _named(file, head, array)
    if array is not None:
        raise ValueError(
            f"array={array!r} names an array of an NPZ, HDF5 or MAT file, and {file.name} is none"
        )
    if is_idx(head):
        return load_idx(file)
    if head.startswith(b"\x93NUMPY"):
        return load_npy(file)
    raise ValueError(
        f"{file.name} holds no array of images (NPY, NPZ, IDX, HDF5 and MAT do): pass a folder, or "
        "a list of files of images"
    )


def _named(file: File, head: bytes, array: str | None) -> Array:
    """Take the array that is asked for, or the only one that can be images."""
    with file.open() as stream:
        newer = stream.read(19) == b"MATLAB 7.3 MAT-file"
    if head.startswith(b"PK"):
        return _chosen(load_npz(file), array, file.name)
    if head.startswith(b"MATLAB") and not newer:
        return _chosen(load_mat(file), array, file.name)
    with open_arrays(file, transposed=newer) as arrays:
        return _chosen(arrays, array, file.name)


def _chosen(arrays: Any, array: str | None, where: str) -> Array:
    if array is not None:
        if array not in arrays:
            raise ValueError(f"{where} has no array {array!r}: it holds {listed(arrays)}")
        return np.asarray(arrays[array][:])
    found = [name for name, held in arrays.items() if held.ndim in (3, 4)]
    if len(found) == 1:
        return np.asarray(arrays[found[0]][:])
    if not found:
        raise ValueError(
            f"{where} holds no array of images, which is (n, height, width) or (n, height, width, "
            f"3), but {listed(arrays)}"
        )
    raise ValueError(
        f"{where} holds several arrays of images ({listed(arrays, found)}): name one by array="
    )


def from_stack(
    array: Array, where: str, color: bool | None, size: tuple[int, int] | None, tally: Tally
) -> tuple[FloatArray, tuple[int, ...]]:
    """Rows of an array of grey images, or of three colours, or four with transparency."""
    colored = array.ndim == 4 and array.shape[3] in (3, 4)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if (array.ndim != 3 and not colored) or array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(
            f"{where} has the shape {array.shape} and the type {array.dtype}: images are numbers, "
            "(n, height, width) or (n, height, width, 3)"
        )
    height, width = array.shape[1:3] if size is None else size
    kind = Kind(height, width, colored if color is None else color)
    wide = array.dtype.itemsize > (4 if array.dtype.kind == "f" else 2)
    values = room(len(array), kind.size, np.float64 if wide else np.float32, f"images of {where}")
    for part in row_chunks(len(array), 64 * prod(array.shape[1:])):
        pixels = _colored(array[part], kind.color)
        if not np.isfinite(pixels).all():
            raise ValueError(
                f"{where} holds pixels that are not finite: put numbers in their place"
            )
        tally.add(pixels, kind.color)
        if pixels.shape[1:3] != (height, width):
            pixels = np.stack([resampled(image, (height, width)) for image in pixels])
        values[part] = pixels.reshape(-1, prod(kind.size))
    return values, kind.size


def _colored(images: Array, color: bool) -> Array:
    """Grey of colours, or three equal colours of grey."""
    if images.ndim == 3:
        return np.repeat(images[..., None], 3, axis=3) if color else images
    return images[..., :3] if color else images[..., :3] @ np.array([0.299, 0.587, 0.114])

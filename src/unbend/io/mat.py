"""MAT files of versions 4 to 7, read by SciPy after they were unpacked within bounds."""

import io
import struct
import zlib
from typing import Any

import numpy as np

from unbend.arrays import is_sparse
from unbend.io.arrays import MatrixSource, columns_source, matrix_source, places
from unbend.io.files import File
from unbend.io.named import chosen, listed
from unbend.io.numerals import Array
from unbend.memory import NotEnoughMemory, available_memory, reserve

# What SciPy raises over files that make no sense.
DAMAGE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OSError,
    EOFError,
    OverflowError,
    MemoryError,
    AttributeError,
    NotImplementedError,
    struct.error,
    zlib.error,
)
NUMBERS = {"double", "single", "logical", "sparse", "char"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
HEADER, TAG = 128, 8
PACKED, MATRIX = 15, 14


def mat_source(file: File, array: str | None) -> MatrixSource:
    """Take the matrix of a MAT file; vectors of its length are columns."""
    arrays = load_mat(file, array)
    which = chosen(arrays, array, file.name)
    columns = {name: arrays[name] for name in which.columns}
    if which.matrix is None:
        return columns_source(columns, file.name)
    matrix = arrays[which.matrix]
    if matrix.ndim != 2:
        return matrix_source(matrix, file.name)
    return MatrixSource(matrix, places(matrix), columns, file.name)


def load_mat(file: File, array: str | None = None) -> dict[str, Array]:
    """Read the arrays of numbers and text; cells, structures and objects are left alone."""
    from scipy import io as scipy_io

    # The stubs know of paths only.
    reader: Any = scipy_io
    damage = (*DAMAGE, reader.matlab.MatReadError)
    content = _unpacked(file.bytes(), file.name)
    try:
        held = {
            name: shape
            for name, shape, kind in reader.whosmat(io.BytesIO(content))
            if kind in NUMBERS
        }
        wanted = [name for name in held if array in (None, name)] or list(held)
        loaded = reader.loadmat(
            io.BytesIO(content), variable_names=wanted, chars_as_strings=True, spmatrix=False
        )
    except damage as error:
        raise ValueError(_damaged(file.name)) from error
    arrays = {name: _dense(loaded[name], file.name) for name in wanted if name in loaded}
    if not arrays:
        raise ValueError(f"{file.name} holds {listed({})}: save a matrix")
    return {name: _vector(part) for name, part in arrays.items() if part.size}


def _damaged(name: str) -> str:
    return f"{name} is a damaged or cut off MAT file: fetch or write it again"


def _dense(array: Any, where: str) -> Array:
    if not is_sparse(array):
        return np.asarray(array)
    reserve(
        array.shape[0] * array.shape[1] * 8,
        f"the sparse matrices of {where}, as tables,",
        "read distances between pairs by read_distances",
    )
    try:
        array.check_format(full_check=True)
        return np.asarray(array.toarray())
    except DAMAGE as error:
        raise ValueError(_damaged(where)) from error


def _vector(array: Array) -> Array:
    """MATLAB has no arrays of one dimension."""
    return array.reshape(-1) if array.ndim == 2 and 1 in array.shape else array


def _unpacked(content: bytes, name: str) -> bytes:
    """Unpack the variables of a file, no more of them than memory can hold.

    SciPy would believe the sizes that a packed variable claims.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[HEADER - 2 : HEADER])
    if not content.startswith(b"MATLAB") or order is None:
        return content
    free = available_memory()
    most = None if free is None else free // 3
    parts, place, done = [content[:HEADER]], HEADER, HEADER
    while place + TAG <= len(content):
        kind, size = struct.unpack_from(f"{order}2I", content, place)
        part = content[place : place + TAG + size]
        if len(part) < TAG + size or kind not in (PACKED, MATRIX):
            raise ValueError(_damaged(name))
        if kind == PACKED:
            part = _inflated(part[TAG:], name, None if most is None else most - done)
        parts.append(part)
        done += len(part)
        place += TAG + size
    return b"".join(parts)


def _inflated(packed: bytes, name: str, most: int | None) -> bytes:
    """Unpack one variable, which must be as long as it says."""
    unpacker = zlib.decompressobj()
    try:
        part = unpacker.decompress(packed, 0 if most is None else max(most, 1))
    except zlib.error as error:
        raise ValueError(_damaged(name)) from error
    if unpacker.unconsumed_tail:
        raise NotEnoughMemory(
            f"the arrays of {name} unpack to more than memory can hold: take a machine with more, "
            "or fewer rows"
        )
    return part

"""MAT files of versions 4 to 7; those of version 7.3 are HDF5.

Parsed here and not by SciPy, whose reader crashes on some damaged files. Follows MathWorks'
*MAT-File Format*. Every size is checked against the bytes that are there.
"""

import struct
import zlib
from collections.abc import Iterator
from itertools import islice
from math import prod

import numpy as np
from scipy.sparse import coo_array, csc_array

from unbend.io.arrays import describe_arrays
from unbend.io.numerals import Array
from unbend.io.source import Source
from unbend.memory import NotEnoughMemory, available_memory, reserve

TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
LETTERS = {1: "utf-8", 2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"} | {
    14: "i8",
    15: "u8",
}
CHAR, SPARSE, COMPLEX = 4, 5, 0x800
HEADER, TAG = 128, 8
MATRIX, PACKED = 14, 15
MOST_PARTS = 8
OLD_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")


class DamagedFile(Exception):
    """The file is not a valid MAT file."""


def load_mat(source: Source) -> dict[str, Array]:
    """Read the arrays of numbers and text; cells, structures and objects are ignored."""
    try:
        held = dict(variables(source.read_bytes(), source.name))
    except DamagedFile as error:
        raise ValueError(
            f"{source.name} is a damaged or cut off MAT file: fetch or write it again"
        ) from error
    # MATLAB has no arrays of one dimension.
    arrays = {
        name: array.reshape(-1) if array.ndim == 2 and 1 in array.shape else array
        for name, array in held.items()
        if array.size
    }
    if not arrays:
        raise ValueError(f"{source.name} holds {describe_arrays({})}: save a matrix")
    return arrays


def variables(content: bytes, name: str) -> Iterator[tuple[str, Array]]:
    """Give names and arrays; cells, structures, functions and complex numbers are ignored."""
    if not content.startswith(b"MATLAB"):
        yield from _old_variables(content, name)
        return
    order = {b"IM": "<", b"MI": ">"}.get(content[HEADER - 2 : HEADER])
    if order is None:
        raise DamagedFile
    free = available_memory()
    # The arrays that are made of the bytes take as much again.
    left = None if free is None else free // 2
    for kind, part in _elements(content[HEADER:], order, padded=False):
        if kind == PACKED:
            part = _inflate(part, name, left)
            left = None if left is None else left - len(part)
            kind, part = next(_elements(part, order), (0, b""))
        if kind != MATRIX:
            raise DamagedFile
        found = _variable(part, order, name)
        if found is not None:
            yield found


def _elements(content: bytes, order: str, *, padded: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield kinds and bytes of the elements; short ones are inside their tag."""
    place = 0
    while place + TAG <= len(content):
        kind, size = struct.unpack_from(f"{order}2I", content, place)
        start = place + TAG
        if kind >> 16:
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
            if size > 4:
                raise DamagedFile
        if start + size > len(content):
            raise DamagedFile
        yield kind, content[start : start + size]
        place = start + size
        # Parts of a variable begin at multiples of eight.
        place += -place % 8 if padded else 0


def _inflate(packed: bytes, name: str, most: int | None) -> bytes:
    """Unpack one variable, if it fits in memory."""
    unpacker = zlib.decompressobj()
    try:
        part = unpacker.decompress(packed, 0 if most is None else max(most, 1))
    except zlib.error as error:
        raise DamagedFile from error
    if unpacker.unconsumed_tail:
        raise NotEnoughMemory(
            f"the arrays of {name} unpack to more than memory can hold: use a machine with more "
            "memory, or fewer rows"
        )
    return part


def _variable(content: bytes, order: str, where: str) -> tuple[str, Array] | None:
    """Read flags, sizes, name and numbers of one variable."""
    # A variable has six parts at most, and what is no variable may have millions.
    parts = list(islice(_elements(content, order), MOST_PARTS))
    if len(parts) < 3 or len(parts[0][1]) != 8 or len(parts[1][1]) % 4:
        raise DamagedFile
    (flags,) = struct.unpack_from(f"{order}I", parts[0][1])
    shape = tuple(int(size) for size in np.frombuffer(parts[1][1], f"{order}i4"))
    name = parts[2][1].decode("latin-1")
    kind = flags & 0xFF
    if not name.strip("\0"):
        # Where MATLAB keeps what belongs to objects and functions.
        return None
    if (kind not in CLASSES and kind not in (CHAR, SPARSE)) or flags & COMPLEX:
        return None
    if len(shape) < 2 or min(shape) < 0:
        raise DamagedFile
    if kind == SPARSE:
        return name, _sparse(parts[3:], shape, order, where)
    if len(parts) != 4:
        raise DamagedFile
    if kind == CHAR:
        return name, _text(*parts[3], shape, order)
    numbers = _numbers(parts[3], order)
    if len(numbers) != prod(shape):
        raise DamagedFile
    # Numbers are stored in the smallest type that holds them, column by column.
    return name, numbers.astype(CLASSES[kind]).reshape(shape, order="F")


def _numbers(part: tuple[int, bytes], order: str) -> Array:
    kind, content = part
    if kind not in TYPES or len(content) % np.dtype(TYPES[kind]).itemsize:
        raise DamagedFile
    return np.frombuffer(content, np.dtype(f"{order}{TYPES[kind]}"))


def _text(kind: int, content: bytes, shape: tuple[int, ...], order: str) -> Array:
    """Join characters, which are stored column by column, to rows."""
    if kind not in LETTERS or len(shape) != 2:
        raise DamagedFile
    encoding = LETTERS[kind]
    try:
        text = content.decode(encoding if kind in (1, 2, 16) else f"{encoding}-{_end(order)}")
    except UnicodeDecodeError as error:
        raise DamagedFile from error
    if len(text) != prod(shape):
        raise DamagedFile
    rows = ["".join(text[row :: shape[0]]).rstrip() for row in range(shape[0])]
    return np.array(rows, dtype=object)


def _end(order: str) -> str:
    return "le" if order == "<" else "be"


def _sparse(
    parts: list[tuple[int, bytes]], shape: tuple[int, ...], order: str, where: str
) -> Array:
    if len(parts) != 3 or len(shape) != 2:
        raise DamagedFile
    rows, starts, values = (_numbers(part, order) for part in parts)
    if len(starts) != shape[1] + 1 or rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise DamagedFile
    count = int(starts[-1])
    reserve(8 * prod(shape), f"the sparse matrix of {where}, as a table,", "take fewer rows")
    try:
        entries = (values[:count].astype(float), rows[:count], starts)
        matrix = csc_array(entries, shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise DamagedFile from error
    return np.asarray(matrix.toarray())


def _old_variables(content: bytes, where: str) -> Iterator[tuple[str, Array]]:
    """Variables of version 4, which has no word to begin with: full and sparse matrices."""
    place = 0
    while place < len(content):
        if place + 20 > len(content):
            raise DamagedFile
        order = "<" if struct.unpack_from("<I", content, place)[0] < 10_000 else ">"
        code, rows, columns, imaginary, length = struct.unpack_from(f"{order}5I", content, place)
        kind, use = code // 10 % 10, code % 10
        if code // 1000 != (order == ">") or code // 100 % 10 or kind >= len(OLD_TYPES) or use > 2:
            raise DamagedFile
        dtype = np.dtype(f"{order}{OLD_TYPES[kind]}")
        start = place + 20 + length
        end = start + rows * columns * dtype.itemsize
        place = end + (end - start if imaginary else 0)
        if place > len(content):
            raise DamagedFile
        name = content[start - length : start].rstrip(b"\0").decode("latin-1")
        matrix = np.frombuffer(content[start:end], dtype).reshape((rows, columns), order="F")
        if use == 0 and not imaginary:
            yield name, matrix.astype(dtype.newbyteorder("="))
        elif use == 2 and columns == 3:
            # A fourth column is the imaginary part of the entries.
            yield name, _old_sparse(matrix.astype(float), where)


def _old_sparse(entries: Array, where: str) -> Array:
    """Read a sparse matrix of version 4: rows, columns and values, and at the end the sizes."""
    if not len(entries):
        raise DamagedFile
    sizes, places = entries[-1, :2], entries[:-1, :2]
    for numbers in (sizes, places):
        if not ((numbers >= 1) & (numbers < 2**53) & (numbers == np.floor(numbers))).all():
            raise DamagedFile
    if (places > sizes).any():
        raise DamagedFile
    shape = int(sizes[0]), int(sizes[1])
    reserve(8 * prod(shape), f"the sparse matrix of {where}, as a table,", "take fewer rows")
    first, second = (places - 1).astype(np.int64).T
    return np.asarray(coo_array((entries[:-1, 2], (first, second)), shape=shape).toarray())

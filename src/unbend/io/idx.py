"""IDX files, in which the digits of MNIST and their relatives come."""

from math import prod

import numpy as np

from unbend.io.files import File
from unbend.io.numerals import Array

TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def is_idx(head: bytes) -> bool:
    """Whether a file begins as IDX files do: two zeros, a type, and a number of dimensions."""
    return len(head) >= 8 and head[:2] == b"\x00\x00" and head[2] in TYPES and 1 <= head[3] <= 4


def load_idx(file: File) -> Array:
    """Read the array, whose size must be what the file says."""
    head = file.bytes(4)
    dtype, start = np.dtype(TYPES[head[2]]), 4 + 4 * head[3]
    sizes = file.bytes(start)[4:]
    if len(sizes) < start - 4:
        raise ValueError(_damaged(file.name))
    shape = tuple(int(length) for length in np.frombuffer(sizes, ">u4"))
    end = start + prod(shape) * dtype.itemsize
    # One byte more would tell of a file that holds more than it says.
    content = file.bytes(end + 1)
    if len(content) != end:
        raise ValueError(_damaged(file.name))
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def _damaged(name: str) -> str:
    return f"{name} is a damaged or cut off IDX file: fetch or write it again"

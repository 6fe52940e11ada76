"""Arrays in NumPy's own format, read without evaluating anything and sized before they are made."""

import re
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as numpy_format
from numpy.typing import NDArray

from unbend.storage.damage import Damaged

MAGIC = b"\x93NUMPY\x01\x00"
# The header as NumPy writes it: a dictionary, which NumPy's reader would evaluate as Python.
HEADER = re.compile(
    r"\{'descr': '([<>|][biuf][1248])', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
# Bytes read at once.
CHUNK = 1 << 24


def storable(dtype: np.dtype[np.generic]) -> bool:
    """Whether arrays of this type can be written: booleans, integers and floating-point numbers."""
    return re.fullmatch("[<>|][biuf][1248]", dtype.str) is not None


def write(target: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array; its order in memory, by rows or by columns, is kept."""
    numpy_format.write_array(target, array, version=(1, 0), allow_pickle=False)


def read(source: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array from a member of `size` bytes, which must be what its header says."""
    start = source.read(10)
    if len(start) < 10 or not start.startswith(MAGIC):
        raise Damaged("an array does not begin as arrays do")
    length = int.from_bytes(start[8:], "little")
    header = HEADER.fullmatch(source.read(length).decode("latin-1"))
    if header is None:
        raise Damaged("the header of an array is not one")
    dtype, shape = np.dtype(header[1]), tuple(int(n) for n in re.findall(r"\d+", header[3]))
    # Before any memory is taken: a few bytes may claim to be a large array.
    if size - 10 - length != dtype.itemsize * prod(shape):
        raise Damaged(f"an array should be {' x '.join(map(str, shape))} and is not as long")
    array = np.empty(shape, dtype, order="F" if header[2] == "True" else "C")
    # Transposed, an array stored by columns lies in memory as one stored by rows.
    flat = (array.T if header[2] == "True" else array).reshape(-1).view(np.uint8)
    for first in range(0, len(flat), CHUNK):
        some = flat[first : first + CHUNK]
        found = source.read(len(some))
        if len(found) != len(some):
            raise Damaged("an array ends early")
        some[:] = np.frombuffer(found, np.uint8)
    return array

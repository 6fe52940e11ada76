"""A zip of one JSON document and one ``.npy`` for each array, nothing compressed.

Since members are stored as they are, memory is bounded by the length of a file: loading one takes
at most four times that, and 32 MB. Arrays are read without evaluating anything, and sized before
they are allocated; what the document would take is estimated before it is parsed.
"""

import json
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.lib import format as numpy_format
from numpy.typing import NDArray

from unbend.files import atomic_write
from unbend.journal import recover

DOCUMENT = "model.json"
# Beyond this many bytes a member needs the wide fields of zip.
WIDE = 1 << 31
# Every member has this date, so that equal models are equal files.
DATE = (1980, 1, 1, 0, 0, 0)
MAGIC = b"\x93NUMPY\x01\x00"
# The header as NumPy writes it: a dictionary, which NumPy's reader would evaluate as Python.
HEADER = re.compile(
    r"\{'descr': '([<>|][biuf][1248])', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
# Bytes read at once.
CHUNK = 1 << 22
# Bytes of memory that a load may take: so many times the length of the file, and some.
TIMES, ALLOWANCE = 4, 1 << 25
# Bytes that Python takes, at most, for each of these characters of a document, parsed and decoded.
WEIGHTS = {b"{": 420, b"[": 160, b",": 90}


class DamagedFile(ValueError):
    """The file is not a valid model; the message says how, and `load` adds which file."""


def member(number: int) -> str:
    """Name of the member that holds array `number`."""
    return f"arrays/{number}.npy"


def write(path: Path, document: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    """Write a file atomically."""
    text = json.dumps(document, allow_nan=False).encode()
    length = len(text) + sum(array.nbytes for array in arrays)
    if parsed_size(text) > memory_bound(length):
        raise ValueError(
            f"{path} cannot be saved: the lists and names beside its arrays would take too much "
            "memory to load; pass a shorter about, or arrays in place of lists"
        )
    with atomic_write(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(_info(DOCUMENT), text)
        for number, array in enumerate(arrays):
            wide = array.nbytes > WIDE
            with archive.open(_info(member(number)), "w", force_zip64=wide) as target:
                write_array(target, array)


def memory_bound(length: int) -> int:
    """Bytes of memory that loading a file of this length may take."""
    return TIMES * length + ALLOWANCE


def parsed_size(text: bytes) -> int:
    """Bytes, at most, that a JSON document takes as text, parsed and decoded.

    Examples
    --------
    >>> parsed_size(b"[1, 2]") > 100
    True
    """
    # Strings with one character beyond Latin-1 take four bytes for each, twice.
    letters = 3 if text.isascii() else 10
    return letters * len(text) + sum(text.count(sign) * size for sign, size in WEIGHTS.items())


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, DATE)
    info.external_attr = 0o644 << 16
    return info


class Archive:
    """An open file whose members have been checked, though not read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(source)
        self._members = {info.filename: info for info in self._zip.infolist()}
        self.length = source.seek(0, 2)
        total = 0
        for info in self._zip.infolist():
            total += info.file_size
            packed = (
                info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size
            )
            if packed or info.flag_bits & 1:
                raise DamagedFile(f"its member {info.filename} is compressed or encrypted")
        if total > self.length:
            raise DamagedFile("its members overlap, or it ends early")

    def document(self) -> dict[str, Any]:
        """Read the JSON document."""
        with self._open(DOCUMENT) as source:
            text = source.read()
        if parsed_size(text) > memory_bound(self.length):
            raise DamagedFile(f"its {DOCUMENT} would take more memory than a model of its length")
        try:
            document = json.loads(text, parse_constant=_refuse)
        except ValueError as error:
            if isinstance(error, DamagedFile):
                raise
            raise DamagedFile(f"its {DOCUMENT} is not JSON") from error
        if not isinstance(document, dict):
            raise DamagedFile(f"its {DOCUMENT} is not a JSON object")
        return document

    def array(self, number: int) -> NDArray[Any]:
        """Read an array."""
        with self._open(member(number)) as source:
            return read_array(source, self._members[member(number)].file_size)

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._members:
            raise DamagedFile(f"its member {name} is missing")
        return self._zip.open(self._members[name])


def _refuse(word: str) -> NoReturn:
    raise DamagedFile(f"its {DOCUMENT} holds {word}, which is not JSON")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a file; any damage is raised as one ValueError that names it."""
    # A killed process may have renamed some files of a set, and this one not yet.
    recover(path.parent)
    with path.open("rb") as source:
        try:
            yield Archive(source)
        except DamagedFile as error:
            raise ValueError(f"{path} cannot be loaded: {error}") from error
        except (
            zipfile.BadZipFile,
            EOFError,
            struct.error,
            NotImplementedError,
            OSError,
            UnicodeDecodeError,
        ) as error:
            raise ValueError(
                f"{path} cannot be loaded: it is no saved model, or it is damaged ({error})"
            ) from error
        except RecursionError as error:
            raise ValueError(f"{path} cannot be loaded: it is nested too deeply") from error


def is_storable(dtype: np.dtype[np.generic]) -> bool:
    """Whether arrays of this type can be written: booleans, integers and floating-point numbers."""
    return re.fullmatch("[<>|][biuf][1248]", dtype.str) is not None


def write_array(target: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array; its order in memory, by rows or by columns, is kept."""
    numpy_format.write_array(target, array, version=(1, 0), allow_pickle=False)


def read_array(source: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array from a member of `size` bytes, which must be what its header says."""
    start = source.read(10)
    if len(start) < 10 or not start.startswith(MAGIC):
        raise DamagedFile("an array has no valid header")
    length = int.from_bytes(start[8:], "little")
    header = HEADER.fullmatch(source.read(length).decode("latin-1"))
    if header is None:
        raise DamagedFile("the header of an array is not one")
    dtype, shape = np.dtype(header[1]), tuple(int(n) for n in re.findall(r"\d+", header[3]))
    # Before any memory is taken: a few bytes may claim to be a large array.
    if size - 10 - length != dtype.itemsize * prod(shape):
        raise DamagedFile(f"an array should be {' x '.join(map(str, shape))} and is not as long")
    array = np.empty(shape, dtype, order="F" if header[2] == "True" else "C")
    # Transposed, an array stored by columns lies in memory as one stored by rows.
    flat = (array.T if header[2] == "True" else array).reshape(-1).view(np.uint8)
    for first in range(0, len(flat), CHUNK):
        some = flat[first : first + CHUNK]
        found = source.read(len(some))
        if len(found) != len(some):
            raise DamagedFile("an array ends early")
        some[:] = np.frombuffer(found, np.uint8)
    return array

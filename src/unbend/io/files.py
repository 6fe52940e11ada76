"""Where the bytes of a file come from, and which format they are in."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from unbend.memory import NotEnoughMemory, available_memory

GZIP = b"\x1f\x8b"
OPENERS: dict[bytes, Callable[[Any], Any]] = {
    GZIP: gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1\x00\x00": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"MATLAB 5.0 MAT-file": "mat",
    b"MATLAB 7.3 MAT-file": "mat 7.3",
    b"%%MatrixMarket": "mtx",
}
SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Feather",
    ".ipc": "Arrow",
    ".npy": "NPY",
    ".npz": "NPZ",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
    ".mtx": "Matrix Market",
}
# Formats that are not read, and what to do about each.
REFUSED = {
    b"FEA1": "a Feather file of version 1: write it again as version 2",
    b"SIMPLE  =": "a FITS file, which is no table: use unbend.io.read_cube",
    b"ENVI": "the header of an ENVI cube, which is no table: use unbend.io.read_cube",
    b"\x89PNG": "a picture, which is no table: use unbend.io.read_images",
    b"\xff\xd8\xff": "a picture, which is no table: use unbend.io.read_images",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, which is not read: save the table as CSV",
    b"\x80\x02": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x03": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x04": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x05": "a pickle, which is never read, since loading one can run any program",
}
# A line of text that is longer is no line of a table; without a limit, a small packed file could
# fill the memory with one.
LONGEST_LINE = 1 << 26
CHUNK = 1 << 20
# What a number of a text takes at the most, measured: as pyarrow holds it, as part of a piece, of a
# column and of the table.
FIELD_BYTES = 32
# No byte of a gzip file can stand for more; an end that tells of more is no such end.
MOST_GROWTH = 1032


class _Unpacked(io.RawIOBase):
    """Bytes as they are unpacked, without endless lines."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name, self._line = stream, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._stream.read(len(buffer))
        buffer[: len(part)] = part
        end = part.rfind(b"\n")
        self._line = self._line + len(part) if end < 0 else len(part) - end
        if self._line > LONGEST_LINE:
            raise ValueError(endless_line(self._name))
        return len(part)


def endless_line(name: str) -> str:
    """Say that a line goes on and on."""
    return f"{name} has a line of more than {LONGEST_LINE >> 20} MB: it is not a table of text"


def _check_room(name: str, needed: int, most: int | None) -> None:
    if most is not None and needed > most:
        raise NotEnoughMemory(
            f"{name} unpacks to more than the {most / 1e6:.0f} MB that memory can hold: read it in "
            "batches, or take a machine with more"
        )


@dataclass(frozen=True)
class File:
    """A file that can be opened any number of times; compressed ones are unpacked on the way."""

    name: str
    path: Path | None
    content: bytes = b""

    @property
    def suffix(self) -> str:
        """Extension in lower case, without that of the compression."""
        name = self.name.lower()
        for packed in PACKED_SUFFIXES:
            name = name.removesuffix(packed)
        return Path(name).suffix

    @property
    def packed(self) -> bool:
        """Whether the file is compressed as a whole."""
        with self._raw() as raw:
            head = raw.read(8)
        return any(head.startswith(magic) for magic in OPENERS)

    def _raw(self) -> BinaryIO:
        return io.BytesIO(self.content) if self.path is None else open(self.path, "rb")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open for reading lines of text; damage to the compression is said in one sentence."""
        with self.unpacking() as stream:
            if self.packed:
                yield io.BufferedReader(_Unpacked(stream, self.name), CHUNK)
            else:
                yield stream

    def check_fits(self, separator: str) -> None:
        """Refuse a packed table of text of which memory could not hold the numbers.

        This unpacks it once more than needed, and stops where it has seen too much. Refusing while
        pyarrow reads in a thread of its own can leave that thread waiting when the program ends.
        """
        if not self.packed:
            return
        free, needed = available_memory(), 0
        self._check_end(free)
        mark = separator.encode()
        with self.open() as stream:
            while part := stream.read(CHUNK):
                fields = part.count(mark) + part.count(b"\n")
                needed += max(FIELD_BYTES * fields, len(part))
                _check_room(self.name, needed, free)

    @contextmanager
    def unpacking(self) -> Iterator[IO[bytes]]:
        """Open for reading what is inside, which need not be lines of text."""
        with self._raw() as raw:
            head = raw.read(8)
            raw.seek(0)
            opener = next((OPENERS[magic] for magic in OPENERS if head.startswith(magic)), None)
            if opener is None:
                yield raw
                return
            try:
                with opener(raw) as unpacked:
                    yield unpacked
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                raise ValueError(
                    f"{self.name} is damaged or cut off, it cannot be unpacked to its end: "
                    "fetch or write it again"
                ) from error

    def bytes(self, most: int | None = None) -> bytes:
        """Return all that is inside, or the first so many bytes; what is unpacked must fit."""
        room = _half_of_memory() if self.packed else None
        if most is None:
            self._check_end(room)
        else:
            _check_room(self.name, most, room)
        left = sys.maxsize if most is None else most
        # Grows in place, where a list of parts would be held twice when they are joined.
        held = io.BytesIO()
        with self.unpacking() as stream:
            while part := stream.read(min(CHUNK, left)):
                left -= held.write(part)
                _check_room(self.name, held.tell(), room)
        return held.getvalue()

    def _check_end(self, most: int | None) -> None:
        """Refuse a gzip file at once, if its end tells of more than so many bytes."""
        with self._raw() as raw:
            if most is None or raw.read(len(GZIP)) != GZIP:
                return
            size = raw.seek(0, os.SEEK_END)
            raw.seek(max(size - 4, 0))
            told = int.from_bytes(raw.read(4), "little")
        if most < told <= MOST_GROWTH * size:
            raise NotEnoughMemory(
                f"{self.name} says that it unpacks to {told / 1e6:.0f} MB, and memory can hold "
                f"{most / 1e6:.0f} MB: read it in batches, or fetch it again if it was cut off"
            )


def _half_of_memory() -> int | None:
    """Bytes that may be unpacked; the arrays that are made of them take as much again."""
    free = available_memory()
    return None if free is None else free // 2


def file_of(source: Any) -> File:
    """Find the file at a path, or take the content of a binary file object."""
    if isinstance(source, str | os.PathLike):
        path = Path(os.fspath(source))
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file")
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        # A pipe gives its bytes only once.
        return File(str(path), path) if path.is_file() else File(str(path), None, path.read_bytes())
    content = source.read()
    if isinstance(content, str):
        raise TypeError("the file object is open as text: open it in binary mode, 'rb'")
    name = getattr(source, "name", None)
    return File(name if isinstance(name, str) else "the stream", None, cast(bytes, content))


def format_of(file: File) -> str:
    """Tell the format by the first bytes, and check what the extension promises."""
    with file.open() as stream:
        head = stream.read(4096)
    if not head:
        raise ValueError(f"{file.name} is empty")
    found = next((MAGIC[magic] for magic in MAGIC if head.startswith(magic)), None)
    if found is not None:
        return found
    for magic, advice in REFUSED.items():
        if head.startswith(magic):
            raise ValueError(f"{file.name} is {advice}")
    if file.suffix == ".mat":
        # Version 4 has no first bytes of its own.
        return "mat"
    if file.suffix in SUFFIXES:
        raise ValueError(
            f"{file.name} does not begin as a {SUFFIXES[file.suffix]} file does: it is damaged, or "
            "its name has the wrong extension"
        )
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{file.name} is neither a table of text nor in a format that is known: CSV, TSV, "
            "Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT and Matrix Market are"
        )
    return "text"

"""Sources: files opened once, their format, files of a folder, and packages needed for some."""

import bz2
import gzip
import io
import lzma
import mmap
import os
import re
import sys
import threading
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from unbend.cached import cached_property
from unbend.io.numerals import Array, text_array
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
    b"SIMPLE  =": "fits",
    b"ENVI": "envi",
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
PICTURE = "a picture, not a table: use unbend.io.read_images"
PICKLE = "a pickle, which is never read, since loading one can run any program"
# Files that are no tables, and what to do about each.
REFUSED = {
    b"FEA1": "a Feather file of version 1: write it again as version 2",
    b"SIMPLE  =": "a FITS file, not a table: use unbend.io.read_cube",
    b"ENVI": "the header of an ENVI cube, not a table: use unbend.io.read_cube",
    b"\x89PNG": PICTURE,
    b"\xff\xd8\xff": PICTURE,
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, which is not supported: save the table as CSV",
    **{bytes([0x80, version]): PICKLE for version in range(2, 6)},
}
# Sample types of IDX files, in which the digits of MNIST are distributed.
IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
# The longest line of a table of text; without a limit, a small compressed file could fill the
# memory with one.
LONGEST_LINE = 1 << 26
CHUNK, HEAD_BYTES = 1 << 20, 4096
# Most memory that a number of a text file takes, measured: in pyarrow's blocks, in a column and in
# the table.
FIELD_BYTES = 32
# Deflate expands a byte to at most so many; a gzip trailer that claims more is damaged.
MOST_GROWTH = 1032
MOST_FILES = 5_000_000

# Packages that are installed under another name than they are imported by, and those whose extra
# is not `io`.
INSTALLED, EXTRAS = {"PIL": "Pillow", "python_calamine": "python-calamine"}, {"astropy": "fits"}


def require(module: str, purpose: str) -> Any:
    """Import an optional module; raise with the purpose and the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        name, extra = INSTALLED.get(package, package), EXTRAS.get(package, "io")
        raise ImportError(f"{purpose} needs {name}: pip install 'unbend[{extra}]'") from error


class _Cursor(io.RawIOBase):
    """A position of its own in the handle that all readers of a source share."""

    def __init__(self, handle: IO[bytes], lock: threading.Lock) -> None:
        self._handle, self._lock, self._position = handle, lock, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with self._lock:
            if whence == os.SEEK_CUR:
                offset, whence = self._position + offset, os.SEEK_SET
            self._position = self._handle.seek(offset, whence)
        return self._position

    def readinto(self, buffer: Any) -> int:
        with self._lock:
            self._handle.seek(self._position)
            count: int = self._handle.readinto(buffer)  # type: ignore[attr-defined]
        self._position += count
        return count


class _Lines(io.RawIOBase):
    """Uncompressed bytes, refused where a line has no end."""

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
            raise ValueError(line_too_long(self._name))
        return len(part)


def line_too_long(name: str) -> str:
    """Return the refusal of a line beyond the limit."""
    return f"{name} has a line of more than {LONGEST_LINE >> 20} MB: it is not a table of text"


def _check_memory(name: str, needed: int, most: int | None) -> None:
    if most is not None and needed > most:
        raise NotEnoughMemory(
            f"{name} unpacks to more than the {most / 1e6:.0f} MB that memory can hold: read it in "
            "batches, or use a machine with more memory"
        )


class Source:
    r"""A file opened once; what `open_source` returns, and every reader of files takes.

    All readers share one handle, each at its own position, so that a source can be read any number
    of times. Compressed files (gzip, bzip2, xz) are decompressed on the way. The handle is closed
    by `close`, at the end of a ``with`` block, or with the last reference.

    Attributes
    ----------
    name : str
        Name for messages.
    path : Path or None
        Where the file is; None for a stream, which is held in memory.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> with unbend.io.open_source(io.BytesIO(b"a,b\n1,2\n")) as source:
    ...     source.format, unbend.io.read(source).values.tolist()
    ('text', [[1.0, 2.0]])
    """

    def __init__(self, name: str, handle: IO[bytes], path: Path | None = None) -> None:
        self.name, self.path = name, path
        self._handle, self._lock = handle, threading.Lock()
        self.close = weakref.finalize(self, handle.close)

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def suffix(self) -> str:
        """Extension in lower case, without that of the compression."""
        name = self.name.lower()
        for packed in PACKED_SUFFIXES:
            name = name.removesuffix(packed)
        return Path(name).suffix

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.stream() as stream:
            return stream.read(HEAD_BYTES)

    @cached_property
    def format(self) -> str:
        """Format by the first bytes, or by the extension where a format has none of its own.

        'text' is any text, 'unknown' any other bytes; of a file without bytes it is 'empty'.
        """
        head = self.head
        found = next((MAGIC[magic] for magic in MAGIC if head.startswith(magic)), None)
        if found is not None or not head:
            return found or "empty"
        idx = len(head) >= 8 and head[:2] == b"\x00\x00" and head[2] in IDX_TYPES
        if idx and 1 <= head[3] <= 4:
            return "idx"
        if any(head.startswith(magic) for magic in REFUSED):
            return "unknown"
        if self.suffix == ".mat":
            # Version 4 has no first bytes of its own.
            return "mat"
        binary = b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
        return "unknown" if binary or self.suffix in SUFFIXES else "text"

    @cached_property
    def _opener(self) -> Callable[[Any], Any] | None:
        with self._raw() as raw:
            head = raw.read(8)
        return next((OPENERS[magic] for magic in OPENERS if head.startswith(magic)), None)

    @property
    def packed(self) -> bool:
        """Whether the file is compressed as a whole."""
        return self._opener is not None

    @property
    def on_disk(self) -> bool:
        """Whether the bytes can be mapped into memory: a file that is not compressed."""
        return self.path is not None and not self.packed

    def _raw(self) -> io.BufferedReader:
        return io.BufferedReader(self.cursor(), 1 << 16)

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """Open the content, decompressed, from its beginning."""
        with self._raw() as raw:
            if self._opener is None:
                yield raw
                return
            try:
                with self._opener(raw) as unpacked:
                    yield unpacked
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                raise ValueError(
                    f"{self.name} is damaged or cut off, it cannot be unpacked to its end: "
                    "fetch or write it again"
                ) from error

    @contextmanager
    def lines(self) -> Iterator[IO[bytes]]:
        """Open the content as lines of text, of which none is too long."""
        with self.stream() as stream:
            yield io.BufferedReader(_Lines(stream, self.name), CHUNK)

    def check_memory(self, separator: str) -> None:
        """Refuse a compressed table of text whose numbers do not fit in memory.

        This decompresses it once more than needed, and stops where it has seen too much. Refusing
        while pyarrow reads in a thread of its own can leave that thread waiting when the program
        ends.
        """
        if not self.packed:
            return
        free, needed = available_memory(), 0
        self._check_trailer(free)
        mark = separator.encode()
        with self.lines() as stream:
            while part := stream.read(CHUNK):
                fields = part.count(mark) + part.count(b"\n")
                needed += max(FIELD_BYTES * fields, len(part))
                _check_memory(self.name, needed, free)

    def read_bytes(self, most: int | None = None) -> bytes:
        """Return the content, or its first bytes; what is decompressed must fit in memory."""
        free = available_memory() if self.packed else None
        # The arrays that are made of the bytes take as much again.
        room = None if free is None else free // 2
        if most is None:
            self._check_trailer(room)
        else:
            _check_memory(self.name, most, room)
        left = sys.maxsize if most is None else most
        # Grows in place, where a list of parts would be held twice when they are joined.
        held = io.BytesIO()
        with self.stream() as stream:
            while part := stream.read(min(CHUNK, left)):
                left -= held.write(part)
                _check_memory(self.name, held.tell(), room)
        return held.getvalue()

    def cursor(self) -> io.RawIOBase:
        """Open the stored bytes without a buffer: what is asked for is read, and nothing else."""
        return _Cursor(self._handle, self._lock)

    def read_at(self, offset: int, count: int) -> bytes:
        """Return so many stored bytes from a place on, fewer at the end, and read no others."""
        cursor = self.cursor()
        cursor.seek(offset)
        parts: list[bytes] = []
        while count > 0 and (part := cursor.read(count)):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    @property
    def size(self) -> int:
        """Number of bytes, as they are stored."""
        with self._lock:
            return self._handle.seek(0, os.SEEK_END)

    def map(self) -> mmap.mmap | bytes:
        """Return the content, mapped into memory where it can be."""
        if not self.on_disk:
            return self.read_bytes()
        return mmap.mmap(self._handle.fileno(), 0, access=mmap.ACCESS_READ)

    def map_array(
        self, dtype: Any, shape: tuple[int, ...], offset: int = 0, order: Any = "C"
    ) -> Array:
        """Map an array of the file into memory."""
        with self._lock:
            return np.memmap(self._handle, dtype, "r", offset, shape, order)

    def _check_trailer(self, most: int | None) -> None:
        """Refuse a gzip file whose trailer claims more than `most` bytes."""
        if most is None:
            return
        with self._raw() as raw:
            if raw.read(len(GZIP)) != GZIP:
                return
            size = raw.seek(0, os.SEEK_END)
            raw.seek(max(size - 4, 0))
            claim = int.from_bytes(raw.read(4), "little")
        if most < claim <= MOST_GROWTH * size:
            raise NotEnoughMemory(
                f"{self.name} says that it unpacks to {claim / 1e6:.0f} MB, and memory can hold "
                f"{most / 1e6:.0f} MB: read it in batches, or fetch it again if it was cut off"
            )


def is_file(source: Any) -> bool:
    """Whether a source is an opened one, a path or a file object."""
    return isinstance(source, Source | str) or any(
        hasattr(source, name) for name in ("__fspath__", "read")
    )


def open_source(source: Any) -> Source:
    r"""Open a file once, for any number of readers.

    Parameters
    ----------
    source : path or binary file object
        A file object is read to its end and held in memory; so is a named pipe, which gives its
        bytes only once. A source that is open is returned as it is.

    Returns
    -------
    Source

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> unbend.io.open_source(io.BytesIO(b"\x93NUMPY...")).format
    'npy'
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(os.fspath(source))
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file")
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        handle = open(path, "rb", buffering=0)  # noqa: SIM115
        if path.is_file():
            return Source(str(path), handle, path)
        with handle:
            return Source(str(path), io.BytesIO(handle.read()))
    content = source.read()
    if isinstance(content, str):
        raise TypeError("the file object is open as text: open it in binary mode, 'rb'")
    name = getattr(source, "name", None)
    return Source(name if isinstance(name, str) else "the stream", io.BytesIO(content))


def table_format(source: Source) -> str:
    """Return the format of a table; refuse files that hold none, or not what their name says."""
    if source.format == "empty":
        raise ValueError(f"{source.name} is empty")
    for magic, advice in REFUSED.items():
        if source.head.startswith(magic):
            raise ValueError(f"{source.name} is {advice}")
    if source.format not in ("unknown", "idx"):
        return source.format
    if source.suffix in SUFFIXES:
        raise ValueError(
            f"{source.name} does not begin as a {SUFFIXES[source.suffix]} file does: it is "
            "damaged, or its name has the wrong extension"
        )
    raise ValueError(
        f"{source.name} is neither a table of text nor in a known format: CSV, TSV, Parquet, "
        "Arrow, Feather, XLSX, NPY, NPZ, HDF5, MAT and Matrix Market are supported"
    )


@dataclass(frozen=True)
class FileList:
    """Files in order, their names, and the subfolders they are in, if there are any."""

    paths: tuple[Path, ...]
    ids: Array
    label: Array | None


def list_files(source: Any, suffixes: tuple[str, ...] | None, what: str) -> FileList:
    """List the files below a folder in natural order (2 before 10), or of a list as it is."""
    if not isinstance(source, str | os.PathLike):
        paths = [Path(os.fspath(path)) for path in source]
        if not paths:
            raise ValueError(f"the list of {what} is empty")
        for path in paths:
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path}")
        return FileList(tuple(paths), text_array([str(path) for path in paths]), None)
    root = Path(os.fspath(source))
    if not root.is_dir():
        raise FileNotFoundError(f"there is no folder {root}")
    inside = sorted(
        (path.relative_to(root) for path in walk_files(root, suffixes)), key=_natural_order
    )
    if not inside:
        raise ValueError(f"the folder {root} holds no {what}")
    folders = [path.parent.as_posix() for path in inside]
    return FileList(
        tuple(root / path for path in inside),
        text_array([path.as_posix() for path in inside]),
        None if set(folders) == {"."} else text_array(folders),
    )


def is_folder(source: Any) -> bool:
    """Whether a source is the path of a folder."""
    return isinstance(source, str | os.PathLike) and Path(os.fspath(source)).is_dir()


def is_paths(source: Any) -> bool:
    """Whether a source is a list of paths."""
    return (
        isinstance(source, list | tuple)
        and all(isinstance(item, str | os.PathLike) for item in source)
        and any(isinstance(item, os.PathLike) for item in source)
    )


def walk_files(root: Path, suffixes: tuple[str, ...] | None) -> Iterable[Path]:
    """Give the files below a folder, without hidden ones, pipes and devices."""
    count = 0
    # Links to folders are not followed: they may lead out, or around in circles.
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            known = suffixes is None or path.suffix.lower() in suffixes
            if known and not name.startswith(".") and path.is_file():
                count += 1
                if count > MOST_FILES:
                    raise ValueError(f"the folder {root} holds more than {MOST_FILES} files")
                yield path


def _natural_order(path: Path) -> list[tuple[int, int, str]]:
    """Sort key in which 2 comes before 10."""
    parts = re.split(r"([0-9]{1,18})", str(path))
    # Digits of other scripts are letters here: only every second part is a number.
    return [(0, int(part), part) if place % 2 else (1, 0, part) for place, part in enumerate(parts)]

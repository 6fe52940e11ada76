"""Where the bytes of a file come from, and which format they are in."""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
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
}
SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Feather",
    ".ipc": "Arrow",
    ".npy": "NPY",
    ".npz": "NPZ",
}
# Formats that are not read, and what to do about each.
REFUSED = {
    b"FEA1": "a Feather file of version 1: write it again as version 2",
    b"\x89HDF": "an HDF5 file, which is not read: save the table as Parquet or CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, which is not read: save the table as CSV",
    b"\x80\x02": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x03": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x04": "a pickle, which is never read, since loading one can run any program",
    b"\x80\x05": "a pickle, which is never read, since loading one can run any program",
}


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
        """Open for reading what is inside; damage to the compression is said in one sentence."""
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
    if file.suffix in SUFFIXES:
        raise ValueError(
            f"{file.name} does not begin as a {SUFFIXES[file.suffix]} file does: it is damaged, or "
            "its name has the wrong extension"
        )
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{file.name} is neither a table of text nor in a format that is known: CSV, TSV, "
            "Parquet, Arrow, Feather, NPY and NPZ are"
        )
    return "text"

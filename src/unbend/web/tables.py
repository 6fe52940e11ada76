"""Tables that the server may read: files of one folder, and uploads."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

# Suffixes of formats of `unbend.io` that hold one table.
TEXT, ARRAYS = (".csv", ".tsv", ".txt"), (".npy", ".npz", ".mat", ".h5", ".hdf5")
SUFFIXES = (*TEXT, ".parquet", ".feather", ".arrow", ".xlsx", *ARRAYS)
DEEPEST, MOST_FILES = 3, 500
UPLOAD_LIMIT = 1_000_000_000


class RefusedFile(ValueError):
    """A path or an upload that the server does not read."""


class OversizedUpload(RefusedFile):
    """An upload above the limit."""


@dataclass(frozen=True)
class Folder:
    """The one folder whose files are served, symbolic links resolved."""

    root: Path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Folder":
        """Open a folder."""
        return cls(Path(path).resolve(strict=True))

    def find(self, name: str) -> Path:
        """Return the file of that name inside the folder.

        Symbolic links and ``..`` may not lead out of it.
        """
        if not _is_text(name):
            raise RefusedFile("the name of the file is not in UTF-8: rename it")
        try:
            path = (self.root / name).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise RefusedFile(f"there is no file {name} in the served folder") from None
        if not path.is_relative_to(self.root) or not path.is_file():
            raise RefusedFile(f"there is no file {name} in the served folder")
        check_suffix(path.name)
        return path

    def name_of(self, path: Path) -> str:
        """Return the name of a file as `find` takes it."""
        return path.relative_to(self.root).as_posix()

    def list_files(self) -> list[dict[str, object]]:
        """List the tables in the folder and its subfolders, with their sizes."""
        found = []
        for path in islice(self._walk(self.root, DEEPEST), MOST_FILES):
            # It may have been removed since.
            with suppress(OSError):
                found.append({"name": self.name_of(path), "bytes": path.stat().st_size})
        return found

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        with suppress(OSError):
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                if entry.name.startswith(".") or entry.is_symlink() or not _is_text(entry.name):
                    continue
                if entry.is_dir() and depth:
                    yield from self._walk(Path(entry.path), depth - 1)
                elif entry.is_file() and Path(entry.name).suffix.lower() in SUFFIXES:
                    yield Path(entry.path)


def _is_text(name: str) -> bool:
    """Whether a name can be sent to a browser; those of other encodings than UTF-8 cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_suffix(name: str) -> str:
    """Return the suffix of a table's name; refuse others."""
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise RefusedFile(f"tables end in {', '.join(SUFFIXES)}: rename the file or convert it")
    return suffix


async def receive_upload(
    stream: AsyncIterator[bytes], declared: str | None, target: Path, limit: int
) -> None:
    """Write an upload to disk as it arrives; refuse it before, or as soon as, it is too large."""
    too_large = OversizedUpload(
        f"the file has more than {limit / 1e6:.0f} MB: put it into the served folder instead"
    )
    if declared is not None and declared.isdecimal() and int(declared) > limit:
        raise too_large
    size = 0
    try:
        with open(target, "xb") as file:
            async for chunk in stream:
                size += len(chunk)
                if size > limit:
                    raise too_large
                file.write(chunk)
        if not size:
            raise RefusedFile("the file is empty")
    except BaseException:
        target.unlink(missing_ok=True)
        raise

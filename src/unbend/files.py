"""Atomic writes: a file, or a set of files, is replaced as a whole or left as it was."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

# Temporary files and folders: the command line removes them if it has to end at once.
TEMPORARIES: set[Path] = set()
# Endings of files of Parquet, and the files that mark a folder as a Zarr array.
PARQUET = (".parquet", ".parq", ".pq")
ZARR = ("zarr.json", ".zarray")


def writable_path(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to; raise if none can be written there.

    Examples
    --------
    >>> writable_path("no folder/table.csv")
    Traceback (most recent call last):
    FileNotFoundError: no folder/table.csv cannot be written: its folder does not exist
    """
    # A link stays a link: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: its folder does not exist")
    if target.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder")
    device = target.exists() and not target.is_file()
    if not device and not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: its folder is not writable")
    return target


@dataclass(eq=False)
class FileSet:
    """Files of one `write_together` block: their names, and the temporaries to rename."""

    paths: list[str] = field(default_factory=list)
    _renames: list[tuple[Path, Path]] = field(default_factory=list)
    _replaced: dict[Path, Path | None] = field(default_factory=dict)

    def temporary(self, path: str | os.PathLike[str]) -> Path:
        """Return the temporary file that will replace `path`.

        A pipe or a device cannot be replaced, and is returned as it is.
        """
        target = writable_path(path)
        self.paths.append(os.fspath(path))
        if target.exists() and not target.is_file():
            return target
        temporary = _beside(target)
        self._renames.append((temporary, target))
        return temporary

    def commit(self) -> None:
        """Rename all temporaries, the last first: what describes other files is named before.

        If one cannot be renamed, or the user interrupts, the files renamed so far are restored.
        """
        for temporary, target in self._renames:
            if target.exists():
                shutil.copymode(target, temporary)
        try:
            for temporary, target in reversed(self._renames):
                self._replaced[target] = _keep(target)
                os.replace(temporary, target)
        except BaseException:
            for target, kept in self._replaced.items():
                if kept is not None:
                    os.replace(kept, target)
                elif not target.is_dir():
                    target.unlink(missing_ok=True)
            raise

    def discard(self) -> None:
        """Remove the temporaries that are left."""
        for temporary in (*(made for made, _ in self._renames), *self._replaced.values()):
            if temporary is not None:
                temporary.unlink(missing_ok=True)
                TEMPORARIES.discard(temporary)


def _beside(target: Path) -> Path:
    """Return the name of a temporary file in the same folder, of at most 255 bytes."""
    stem = os.fsdecode(os.fsencode(target.stem)[:100])
    temporary = target.with_name(f".{stem}.{secrets.token_hex(4)}{target.suffix}")
    TEMPORARIES.add(temporary)
    return temporary


def _keep(target: Path) -> Path | None:
    """Keep a file under a second name, from which it can be restored; None if there is none."""
    if not target.is_file():
        return None
    kept = _beside(target)
    try:
        os.link(target, kept)
    except OSError:
        # File systems without links get a copy.
        shutil.copy2(target, kept)
    return kept


_current: ContextVar[FileSet | None] = ContextVar("unbend_file_set", default=None)


@contextmanager
def write_together() -> Iterator[FileSet]:
    """Rename the files of all atomic writes in the block at its end, or none of them.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_together() as files:
    ...     for name in ("a.txt", "b.txt"):
    ...         with atomic_write(folder / name) as temporary:
    ...             _ = temporary.write_text("done")
    ...     print((folder / "a.txt").exists())
    False
    >>> sorted(file.name for file in folder.iterdir())
    ['a.txt', 'b.txt']
    """
    files = FileSet()
    token = _current.set(files)
    try:
        yield files
        files.commit()
    finally:
        _current.reset(token)
        files.discard()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file beside `path`, which replaces it when the block succeeds.

    A block that fails or is interrupted leaves `path` as it was, and no temporary file. Inside
    `write_together` the file is renamed with the others. A pipe or a device cannot be replaced and
    is given as it is.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "table.csv") as temporary:
    ...     _ = temporary.write_text("x,y")
    >>> [file.name for file in folder.iterdir()]
    ['table.csv']
    """
    files = _current.get()
    if files is not None:
        yield files.temporary(path)
        return
    with write_together() as files:
        yield files.temporary(path)


def folder_format(path: str | os.PathLike[str]) -> str | None:
    """Return "parquet" or "zarr" for a folder that holds one of these, None for any other.

    Raises
    ------
    ValueError
        If a folder holds Parquet beside other files.
    """
    folder = Path(path)
    if not folder.is_dir():
        return None
    if any((folder / name).is_file() for name in ZARR):
        return "zarr"
    files = [file for file in folder.rglob("*") if file.is_file()]
    visible = [file for file in files if not file.name.startswith(("_", "."))]
    parquet = [file for file in visible if file.suffix.lower() in PARQUET]
    if not parquet:
        return None
    others = sorted(str(file.relative_to(folder)) for file in set(visible) - set(parquet))
    if others:
        raise ValueError(
            f"{folder} holds Parquet and other files, such as {others[0]}. Move these elsewhere: "
            "a folder of rows holds Parquet only."
        )
    return "parquet"


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside `path` that replaces it at the end of the block.

    If the block fails, the temporary folder is removed, and what `path` held before is unchanged.
    """
    final = Path(os.path.realpath(path))
    if not final.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: its folder does not exist")
    work = _beside(final)
    work.mkdir()
    rows, old = work / "rows", work / "replaced"
    rows.mkdir()
    try:
        yield rows
        if final.exists():
            final.rename(old)
        rows.rename(final)
    except BaseException:
        if old.exists() and not final.exists():
            old.rename(final)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
        TEMPORARIES.discard(work)

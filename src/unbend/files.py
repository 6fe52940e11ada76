"""Atomic writes: a file, or a set of files, is replaced as a whole or left as it was."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from pathlib import Path

from unbend.journal import Journal, Rename, lock_folders, recover, settle_folder, undo

# Temporary files and folders: the command line removes them if it has to end at once.
TEMPORARIES: set[Path] = set()
# Sets that are being renamed, which takes a moment: nothing may be removed then.
COMMITTING: set[int] = set()
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
    _journals: dict[Path, Journal] = field(default_factory=dict)

    def temporary(self, path: str | os.PathLike[str]) -> Path:
        """Return the temporary file that will replace `path`.

        A pipe or a device cannot be replaced, and is returned as it is.
        """
        target = writable_path(path)
        self.paths.append(os.fspath(path))
        if target.exists() and not target.is_file():
            return target
        temporary = target.with_name(self._journal(target.parent).name_beside(target))
        TEMPORARIES.add(temporary)
        self._renames.append((temporary, target))
        return temporary

    def _journal(self, folder: Path) -> Journal:
        """Return the journal of a folder; others than the first name each other."""
        if folder not in self._journals:
            recover(folder)
            if not self._journals:
                self._journals[folder] = Journal(folder)
            else:
                first = next(iter(self._journals.values()))
                journal = Journal(folder, first.token)
                journal.record({"first": os.path.relpath(first.folder, folder)})
                first.record({"others": [os.path.relpath(folder, first.folder)]})
                self._journals[folder] = journal
        return self._journals[folder]

    def commit(self) -> None:
        """Rename all temporaries, the last first: what describes other files is named before.

        If one cannot be renamed, or the user interrupts, the files renamed so far are restored. If
        the process is killed, the next one that writes in the folder, or loads a model from it,
        completes the set. Of two processes that write to the same files one is first, as a whole.
        """
        if not self._renames:
            return
        for temporary, target in self._renames:
            if target.exists():
                shutil.copymode(target, temporary)
        COMMITTING.add(id(self))
        try:
            with lock_folders(self._journals):
                self._rename_all()
        finally:
            COMMITTING.discard(id(self))

    def _rename_all(self) -> None:
        if len(self._renames) == 1:
            # A single rename is atomic.
            os.replace(*self._renames[0])
            return
        steps = []
        for temporary, target in reversed(self._renames):
            name = self._journals[target.parent].name_beside(target) if target.is_file() else None
            steps.append((target.parent, Rename(temporary.name, target.name, name)))
            if name is not None:
                TEMPORARIES.add(target.with_name(name))
        # The first journal decides for all of them, so it is written last.
        for folder, journal in reversed(self._journals.items()):
            journal.record({"renames": [list(astuple(s)) for own, s in steps if own == folder]})
        done: list[tuple[Path, Rename]] = []
        try:
            for folder, step in steps:
                done.append((folder, step))
                if step.kept is not None:
                    _keep(folder / step.target, folder / step.kept)
                os.replace(folder / step.temporary, folder / step.target)
        except BaseException:
            next(iter(self._journals.values())).record({"undo": True})
            for folder, step in done:
                undo(folder, [step])
            raise

    def discard(self) -> None:
        """Remove the temporaries that are left."""
        for temporary in list(TEMPORARIES):
            journal = self._journals.get(temporary.parent)
            if journal is None or f".{journal.token}" not in temporary.name:
                continue
            temporary.unlink(missing_ok=True)
            TEMPORARIES.discard(temporary)
        for journal in reversed(self._journals.values()):
            journal.remove()


def _keep(target: Path, kept: Path) -> None:
    """Keep a file under a second name, from which it can be restored."""
    try:
        os.link(target, kept)
    except OSError:
        # File systems without links get a copy.
        shutil.copy2(target, kept)


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
    recover(final.parent)
    journal = Journal(final.parent)
    work = final.with_name(journal.name_beside(final))
    journal.record({"temporary": work.name, "folder": final.name})
    TEMPORARIES.add(work)
    work.mkdir()
    rows, old = work / "rows", work / "replaced"
    rows.mkdir()
    try:
        yield rows
        with lock_folders([final.parent]):
            if final.exists():
                final.rename(old)
            rows.rename(final)
    except BaseException:
        if old.exists() and not final.exists():
            old.rename(final)
        raise
    finally:
        settle_folder(work, final)
        TEMPORARIES.discard(work)
        journal.remove()

"""Journals of unfinished writes: what a killed process left is completed or removed by the next.

A set of files is written to temporaries that are renamed at the end. Beside them lies a journal,
locked as long as its process lives: ``.unbend-TOKEN.journal``, one JSON value a line, which names
the temporaries and then, in one line, every rename of the set. A process that finds a journal whose
lock is free completes the renames if that line is there, and removes the temporaries if it is not.
A folder without a journal holds no unfinished set.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeGuard

PREFIX, SUFFIX = ".unbend-", ".journal"
# Journals of this process: the command line removes them if it has to end at once.
OPEN_JOURNALS: set[Path] = set()


def _lock(handle: int, wait: bool) -> bool:
    """Lock an open file or folder; False where another process has it, or it cannot be done."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
    except OSError:
        return False
    return True


@contextmanager
def lock_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Let one process at a time rename files in these folders, where folders can be locked."""
    with ExitStack() as held:
        for folder in sorted(set(folders)):
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                held.callback(os.close, handle)
                _lock(handle, wait=True)
        yield


@dataclass(frozen=True)
class Rename:
    """A temporary that becomes `target`, whose old file, if any, is `kept` under another name.

    All are names in one folder.
    """

    temporary: str
    target: str
    kept: str | None


@dataclass(eq=False)
class Journal:
    """Journal of one set of files in one folder; those in other folders name the first."""

    folder: Path
    token: str = field(default_factory=lambda: secrets.token_hex(6))
    _stream: IO[bytes] | None = None
    _named: int = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"{PREFIX}{self.token}{SUFFIX}"

    def name_beside(self, target: Path) -> str:
        """Return the name of a temporary, of at most 255 bytes, and record it."""
        stem = os.fsdecode(os.fsencode(target.stem)[:100])
        self._named += 1
        name = f".{stem}.{self.token}{self._named}{target.suffix}"
        self.record({"temporary": name})
        return name

    def record(self, line: dict[str, Any]) -> None:
        """Add a line; the file is created with the first."""
        if self._stream is None:
            OPEN_JOURNALS.add(self.path)
            self._stream = self.path.open("xb", buffering=0)
            _lock(self._stream.fileno(), wait=False)
        self._stream.write(json.dumps(line).encode() + b"\n")

    def remove(self) -> None:
        """Remove the file: nothing is unfinished."""
        if self._stream is not None:
            with suppress(OSError):
                self.path.unlink()
            self._stream.close()
            self._stream = None
        OPEN_JOURNALS.discard(self.path)


def recover(folder: Path) -> None:
    """Complete or undo what killed processes of the same user left unfinished in a folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> journal = Journal(folder)
    >>> _ = (folder / journal.name_beside(folder / "table.csv")).write_text("half")
    >>> journal._stream.close()
    >>> recover(folder)
    >>> list(folder.iterdir())
    []
    """
    with suppress(OSError):
        for path in sorted(folder.glob(f"{PREFIX}*{SUFFIX}")):
            _recover_set(path)


def _recover_set(path: Path) -> None:
    with ExitStack() as held:
        lines = _take_over(path, held)
        if lines is None:
            return
        first = next((line["first"] for line in lines if "first" in line), None)
        if first is not None:
            main = path.parent / first / path.name
            if main.exists():
                held.close()
                _recover_set(main)
                return
        sets = {path: lines}
        for line in lines:
            for other in line.get("others", ()):
                beside = path.parent / other / path.name
                found = _take_over(beside, held)
                if found is not None:
                    sets[beside] = found
        committed = any("renames" in line for line in lines) and first is None
        undone = any("undo" in line for line in lines)
        with lock_folders(one.parent for one in sets):
            for one, own in sets.items():
                _settle(one, own, committed, undone)
        for one in reversed(sets):
            one.unlink(missing_ok=True)


def _take_over(path: Path, held: ExitStack) -> list[dict[str, Any]] | None:
    """Lines of a journal that no process has any more, which is then ours; None for any other."""
    try:
        stream = held.enter_context(path.open("rb"))
        status = os.fstat(stream.fileno())
        own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if not own or not _lock(stream.fileno(), wait=False):
            return None
        # It may have been finished, and removed, since it was opened.
        if not os.path.samestat(status, path.stat()):
            return None
        return _parse(stream.read())
    except OSError:
        return None


def _parse(text: bytes) -> list[dict[str, Any]]:
    lines = []
    for line in text.split(b"\n"):
        # The last line may be half written.
        with suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                lines.append(value)
    return lines


def _settle(path: Path, lines: list[dict[str, Any]], committed: bool, undone: bool) -> None:
    """Complete or undo the renames in one folder, and remove its temporaries."""
    folder, token = path.parent, path.name[len(PREFIX) : -len(SUFFIX)]
    renames = [
        Rename(*names)
        for line in lines
        for names in line.get("renames", ())
        if len(names) == 3 and all(_is_plain(name) for name in names if name is not None)
    ]
    if committed and undone:
        undo(folder, renames)
    elif committed:
        for one in renames:
            temporary = folder / one.temporary
            if temporary.exists():
                os.replace(temporary, folder / one.target)
    for line in lines:
        name, target = line.get("temporary"), line.get("folder")
        # Only what such a journal can have named: a plain hidden name with its token.
        if not _is_plain(name) or not name.startswith(".") or f".{token}" not in name:
            continue
        if target is not None:
            settle_folder(folder / name, folder / os.path.basename(target))
        elif (folder / name).is_file():
            (folder / name).unlink()


def _is_plain(name: Any) -> TypeGuard[str]:
    """Whether a value is a name in a folder and leads nowhere else."""
    return isinstance(name, str) and os.path.basename(name) == name and name not in (".", "..")


def undo(folder: Path, renames: Iterable[Rename]) -> None:
    """Restore the old files of renames that were made."""
    for one in renames:
        target = folder / one.target
        kept = None if one.kept is None else folder / one.kept
        if kept is not None and kept.exists():
            os.replace(kept, target)
        elif kept is None and not (folder / one.temporary).exists() and not target.is_dir():
            target.unlink(missing_ok=True)


def settle_folder(work: Path, final: Path) -> None:
    """Give `final` the files written for it, or its old ones, if it has none; remove `work`."""
    for rows in (work / "rows", work / "replaced"):
        if not final.exists() and (work / "replaced").exists() and rows.exists():
            rows.rename(final)
    shutil.rmtree(work, ignore_errors=True)

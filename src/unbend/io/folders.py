"""Files of a folder, or of a list."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbend.io.numerals import Array, text_array

MOST_FILES = 5_000_000


@dataclass(frozen=True)
class Gathered:
    """Files in order, their names, and the subfolders they lie in, if they lie in any."""

    paths: tuple[Path, ...]
    ids: Array
    label: Array | None


def files_of(source: Any, suffixes: tuple[str, ...] | None, what: str) -> Gathered:
    """Files of a folder and its subfolders by name (2 before 10), or of a list as it stands."""
    if isinstance(source, str | os.PathLike):
        root = Path(os.fspath(source))
        if not root.is_dir():
            raise FileNotFoundError(f"there is no folder {root}")
        paths = sorted(below(root, suffixes), key=lambda path: _natural(path.relative_to(root)))
        if not paths:
            raise ValueError(f"the folder {root} holds no {what}")
        return _gathered(paths, root)
    paths = [Path(os.fspath(path)) for path in source]
    if not paths:
        raise ValueError(f"the list of {what} is empty")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
    return Gathered(tuple(paths), text_array([str(path) for path in paths]), None)


def is_folder(source: Any) -> bool:
    """Whether a source is the path of a folder."""
    return isinstance(source, str | os.PathLike) and Path(os.fspath(source)).is_dir()


def is_paths(source: Any) -> bool:
    """Whether a source is a list of paths."""
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(item, os.PathLike) for item in source)
    )


def below(root: Path, suffixes: tuple[str, ...] | None) -> Iterable[Path]:
    """Files that are no pipes or devices, which might never end; hidden ones are left out."""
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


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Order in which 2 stands before 10."""
    parts = re.split(r"([0-9]{1,18})", str(path))
    return [(0, int(part), part) if part[:1].isdecimal() else (1, 0, part) for part in parts]


def _gathered(paths: list[Path], root: Path) -> Gathered:
    inside = [path.relative_to(root) for path in paths]
    folders = [part.parent.as_posix() for part in inside]
    label = None if set(folders) == {"."} else text_array(folders)
    return Gathered(tuple(paths), text_array([part.as_posix() for part in inside]), label)

"""Files that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def replaceable(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to; raise if none can be written there.

    Examples
    --------
    >>> replaceable("no folder/table.csv")
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
        raise PermissionError(f"{path} cannot be written: its folder is not yours to write to")
    return target


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes its place when the block succeeds.

    A block that fails or is interrupted leaves `path` as it was, and nothing beside it. What is
    not a file, as a pipe or a device, cannot be replaced and is given as it is.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "table.csv") as partial:
    ...     _ = partial.write_text("x,y")
    >>> [file.name for file in folder.iterdir()]
    ['table.csv']
    """
    target = replaceable(path)
    if target.exists() and not target.is_file():
        yield target
        return
    partial = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(4)}{target.suffix}")
    try:
        yield partial
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)

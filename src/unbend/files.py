"""Files that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
    # A link stays a link: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: its folder does not exist")
    if target.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder")
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

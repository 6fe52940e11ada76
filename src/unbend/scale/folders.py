"""Folders of Parquet and Zarr: what one holds, and atomic writing."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Endings of files of Parquet, and the files that mark a folder as a Zarr array.
PARQUET = (".parquet", ".parq", ".pq")
ZARR = ("zarr.json", ".zarray")


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


def open_folder(path: str | os.PathLike[str]) -> Any:
    """Open a folder of Parquet as a Dask data frame, or of Zarr as a Dask array.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If it holds neither, or other files beside Parquet.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no folder {os.fspath(path)}")
    kind = folder_format(path)
    if kind == "parquet":
        import dask.dataframe

        return dask.dataframe.read_parquet(os.fspath(path))
    if kind == "zarr":
        import dask.array

        return dask.array.from_zarr(os.fspath(path))
    raise ValueError(
        f"{os.fspath(path)} is no folder of Parquet or Zarr. Pass a folder with *.parquet files, "
        "or a Zarr array."
    )


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside `path` that takes its name at the end of the block.

    If the block fails, the temporary folder is removed, and what `path` held before is unchanged.
    """
    final = Path(path)
    work = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    old = None
    try:
        yield work / "rows"
        if final.exists():
            old = work / "replaced"
            final.rename(old)
        (work / "rows").rename(final)
    except BaseException:
        if old is not None and not final.exists():
            old.rename(final)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)

"""Numbers as browsers take them: little-endian single precision, never JSON."""

from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray

BINARY = "application/octet-stream"


def encode_floats(values: Any) -> bytes:
    """Return numbers as little-endian float32, row by row.

    Examples
    --------
    >>> encode_floats([1.0, float("nan")]).hex()
    '0000803f0000c07f'
    """
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype="<f4").tobytes()


def encode_integers(values: Any) -> bytes:
    """Return integers as little-endian uint32."""
    return np.ascontiguousarray(values, dtype="<u4").tobytes()


def decode_integers(body: bytes) -> IntArray:
    """Return the row numbers that a browser sent."""
    if len(body) % 4:
        raise ValueError("row numbers are sent as uint32")
    return np.frombuffer(body, dtype="<u4").astype(np.int64)


def spread_rows(values: FloatArray, rows: IntArray, n: int) -> FloatArray:
    """Return one line for each of n rows of the table, NaN where `rows` has none."""
    whole = np.full((n, *values.shape[1:]), np.nan)
    whole[rows] = values
    return whole


class StoredTable:
    """Columns of a table in files: numbers as such, anything else as codes of its values."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def numbers(self) -> FloatArray:
        """All columns (columns, n): numbers, or codes of the levels, −1 where missing."""
        return np.asarray(np.load(self._folder / "columns.npy", mmap_mode="r"))

    def write(self, columns: FloatArray, levels: dict[int, list[str]]) -> None:
        """Write the columns, and the levels of those that are no numbers."""
        import json

        np.save(self._folder / "columns.npy", columns)
        (self._folder / "levels.json").write_text(json.dumps(levels))

    @property
    def levels(self) -> dict[int, list[str]]:
        """The different values of columns that are no numbers."""
        import json

        stored = json.loads((self._folder / "levels.json").read_text())
        return {int(place): names for place, names in stored.items()}

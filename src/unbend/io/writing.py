"""Coordinates to files."""

import csv
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from unbend.files import atomic_write
from unbend.io.arrays import COLUMNS
from unbend.io.numerals import Array
from unbend.io.source import require

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
ARROW = {".parquet": "Parquet", ".feather": "Feather", ".arrow": "Arrow"}
EXTENSIONS = (*SEPARATORS, *ARROW, ".npy", ".npz")


def write(
    target: Any,
    coordinates: Any,
    *,
    columns: Sequence[str] | None = None,
    table: Any = None,
    extra: Mapping[str, Array] | None = None,
) -> None:
    r"""Write coordinates to a file, with the ids and the label of the table they came from.

    Parameters
    ----------
    target : path or binary file object
        The extension says the format: ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.arrow``,
        ``.npy`` (coordinates alone) or ``.npz``. The file is written beside and renamed, so it is
        never there in part. A file object gets CSV.
    coordinates : array (n, d)
        One row for each row of the table. Text keeps every bit of them.
    columns : sequence of str, optional
        Names of the coordinates; y0, y1, … by default.
    table : Table or Texts, optional
        Its ids go before the coordinates and its label behind.
    extra : dict of array (n,), optional
        Further columns of any type, by name; written last.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> table = unbend.io.read(io.BytesIO(b"a,b,kind\n1,2,x\n3,4,y\n"), label="kind")
    >>> out = io.BytesIO()
    >>> unbend.io.write(out, table.values / 10, columns=["u", "v"], table=table)
    >>> print(out.getvalue().decode())
    u,v,kind
    0.1,0.2,x
    0.3,0.4,y
    """
    values = np.asarray(coordinates)
    named = _named_columns(values, columns, table, extra or {})
    if hasattr(target, "write"):
        _write_text(target, named, ",")
        return
    path = Path(os.fspath(target))
    if path.suffix.lower() not in EXTENSIONS:
        raise ValueError(
            f"{path} has an extension that is not written: use one of {', '.join(EXTENSIONS)}"
        )
    with atomic_write(path) as temporary:
        beside = {} if table is None else {table.id_name or "id", table.label_name or "label"}
        _write_file(temporary, path.suffix.lower(), values, named, {*beside, *(extra or {})})


def _named_columns(
    values: Array, columns: Sequence[str] | None, table: Any, extra: Mapping[str, Array]
) -> dict[str, Array]:
    """Columns in the order of writing: ids, coordinates, label, further ones."""
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise ValueError("coordinates must be an array of numbers with two dimensions")
    names = [f"y{place}" for place in range(values.shape[1])] if columns is None else list(columns)
    if len(names) != values.shape[1]:
        raise ValueError(f"there are {len(names)} names for {values.shape[1]} coordinates")
    pairs = list(zip(names, values.T, strict=True))
    if table is not None and table.ids is not None:
        pairs.insert(0, (table.id_name or "id", table.ids))
    if table is not None and table.label is not None:
        pairs.append((table.label_name or "label", table.label))
    pairs += extra.items()
    for place, (name, column) in enumerate(pairs):
        if len(column) != len(values):
            raise ValueError(
                f"column {name!r} has {len(column)} entries and there are {len(values)} rows of "
                "coordinates"
            )
        if name in (other for other, _ in pairs[:place]):
            raise ValueError(f"two columns would be named {name!r}: name the coordinates otherwise")
    return dict(pairs)


def _write_file(
    path: Path, suffix: str, values: Array, named: dict[str, Array], beside: set[str]
) -> None:
    if suffix in SEPARATORS:
        with open(path, "wb") as stream:
            _write_text(stream, named, SEPARATORS[suffix])
    elif suffix == ".npy":
        np.save(path, values, allow_pickle=False)
    elif suffix == ".npz":
        _write_npz(path, values, named, beside)
    else:
        _write_arrow(path, suffix, named)


class _UnixLines:
    """Writes rows that end as the csv module must end them for a carriage return to be quoted."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text

    def write(self, row: str) -> int:
        return self._text.write(row.removesuffix("\r\n") + "\n")


def _write_text(stream: IO[bytes], named: dict[str, Array], separator: str) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    try:
        # Python writes a number by the fewest digits that give it back.
        writer = csv.writer(_UnixLines(text), delimiter=separator, lineterminator="\r\n")
        writer.writerow(named)
        writer.writerows(zip(*(_items(column) for column in named.values()), strict=True))
        text.flush()
    finally:
        # The stream belongs to the caller.
        text.detach()


def _items(column: Array) -> Iterator[Any]:
    """Python's numbers, which are written fastest; others as they are."""
    return iter(column) if column.dtype == np.float32 else iter(column.tolist())


def _write_npz(path: Path, values: Array, named: dict[str, Array], beside: set[str]) -> None:
    kept = {name: _plain(column) for name, column in named.items() if name in beside}
    names = [name for name in named if name not in beside]
    if {"coordinates", COLUMNS} & set(kept):
        raise ValueError("a label or id named 'coordinates' or 'columns' cannot be kept in NPZ")
    held = {"coordinates": values, COLUMNS: np.array(names, dtype=np.str_), **kept}
    # NumPy's own function takes names as keywords, some of which mean something to it.
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in held.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _plain(column: Array) -> Array:
    """Text in place of Python's objects, which would have to be pickled."""
    if column.dtype.kind != "O":
        return column
    return np.array(["" if item is None else str(item) for item in column], dtype=np.str_)


def _write_arrow(path: Path, suffix: str, named: dict[str, Array]) -> None:
    arrow = require("pyarrow", f"writing {ARROW[suffix]}")
    columns = {
        name: arrow.array(column.tolist() if column.dtype.kind in "OU" else column)
        for name, column in named.items()
    }
    frame = arrow.table(columns)
    if suffix == ".parquet":
        require("pyarrow.parquet", "writing Parquet").write_table(frame, path)
    else:
        require("pyarrow.feather", "writing Feather").write_feather(frame, str(path))

"""Workbooks of Excel (XLSX), by python-calamine."""

import datetime
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unbend.io.arrays import MatrixReader, read_columns
from unbend.io.numerals import MISSING, Array
from unbend.io.source import Source, require
from unbend.memory import NotEnoughMemory, reserve

# Bytes that a sheet takes in memory for each byte of its XML: Python objects, then arrays.
GROWTH = 4


def is_workbook(source: Source) -> bool:
    """Whether a zip archive is a workbook of Excel."""
    try:
        packed = io.BytesIO(source.read_bytes()) if source.packed else None
        with source.stream() as stream, zipfile.ZipFile(packed or stream) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def read_workbook(source: Source, sheet: str | None) -> MatrixReader:
    """Read a sheet, by default the first: names in the first row that is not empty, then rows."""
    calamine = require("python_calamine", "reading XLSX")
    content = source.read_bytes()
    damage = f"{source.name} is a damaged or cut off XLSX file: save it again"
    _check_size(content, source.name, damage)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = workbook.sheet_names
        if sheet is not None and sheet not in names:
            raise ValueError(f"{source.name} has no sheet {sheet!r}: it has {', '.join(names)}")
        chosen = names[0] if sheet is None else sheet
        cells = workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except calamine.CalamineError as error:
        raise ValueError(damage) from error
    rows = [row for row in cells if any(cell != "" for cell in row)]
    where = source.name if len(names) == 1 else f"sheet {chosen!r} of {source.name}"
    if len(rows) < 2:
        raise ValueError(f"{where} has no rows below its header: name another sheet by array=")
    return replace(read_columns(_columns(rows), where), tabular=True)


def _check_size(content: bytes, name: str, damage: str) -> None:
    """Refuse a workbook that unpacks to more than memory holds, or not to what it claims."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            reserve(GROWTH * size, f"the cells of {name}", "save the table as Parquet or CSV")
            # Reads no more of a member than it claims to hold, and compares the checksum.
            if archive.testzip() is not None:
                raise ValueError(damage)
    except NotEnoughMemory:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise ValueError(damage) from error


def _columns(rows: Sequence[Sequence[Any]]) -> dict[str, Array]:
    header = rows[0]
    named = all(isinstance(cell, str) for cell in header) and any(header)
    names = [str(cell).strip() for cell in header] if named else _numbered(len(header))
    filled = [name or f"x{place}" for place, name in enumerate(names)]
    if names and not names[0]:
        # A first column without a name is an index, as pandas writes it.
        filled[0] = ""
    columns: dict[str, Array] = {}
    for name, cells in zip(filled, zip(*rows[named:], strict=True), strict=True):
        if name in columns:
            raise ValueError(f"the workbook has more than one column named {name!r}: rename them")
        columns[name] = _column(list(cells))
    return columns


def _numbered(count: int) -> list[str]:
    return [f"x{place}" for place in range(count)]


def _column(cells: list[Any]) -> Array:
    """Numbers with NaN, dates with NaT, or text with None; cells of several kinds become text."""
    held = [None if isinstance(c, str) and c.strip() in MISSING else c for c in cells]
    present = [cell for cell in held if cell is not None]
    if all(isinstance(cell, int | float) for cell in present):
        return np.array([np.nan if c is None else float(c) for c in held])
    if all(isinstance(cell, datetime.date) for cell in present):
        return np.array(held, dtype="datetime64[us]")
    if all(isinstance(cell, datetime.timedelta) for cell in present):
        return np.array([np.nan if c is None else c.total_seconds() for c in held])
    texts = np.empty(len(held), dtype=object)
    texts[:] = [None if c is None else _text(c) for c in held]
    return texts


def _text(cell: Any) -> str:
    # Excel has no integers: 3 is stored as 3.0.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()

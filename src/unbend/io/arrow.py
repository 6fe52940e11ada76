"""Parquet, Arrow and Feather files, through pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from unbend.io.files import File
from unbend.io.frames import columns_of
from unbend.io.optional import needed
from unbend.io.table import Roles, Table, table_of_columns
from unbend.memory import check_fits, reserve

TITLES = {"parquet": "Parquet", "arrow": "Arrow", "arrow stream": "Arrow"}


@dataclass(frozen=True)
class ArrowSource:
    """A file of columns: Parquet, or Arrow, which Feather is."""

    file: File
    format: str

    @property
    def where(self) -> str:
        """Name for messages."""
        return self.file.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        with self._opened() as (schema, _):
            return tuple(schema.names)

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Give tables of so many rows, or one of all."""
        arrow = needed("pyarrow", self._purpose)
        narwhals = needed("narwhals", "reading dataframes")
        start = 0
        wanted = list(roles.wanted(self.names, self.where))
        with self._opened() as (_, batches):
            for held in _regrouped(batches(wanted, rows), rows):
                frame = narwhals.from_native(arrow.Table.from_batches(held), eager_only=True)
                table = table_of_columns(
                    columns_of(frame, roles, self.where), roles, start, self.where
                )
                start += len(table)
                yield table
        if not start:
            raise ValueError(f"{self.where} has no rows")

    @property
    def _purpose(self) -> str:
        return f"reading {TITLES[self.format]}"

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        """Open the file: its schema, and a function of names and rows that gives batches."""
        arrow = needed("pyarrow", self._purpose)
        try:
            with self._bytes(arrow) as content:
                yield self._parquet(content) if self.format == "parquet" else self._ipc(content)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(
                f"{self.where} is a damaged or cut off {TITLES[self.format]} file: fetch or write "
                "it again"
            ) from error

    @contextmanager
    def _bytes(self, arrow: Any) -> Iterator[Any]:
        """Open the bytes: a memory map of a file that is not compressed as a whole."""
        if self.file.path is not None and not self.file.packed:
            with arrow.memory_map(str(self.file.path)) as content:
                yield content
        else:
            yield arrow.BufferReader(self.file.bytes())

    def _parquet(self, content: Any) -> tuple[Any, Any]:
        reader = needed("pyarrow.parquet", self._purpose)
        # Else a whole group of rows, which may be the whole file, would be held packed.
        opened = reader.ParquetFile(content, pre_buffer=False)

        def batches(names: list[str], rows: int | None) -> Iterator[Any]:
            # Millions of equal numbers take a few bytes in the file.
            count = (
                opened.metadata.num_rows if rows is None else min(rows, opened.metadata.num_rows)
            )
            size = 8 * count * len(names)
            reserve(size, f"the numbers of {self.where}", "read it in batches, or fewer rows")
            if rows is None:
                return iter(opened.read(columns=names).to_batches())
            return iter(opened.iter_batches(batch_size=rows, columns=names))

        return opened.schema_arrow, batches

    def _ipc(self, content: Any) -> tuple[Any, Any]:
        reader = needed("pyarrow.ipc", self._purpose)
        if self.format == "arrow":
            opened = reader.open_file(content)
            held = (opened.get_batch(number) for number in range(opened.num_record_batches))
        else:
            opened = reader.open_stream(content)
            held = iter(opened)

        def batches(names: list[str], rows: int | None) -> Iterator[Any]:
            size = 0
            for batch in held:
                chosen = batch.select(names)
                size += chosen.nbytes
                if rows is None:
                    # Packed pieces tell how large they are when they are unpacked.
                    check_fits(size, f"the entries of {self.where}", "read it in batches")
                yield chosen

        return opened.schema, batches


def _regrouped(batches: Iterator[Any], rows: int | None) -> Iterator[list[Any]]:
    """Put record batches together, or cut them, to lists of so many rows."""
    held: list[Any] = []
    count = 0
    for batch in batches:
        while rows is not None and count + batch.num_rows >= rows:
            yield [*held, batch.slice(0, rows - count)]
            batch = batch.slice(rows - count)
            held, count = [], 0
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
    if count:
        yield held

"""Tables in, coordinates out: files, or pipes where the name is '-'."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from unbend.cli.errors import Misuse

if TYPE_CHECKING:
    from unbend.io import Batches, Table

PIPE = "-"
POLICIES = ("refuse", "drop", "mean", "median")
LISTED_POLICIES = f"{', '.join(POLICIES[:-1])} or {POLICIES[-1]}"


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are not data, and what becomes of missing values."""

    label: str | None = None
    id: str | None = None
    ignore: tuple[str, ...] = ()
    missing: str = "refuse"

    def __post_init__(self) -> None:
        if self.missing not in POLICIES:
            raise Misuse(f"--missing {self.missing} is not allowed: it must be {LISTED_POLICIES}")

    def options(self) -> dict[str, Any]:
        """Return the keywords of the readers."""
        return {
            "label": self.label,
            "id": self.id,
            "ignore": self.ignore,
            "missing": self.missing,
        }


@cache
def _piped() -> bytes:
    return sys.stdin.buffer.read()


def source(name: str) -> str | BinaryIO:
    """Return what a reader takes: the path, or all that comes through the pipe."""
    return BytesIO(_piped()) if name == PIPE else name


def names_of(name: str) -> tuple[str, ...]:
    """Return the names of all columns of a table, without reading its rows."""
    from unbend import io

    return io.batches(source(name)).columns


def column_names(name: str) -> tuple[str, ...]:
    """Return the names of all columns of a table, an index among them."""
    from unbend.io.reading import open_source

    return open_source(source(name)).names


def read_table(name: str, columns: Columns) -> "Table":
    """Read a table as a stage of the work."""
    from unbend import io
    from unbend.report import stage

    with stage("reading"):
        return io.read(source(name), **columns.options())


def read_sample(name: str, columns: Columns, rows: int, seed: int) -> "Table":
    """Read a table, and keep at most so many of its rows, drawn at random."""
    import numpy as np

    from unbend.choose._points import drawn

    table = read_table(name, columns)
    chosen = np.zeros(len(table), dtype=bool)
    chosen[drawn(len(table), rows, seed)] = True
    return table.take(chosen)


def read_distances(name: str) -> Any:
    """Read distances as a stage of the work."""
    from unbend import io
    from unbend.report import stage

    with stage("reading"):
        return io.read_distances(source(name))


def read_network(name: str) -> tuple[Any, int]:
    """Read distances of which some are missing, and the number of the first point."""
    from unbend.io.distances import read_network as read
    from unbend.report import stage

    with stage("reading"):
        return read(source(name))


def read_batches(name: str, columns: Columns, rows: int) -> "Batches":
    """Open a table to be read some rows at a time, any number of times."""
    from unbend import io

    return io.batches(source(name), rows=rows, **columns.options())


def picked(table: "Table", names: Sequence[str], where: str) -> Any:
    """Return the values of some columns, in the order of the names."""
    for name in names:
        if name not in table.columns:
            raise ValueError(
                f"{where} has no column {name!r}: its columns are {', '.join(table.columns)}"
            )
    return table.values[:, [table.columns.index(name) for name in names]]


def without(table: "Table", names: Sequence[str]) -> "Table":
    """Return the table without some of its columns."""
    kept = tuple(name for name in table.columns if name not in names)
    return replace(table, values=picked(table, kept, ""), columns=kept)


def write_rows(
    target: str, beside: Callable[[str], str], values: Any, columns: Sequence[str], table: Any
) -> None:
    """Write rows, with the names and labels of their table, to a file or as CSV to stdout."""
    from unbend import io
    from unbend.report import stage

    with stage("writing"):
        if target == PIPE:
            sys.stdout.flush()
            io.write(sys.stdout.buffer, values, columns=columns, table=table)
        else:
            io.write(beside(target), values, columns=columns, table=table)


def coordinate_names(estimator: Any, count: int) -> list[str]:
    """Name coordinates after their method: isomap_1, isomap_2 and so on."""
    from unbend.registry import METHODS

    (name,) = (entry.name for entry in METHODS if entry.class_name == type(estimator).__name__)
    return [f"{name}_{number + 1}" for number in range(count)]


class Placed:
    """Coordinates gathered batch by batch, with the names and labels of their rows."""

    def __init__(self) -> None:
        self._coordinates: list[Any] = []
        self._tables: list[Table] = []

    def add(self, coordinates: Any, table: "Table") -> None:
        """Take the coordinates of a batch; of its values only the first row is kept."""
        self._coordinates.append(coordinates)
        self._tables.append(replace(table, values=table.values[:0]))

    def together(self) -> tuple[Any, "Table"]:
        """Return all coordinates, and a table of the names and labels."""
        import numpy as np

        coordinates = np.concatenate(self._coordinates)
        parts = self._tables
        first = parts[0]
        table = replace(
            first,
            label=None if first.label is None else np.concatenate([part.label for part in parts]),
            ids=None if first.ids is None else np.concatenate([part.ids for part in parts]),
            rows=np.concatenate([part.rows for part in parts]),
        )
        return coordinates, table

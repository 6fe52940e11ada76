"""Tables in, coordinates out: files, or pipes where the name is '-'."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.output import emit

if TYPE_CHECKING:
    from unbend.io import Table

PIPE = "-"
POLICIES = ("refuse", "drop", "mean", "median")
# Names of columns that a sentence may list.
MOST_NAMES = 12
LISTED_POLICIES = f"{', '.join(POLICIES[:-1])} or {POLICIES[-1]}"


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are not data, what becomes of missing values, how data are read."""

    label: str | None = None
    id: str | None = None
    ignore: tuple[str, ...] = ()
    missing: str = "refuse"
    data: Data = field(default_factory=Data)

    def __post_init__(self) -> None:
        if self.missing not in POLICIES:
            raise Misuse(f"--missing {self.missing} is not allowed: it must be {LISTED_POLICIES}")

    def options(self) -> dict[str, Any]:
        """Return the keywords of the readers of tables."""
        return {
            "label": self.label,
            "id": self.id,
            "ignore": self.ignore,
            "missing": self.missing,
            "array": self.data.array,
            "separator": self.data.mark,
        }

    def words(self) -> str:
        """Return the options that read the same data again, each after a space."""
        given = {"label": self.label, "id": self.id, "ignore": ",".join(self.ignore)}
        if self.missing != "refuse":
            given["missing"] = self.missing
        typed = [f" --{name} {shlex.quote(value)}" for name, value in given.items() if value]
        return self.data.words() + "".join(typed)


@cache
def _piped() -> bytes:
    return sys.stdin.buffer.read()


def source(name: str) -> str | BinaryIO:
    """Return what a reader takes: the path, or all that comes through the pipe."""
    return BytesIO(_piped()) if name == PIPE else name


def picked(table: "Table", names: Sequence[str], where: str) -> Any:
    """Return the values of some columns, in the order of the names."""
    places = {name: place for place, name in enumerate(table.columns)}
    for name in names:
        if name not in places:
            shown = ", ".join(table.columns[:MOST_NAMES])
            more = len(table.columns) - MOST_NAMES
            rest = f" and {more} more" if more > 0 else ""
            raise ValueError(f"{where} has no column {name!r}: its columns are {shown}{rest}")
    return table.values[:, [places[name] for name in names]]


def without(table: "Table", names: Sequence[str]) -> "Table":
    """Return the table without some of its columns."""
    if not set(names) & set(table.columns):
        return table
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
            if sys.stdout.isatty():
                shown = BytesIO()
                io.write(shown, values, columns=columns, table=table)
                emit(*shown.getvalue().decode().removesuffix("\n").split("\n"))
            else:
                io.write(sys.stdout.buffer, values, columns=columns, table=table)
        else:
            io.write(beside(target), values, columns=columns, table=table)


def coordinate_names(estimator: Any, count: int) -> list[str]:
    """Name coordinates after their method: isomap_1, isomap_2 and so on."""
    from unbend.registry import METHODS, SEVERAL

    known = (*METHODS, *SEVERAL)
    (name,) = (entry.name for entry in known if entry.class_name == type(estimator).__name__)
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

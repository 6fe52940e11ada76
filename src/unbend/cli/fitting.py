"""The work of ``unbend embed``: fit, and write what is wanted of the result."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together
from unbend.cli.pictures import figure_of, save
from unbend.cli.tables import (
    PIPE,
    Columns,
    Placed,
    column_names,
    coordinate_names,
    read_batches,
    read_distances,
    read_table,
    write_rows,
)

if TYPE_CHECKING:
    from unbend.io import Table


@dataclass(frozen=True)
class Wanted:
    """What is to be written: coordinates, a model and a picture, each only if it has a name."""

    output: str | None
    model: str | None
    plot: str | None
    json: bool
    training: bool = True
    precision: str | None = None

    def __post_init__(self) -> None:
        if self.json and self.output == PIPE:
            raise Misuse("--json and the coordinates cannot both go to stdout: give -o FILE")

    @property
    def coordinates(self) -> str | None:
        """Where the coordinates go: to stdout if nothing else is wanted."""
        elsewhere = self.model or self.plot or self.json
        return self.output or (None if elsewhere else PIPE)


@dataclass(frozen=True)
class Work:
    """An estimator to fit, the table to fit it to, and what is wanted."""

    estimator: Any
    source: str
    columns: Columns
    wanted: Wanted

    def whole(self) -> Any:
        """Fit to the table in memory; return the coordinates."""
        table: Table | None = None
        if getattr(self.estimator, "metric", None) == "precomputed":
            self.estimator.fit(read_distances(self.source))
        else:
            self._check_ignored()
            table = read_table(self.source, self.columns)
            supervised = getattr(self.estimator, "supervised", False)
            self.estimator.fit(table.values, table.label if supervised else None)
        self._write(self.estimator.embedding_, table)
        return self.estimator.embedding_

    def in_batches(self, rows: int) -> Any:
        """Fit to the table without holding it; return the coordinates."""
        if not hasattr(self.estimator, "fit_batches"):
            raise Misuse(
                f"{type(self.estimator).__name__} needs all rows at once: --batches works with "
                "pca and random_projection"
            )
        self._check_ignored()
        batches = read_batches(self.source, self.columns, rows)
        self.estimator.fit_batches(batches)
        placed = Placed()
        for table in batches:
            placed.add(self.estimator.transform(table.values), table)
        coordinates, table = placed.together()
        self._write(coordinates, table)
        return coordinates

    def _check_ignored(self) -> None:
        """Refuse to ignore what is not there: a slip would make a column data."""
        if self.columns.ignore:
            names = column_names(self.source)
            for name in self.columns.ignore:
                if name not in names:
                    raise ValueError(
                        f"{self.source} has no column {name!r} to ignore: its columns are "
                        f"{', '.join(names)}"
                    )

    def _write(self, coordinates: Any, table: "Table | None") -> None:
        wanted, estimator = self.wanted, self.estimator
        names = coordinate_names(estimator, coordinates.shape[1])
        with appearing_together() as beside:
            if wanted.model is not None:
                self._save(beside(wanted.model), coordinates, table)
            if wanted.plot is not None:
                drawn = (
                    coordinates
                    if table is None
                    else replace(table, values=coordinates, columns=tuple(names))
                )
                suffix = Path(wanted.plot).suffix
                figure = figure_of(drawn, method=estimator, suffix=suffix)
                save(figure, beside(wanted.plot))
            if wanted.coordinates is not None:
                write_rows(wanted.coordinates, beside, coordinates, names, table)

    def _save(self, target: str, coordinates: Any, table: "Table | None") -> None:
        about = {
            "rows": len(coordinates),
            "components": coordinates.shape[1],
            "source": self.source,
            "columns": [] if table is None else list(table.columns),
            "label": self.columns.label,
            "id": self.columns.id,
            "ignore": list(self.columns.ignore),
        }
        self.estimator.save(
            target, training=self.wanted.training, precision=self.wanted.precision, about=about
        )

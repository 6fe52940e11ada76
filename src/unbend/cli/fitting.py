"""The work of ``unbend embed``: fit, and write what is wanted of the result."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, is_image, write_image
from unbend.cli.kinds import kind_of
from unbend.cli.pictures import figure_of, save
from unbend.cli.reading import (
    Rows,
    check_columns,
    column_names,
    open_cube,
    read_batches,
    read_distances,
    read_matrices,
    read_rows,
    with_pixels,
)
from unbend.cli.tables import PIPE, Columns, Placed, coordinate_names, write_rows
from unbend.registry import SEVERAL


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
    # Names of several matrices, once they are read.
    matrices: list[str] = field(default_factory=list)

    def whole(self) -> Any:
        """Fit to the table in memory; return the coordinates."""
        estimator, rows = self.estimator, None
        if self.several:
            rows, matrices = read_matrices(self.source, self.columns.data)
            self.matrices.extend(rows.like["names"])
            estimator.fit(matrices)
        elif getattr(estimator, "metric", None) == "precomputed":
            estimator.fit(read_distances(self.source, self.columns.data.mark))
        else:
            self._check_ignored()
            rows = read_rows(self.source, self.columns)
            supervised = getattr(estimator, "supervised", False)
            estimator.fit(rows.values(estimator), rows.table.label if supervised else None)
        self._write(estimator.embedding_, rows)
        return estimator.embedding_

    @property
    def several(self) -> bool:
        """Whether the method takes several matrices."""
        return type(self.estimator).__name__ in {entry.class_name for entry in SEVERAL}

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
        if kind_of(self.source, self.columns.data) == "cube":
            cube = open_cube(self.source, self.columns.data)
            like = {"kind": "cube", "bands": False}
            self._write(coordinates, Rows("cube", with_pixels(table, cube), like, cube=cube))
        else:
            self._write(coordinates, Rows("table", table, {"kind": "table"}))
        return coordinates

    def _check_ignored(self) -> None:
        """Refuse to ignore what is not there: a slip would make a column data."""
        if self.columns.ignore:
            kind = kind_of(self.source, self.columns.data)
            check_columns(kind, self.columns, self.source)
            names = column_names(self.source, self.columns.data)
            for name in self.columns.ignore:
                if name not in names:
                    raise ValueError(
                        f"{self.source} has no column {name!r} to ignore: its columns are "
                        f"{', '.join(names)}"
                    )

    def _write(self, coordinates: Any, rows: Rows | None) -> None:
        wanted, estimator = self.wanted, self.estimator
        table = None if rows is None else rows.table
        names = coordinate_names(estimator, coordinates.shape[1])
        with appearing_together() as beside:
            if wanted.model is not None:
                self._save(beside(wanted.model), coordinates, rows)
            if wanted.plot is not None:
                drawn = (
                    coordinates
                    if table is None
                    else replace(table, values=coordinates, columns=tuple(names))
                )
                suffix = Path(wanted.plot).suffix
                figure = figure_of(drawn, method=estimator, suffix=suffix)
                save(figure, beside(wanted.plot))
            if rows is not None and rows.cube is not None and is_image(wanted.output):
                write_image(str(wanted.output), beside, rows.cube.image(coordinates), names)
            elif wanted.coordinates is not None:
                write_rows(wanted.coordinates, beside, coordinates, names, table)

    def _save(self, target: str, coordinates: Any, rows: Rows | None) -> None:
        # The dictionary of texts names their columns.
        plain = rows is not None and rows.kind != "texts"
        about = {
            "rows": len(coordinates),
            "components": coordinates.shape[1],
            "source": self.source,
            "columns": list(rows.table.columns) if rows is not None and plain else [],
            "label": self.columns.label,
            "id": self.columns.id,
            "ignore": list(self.columns.ignore),
            "data": {"kind": "distances"} if rows is None else dict(rows.like),
        }
        self.estimator.save(
            target, training=self.wanted.training, precision=self.wanted.precision, about=about
        )

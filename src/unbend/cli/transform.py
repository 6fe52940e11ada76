"""``unbend transform``: new rows, placed among the fitted ones."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.command import Command
from unbend.cli.data import CALLED, Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files, is_image, write_image
from unbend.cli.kinds import files_read, kind_of
from unbend.cli.options import (
    Id,
    Ignore,
    Json,
    Label,
    Missing,
    ModelFile,
    Output,
    RowsAtATime,
    TableFile,
    listed,
)
from unbend.cli.output import emit_json, next_step, say
from unbend.cli.progress import watched
from unbend.cli.reading import column_names, open_cube, read_batches, read_rows, with_pixels
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns, Placed, coordinate_names, picked, write_rows

if TYPE_CHECKING:
    from unbend.io import Table


# What a model must keep of data of each kind.
KEPT = {
    "table": set[str](),
    "distances": set[str](),
    "matrices": set[str](),
    "images": {"size", "turned"},
    "texts": {"column", "terms", "weights", "stop_words", "stem", "unit"},
    "cube": {"bands"},
}


def transform(
    model: ModelFile,
    table: TableFile,
    data: Data,
    output: Output = None,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    batches: RowsAtATime = 100_000,
    json: Json = False,
) -> None:
    """Place the rows of a table among those that a model was fitted to.

    Columns are found by their names, in any order; those that embed kept aside (its label, id and
    ignored columns) may be there or not. The table is read some rows at a time. Texts are counted
    in the terms of the fitted ones, and images and cubes read as those were.
    """
    import unbend

    if json and output == PIPE:
        raise Misuse("--json and the coordinates cannot both go to stdout: give -o FILE")
    estimator = unbend.load(model)
    about = getattr(estimator, "about_", {})
    like = fitted_data(about)
    data = followed(data, like, model, table)
    kind = kind_of(table, data, like["kind"])
    of_pixels = kind == "cube" and not like["bands"]
    check_files(table=output, image=of_pixels, read=[model, *files_read(table, data)])
    columns = _aside(table, Columns(label, id, listed(ignore), missing, data), about, kind)
    fitted = fitted_columns(estimator)
    placed = Placed()
    with watched(), appearing_together() as beside:
        for part, values in _parts(table, columns, like, batches, estimator):
            placed.add(estimator.transform(aligned(part, values, fitted, table)), part)
        coordinates, rest = placed.together()
        names = coordinate_names(estimator, coordinates.shape[1])
        if is_image(output):
            write_image(str(output), beside, open_cube(table, data).image(coordinates), names)
        elif output is not None or not json:
            rest = with_pixels(rest, open_cube(table, data)) if of_pixels else rest
            write_rows(output or PIPE, beside, coordinates, names, rest)
    say(f"{len(coordinates)} rows placed by {model}")
    if json:
        emit_json({"model": model, "table": table, "rows": len(coordinates), "output": output})
    if output not in (None, PIPE) and not is_image(output):
        carried = Columns(rest.label_name, rest.id_name).words()
        next_step(f"unbend plot {named(str(output))}{carried} -o new.png")


def fitted_data(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a model keeps of the data it was fitted to; models of Python know of tables."""
    like: Any = about.get("data") or {"kind": "table"}
    known = isinstance(like, Mapping) and str(like.get("kind")) in KEPT
    if not known or not KEPT[like["kind"]] <= set(like):
        raise ValueError("the model does not tell of the data it was fitted to: fit it again")
    if like["kind"] == "matrices":
        raise ValueError(
            "new objects need their distances in every matrix, which no file holds: use "
            "transform in Python"
        )
    return {"kind": "table"} if like["kind"] == "distances" else dict(like)


def followed(data: Data, like: Mapping[str, Any], model: str, table: str) -> Data:
    """Return how new data are read: as the fitted ones were; refuse those of another kind."""
    data.check_open(model)
    if like["kind"] == "texts" and like["column"] is not None and _unspecified(data):
        data = data if Path(table).is_dir() else replace(data, text_column=like["column"])
    if like["kind"] == "cube" and like["bands"]:
        data = replace(data, bands=True)
    kind = kind_of(table, data, like["kind"])
    if kind != like["kind"]:
        raise ValueError(
            f"{model} was fitted to {CALLED[like['kind']]}, and {table} is read as {CALLED[kind]}"
        )
    return data


def _unspecified(data: Data) -> bool:
    return replace(data, separator=None) == Data()


def _aside(table: str, columns: Columns, about: Mapping[str, Any], kind: str) -> Columns:
    """Keep aside what embed kept aside, where it is there."""
    if kind != "table" and columns.data.text_column is None:
        return columns
    # Names of rows are carried along if they are there, labels only if they are asked for.
    there = column_names(table, columns.data, index=False)
    id = columns.id or (about.get("id") if about.get("id") in there else None)
    if kind != "table":
        return replace(columns, id=id)
    aside = (about.get("label"), about.get("id"), *about.get("ignore", ()), *columns.ignore)
    left_out = tuple(name for name in aside if name not in (None, columns.label, id))
    return replace(columns, id=id, ignore=left_out)


def _parts(
    name: str, columns: Columns, like: Mapping[str, Any], rows: int, estimator: Any
) -> "Iterator[tuple[Table, Any]]":
    """Give tables and cubes some rows at a time, other data whole."""
    kind = like["kind"]
    if kind == "table" or (kind == "cube" and not like["bands"]):
        for part in read_batches(name, columns, rows):
            yield part, part.values
    else:
        read = read_rows(name, columns, like)
        yield read.table, read.values(estimator)


def fitted_columns(estimator: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to, by embed or in Python."""
    about = getattr(estimator, "about_", {})
    names: Any = about.get("columns") or getattr(estimator, "feature_names_in_", ())
    return tuple(map(str, names))


def aligned(table: "Table", values: Any, fitted: tuple[str, ...], where: str) -> Any:
    """Return the columns that a model was fitted to, in its order.

    Columns without names of their own are taken in the order they have.
    """
    named = len(fitted) > 0 and not _numbered(fitted) and not _numbered(table.columns)
    if not named or table.columns == fitted:
        return values
    unknown = [name for name in table.columns if name not in fitted]
    if unknown:
        raise ValueError(
            f"{where} has the column {unknown[0]!r}, which the model was not fitted to: leave it "
            f"out with --ignore {','.join(unknown)}"
        )
    return picked(table, fitted, where)


def _numbered(names: tuple[str, ...]) -> bool:
    return names == tuple(f"x{place}" for place in range(len(names)))


COMMAND = Command(
    transform,
    (
        "unbend transform iris.unbend new.csv -o new-flat.csv",
        "unbend transform iris.unbend new.csv --label species -o new-flat.csv",
        "unbend transform news.unbend today.csv --text-column body -o today-flat.csv",
        "unbend surface s_curve | unbend transform curve.unbend - --ignore chart_1,chart_2",
    ),
)

"""``unbend transform``: new rows, placed among the fitted ones."""

from typing import TYPE_CHECKING, Any

from unbend.cli.command import Command
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
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
from unbend.cli.steps import column_options, named
from unbend.cli.tables import (
    PIPE,
    Columns,
    Placed,
    coordinate_names,
    names_of,
    picked,
    read_batches,
    write_rows,
)

if TYPE_CHECKING:
    from unbend.io import Table


def transform(
    model: ModelFile,
    table: TableFile,
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
    ignored columns) may be there or not. The table is read some rows at a time.
    """
    import unbend

    if json and output == PIPE:
        raise Misuse("--json and the coordinates cannot both go to stdout: give -o FILE")
    check_files(table=output, read=[model, table])
    estimator = unbend.load(model)
    about = getattr(estimator, "about_", {})
    aside = (about.get("label"), about.get("id"), *about.get("ignore", ()), *listed(ignore))
    # Names of rows are carried along if they are there, labels only if they are asked for.
    id = id or (about.get("id") if about.get("id") in names_of(table) else None)
    left_out = tuple(name for name in aside if name not in (None, label, id))
    columns = Columns(label, id, left_out, missing)
    fitted = fitted_columns(estimator)
    placed = Placed()
    with watched(), appearing_together() as beside:
        for part in read_batches(table, columns, batches):
            rows = aligned(part, fitted, table)
            placed.add(estimator.transform(rows), part)
        coordinates, rest = placed.together()
        names = coordinate_names(estimator, coordinates.shape[1])
        if output is not None or not json:
            write_rows(output or PIPE, beside, coordinates, names, rest)
    say(f"{len(coordinates)} rows placed by {model}")
    if json:
        emit_json({"model": model, "table": table, "rows": len(coordinates), "output": output})
    if output not in (None, PIPE):
        next_step(
            f"unbend plot {named(str(output))}{column_options(Columns(label, id))} -o new.png"
        )


def fitted_columns(estimator: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to, by embed or in Python."""
    about = getattr(estimator, "about_", {})
    names: Any = about.get("columns") or getattr(estimator, "feature_names_in_", ())
    return tuple(map(str, names))


def aligned(table: "Table", fitted: tuple[str, ...], where: str) -> Any:
    """Return the columns that a model was fitted to, in its order.

    Columns without names of their own are taken in the order they have.
    """
    named = len(fitted) > 0 and not _numbered(fitted) and not _numbered(table.columns)
    if not named or table.columns == fitted:
        return table.values
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
        "unbend surface s_curve | unbend transform curve.unbend - --ignore chart_1,chart_2",
    ),
)

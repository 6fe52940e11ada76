"""``unbend compare``: methods side by side on one table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.kinds import files_read
from unbend.cli.options import (
    Cores,
    Id,
    Ignore,
    Json,
    Label,
    Methods,
    Missing,
    Sample,
    Seed,
    Size,
    StillPicture,
    TableFile,
    class_names,
    listed,
)
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.parameters import value_of
from unbend.cli.pictures import check_still, save
from unbend.cli.progress import watched
from unbend.cli.reading import read_sample
from unbend.cli.suggest import embedding
from unbend.cli.tables import Columns, picked, without


def compare(
    table: TableFile,
    data: Data,
    methods: Methods = None,
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try", metavar="NAME=VALUES", help="Values of a parameter: n_neighbors=8,12"
        ),
    ] = None,
    components: Annotated[int, typer.Option("--components", "-d", min=1, help="Coordinates.")] = 2,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    truth: Annotated[
        list[str] | None,
        typer.Option("--truth", metavar="COLUMNS", help="Columns with the true coordinates."),
    ] = None,
    missing: Missing = "refuse",
    neighbors: Size = 10,
    sample: Sample = 2000,
    seed: Seed = 0,
    jobs: Cores = None,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Fit methods to the same rows, and rank them by several measures.

    With a label of classes the neighbourhood hit is measured, with the truth its errors. The best
    is first: that says which is better, not whether any is good.
    """
    check_still(plot, "pictures side by side are stills")
    check_files(picture=plot, read=files_read(table, data))
    names, wanted = class_names(methods), parameters_of(tried or ())
    columns, true_names = Columns(label, id, listed(ignore), missing, data), listed(truth)
    with watched(), appearing_together() as beside:
        import unbend
        from unbend.apps.study.study import classes_of

        rows = read_sample(table, columns, sample, seed)
        chart = picked(rows, true_names, table) if true_names else None
        found = unbend.compare(
            without(rows, true_names).values,
            names,
            n_components=components,
            parameters=wanted,
            truth=chart,
            labels=classes_of(rows.label),
            n_neighbors=neighbors,
            n_jobs=jobs,
        )
        if plot is not None:
            save(found.contact_sheet(rows.label if true_names == () else chart), beside(plot))
    if json:
        emit_json({"rows": len(rows), "neighbors": neighbors, "trials": _facts(found)})
    else:
        emit(*str(found).split("\n"))
    left_out = replace(columns, ignore=(*columns.ignore, *true_names))
    next_step(f"{embedding(table, found.best, left_out)} -o flat.csv --plot flat.png")


def parameters_of(tried: Sequence[str]) -> dict[str, list[object]]:
    """Read parameters and the values to try: n_neighbors=8,12."""
    from unbend.registry import METHODS
    from unbend.validation.parameters import parameters

    read: dict[str, list[object]] = {}
    for text in tried:
        name, separator, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or not listed([values]):
            raise Misuse(f"--try {text} has no values: write --try n_neighbors=8,12")
        declared = (
            parameter
            for entry in METHODS
            for parameter in parameters(entry.load())
            if parameter.name == name
        )
        parameter = next(declared, None)
        if parameter is None:
            raise Misuse(f"no method has a parameter {name!r}: unbend methods NAME lists them")
        read[name] = [value_of(parameter, value) for value in listed([values])]
    return read


def _facts(found: Any) -> list[dict[str, Any]]:
    return [
        {
            "title": trial.title,
            **trial.measures,
            "seconds": round(trial.seconds, 3),
            "place": None if trial.failure else trial.place,
            "failure": trial.failure or None,
            "warnings": trial.warnings,
            "reason": trial.reason,
        }
        for trial in found.trials
    ]


COMMAND = Command(
    compare,
    (
        "unbend compare iris.csv --label species --plot sheet.png",
        "unbend compare roll.csv --methods isomap,ltsa --try n_neighbors=8,12 --ignore chart_2",
        "unbend compare roll.csv --truth chart_1,chart_2 --json",
    ),
)

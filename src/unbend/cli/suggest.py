"""``unbend suggest``: which method fits a table, and why."""

from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.options import Id, Ignore, Json, Label, Missing, Sample, Seed, TableFile, listed
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.progress import watched
from unbend.cli.reading import read_sample
from unbend.cli.steps import named
from unbend.cli.tables import Columns


def suggest(
    table: TableFile,
    data: Data,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    dimension: Annotated[
        int | None,
        typer.Option("--dimension", min=1, help="Intrinsic dimension, where it is known."),
    ] = None,
    sample: Sample = 100_000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say which method fits a table, by measuring it.

    Measured are its dimension, how flat it is, clusters, noise, holes, and whether it closes up.
    """
    columns = Columns(label, id, listed(ignore), missing, data)
    with watched():
        import unbend

        rows = read_sample(table, columns, sample, seed)
        found = unbend.suggest(rows.values, dimension=dimension, random_state=seed)
    if json:
        emit_json(
            {
                "method": method_of(found.estimator),
                "parameters": changed(found.estimator),
                "reasons": found.reasons,
                "alternatives": [str(other) for other in found.alternatives],
                "findings": vars(found.findings),
            }
        )
    else:
        emit(*str(found).split("\n"))
    next_step(embedding(table, found.estimator, columns))


def method_of(estimator: Any) -> str:
    """Return the name under which embed knows an estimator."""
    from unbend.registry import METHODS

    kind = type(estimator).__name__
    return next((entry.name for entry in METHODS if entry.class_name == kind), kind)


def changed(estimator: Any) -> dict[str, Any]:
    """Return the parameters that are not as they would be without being given."""
    usual = type(estimator)().get_params()
    return {name: value for name, value in estimator.get_params().items() if value != usual[name]}


def embedding(table: str, estimator: Any, columns: Columns) -> str:
    """Return the command that embeds a table as an estimator would."""
    from unbend.cli.parameters import option_name

    given = "".join(f" {option_name(name)} {value}" for name, value in changed(estimator).items())
    method = method_of(estimator)
    return f"unbend embed {named(table)}{columns.words()} --method {method}{given}"


COMMAND = Command(
    suggest,
    (
        "unbend suggest iris.csv --label species",
        "unbend suggest roll.csv --ignore chart_1,chart_2 --json",
    ),
)

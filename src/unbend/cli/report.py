"""``unbend report``: one page about a table, for a colleague."""

from typing import Annotated

import typer

from unbend.cli.command import Command
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.options import (
    Cores,
    Id,
    Ignore,
    Json,
    Label,
    Missing,
    Sample,
    Seed,
    TableFile,
    listed,
)
from unbend.cli.output import emit_json, next_step, say
from unbend.cli.progress import watched
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns, source


def report(
    table: TableFile,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.")
    ],
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "median",
    sample: Sample = 2000,
    seed: Seed = 0,
    jobs: Cores = None,
    json: Json = False,
) -> None:
    """Write a page about a table: the data, dimension, method, embeddings, quality, commands.

    The page is one file that needs no network. Missing values are counted, and filled by the median
    of their column unless --missing says otherwise. The same table and seed give the same page.
    """
    if output == PIPE:
        raise Misuse("a page cannot go to stdout: give -o FILE.html")
    check_files(page=output, read=[table])
    columns = Columns(label, id, listed(ignore), missing)
    with watched(), appearing_together() as beside:
        from unbend.apps.study import page_html, study

        found = study(
            source(table),
            **columns.options(),
            max_rows=sample,
            random_state=seed,
            n_jobs=jobs,
            name="TABLE" if table == PIPE else table,
        )
        with open(beside(output), "w", encoding="utf-8") as page:
            page.write(page_html(found))
    say(f"{found.rows} rows, dimension {found.dimension.dimension}: {found.suggestion.estimator}")
    if json:
        emit_json({"table": table, "output": output, **found.to_dict()})
    next_step(f"open {named(output)}")


COMMAND = Command(
    report,
    (
        "unbend report iris.csv --label species -o iris.html",
        "unbend report roll.csv --ignore chart_1,chart_2 --sample 1000 --seed 1 -o roll.html",
    ),
)

"""``unbend report``: one page about a table, for a colleague."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from unbend.cli.code import python_of
from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.kinds import files_read, kind_of
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
from unbend.cli.reading import read_rows
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns, source

# What a row is called, and a column.
CALLED_EACH = {
    "images": ("image", "pixel"),
    "texts": ("document", "term"),
    "cube": ("pixel", "band"),
    "bands": ("band", "pixel"),
}


def report(
    table: TableFile,
    data: Data,
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
    check_files(page=output, read=files_read(table, data))
    # The median is what happens without a word, and no option where nothing can be missing.
    policy = missing if kind_of(table, data) == "table" or missing != "median" else "refuse"
    columns = Columns(label, id, listed(ignore), policy, data)
    with watched(), appearing_together() as beside:
        from unbend.apps.study import page_html, study

        rows, given = studied(table, columns)
        found = study(
            rows,
            **(columns if given is None else replace(columns, data=Data())).options(),
            given=given,
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


def studied(table: str, columns: Columns) -> tuple[Any, Any]:
    """Return what to study: the source of a table, or rows of images, texts or a cube."""
    from unbend.apps.study import Given

    if kind_of(table, columns.data) == "table":
        columns.data.check_for("table", table)
        return source(table), None
    rows = read_rows(table, columns)
    row, column = CALLED_EACH["bands" if rows.like.get("bands") else rows.kind]
    chosen = ".toarray()" if rows.sparse is not None else ".astype(float)"
    if columns.ignore:
        chosen = f"[:, [name not in {columns.ignore!r} for name in table.columns]]{chosen}"
    size = tuple(rows.like["size"]) if rows.kind == "images" else None
    code = python_of(rows.kind, table, columns)
    return rows.whole(), Given(row, column, columns.words(), code, chosen, size)


COMMAND = Command(
    report,
    (
        "unbend report iris.csv --label species -o iris.html",
        "unbend report faces/ --grey -o faces.html",
        "unbend report news.csv --text-column body --stem --label topic -o news.html",
        "unbend report roll.csv --ignore chart_1,chart_2 --sample 1000 --seed 1 -o roll.html",
    ),
)

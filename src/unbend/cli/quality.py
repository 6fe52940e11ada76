"""``unbend quality``: how good an embedding is."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.kinds import kind_of
from unbend.cli.options import (
    READABLE,
    Id,
    Ignore,
    Json,
    Label,
    Missing,
    Seed,
    Size,
    TableFile,
    listed,
)
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.progress import watched
from unbend.cli.reading import check_columns, column_names, read_table
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns, picked, without

EXPLAINED = {
    "trustworthiness": "no false neighbours were brought in (1 is best)",
    "continuity": "no neighbours were torn apart (1 is best)",
    "coordinate_redundancy": "how far each coordinate only repeats those before it (0 is best)",
    "neighborhood_hit": "neighbours of the same class (compare it with that of the data)",
    "neighborhood_hit_data": "the same in the data",
    "color_mixing": "values of the label mixed among neighbours (0 is best)",
    "procrustes_similarity": "truth missed after the best turn, shift and scale (0 is best)",
    "procrustes_affine": "truth missed after the best linear map (0 is best)",
}


EmbeddingFile = Annotated[
    str, typer.Argument(metavar="EMBEDDING", help=f"Its coordinates: {READABLE}.")
]
Truth = Annotated[
    list[str] | None,
    typer.Option("--truth", metavar="COLUMNS", help="Columns of TABLE with the true coordinates."),
]
Rows = Annotated[
    int | None,
    typer.Option("--sample", metavar="ROWS", min=1, help="Compare so many rows only."),
]


def quality(
    table: TableFile,
    embedding: EmbeddingFile,
    data: Data,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    truth: Truth = None,
    missing: Missing = "refuse",
    neighbors: Size = 5,
    sample: Rows = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare coordinates with the table they were made of.

    Both hold the same rows in the same order. The label, the ids, ignored columns and all that both
    files have are left out of the comparison; with a label of classes it is told how many
    neighbours share theirs. The time grows with the square of the rows.
    """
    if table == embedding == PIPE:
        raise Misuse("only one of the two can come through the pipe")
    check_columns(kind_of(table, data), Columns(None, None, listed(ignore), missing), table)
    true_names = listed(truth)
    given = (label, id, *listed(ignore), *_copies(table, embedding, data))
    aside = tuple(name for name in given if name is not None and name not in true_names)
    with watched():
        pair = _read_both(
            table, embedding, label, aside, true_names, Columns(missing=missing, data=data)
        )
        rows = _chosen(len(pair[0]), sample, seed)
        points, found, chart, kinds = (None if part is None else part[rows] for part in pair)
        facts = _measured(points, found, chart, neighbors)
        if kinds is not None:
            facts |= _by_label(points, found, kinds, neighbors)
    if json:
        emit_json(facts)
    else:
        emit(*(_line(name, value) for name, value in facts.items()))
    next_step(f"unbend plot {named(embedding)}{Columns(label, id).words()} -o flat.png")


def _copies(table: str, embedding: str, data: Data) -> tuple[str, ...]:
    """Names that both files have: the label and the ids, which are written along."""
    known = column_names(table, data, index=False)
    names = column_names(embedding, Data(), index=False)
    copies = tuple(name for name in names if name in known)
    return () if len(copies) == len(names) else copies


def _chosen(rows: int, sample: int | None, seed: int) -> Any:
    """Return the rows to compare: all, or some drawn at random."""
    import numpy as np

    if sample is None or sample >= rows:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))


def _measured(data: Any, found: Any, chart: Any, neighbors: int) -> dict[str, Any]:
    from unbend.quality import continuity, coordinate_redundancy, procrustes, trustworthiness

    facts: dict[str, Any] = {
        "rows": len(found),
        "neighbors": neighbors,
        "trustworthiness": trustworthiness(data, found, n_neighbors=neighbors),
        "continuity": continuity(data, found, n_neighbors=neighbors),
        "coordinate_redundancy": coordinate_redundancy(found).tolist(),
    }
    if chart.shape[1]:
        facts["procrustes_similarity"] = procrustes(chart, found)
        facts["procrustes_affine"] = procrustes(chart, found, kind="affine")
    return facts


def _read_both(
    table: str,
    embedding: str,
    label: str | None,
    aside: tuple[str, ...],
    truth: tuple[str, ...],
    reading: Columns,
) -> tuple[Any, Any, Any, Any]:
    """Return the data, the coordinates, the truth and the label, row by row."""
    own = None if label in truth else label
    data = _read(table, replace(reading, ignore=aside), own)
    found = _read(embedding, Columns(ignore=(*aside, *truth)), label)
    if len(data) != len(found):
        raise ValueError(
            f"{table} has {len(data)} rows and {embedding} has {len(found)}: they must be the same"
        )
    kinds = data.label if data.label is not None else found.label
    if label is not None and kinds is None:
        kinds = picked(data, [label], table)[:, 0]
    return without(data, truth).values, found.values, picked(data, truth, table), kinds


def _read(name: str, columns: Columns, label: str | None) -> Any:
    """Read a table, with the label if it is there."""
    there = column_names(name, columns.data)
    here = label if label in there else None
    ignore = tuple(other for other in columns.ignore if other != here)
    if kind_of(name, columns.data) != "table":
        # Of those columns the readers make no numbers.
        ignore = tuple(other for other in ignore if other not in there)
    return read_table(name, replace(columns, label=here, ignore=ignore))


def _by_label(data: Any, found: Any, label: Any, neighbors: int) -> dict[str, Any]:
    """Measure classes by the neighbourhood hit, and values by how far they are mixed."""
    from unbend.apps.study.study import classes_of
    from unbend.quality import color_mixing, neighborhood_hit

    classes = classes_of(label)
    if classes is None:
        return {"color_mixing": color_mixing(found, label, n_neighbors=neighbors)}
    return {
        "neighborhood_hit": neighborhood_hit(found, classes, n_neighbors=neighbors),
        "neighborhood_hit_data": neighborhood_hit(data, classes, n_neighbors=neighbors),
    }


def _line(name: str, value: Any) -> str:
    if isinstance(value, list):
        shown = " ".join(f"{number:.4f}" for number in value)
    else:
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{name:<22}{shown:<16}{EXPLAINED.get(name, '')}".rstrip()


COMMAND = Command(
    quality,
    (
        "unbend quality iris.csv flat.csv --label species",
        "unbend quality roll.csv flat.csv --truth chart_1,chart_2 --json",
        "unbend quality big.parquet flat.parquet --sample 5000",
    ),
)

"""``unbend quality``: how good an embedding is."""

from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.errors import Misuse
from unbend.cli.options import READABLE, Id, Ignore, Json, Label, Missing, Seed, TableFile, listed
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.progress import watched
from unbend.cli.tables import PIPE, Columns, names_of, picked, read_table, without

EXPLAINED = {
    "trustworthiness": "no false neighbours were brought in (1 is best)",
    "continuity": "no neighbours were torn apart (1 is best)",
    "repeated_directions": "how far each coordinate only repeats those before it (0 is best)",
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
Size = Annotated[int, typer.Option("--neighbors", "-k", min=1, help="Size of the neighbourhoods.")]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="ROWS", min=1, help="Compare so many rows only."),
]


def quality(
    table: TableFile,
    embedding: EmbeddingFile,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    truth: Truth = None,
    missing: Missing = "refuse",
    neighbors: Size = 5,
    sample: Sample = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare coordinates with the table they were made of.

    Both hold the same rows in the same order. The label, the ids, ignored columns and all that both
    files have are left out of the comparison. The time grows with the square of the rows.
    """
    if table == embedding == PIPE:
        raise Misuse("only one of the two can come through the pipe")
    true_names = listed(truth)
    given = (label, id, *listed(ignore), *_copies(table, embedding))
    aside = tuple(name for name in given if name is not None and name not in true_names)
    with watched():
        data = read_table(table, Columns(ignore=aside, missing=missing))
        found = read_table(embedding, Columns(ignore=(*aside, *true_names)))
        if len(data) != len(found):
            raise ValueError(
                f"{table} has {len(data)} rows and {embedding} has {len(found)}: they must be "
                "the same"
            )
        chart = picked(data, true_names, table)
        data = without(data, true_names)
        rows = _chosen(len(found), sample, seed)
        facts = _measured(data.values[rows], found.values[rows], chart[rows], neighbors)
    if json:
        emit_json(facts)
    else:
        emit("\n".join(_line(name, value) for name, value in facts.items()))
    next_step(f"unbend plot {embedding} -o flat.png" + (f" --label {label}" if label else ""))


def _copies(table: str, embedding: str) -> tuple[str, ...]:
    """Names that both files have: the label and the ids, which are written along."""
    known = names_of(table)
    names = names_of(embedding)
    copies = tuple(name for name in names if name in known)
    return () if len(copies) == len(names) else copies


def _chosen(rows: int, sample: int | None, seed: int) -> Any:
    """Return the rows to compare: all, or some drawn at random."""
    import numpy as np

    if sample is None or sample >= rows:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))


def _measured(data: Any, found: Any, chart: Any, neighbors: int) -> dict[str, Any]:
    from unbend.quality import continuity, procrustes, repeated_directions, trustworthiness

    facts: dict[str, Any] = {
        "rows": len(found),
        "neighbors": neighbors,
        "trustworthiness": trustworthiness(data, found, n_neighbors=neighbors),
        "continuity": continuity(data, found, n_neighbors=neighbors),
        "repeated_directions": repeated_directions(found).tolist(),
    }
    if chart.shape[1]:
        facts["procrustes_similarity"] = procrustes(chart, found)
        facts["procrustes_affine"] = procrustes(chart, found, kind="affine")
    return facts


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

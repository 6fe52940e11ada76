"""``unbend bench``: how long methods take here, on your own rows."""

import time
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.options import (
    DATA,
    Id,
    Ignore,
    Json,
    Label,
    Methods,
    Missing,
    Sample,
    Seed,
    class_names,
    listed,
)
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.progress import watched
from unbend.cli.reading import read_sample
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns


def bench(
    data: Data,
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help=f"{DATA}; without one, a surface."),
    ] = None,
    surface: Annotated[
        str, typer.Option("--surface", metavar="NAME", help="A surface to draw rows from.")
    ] = "swiss_roll",
    methods: Methods = None,
    components: Annotated[int, typer.Option("--components", "-d", min=1, help="Coordinates.")] = 2,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Fits of each method.")] = 3,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    sample: Sample = 2000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Time methods on your rows, on this machine, as it is now.

    Methods take turns, so that what else runs slows all alike; told is the fastest of the fits,
    which other work disturbs least, and the median. Times of other machines are other times: only
    ratios carry over, and those roughly.
    """
    names = class_names(methods)
    columns = Columns(label, id, listed(ignore), missing, data)
    with watched():
        rows = _rows(table, surface, columns, sample, seed)
        estimators = _estimators(names, components)
        times, failures = timed(estimators, rows, repeat)
    facts = _facts(rows, times, failures, repeat)
    if json:
        emit_json(facts)
    else:
        emit(*_lines(facts))
    next_step(f"unbend compare {named(table or PIPE)}{columns.words()}")


def _rows(table: str | None, surface: str, columns: Columns, rows: int, seed: int) -> Any:
    from unbend.datasets import SURFACES

    if table is not None:
        return read_sample(table, columns, rows, seed).values
    if surface not in SURFACES:
        raise Misuse(f"there is no surface {surface!r}: choose one of {', '.join(SURFACES)}")
    return SURFACES[surface](rows, random_state=seed).points


def _estimators(names: list[str] | None, components: int) -> dict[str, Any]:
    from unbend.selection._common import make_method
    from unbend.selection.comparison import USUAL

    return {name: make_method(name, n_components=components) for name in names or USUAL}


def timed(
    estimators: dict[str, Any], rows: Any, repeat: int
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Fit all in turn, again and again; return the seconds of each fit, and who failed."""
    import warnings

    from sklearn.base import clone

    from unbend.progress import advance, monitoring

    times: dict[str, list[float]] = {name: [] for name in estimators}
    failures: dict[str, str] = {}
    for turn in range(repeat):
        for place, (name, estimator) in enumerate(estimators.items()):
            advance("bench", turn * len(estimators) + place, repeat * len(estimators))
            if name in failures:
                continue
            with warnings.catch_warnings(), monitoring(lambda progress: None):
                # How good the graph is does not matter here.
                warnings.simplefilter("ignore")
                began = time.perf_counter()
                try:
                    clone(estimator).fit(rows)
                except ValueError as error:
                    failures[name] = str(error)
                times[name].append(time.perf_counter() - began)
    advance("bench", 1, 1)
    return {name: seconds for name, seconds in times.items() if name not in failures}, failures


def _facts(rows: Any, times: Any, failures: dict[str, str], repeat: int) -> dict[str, Any]:
    import platform
    from statistics import median

    from unbend.validation.threads import available_cores
    from unbend.versions import versions

    return {
        "rows": len(rows),
        "columns": rows.shape[1],
        "repeat": repeat,
        "seconds": {
            name: {"fastest": min(taken), "median": median(taken)} for name, taken in times.items()
        },
        "failures": failures,
        "machine": platform.machine(),
        "threads": available_cores(),
        "versions": versions(),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    width = max(map(len, (*facts["seconds"], *facts["failures"])))
    least = min((of["fastest"] for of in facts["seconds"].values()), default=1.0)
    ordered = sorted(facts["seconds"].items(), key=lambda item: item[1]["fastest"])
    lines = [
        f"{facts['rows']} rows of {facts['columns']} columns, {facts['repeat']} fits each, one "
        f"machine ({facts['machine']}, {facts['threads']} threads)",
        f"{'':<{width}}   fastest    median   ratio",
    ]
    for name, of in ordered:
        fastest, middle = of["fastest"], of["median"]
        figures = f"{fastest:7.3f} s {middle:7.3f} s  {fastest / least:6.1f}"
        lines.append(f"{name:<{width}}  {figures}")
    return lines + [f"{name:<{width}}  failed: {why}" for name, why in facts["failures"].items()]


COMMAND = Command(
    bench,
    (
        "unbend bench",
        "unbend bench iris.csv --label species --methods pca,isomap,ltsa",
        "unbend bench --surface s_curve --sample 5000 --repeat 5 --json",
    ),
)

"""``bench``: how long methods take on these rows and this machine."""

import time
from typing import Annotated, Any

import typer

from unbend.cli.advise import ROWS
from unbend.cli.command import Command
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit, emit_json, next_step, shell_word, show_progress
from unbend.cli.options import (
    READABLE_DATA,
    DataOptions,
    Dimension,
    Json,
    Methods,
    Sample,
    Seed,
    class_names,
    option,
)


def bench(
    data: DataOptions,
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help=f"{READABLE_DATA}; without one, a surface."),
    ] = None,
    surface: Annotated[
        str, option("--surface NAME", "A surface to sample rows from.")
    ] = "swiss_roll",
    methods: Methods = None,
    components: Dimension = 2,
    repeat: Annotated[int, option("--repeat", "Fits of each method.", min=1)] = 3,
    sample: Sample = ROWS,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Time methods on your rows, on this machine, as it is now.

    Methods take turns, so that other work slows all of them; reported are the fastest fit, which is
    least disturbed, and the median. Times of other machines differ: only ratios carry over, and
    those roughly.
    """
    names = class_names(methods)
    with show_progress():
        rows = _bench_rows(table, surface, data, sample, seed)
        from unbend.selection.comparison import USUAL
        from unbend.selection.inputs import make_method

        usual = names or USUAL["points"]
        estimators = {name: make_method(name, n_components=components) for name in usual}
        times, failures = _time_fits(estimators, rows, repeat)
    facts = _bench_facts(rows, times, failures, repeat)
    if json:
        emit_json(facts)
    else:
        emit(*_bench_lines(facts))
    next_step(f"unbend compare {shell_word(table or PIPE)}{data.words()}")


def _bench_rows(table: str | None, surface: str, data: DataOptions, rows: int, seed: int) -> Any:
    from unbend.datasets import SURFACES

    if table is not None:
        return Input(table, data).read_sample(rows, seed).values
    if surface not in SURFACES:
        raise Misuse(f"there is no surface {surface!r}: choose one of {', '.join(SURFACES)}")
    return SURFACES[surface](rows, random_state=seed).points


def _time_fits(
    estimators: dict[str, Any], rows: Any, repeat: int
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Fit all in turn, several times; return the seconds of each fit, and the failures."""
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
                # The quality of the graph does not matter here.
                warnings.simplefilter("ignore")
                began = time.perf_counter()
                try:
                    clone(estimator).fit(rows)
                except ValueError as error:
                    failures[name] = str(error)
                times[name].append(time.perf_counter() - began)
    advance("bench", 1, 1)
    return {name: seconds for name, seconds in times.items() if name not in failures}, failures


def _bench_facts(rows: Any, times: Any, failures: dict[str, str], repeat: int) -> dict[str, Any]:
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


def _bench_lines(facts: dict[str, Any]) -> list[str]:
    width = max(map(len, (*facts["seconds"], *facts["failures"])))
    least = min((of["fastest"] for of in facts["seconds"].values()), default=1.0)
    lines = [
        f"{facts['rows']} rows of {facts['columns']} columns, {facts['repeat']} fits each, one "
        f"machine ({facts['machine']}, {facts['threads']} threads)",
        f"{'':<{width}}   fastest    median   ratio",
    ]
    for name, of in sorted(facts["seconds"].items(), key=lambda item: item[1]["fastest"]):
        fastest, middle = of["fastest"], of["median"]
        figures = f"{fastest:7.3f} s {middle:7.3f} s  {fastest / least:6.1f}"
        lines.append(f"{name:<{width}}  {figures}")
    return lines + [f"{name:<{width}}  failed: {why}" for name, why in facts["failures"].items()]


BENCH = Command(
    bench,
    (
        "unbend bench",
        "unbend bench iris.csv --label species --methods pca,isomap,ltsa",
        "unbend bench --surface s_curve --sample 5000 --repeat 5 --json",
    ),
)

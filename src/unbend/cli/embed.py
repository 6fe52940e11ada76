"""``unbend embed``: a table in, coordinates, a model and a picture out."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import check_files
from unbend.cli.fitting import Wanted, Work
from unbend.cli.kinds import files_read, kind_of
from unbend.cli.options import (
    Batches,
    Components,
    Distances,
    Float32,
    Id,
    Ignore,
    Jobs,
    Json,
    KeptModel,
    Label,
    Memory,
    Method,
    MethodSeed,
    Missing,
    NoTraining,
    Output,
    Picture,
    TableFile,
    bytes_of,
    listed,
)
from unbend.cli.output import emit_json, next_step, say
from unbend.cli.parameters import ALL, DEFAULT_METHOD, method_entry, values_of
from unbend.cli.progress import watched
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns
from unbend.registry import SEVERAL, Entry


def embed(
    table: TableFile,
    data: Data,
    method: Method = DEFAULT_METHOD,
    components: Components = None,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    distances: Distances = False,
    output: Output = None,
    model: KeptModel = None,
    plot: Picture = None,
    json: Json = False,
    seed: MethodSeed = None,
    jobs: Jobs = None,
    memory: Memory = None,
    batches: Batches = None,
    no_training: NoTraining = False,
    float32: Float32 = False,
    **typed: str | None,
) -> None:
    """Turn the rows of a table into a few coordinates.

    Every parameter of the method is an option, such as --n-neighbors 12 for isomap: unbend methods
    isomap lists them. Coordinates go to -o FILE; without it they go to stdout, unless --model,
    --plot or --json says where the result goes. Files appear whole or not at all.
    """
    entry = method_entry(method, ALL)
    columns = Columns(label, id, listed(ignore), missing, data)
    general = {"n_components": components, "random_state": seed, "n_jobs": jobs}
    estimator = made(entry, {**general, **typed}, distances)
    of_pixels = _check_data(table, entry, estimator, columns, typed)
    precision = "float32" if float32 else None
    wanted = Wanted(output, model, plot, json, not no_training, precision)
    read = files_read(table, data)
    check_files(table=output, picture=plot, model=model, image=of_pixels, read=read)
    if of_pixels:
        _check_bands(output, estimator.n_components)
    work = Work(estimator, table, columns, wanted)
    began = time.perf_counter()
    with limited(memory), watched():
        coordinates = work.whole() if batches is None else work.in_batches(batches)
    seconds = time.perf_counter() - began
    rows, count = coordinates.shape
    say(f"{rows} rows, {count} coordinates by {entry.name} in {seconds:.1f} s")
    _say_matrices(work)
    if json:
        emit_json(report(work, entry, coordinates, seconds))
    _suggest(work)


def _say_matrices(work: Work) -> None:
    """Say how well each of several matrices is shown."""
    for facts in of_matrices(work):
        said = ", ".join(f"{what} {_told(facts[what])}" for what in facts if what != "name")
        say(f"{facts['name']}: {said}")


def made(entry: Entry, typed: dict[str, str | None], distances: bool) -> Any:
    """Make the estimator that the options describe."""
    from unbend.validation.parameters import parameters

    declared = {parameter.name: parameter for parameter in parameters(entry.load())}
    values = values_of(entry, typed)
    if "n_jobs" in declared:
        values.setdefault("n_jobs", -1)
    if distances:
        if "metric" not in declared:
            raise Misuse(f"{entry.name} does not take distances: use isomap or classical_mds")
        values["metric"] = "precomputed"
    return entry.load()(**values)


def _check_data(
    table: str, entry: Entry, estimator: Any, columns: Columns, typed: Mapping[str, str | None]
) -> bool:
    """Refuse options that the data do not have; return whether rows are pixels of an image."""
    if entry in SEVERAL:
        columns.data.check_for("matrices", table)
        _check_alone(columns, typed, f"--method {entry.name}")
        return False
    if getattr(estimator, "metric", None) == "precomputed":
        columns.data.check_none("--distances")
        _check_alone(columns, typed, "--distances")
        return False
    return kind_of(table, columns.data) == "cube" and not columns.data.bands


def _check_bands(output: str | None, count: Any) -> None:
    if output is not None and output.lower().endswith(".png") and count not in (1, 3):
        raise Misuse(f"{output} would have {count} bands and a picture has 1 or 3: give -d 3")


def _check_alone(columns: Columns, typed: Mapping[str, str | None], why: str) -> None:
    """Refuse what distances do not have: columns that are not data, another metric."""
    given = {
        "--label": columns.label,
        "--id": columns.id,
        "--ignore": columns.ignore,
        "--missing": columns.missing if columns.missing != "refuse" else None,
        "--metric": typed.get("metric") if typed.get("metric") != "precomputed" else None,
    }
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise Misuse(f"{name} does not go with {why}: the data are distances and nothing else")


def limited(memory: str | None) -> AbstractContextManager[None]:
    """Refuse, in the block, work that needs more memory than was said."""
    if memory is None:
        return nullcontext()
    from unbend.memory import memory_limit

    return memory_limit(bytes_of(memory))


def report(work: Work, entry: Entry, coordinates: Any, seconds: float) -> dict[str, Any]:
    """Return what was done, for JSON."""
    wanted = work.wanted
    matrices = {"matrices": of_matrices(work)} if work.several else {}
    return {
        "method": entry.name,
        "parameters": work.estimator.get_params(),
        "table": work.source,
        "rows": coordinates.shape[0],
        "components": coordinates.shape[1],
        "seconds": round(seconds, 3),
        "output": wanted.output,
        "model": wanted.model,
        "plot": wanted.plot,
        **matrices,
        "report": work.estimator.report_.to_dict(),
    }


def _told(value: Any) -> str:
    return " ".join(f"{number:.4g}" for number in getattr(value, "flat", [value]))


def of_matrices(work: Work) -> list[dict[str, Any]]:
    """Return what was found of each matrix: its stress, or the weights it gives to the axes."""
    measured = {
        "stress": getattr(work.estimator, "stress_per_matrix_", None),
        "weights": getattr(work.estimator, "weights_", None),
        "variance_accounted": getattr(work.estimator, "variance_accounted_", None),
    }
    found = {name: values for name, values in measured.items() if values is not None}
    return [
        {"name": name, **{what: values[place] for what, values in found.items()}}
        for place, name in enumerate(work.matrices)
    ]


def _suggest(work: Work) -> None:
    wanted, table, given = work.wanted, named(work.source), work.columns.words()
    distances = getattr(work.estimator, "metric", None) == "precomputed"
    if wanted.model is not None:
        next_step(f"unbend transform {named(wanted.model)} NEW_TABLE -o NEW.csv")
    elif wanted.output is not None and wanted.output != PIPE:
        coordinates = named(wanted.output)
        if distances:
            next_step(f"unbend plot {coordinates} -o flat.png")
        else:
            next_step(f"unbend quality {table} {coordinates}{given}")
    elif wanted.coordinates == PIPE:
        given = " --distances" if distances else given
        next_step(f"unbend embed {table}{given} -o OUT.csv --model FILE.unbend --plot FILE.png")


COMMAND = Command(
    embed,
    (
        "unbend embed iris.csv --label species -o flat.csv --plot flat.png",
        "unbend embed iris.csv --method ltsa --n-neighbors 12 --model iris.unbend",
        "unbend embed big.parquet --method pca --batches 100000 -o flat.parquet",
        "unbend embed cities.csv --distances --method classical_mds",
        "unbend embed faces/ --grey --method isomap -o flat.csv --plot flat.png",
        "unbend embed news.csv --text-column body --stem --label topic --model news.unbend",
        "unbend embed scene.hdr --method pca -d 3 -o scene.png",
        "unbend embed judges/ --method weighted_mds --json",
        "unbend surface s_curve | unbend embed - --method lle --ignore chart_1,chart_2",
    ),
)

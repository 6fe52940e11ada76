"""``unbend embed``: a table in, coordinates, a model and a figure out."""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from unbend.cli.command import Command
from unbend.cli.folders import (
    Cluster,
    check_folder_options,
    embed_folder,
    refuse_cluster,
)
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import (
    Batches,
    Components,
    DataOptions,
    Distances,
    Float32,
    Json,
    Memory,
    Method,
    MethodSeed,
    NoTraining,
    Output,
    Picture,
    SaveModel,
    Scheduler,
    SomeRows,
    Symmetrize,
    TableFile,
    Threads,
    Workers,
    parse_bytes,
)
from unbend.cli.outputs import (
    PAGES,
    BatchResults,
    check_outputs,
    coordinate_names,
    draw_embedding,
    draw_features,
    is_image,
    save_figure,
    write_image,
    write_results,
    write_rows,
)
from unbend.cli.parameters import DEFAULT_METHOD, find_method, parse_values
from unbend.cli.rows import Rows, name_pixels
from unbend.files import folder_format
from unbend.registry import EMBEDDINGS, LABEL_NAMES, SEVERAL, Entry


def embed(
    table: TableFile,
    data: DataOptions,
    method: Method = DEFAULT_METHOD,
    components: Components = None,
    distances: Distances = False,
    symmetrize: Symmetrize = False,
    output: Output = None,
    model: SaveModel = None,
    plot: Picture = None,
    json: Json = False,
    seed: MethodSeed = None,
    jobs: Threads = None,
    memory: Memory = None,
    batches: Batches = None,
    sample: SomeRows = None,
    no_training: NoTraining = False,
    float32: Float32 = False,
    scheduler: Scheduler = None,
    workers: Workers = None,
    **typed: str | None,
) -> None:
    """Embed the rows of a table in a few dimensions.

    Every parameter of the method is an option, such as --n-neighbors 12 for isomap: unbend methods
    isomap lists them. Coordinates go to -o FILE; without it they go to stdout, unless --model,
    --plot or --json says where the result goes. Files are written atomically and together.

    A folder of Parquet or Zarr is embedded on a Dask cluster, by a fit on --sample rows; -o is then
    a folder.
    """
    entry = find_method(method, EMBEDDINGS)
    general = {"n_components": components, "random_state": seed, "n_jobs": jobs}
    estimator = make_estimator(entry, {**general, **typed}, distances)
    results = Results(output, model, plot, json, not no_training, "float32" if float32 else None)
    if folder_format(table) is not None:
        used = distances or memory or batches
        check_folder_options(data, "--distances, --batches and --memory" if used else "", plot)
        embed_folder(table, estimator, data, results, sample, Cluster(scheduler, workers))
        return
    refuse_cluster(scheduler, workers)
    precomputed = getattr(estimator, "metric", None) == "precomputed"
    if precomputed or entry in SEVERAL:
        _check_distances(table, data, entry, typed)
    given = Input(table, data)
    of_rows = not precomputed and entry not in SEVERAL
    read = given if of_rows else table
    check_outputs(table=output, picture=plot, model=model, read=[read])
    if of_rows and given.of_pixels:
        _check_bands(output, estimator.n_components)
    if sample is not None and (batches is not None or not of_rows or given.of_pixels):
        raise Misuse(
            "--sample is for rows of tables, images and texts, without --batches: leave it out"
        )
    if data.scale == "gower":
        _set_gower(estimator, entry, typed)
    if symmetrize and not precomputed:
        raise Misuse("--symmetrize is for distances: give --distances, or leave it out")
    work = Embedding(estimator, entry, given, results, sample, symmetrize)
    began = time.perf_counter()
    with _memory_limit(memory), show_progress():
        coordinates = work.fit() if batches is None else work.fit_batches(batches)
    seconds = time.perf_counter() - began
    say(
        f"{len(coordinates)} rows, {coordinates.shape[1]} dimensions by {entry.name} in "
        f"{seconds:.1f} s"
    )
    denoising = _describe_denoising(estimator)
    if denoising is not None:
        say(denoising)
    for facts in work.matrix_facts():
        shown = ", ".join(
            f"{what} {_format_value(facts[what])}" for what in facts if what != "name"
        )
        say(f"{facts['name']}: {shown}")
    if json:
        emit_json(work.facts(coordinates, seconds))
    _suggest(work)


def make_estimator(entry: Entry, typed: dict[str, str | None], distances: bool) -> Any:
    """Make the estimator that the options describe."""
    from unbend.validation.parameters import parameters

    declared = {parameter.name for parameter in parameters(entry.load())}
    values = parse_values(entry, typed)
    if "n_jobs" in declared:
        values.setdefault("n_jobs", -1)
    if distances:
        if "metric" not in declared:
            raise Misuse(f"{entry.name} does not take distances: use isomap or classical_mds")
        values["metric"] = "precomputed"
    return entry.load()(**values)


def _describe_denoising(estimator: Any) -> str | None:
    """Say what `--denoise` did, or why it declined; None if it was not asked for."""
    found = [stage.facts for stage in estimator.report_.stages if stage.name == "denoise"]
    if not found:
        return None
    facts = found[0]
    if "declined" in facts:
        return f"Not denoised: {facts['declined']}."
    noise = f", noise {facts['noise']:.3g}" if "noise" in facts else ""
    return f"Denoised: {facts['landmarks']} landmarks{noise}."


def _set_gower(estimator: Any, entry: Entry, typed: dict[str, str | None]) -> None:
    """Give a method the distance that is Gower's on features scaled for it."""
    if "metric" not in estimator.get_params():
        raise Misuse(
            f"--scale gower is a distance, and {entry.name} takes none: use isomap, "
            "classical_mds or another method with --metric, or another --scale"
        )
    if typed.get("metric") not in (None, "cityblock"):
        raise Misuse(f"--metric {typed['metric']} does not go with --scale gower: leave it out")
    estimator.set_params(metric="cityblock")


def _check_bands(output: str | None, count: Any) -> None:
    if output is not None and output.lower().endswith(".png") and count not in (1, 3):
        raise Misuse(f"{output} would have {count} bands and a picture has 1 or 3: give -d 3")


def _check_distances(
    table: str, data: DataOptions, entry: Entry, typed: Mapping[str, str | None]
) -> None:
    """Refuse what distances do not have: columns that are not data, another metric."""
    why = "--distances"
    if entry in SEVERAL:
        why = f"--method {entry.name}"
        data.check_for("matrices", table)
        data = replace(data, kind=None, array=None)
    data.check_distances(why)
    if typed.get("metric") not in (None, "precomputed"):
        raise Misuse(f"--metric does not go with {why}: the data are distances and nothing else")


@contextmanager
def scale_as_asked(scale: str) -> Iterator[None]:
    """Give no advice about units where the user chose a scale."""
    from unbend.units import ScaleWarning

    with warnings.catch_warnings():
        if scale != "auto":
            warnings.simplefilter("ignore", ScaleWarning)
        yield


def _memory_limit(memory: str | None) -> AbstractContextManager[None]:
    if memory is None:
        return nullcontext()
    from unbend.memory import memory_limit

    return memory_limit(parse_bytes(memory))


def _format_value(value: Any) -> str:
    return " ".join(f"{number:.4g}" for number in getattr(value, "flat", [value]))


@dataclass(frozen=True)
class Results:
    """What to write: coordinates, a model and a figure, each only if it has a name."""

    output: str | None
    model: str | None
    plot: str | None
    json: bool
    training: bool = True
    precision: str | None = None

    def __post_init__(self) -> None:
        if self.json and self.output == PIPE:
            raise Misuse("--json and the coordinates cannot both go to stdout: give -o FILE")

    @property
    def coordinates(self) -> str | None:
        """Where the coordinates go: to stdout if nothing else is asked for."""
        elsewhere = self.model or self.plot or self.json
        return self.output or (None if elsewhere else PIPE)


@dataclass(frozen=True)
class Embedding:
    """An estimator to fit, the data to fit it to, and what to write."""

    estimator: Any
    entry: Entry
    data: Input
    results: Results
    sample: int | None = None
    symmetrize: bool = False
    # Names of several matrices, once they are read.
    matrices: list[str] = field(default_factory=list)

    def fit(self) -> Any:
        """Fit to the table in memory; return the coordinates."""
        estimator, rows = self.estimator, None
        if self.entry in SEVERAL:
            rows, matrices = self.data.read_matrices()
            self.matrices.extend(rows.like["names"])
            estimator.fit(matrices)
        elif getattr(estimator, "metric", None) == "precomputed":
            if self._supervised:
                raise Misuse(f"{self.entry.name} needs classes, and distances have none: use lle")
            rows, matrix = self.data.read_distances(self.symmetrize)
            estimator.fit(matrix)
        else:
            self.data.check_ignored()
            if self._supervised and self.data.kind == "table":
                self._check_classes(self.data.options.label)
            rows = self._read()
            label = self._find_label(rows)
            if label is not None:
                say(
                    f"Column {label!r} is a feature and looks like a label: give --label "
                    f"{shell_word(label)}, or --ignore {shell_word(label)}."
                )
            if self._supervised:
                self._check_classes(rows.table.label)
            with scale_as_asked(self.data.options.scale):
                estimator.fit(
                    rows.values(estimator), rows.table.label if self._supervised else None
                )
            if rows.preparation is not None:
                estimator.preparation_ = rows.preparation
        self._write(estimator.embedding_, rows)
        return estimator.embedding_

    def _read(self) -> Rows:
        if self.sample is None:
            return self.data.read_prepared()
        seed = getattr(self.estimator, "random_state", None)
        rows = self.data.read_sampled(self.sample, 0 if seed is None else int(seed))
        say(f"Sampled {len(rows.table)} rows.")
        return rows

    @property
    def _supervised(self) -> bool:
        return getattr(self.estimator, "supervised", False)

    def _check_classes(self, label: object) -> None:
        """Refuse a supervised method without the classes of rows."""
        if label is None:
            near = self._find_label() if self.data.kind == "table" else None
            column = "COLUMN" if near is None else shell_word(near)
            raise Misuse(f"{self.entry.name} needs the class of each row: give --label {column}")

    def _find_label(self, rows: Rows | None = None) -> str | None:
        """Find a feature that looks like a label: by its name, or the only category at an end."""
        options = self.data.options
        if self.data.kind != "table" or options.label is not None:
            return None
        aside = (options.id, *options.ignore)
        names = [name for name in self.data.column_names() if name not in aside]
        named = next((name for name in names if name.lower() in LABEL_NAMES), None)
        if named is not None or rows is None or rows.preparation is None:
            return named
        kinds = {column.name: column.kind for column in rows.preparation.columns_}
        words = [name for name in names if kinds.get(name) == "category"]
        return words[0] if len(words) == 1 and words[0] in (names[0], names[-1]) else None

    def fit_batches(self, count: int) -> Any:
        """Fit to batches of so many rows; return the coordinates."""
        if not hasattr(self.estimator, "fit_batches"):
            raise Misuse(
                f"{self.entry.class_name} needs all rows at once: --batches works with pca and "
                "random_projection"
            )
        self.data.check_ignored()
        prepared = self.data.prepare_batches(count)
        batches = self.data.read_batches(count) if prepared is None else prepared
        with scale_as_asked(self.data.options.scale):
            self.estimator.fit_batches(batches)
        if prepared is not None:
            self.estimator.preparation_ = prepared.preparation
        results = BatchResults()
        for table in batches:
            results.add(self.estimator.transform(table.values), table)
        coordinates, table = results.concatenate()
        if self.data.kind == "cube":
            cube, like = self.data.cube, {"kind": "cube", "bands": False}
            self._write(coordinates, Rows("cube", name_pixels(table, cube), like, cube=cube))
        else:
            self._write(coordinates, Rows("table", table, {"kind": "table"}))
        return coordinates

    def _write(self, coordinates: Any, rows: Rows | None) -> None:
        results, estimator = self.results, self.estimator
        table = None if rows is None else rows.table
        names = coordinate_names(estimator, coordinates.shape[1])
        with write_results():
            if results.model is not None:
                self._save(results.model, coordinates, rows)
            if results.plot is not None:
                save_figure(self._draw(coordinates, rows, names, results.plot), results.plot)
            if rows is not None and rows.cube is not None and is_image(results.output):
                write_image(str(results.output), rows.cube.image(coordinates), names)
            elif results.coordinates is not None:
                write_rows(results.coordinates, coordinates, names, table)

    def _draw(self, coordinates: Any, rows: Rows | None, names: list[str], target: str) -> Any:
        """Draw points; of the pixels of a cube, each coordinate as an image."""
        cube = None if rows is None or rows.like.get("bands") else rows.cube
        if cube is not None and not target.lower().endswith(PAGES):
            return draw_features(coordinates, cube, self.estimator)
        points = coordinates
        if rows is not None:
            points = replace(rows.table, values=coordinates, columns=tuple(names))
        return draw_embedding(points, method=self.estimator, target=target)

    def _save(self, target: str, coordinates: Any, rows: Rows | None) -> None:
        about = describe_training(self.data, rows, coordinates)
        self.estimator.save(
            target, training=self.results.training, precision=self.results.precision, about=about
        )

    def facts(self, coordinates: Any, seconds: float) -> dict[str, Any]:
        """Return the report as JSON."""
        results = self.results
        matrices = {"matrices": self.matrix_facts()} if self.entry in SEVERAL else {}
        return {
            "method": self.entry.name,
            "parameters": self.estimator.get_params(),
            "table": self.data.name,
            "rows": coordinates.shape[0],
            "components": coordinates.shape[1],
            "seconds": round(seconds, 3),
            "output": results.output,
            "model": results.model,
            "plot": results.plot,
            "preparation": _preparation_facts(self.estimator),
            **matrices,
            "report": self.estimator.report_.to_dict(),
        }

    def matrix_facts(self) -> list[dict[str, Any]]:
        """Return the fit of each matrix: its stress, or its weights of the axes."""
        if not self.matrices:
            return []
        measures = {
            "stress": getattr(self.estimator, "stress_per_matrix_", None),
            "weights": getattr(self.estimator, "weights_", None),
            "variance_accounted": getattr(self.estimator, "variance_accounted_", None),
        }
        return [
            {
                "name": name,
                **{what: each[place] for what, each in measures.items() if each is not None},
            }
            for place, name in enumerate(self.matrices)
        ]


def describe_training(data: Input, rows: Rows | None, coordinates: Any) -> dict[str, Any]:
    """Describe the training data of a model, so that new samples are read in the same way."""
    options = data.options
    # The dictionary of texts names their columns.
    columns = [] if rows is None or rows.kind == "texts" else list(rows.table.columns)
    return {
        "rows": len(coordinates),
        "components": coordinates.shape[1],
        "source": data.name,
        "columns": columns,
        "label": options.label,
        "id": options.id,
        "ignore": list(options.ignore),
        "data": {"kind": "distances"} if rows is None else dict(rows.like),
    }


def _preparation_facts(estimator: Any) -> dict[str, Any] | None:
    """Return what was done to the columns, or None."""
    preparation = getattr(estimator, "preparation_", None)
    if preparation is None:
        return None
    return {
        "scale": preparation.scale_,
        "reason": preparation.scale_reason_,
        "missing": preparation.missing,
        "columns": {column.name: column.kind for column in preparation.columns_},
        "features": preparation.get_feature_names_out().tolist(),
    }


def _suggest(work: Embedding) -> None:
    results, table, given = work.results, shell_word(work.data.name), work.data.options.words()
    distances = getattr(work.estimator, "metric", None) == "precomputed"
    if results.model is not None:
        next_step(f"unbend transform {shell_word(results.model)} NEW_TABLE -o NEW.csv")
    elif results.output is not None and results.output != PIPE:
        coordinates = shell_word(results.output)
        if distances:
            next_step(f"unbend plot {coordinates} -o flat.png")
        else:
            next_step(f"unbend quality {table} {coordinates}{given}")
    elif results.coordinates == PIPE:
        given = " --distances" if distances else given
        next_step(f"unbend embed {table}{given} -o OUT.csv --model FILE.unbend --plot FILE.png")


COMMAND = Command(
    embed,
    (
        "unbend embed iris.csv --label species -o flat.csv --plot flat.png",
        "unbend embed iris.csv --method ltsa --n-neighbors 12 --model iris.unbend",
        "unbend embed big.parquet --method pca --batches 100000 -o flat.parquet",
        "unbend embed rows/ --method ltsa --sample 20000 -o embedded/ --workers 4",
        "unbend embed cities.csv --distances --method classical_mds",
        "unbend embed faces/ --gray --method isomap -o flat.csv --plot flat.png",
        "unbend embed news.csv --text-column body --stem --label topic --model news.unbend",
        "unbend embed scene.hdr --method pca -d 3 -o scene.png",
        "unbend embed judges/ --method weighted_mds --json",
        "unbend surface s_curve | unbend embed - --method lle --ignore chart_1,chart_2",
    ),
)

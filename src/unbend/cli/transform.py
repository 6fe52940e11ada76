"""``unbend transform``: new samples in the embedding of a saved model."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.command import Command
from unbend.cli.folders import (
    Cluster,
    check_folder_options,
    refuse_cluster,
    transform_folder,
)
from unbend.cli.inputs import Input
from unbend.cli.messages import (
    PIPE,
    Misuse,
    emit_json,
    next_step,
    print_message,
    say,
    shell_word,
    show_progress,
)
from unbend.cli.options import (
    KINDS,
    BatchRows,
    DataOptions,
    Json,
    ModelFile,
    Output,
    Scheduler,
    Score,
    TableFile,
    Workers,
)
from unbend.cli.outputs import (
    BatchResults,
    check_outputs,
    coordinate_names,
    is_image,
    write_image,
    write_results,
    write_rows,
)
from unbend.cli.preparation import refusal
from unbend.cli.rows import name_pixels, pick_columns
from unbend.files import folder_format

if TYPE_CHECKING:
    from unbend.io import Frame, Table

# What a model must keep of data of each kind.
KEPT = {
    "table": set[str](),
    "distances": set[str](),
    "matrices": set[str](),
    "images": {"size", "turned"},
    "texts": {"column", "terms", "weights", "stop_words", "stem", "unit"},
    "cube": {"bands"},
}


def transform(
    model: ModelFile,
    table: TableFile,
    data: DataOptions,
    output: Output = None,
    batches: BatchRows = 100_000,
    score: Score = False,
    json: Json = False,
    scheduler: Scheduler = None,
    workers: Workers = None,
) -> None:
    """Transform new samples by a saved model.

    Columns are found by their names, in any order; the label, id and ignored columns of embed may
    be there or not. The table is read in batches. Texts are counted in the vocabulary of the
    training data, and images and cubes read as those were. A model of clusters gives the number
    of the cluster of each row. A warning counts the rows far outside the training data; --score
    writes the outlyingness of each, about 1 for rows like the training data. A folder of Parquet
    or Zarr is transformed on a Dask cluster; -o is then a folder.
    """
    import unbend

    if json and output == PIPE:
        raise Misuse("--json and the coordinates cannot both go to stdout: give -o FILE")
    estimator = unbend.load(model)
    if hasattr(estimator, "identify"):
        raise Misuse(f"{model} recognizes classes: use unbend identify {shell_word(model)} TABLE")
    if folder_format(table) is not None:
        check_folder_options(data, "", None)
        transform_folder(
            estimator, model, table, data, output, score, json, Cluster(scheduler, workers)
        )
        return
    refuse_cluster(scheduler, workers)
    given, samples = new_samples(estimator, model, table, data, output, batches)
    results, placing = BatchResults(), Placing(estimator, score)
    with show_progress(), write_results():
        for values, part in samples:
            results.add(placing.place(values), part)
        coordinates, rest = results.concatenate()
        names = coordinate_names(estimator, coordinates.shape[1] - score)
        names += ["outlyingness"] * score
        if is_image(output):
            write_image(str(output), given.cube.image(coordinates), names)
        elif output is not None or not json:
            rest = name_pixels(rest, given.cube) if given.of_pixels else rest
            write_rows(output or PIPE, coordinates, names, rest)
    say(f"{len(coordinates)} rows transformed by {model}")
    placing.warn_of_outliers(table)
    if json:
        facts = {"model": model, "table": table, "rows": len(coordinates), "output": output}
        emit_json({**facts, "far_outside": placing.far})
    if output not in (None, PIPE) and not is_image(output):
        options = DataOptions(label=rest.label_name, id=rest.id_name).words()
        next_step(f"unbend plot {shell_word(str(output))}{options} -o new.png")


def new_samples(
    estimator: Any, model: str, table: str, data: DataOptions, output: str | None, batches: int
) -> "tuple[Input, Iterator[tuple[Any, Table]]]":
    """Open new data as the training data of a model were; return them, and features by batches."""
    about = getattr(estimator, "about_", {})
    like = _training_data(about)
    data.check_free(model)
    preparation = _preparation(estimator, data, model)
    given = _open_like(table, data, like, model)
    check_outputs(table=output, read=[model, given])
    given = _set_aside(given, about)
    if preparation is not None:
        frames = (prepare_frame(preparation, frame) for frame in given.read_frames(batches))
        return given, (sample for sample in frames if sample is not None)
    fitted = _fitted_columns(estimator)
    parts = _parts(given, like, batches, estimator)
    return given, ((_align(part, values, fitted, table), part) for part, values in parts)


def _preparation(estimator: Any, data: DataOptions, model: str) -> Any:
    """Return the preparation that a model contains; --missing may set what it does with gaps."""
    preparation = getattr(estimator, "preparation_", None)
    if preparation is None or data.missing == "refuse":
        return preparation
    # Without imputation at the fit, the medians are known.
    own = "median" if preparation.missing in ("error", "drop") else preparation.missing
    if data.missing not in ("drop", own):
        raise Misuse(
            f"--missing {data.missing} does not go with {model}, which imputes by {own}: give "
            f"--missing {own} or drop"
        )
    preparation.missing = data.missing
    return preparation


def prepare_frame(preparation: Any, frame: "Frame") -> "tuple[Any, Table] | None":
    """Return the features of a batch and the rest of its rows, without incomplete ones."""
    fitted = tuple(column.name for column in preparation.columns_)
    names = tuple(frame.columns)
    if (
        names != fitted
        and len(names) == len(fitted)
        and (_are_numbers(names) or _are_numbers(fitted))
    ):
        # Columns without names of their own are taken in the order they have.
        frame = replace(frame, columns=dict(zip(fitted, frame.columns.values(), strict=True)))
    try:
        keep = preparation.complete_rows(frame)
        features = preparation.transform(frame.take(keep)) if keep.any() else None
    except ValueError as error:
        raise refusal(error, frame.where) from error
    return None if features is None else (features, frame.rest.take(keep))


class Placing:
    """Coordinates of batches, with their outlyingness if asked for, and the number of far rows."""

    def __init__(self, estimator: Any, score: bool) -> None:
        self.estimator, self.score = estimator, score
        self.rows, self.far, self.first = 0, 0, 0

    def place(self, values: Any) -> Any:
        """Return coordinates of new samples, or the number of the cluster of each."""
        import numpy as np

        from unbend.outlyingness import FAR, OutOfDistributionWarning

        with warnings.catch_warnings():
            # One warning for all batches.
            warnings.simplefilter("ignore", OutOfDistributionWarning)
            placed, scores = self._score(values)
        if scores is None:
            return placed
        far = np.flatnonzero(scores > FAR)
        if len(far) and not self.far:
            self.first = self.rows + int(far[0])
        self.rows, self.far = self.rows + len(scores), self.far + len(far)
        return np.column_stack((placed, scores)) if self.score else placed

    def _score(self, values: Any) -> tuple[Any, Any]:
        """Return coordinates and scores; no scores where they are neither defined nor asked for."""
        from unbend.outlyingness import UndefinedScore

        model = self.estimator
        if hasattr(model, "predict"):
            return model.predict(values)[:, None], model.outlyingness(values)
        try:
            placed, scores = model.transform(values, return_outlyingness=True)
        except UndefinedScore:
            if self.score:
                raise
            placed, scores = model.transform(values), None
        return placed, scores

    def warn_of_outliers(self, table: str) -> None:
        """Warn if more than 1 % of the rows are far outside the training data."""
        from unbend.outlyingness import SHARE

        if self.far > SHARE * self.rows:
            how = "" if self.score else "; --score writes the outlyingness of each"
            print_message(
                f"Warning: {self.far} of {self.rows} rows of {table} are far outside the training "
                f"data, so their coordinates are extrapolated; the first is row {self.first + 1}"
                f"{how}"
            )


def _training_data(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of a model's training data; without one, it is a table."""
    like: Any = about.get("data") or {"kind": "table"}
    known = isinstance(like, Mapping) and str(like.get("kind")) in KEPT
    if not known or not KEPT[like["kind"]] <= set(like):
        raise ValueError("the model does not describe its training data: fit it again")
    if like["kind"] == "matrices":
        raise ValueError(
            "new objects need their distances in every matrix, which no file holds: use "
            "transform in Python"
        )
    return {"kind": "table"} if like["kind"] == "distances" else dict(like)


def _open_like(table: str, data: DataOptions, like: Mapping[str, Any], model: str) -> Input:
    """Open new data as the training data were; refuse those of another kind."""
    unspecified = replace(
        data, typed_separator=None, label=None, id=None, ignore=(), missing="refuse"
    )
    if like["kind"] == "texts" and like["column"] is not None and unspecified == DataOptions():
        data = data if Path(table).is_dir() else replace(data, text_column=like["column"])
    if like["kind"] == "cube" and like["bands"]:
        data = replace(data, bands=True)
    given = Input(table, data, like["kind"])
    if given.kind != like["kind"]:
        fitted, new = KINDS[like["kind"]][0], KINDS[given.kind][0]
        raise ValueError(f"{model} was fitted to {fitted}, and {table} is read as {new}")
    return given


def _set_aside(given: Input, about: Mapping[str, Any]) -> Input:
    """Leave out the label, id and ignored columns of the training data, where they are there."""
    options = given.options
    if given.kind != "table" and options.text_column is None:
        return given
    # Ids are written if they are there, labels only if they are asked for.
    id = options.id
    if id is None and about.get("id") in given.column_names(index=False):
        id = about["id"]
    if given.kind != "table":
        return given.with_options(id=id)
    aside = (about.get("label"), about.get("id"), *about.get("ignore", ()), *options.ignore)
    ignore = tuple(name for name in aside if name not in (None, options.label, id))
    return given.with_options(id=id, ignore=ignore)


def _parts(
    given: Input, like: Mapping[str, Any], rows: int, estimator: Any
) -> "Iterator[tuple[Table, Any]]":
    """Give tables and cubes in batches, other data as a whole."""
    if given.kind == "table" or given.of_pixels:
        for part in given.read_batches(rows):
            yield part, part.values
    else:
        read = given.read(like)
        yield read.table, read.values(estimator)


def _fitted_columns(estimator: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to, by embed or in Python."""
    about = getattr(estimator, "about_", {})
    names: Any = about.get("columns") or getattr(estimator, "feature_names_in_", ())
    return tuple(map(str, names))


def _align(table: "Table", values: Any, fitted: tuple[str, ...], where: str) -> Any:
    """Return the columns that a model was fitted to, in its order.

    Columns without names of their own are taken in the order they have.
    """
    named = len(fitted) > 0 and not _are_numbers(fitted) and not _are_numbers(table.columns)
    if not named or table.columns == fitted:
        return values
    unknown = [name for name in table.columns if name not in fitted]
    if unknown:
        raise ValueError(
            f"{where} has the column {unknown[0]!r}, which the model was not fitted to: leave it "
            f"out with --ignore {','.join(unknown)}"
        )
    return pick_columns(table, fitted, where)


def _are_numbers(names: tuple[str, ...]) -> bool:
    return names == tuple(f"x{place}" for place in range(len(names)))


COMMAND = Command(
    transform,
    (
        "unbend transform iris.unbend new.csv -o new-flat.csv",
        "unbend transform iris.unbend new.csv --label species -o new-flat.csv",
        "unbend transform iris.unbend new.csv --score -o new-flat.csv",
        "unbend transform rows.unbend rows/ -o embedded/ --workers 4",
        "unbend transform news.unbend today.csv --text-column body -o today-flat.csv",
        "unbend surface s_curve | unbend transform curve.unbend - --ignore chart_1,chart_2",
    ),
)

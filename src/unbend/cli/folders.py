"""Folders of Parquet or Zarr: embedded and transformed on Dask, written as folders."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import DataOptions
from unbend.files import atomic_folder, folder_format

if TYPE_CHECKING:
    from unbend.cli.embed import Results


@dataclass(frozen=True)
class Cluster:
    """Where tasks run: a scheduler, processes that are started for it, or threads."""

    scheduler: str | None
    workers: int | None

    def __post_init__(self) -> None:
        if self.scheduler is not None and self.workers is not None:
            raise Misuse("--scheduler names a cluster and --workers starts one: give one of them")

    @contextmanager
    def open(self) -> Iterator[None]:
        """Make it the cluster of Dask, and stop what was started."""
        with warnings.catch_warnings():
            # What Dask warns of in itself is nothing that a user of a command could change.
            warnings.filterwarnings("ignore", module=r"dask|distributed")
            with self._running():
                yield

    @contextmanager
    def _running(self) -> Iterator[None]:
        # One sentence where Dask is not installed.
        import unbend.scale  # noqa: F401

        if self.scheduler is None and self.workers is None:
            yield
            return
        from distributed import Client, LocalCluster

        if self.scheduler is not None:
            try:
                client = Client(self.scheduler, timeout=10)
            except (OSError, ValueError) as error:
                raise Misuse(f"--scheduler {self.scheduler} does not answer: {error}") from error
            with client:
                yield
            return
        options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
        with (
            LocalCluster(n_workers=self.workers, host="127.0.0.1", **options) as cluster,
            Client(cluster),
        ):
            yield


def refuse_cluster(scheduler: str | None, workers: int | None) -> None:
    """Refuse options of clusters for data that are read in this process."""
    if scheduler is not None or workers is not None:
        raise Misuse("--scheduler and --workers are for folders of Parquet or Zarr: leave them out")


def check_folder_options(data: DataOptions, others: str, plot: str | None) -> None:
    """Refuse options that folders do not have."""
    plain = replace(data, label=None, id=None, ignore=())
    if others or plain != DataOptions():
        which = others or "Options of how data are read, but for --label, --id and --ignore,"
        raise Misuse(f"{which} are not for folders of Parquet or Zarr: leave them out")
    if plot is not None:
        raise Misuse("--plot is not for folders: plot the result of a sample of its rows")


def embed_folder(
    folder: str,
    estimator: Any,
    data: DataOptions,
    results: "Results",
    sample: int | None,
    cluster: Cluster,
) -> None:
    """Fit to a folder of rows, and write the coordinates of all of them as a folder."""
    if results.output is not None:
        _check_output(results.output, folder)
    elif results.model is None and not results.json:
        raise Misuse("The coordinates of a folder are written as a folder: give -o FOLDER")
    name = type(estimator).__name__
    with cluster.open(), show_progress():
        model = _scaled_estimator(name, estimator, sample)
        rows, beside = _open(folder, data)
        model.fit(rows)
        count = len(rows) if results.output is None else 0
        if results.output is not None:
            count = _write(results.output, model.transform(rows), beside)
        if results.model is not None:
            about = {
                "data": {"kind": "table"},
                "source": folder,
                "rows": count,
                "label": data.label,
                "id": data.id,
                "ignore": list(data.ignore),
            }
            options = {"training": results.training, "precision": results.precision}
            model.save(results.model, about=about, **options)
    say(f"{count} rows by {name}")
    if results.json:
        facts = {"folder": folder, "rows": count, "output": results.output}
        emit_json({"method": name, **facts, "report": model.report_.to_dict()})
    if results.model is not None:
        next_step(f"unbend transform {shell_word(results.model)} NEW_FOLDER -o EMBEDDED")


def _scaled_estimator(name: str, estimator: Any, sample: int | None) -> Any:
    """Return the estimator of unbend.scale with the parameters of a plain one."""
    import unbend.scale

    kind = getattr(unbend.scale, name, None)
    if kind is None:
        raise Misuse(f"{name} does not embed folders of rows: use ltsa or another method")
    given = estimator.get_params()
    if name in ("KernelPCA", "ClassicalMDS") and given["eigen_solver"] == "auto":
        del given["eigen_solver"]
    if sample is not None:
        if not hasattr(kind, "sample"):
            raise Misuse(f"{name} fits all rows: leave --sample out")
        given["sample"] = sample
    return kind(**given)


def transform_folder(
    estimator: Any,
    model: str,
    folder: str,
    data: DataOptions,
    output: str | None,
    score: bool,
    json: bool,
    cluster: Cluster,
) -> None:
    """Transform a folder of rows by a saved model, and write a folder."""
    from unbend.scale import map_rows

    if output is None:
        raise Misuse("The coordinates of a folder are written as a folder: give -o FOLDER")
    _check_output(output, folder)
    about = getattr(estimator, "about_", {})
    names = [name for name in (about.get("label"), *about.get("ignore", ())) if name]
    ignore = tuple(name for name in names if name not in (data.label, data.id))
    with cluster.open(), show_progress():
        aside = replace(data, ignore=(*data.ignore, *ignore), id=data.id or about.get("id"))
        rows, beside = _open(folder, aside, known=True)
        preparation = getattr(estimator, "preparation_", None)
        features = rows if preparation is None else map_rows(preparation, "transform", rows)
        if hasattr(estimator, "predict"):
            placed = map_rows(estimator, "predict", features)
            placed = placed.to_frame("cluster") if hasattr(placed, "to_frame") else placed[:, None]
        elif score:
            placed = map_rows(estimator, "transform_and_score", features)
        else:
            placed = map_rows(estimator, "transform", features)
        count = _write(output, placed, beside)
    say(f"{count} rows transformed by {model}")
    if json:
        emit_json({"model": model, "folder": folder, "rows": count, "output": output})


def _open(folder: str, data: DataOptions, known: bool = False) -> tuple[Any, Any]:
    """Open a folder: its features, and the columns that are written beside coordinates.

    Columns that are not there are refused, unless a model names them and not the user (`known`).
    """
    from unbend.scale.collections import is_frame, open_folder

    rows = open_folder(folder)
    aside = [name for name in (data.label, data.id) if name is not None]
    if not is_frame(rows):
        if (aside or data.ignore) and not known:
            raise Misuse(f"{folder} has columns without names: leave out --label, --id, --ignore")
        return rows, None
    names = [str(name) for name in rows.columns]
    missing = [name for name in (*aside, *data.ignore) if name not in names]
    if missing and not known:
        raise Misuse(f"{folder} has no column {missing[0]!r}: its columns are {', '.join(names)}")
    beside = [name for name in aside if name in names]
    features = [name for name in names if name not in (*aside, *data.ignore)]
    return rows[features], rows[beside] if beside else None


def _check_output(output: str, folder: str) -> None:
    """Refuse to replace the rows themselves, or anything that is no folder of rows."""
    target, source = Path(output).resolve(), Path(folder).resolve()
    if output == PIPE or target == source or source in target.parents or target in source.parents:
        raise Misuse(f"-o {output} is no folder beside {folder}: give another name")
    if target.exists() and folder_format(target) is None:
        raise Misuse(f"-o {output} is there and holds no Parquet or Zarr: give another name")


def _write(output: str, placed: Any, beside: Any) -> int:
    """Write a lazy collection as a folder, atomically; return the number of its rows."""
    from unbend.report import recording, stage
    from unbend.scale.collections import write_collection

    with atomic_folder(output) as target, recording("write"), stage("write"):
        return write_collection(placed, target, beside)

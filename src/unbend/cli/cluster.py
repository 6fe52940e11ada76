"""``unbend cluster``: a table in, the cluster of each row out."""

import time
from dataclasses import replace
from typing import Any

from unbend.cli.command import Command
from unbend.cli.embed import describe_training, make_estimator, scale_as_asked
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import (
    Clusters,
    DataOptions,
    Distances,
    Json,
    MethodSeed,
    Output,
    SaveModel,
    Symmetrize,
    TableFile,
    Threads,
)
from unbend.cli.outputs import CLUSTER, check_outputs, write_results, write_rows
from unbend.cli.rows import Rows
from unbend.registry import CLUSTERINGS


def cluster(
    table: TableFile,
    data: DataOptions,
    clusters: Clusters = None,
    distances: Distances = False,
    symmetrize: Symmetrize = False,
    output: Output = None,
    model: SaveModel = None,
    json: Json = False,
    seed: MethodSeed = None,
    jobs: Threads = None,
    **typed: str | None,
) -> None:
    """Find clusters among the rows of a table, by spectral clustering.

    The column cluster numbers them from 0. With --label, their agreement with the classes is
    printed as the adjusted Rand index: 1 for the same partition, about 0 for a random one.
    unbend transform assigns new samples by a saved model.
    """
    if clusters is None:
        raise Misuse(
            f"--clusters is missing: give their number, which unbend suggest {shell_word(table)} "
            "--for clusters proposes"
        )
    general = {"n_clusters": clusters, "random_state": seed, "n_jobs": jobs}
    estimator = make_estimator(CLUSTERINGS[0], {**general, **typed}, distances)
    precomputed = estimator.metric == "precomputed"
    if precomputed:
        data.check_distances("--distances")
    if symmetrize and not precomputed:
        raise Misuse("--symmetrize is for distances: give --distances, or leave it out")
    if json and output == PIPE:
        raise Misuse("--json and the clusters cannot both go to stdout: give -o FILE")
    source = Input(table, data)
    check_outputs(table=output, model=model, read=[table if precomputed else source])
    began = time.perf_counter()
    with show_progress():
        rows = (
            _fit_distances(estimator, source, symmetrize)
            if precomputed
            else _fit(estimator, source)
        )
        with write_results():
            if model is not None:
                about = describe_training(source, rows, estimator.embedding_)
                estimator.save(model, about=about)
            target = output or (None if model or json else PIPE)
            if target is not None:
                _write(target, estimator.labels_, rows)
    facts = _facts(estimator, rows)
    for sentence in _sentences(facts, time.perf_counter() - began):
        say(sentence)
    if json:
        emit_json({"table": source.name, "parameters": estimator.get_params(), **facts})
    if model is not None:
        next_step(f"unbend transform {shell_word(model)} NEW_TABLE -o NEW.csv")
    elif output in (None, PIPE):
        next_step(f"unbend cluster {shell_word(table)} -n {clusters} -o OUT.csv --model FILE")


def _fit_distances(estimator: Any, source: Input, symmetrize: bool) -> Rows:
    rows, matrix = source.read_distances(symmetrize)
    estimator.fit(matrix)
    return rows


def _fit(estimator: Any, source: Input) -> Rows:
    source.check_ignored()
    rows = source.read_prepared()
    with scale_as_asked(source.options.scale):
        estimator.fit(rows.values(estimator))
    if rows.preparation is not None:
        estimator.preparation_ = rows.preparation
    return rows


def _write(target: str, labels: Any, rows: Rows) -> None:
    table = replace(rows.table, values=rows.table.values[:, :0])
    write_rows(target, labels[:, None], [CLUSTER], table)


def _facts(estimator: Any, rows: Rows) -> dict[str, Any]:
    """Return the sizes, and the agreement with classes where the table has them."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    label = rows.table.label
    agreement = None if label is None else float(adjusted_rand_score(label, estimator.labels_))
    return {
        "rows": len(estimator.labels_),
        "sizes": np.bincount(estimator.labels_, minlength=estimator.n_clusters).tolist(),
        "adjusted_rand_index": agreement,
    }


def _sentences(facts: dict[str, Any], seconds: float) -> list[str]:
    sizes = ", ".join(map(str, facts["sizes"]))
    lines = [f"{facts['rows']} rows in clusters of {sizes} rows, in {seconds:.1f} s"]
    if facts["adjusted_rand_index"] is not None:
        lines.append(f"Adjusted Rand index with the labels: {facts['adjusted_rand_index']:.3f}")
    return lines


COMMAND = Command(
    cluster,
    (
        "unbend cluster iris.csv --clusters 3 --label species -o clusters.csv",
        "unbend cluster rings.csv -n 2 --n-neighbors 8 --model rings.unbend",
        "unbend cluster cities.csv --distances -n 4",
    ),
)

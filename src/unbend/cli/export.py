"""``unbend export``: embeddings as files of other viewers."""

from pathlib import Path
from typing import Annotated, Any

from unbend.cli.command import Command
from unbend.cli.embed import make_estimator, scale_as_asked
from unbend.cli.inputs import Input
from unbend.cli.messages import Misuse, next_step, say, shell_word, show_progress
from unbend.cli.options import DataOptions, Methods, TableFile, option, split_names
from unbend.cli.outputs import write_results
from unbend.cli.parameters import find_method
from unbend.cli.preparation import check_euclidean

USUAL = ("pca", "neighbor_embedding")


def export(
    table: TableFile,
    data: DataOptions,
    to: Annotated[
        str, option("--to VIEWER", "Viewer: embedding-atlas, jupyter-scatter or h5ad (AnnData).")
    ],
    output: Annotated[str, option("--output -o FILE", "Where to write: .parquet, or .h5ad.")],
    methods: Methods = None,
    neighbors: Annotated[
        int, option("--neighbors -k", "Neighbours in the data that are stored.", min=1)
    ] = 15,
) -> None:
    """Embed a table by several methods and write a file that another viewer opens.

    It has the coordinates of all methods, the label, the trustworthiness and continuity of every
    row, and its nearest neighbours in the data. Without --methods it is pca and
    neighbor_embedding.
    """
    from unbend.apps.viewers import VIEWERS, measure_maps, write_maps
    from unbend.files import writable_path

    if to not in VIEWERS:
        raise Misuse(f"--to {to} is not allowed: it must be one of {', '.join(VIEWERS)}")
    viewer = VIEWERS[to]
    if Path(output).suffix.lower() != viewer.suffix:
        raise Misuse(f"{output} must end in {viewer.suffix} for --to {to}")
    writable_path(output)
    check_euclidean(data)
    entries = [find_method(name) for name in split_names(methods) or USUAL]
    with show_progress():
        rows = Input(table, data).read_prepared()
        features = rows.dense()
        coordinates: dict[str, Any] = {}
        for entry in entries:
            estimator = make_estimator(entry, {}, distances=False)
            if getattr(estimator, "supervised", False) and features.label is None:
                raise Misuse(f"{entry.name} needs the class of each row: give --label COLUMN")
            label = features.label if getattr(estimator, "supervised", False) else None
            with scale_as_asked(data.scale):
                coordinates[entry.name] = estimator.fit(features.values, label).embedding_
        maps = measure_maps(features, coordinates, neighbors)
        with write_results():
            write_maps(maps, output, to)
    say(f"{len(features)} rows by {', '.join(coordinates)} for {to}: {output}")
    next_step(viewer.opening(shell_word(output), list(coordinates)))


COMMAND = Command(
    export,
    (
        "unbend export digits.csv --label class --to embedding-atlas -o digits.parquet",
        "unbend export iris.csv --label species --methods pca,isomap --to h5ad -o iris.h5ad",
    ),
)

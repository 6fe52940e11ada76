"""Results of a command: names checked before the work, files written together."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.messages import PIPE, Misuse, emit, say
from unbend.registry import EMBEDDINGS, entry_of

if TYPE_CHECKING:
    from unbend.cli.inputs import Input
    from unbend.io import Cube, Table

PAGES = (".html", ".htm")
GRAPHS = (".npz", ".mtx", ".graphml")
ENVI = (".hdr", ".img", ".dat")
IMAGES = (*ENVI, ".png")
# The column of the number of each row's cluster.
CLUSTER = "cluster"


def check_outputs(
    *,
    table: str | None = None,
    picture: str | None = None,
    model: str | None = None,
    page: str | None = None,
    graph: str | None = None,
    read: "Sequence[Input | str]" = (),
) -> None:
    """Refuse, before any work, names under which the results could not be written.

    Nor may a result replace another, or what it is made from. The table of pixels may be an image
    as well: ENVI, which takes two files, or PNG.
    """
    from unbend.files import writable_path
    from unbend.io.writing import EXTENSIONS

    if model == PIPE:
        raise Misuse("a model cannot go to stdout: give --model FILE.unbend")
    table = None if table == PIPE else table
    tables = [] if table is None else image_files(table) if is_image(table) else [table]
    places = [
        (name, os.fspath(writable_path(name)))
        for name in (*tables, picture, model, page, graph)
        if name is not None
    ]
    if picture is not None:
        from unbend.plot.saving import KINDS

        _check_ending(picture, KINDS)
    for name, endings in ((page, PAGES), (graph, GRAPHS)):
        if name is not None:
            _check_ending(name, endings)
    if table is not None and Path(table).suffix.lower() not in EXTENSIONS:
        pixels = any(not isinstance(source, str) and source.of_pixels for source in read)
        _check_ending(table, (*EXTENSIONS, *IMAGES) if pixels else EXTENSIONS)
    files = [
        file for source in read for file in ([source] if isinstance(source, str) else source.files)
    ]
    taken = {os.path.realpath(name) for name in files if name != PIPE}
    for name, place in places:
        if place in taken:
            raise Misuse(f"{name} is named twice, and would be overwritten: give another name")
        taken.add(place)


def is_image(name: str | None) -> bool:
    """Whether a name is that of an image of pixels."""
    return name is not None and Path(name).suffix.lower() in IMAGES


def image_files(name: str) -> list[str]:
    """Return the files that an image is written to: of ENVI the header and the data."""
    path = Path(name)
    if path.suffix.lower() not in ENVI:
        return [name]
    data = path.with_suffix(".img") if path.suffix.lower() == ".hdr" else path
    return [str(path.with_suffix(".hdr")), str(data)]


def _check_ending(name: str, endings: Sequence[str]) -> None:
    if Path(name).suffix.lower() not in endings:
        raise Misuse(f"{name} does not end in one of {', '.join(endings)}, which say the format")


def check_still(picture: str | None, what: str) -> None:
    """Refuse a page where a figure is not interactive."""
    if picture is not None and picture.lower().endswith(PAGES):
        raise Misuse(f"{what}: give --plot FILE.png, .svg or .pdf")


@contextmanager
def write_results() -> Iterator[None]:
    """Rename all files that the block writes at its end; if it fails, none is written."""
    from unbend.files import write_together

    with write_together() as files:
        yield
    for path in files.paths:
        say(f"wrote {path}")


def write_rows(
    target: str,
    values: Any,
    columns: Sequence[str],
    table: Any,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write rows, with the ids and labels of their table, to a file or as CSV to stdout."""
    from unbend import io
    from unbend.report import stage

    with stage("writing"):
        if target != PIPE:
            io.write(target, values, columns=columns, table=table, extra=extra)
            return
        sys.stdout.flush()
        if sys.stdout.isatty():
            shown = BytesIO()
            io.write(shown, values, columns=columns, table=table, extra=extra)
            emit(*shown.getvalue().decode().removesuffix("\n").split("\n"))
        else:
            io.write(sys.stdout.buffer, values, columns=columns, table=table, extra=extra)


def write_image(target: str, image: Any, names: list[str]) -> None:
    """Write an image of one band for each coordinate."""
    from unbend import io
    from unbend.report import stage

    with stage("writing"):
        io.write_cube(target, image, names=names)


def save_figure(figure: Any, target: str) -> None:
    """Write a figure as a stage of the work."""
    from unbend import plot
    from unbend.report import stage

    with stage("drawing"):
        plot.save(figure, target)


def draw_embedding(
    points: Any, color: Any = None, *, method: Any = None, title: str | None = None, target: str
) -> Any:
    """Return an interactive page for .html, else a figure."""
    from unbend import plot

    page = Path(target).suffix.lower() in PAGES
    draw = plot.interactive if page else plot.scatter
    return draw(points, color, title=title, method=method or guess_method(points))


def draw_features(coordinates: Any, cube: "Cube", method: Any) -> Any:
    """Return a figure with an image for each coordinate of the pixels."""
    from unbend import plot

    return plot.feature_images(coordinates, cube.shape[:2], mask=cube.kept, method=method)


def guess_method(points: Any) -> str | None:
    """Return the method whose coordinates have these names: isomap_1, isomap_2 and so on."""
    first = next(iter(getattr(points, "columns", ())), "")
    return next((entry.name for entry in EMBEDDINGS if first == f"{entry.name}_1"), None)


def coordinate_names(estimator: Any, count: int) -> list[str]:
    """Name coordinates after their method: isomap_1, isomap_2 and so on; clusters have one name."""
    entry = entry_of(estimator)
    if entry is None:
        return [CLUSTER]
    return [f"{entry.name}_{number + 1}" for number in range(count)]


class BatchResults:
    """Coordinates collected batch by batch, with the ids and labels of their rows."""

    def __init__(self) -> None:
        self._coordinates: list[Any] = []
        self._tables: list[Table] = []

    def add(self, coordinates: Any, table: "Table") -> None:
        """Take the coordinates of a batch; its values are not kept."""
        self._coordinates.append(coordinates)
        self._tables.append(replace(table, values=table.values[:0]))

    def concatenate(self) -> tuple[Any, "Table"]:
        """Return all coordinates, and a table of the ids and labels."""
        import numpy as np

        tables = self._tables
        if not tables:
            raise ValueError("every row has a missing value: none would be left")
        first = tables[0]
        return np.concatenate(self._coordinates), replace(
            first,
            label=None if first.label is None else np.concatenate([t.label for t in tables]),
            ids=None if first.ids is None else np.concatenate([t.ids for t in tables]),
            rows=np.concatenate([t.rows for t in tables]),
        )

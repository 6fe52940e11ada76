"""Data of every kind as rows of numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cli.data import CALLED, Data
from unbend.cli.errors import Misuse
from unbend.cli.kinds import kind_of
from unbend.cli.tables import Columns, source, without

if TYPE_CHECKING:
    from unbend.io import Cube, Table, Texts

# Names that readers give to what they keep aside of data without columns.
ASIDE = {
    "images": ("file", "folder"),
    "texts": ("file", "folder"),
    "cube": ("pixel", "band", "wavelength"),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that were read: names and labels in a table, and what new data of the kind need.

    The table has no numbers where these are sparse.
    """

    kind: str
    table: "Table"
    like: Mapping[str, Any]
    sparse: Any = None
    cube: "Cube | None" = None

    def take(self, keep: Any) -> "Rows":
        """Restrict to some rows."""
        sparse = None if self.sparse is None else self.sparse[keep]
        return replace(self, table=self.table.take(keep), sparse=sparse)

    def whole(self) -> "Table":
        """Return a table with all numbers."""
        if self.sparse is None:
            return self.table
        from unbend.memory import reserve

        rows, terms = self.sparse.shape
        reserve(
            8 * rows * terms,
            f"{rows} documents x {terms} terms",
            "reduce them first by --method pca --svd-solver arpack -d 50 -o LESS.csv",
        )
        return replace(self.table, values=self.sparse.toarray())

    def values(self, estimator: Any) -> Any:
        """Return the numbers as an estimator takes them: sparse ones stay so where it can."""
        if self.sparse is not None and estimator.__sklearn_tags__().input_tags.sparse:
            return self.sparse
        return self.whole().values


def read_rows(name: str, columns: Columns, like: Mapping[str, Any] | None = None) -> Rows:
    """Read data as a stage of the work; `like` is what a model keeps of those it was fitted to."""
    from unbend.report import stage

    kind = kind_of(name, columns.data, None if like is None else like["kind"])
    columns.data.check_for(kind, name)
    with stage("reading"):
        if kind == "table":
            from unbend import io

            table = io.read(source(name), **columns.options())
            return Rows(kind, table, {"kind": kind})
        if kind == "matrices":
            raise Misuse("several matrices are for embed --method replicated_mds or weighted_mds")
        check_columns(kind, columns, name)
        rows = READERS[kind](name, columns, like)
        _check_aside(rows, columns, name)
        return rows


def check_columns(kind: str, columns: Columns, name: str) -> None:
    """Refuse what only tables have."""
    if kind == "table":
        return
    given = {"--missing": columns.missing != "refuse", "--ignore": columns.ignore != ()}
    if kind == "cube":
        given.pop("--ignore")
    for option, there in given.items():
        if there:
            raise Misuse(f"{option} is for tables, and {name} is read as {CALLED[kind]}")


def _check_aside(rows: Rows, columns: Columns, name: str) -> None:
    """Refuse a label or ids that were not read."""
    table = rows.table
    for what, asked, own in (
        ("label", columns.label, table.label_name),
        ("id", columns.id, table.id_name),
    ):
        if asked not in (None, own):
            has = "has none" if own is None else f"has {own!r}"
            raise Misuse(
                f"--{what} {asked} is not there: {name} is read as {CALLED[rows.kind]} and {has}"
            )


def _read_images(name: str, columns: Columns, like: Mapping[str, Any] | None) -> Rows:
    from unbend import io

    data = columns.data
    invert = "auto" if data.invert is None else data.invert
    images = io.read_images(
        source(name),
        color=data.color,
        invert=invert,
        size=data.height_and_width,
        array=data.array,
        like=like,
    )
    return Rows("images", images.table, {"kind": "images", **images.kind()})


def _read_texts(name: str, columns: Columns, like: Mapping[str, Any] | None) -> Rows:
    from unbend import io

    data = columns.data
    if data.text_column is not None and data.encoding is not None:
        raise Misuse(
            "--encoding is for files of texts, and --text-column reads a table: leave it out"
        )
    texts = io.read_texts(
        source(name),
        column=data.text_column,
        label=columns.label if data.text_column is not None else None,
        id=columns.id if data.text_column is not None else None,
        weight=data.term_weight or "tf-idf",
        stop_words=_stop_words(data.stop_words),
        stem=data.stem,
        unit=not data.no_unit,
        encoding=data.encoding or "utf-8",
        separator=data.mark,
        like=like,
    )
    kept = {"kind": "texts", "column": data.text_column, **texts.dictionary()}
    return Rows("texts", _names(texts), kept, sparse=texts.values)


def _stop_words(given: str | None) -> Any:
    if given in (None, "english", "none"):
        return None if given == "none" else "english"
    try:
        return Path(str(given)).read_text("utf-8").split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{given} is not UTF-8: save the stop words as such") from error


def _names(texts: "Texts") -> "Table":
    """Return a table of the names and labels of documents, without their numbers."""
    import numpy as np

    from unbend.io import Table

    return Table(
        values=np.empty((len(texts), 0)),
        columns=texts.columns,
        label=texts.label,
        label_name=texts.label_name,
        ids=texts.ids,
        id_name=texts.id_name,
        rows=texts.rows,
    )


def open_cube(name: str, data: Data) -> "Cube":
    """Open a cube; its numbers stay in the file."""
    from unbend import io

    return io.read_cube(source(name), data=data.envi_data, part=data.fits_part)


def _read_cube(name: str, columns: Columns, like: Mapping[str, Any] | None) -> Rows:
    cube = open_cube(name, columns.data)
    bands = columns.data.bands if like is None else like["bands"]
    table = cube.bands() if bands else with_pixels(cube.pixels(), cube)
    return Rows("cube", without(table, columns.ignore), {"kind": "cube", "bands": bands}, cube=cube)


def with_pixels(table: "Table", cube: "Cube") -> "Table":
    """Give the rows of pixels their places for names."""
    import numpy as np

    places = zip(*(part.tolist() for part in divmod(table.rows, cube.shape[1])), strict=True)
    ids = np.array([f"y{line}x{sample}" for line, sample in places], dtype=object)
    return replace(table, ids=ids, id_name="pixel")


READERS = {"images": _read_images, "texts": _read_texts, "cube": _read_cube}


def read_table(name: str, columns: Columns) -> "Table":
    """Read data as a table, as a stage of the work."""
    return read_rows(name, columns).whole()


def read_sample(name: str, columns: Columns, rows: int, seed: int) -> "Table":
    """Read data, and keep at most so many of their rows, drawn at random."""
    import numpy as np

    from unbend.quality.measure import sample_rows

    read = read_rows(name, columns)
    chosen = np.zeros(len(read.table), dtype=bool)
    chosen[sample_rows(len(read.table), rows, seed)] = True
    return read.take(chosen).whole()


def read_batches(name: str, columns: Columns, rows: int) -> "Iterable[Table]":
    """Open a table, or the pixels of a cube, to be read some rows at a time, again and again."""
    from unbend import io

    kind = kind_of(name, columns.data)
    columns.data.check_for(kind, name)
    if kind == "cube" and not columns.data.bands:
        check_columns(kind, columns, name)
        cube = open_cube(name, columns.data)
        return io.batches(cube, rows=rows, ignore=columns.ignore, missing="drop")
    if kind != "table":
        raise Misuse(f"--batches is for tables and pixels, and {name} is read as {CALLED[kind]}")
    return io.batches(source(name), rows=rows, **columns.options())


def read_distances(name: str, separator: str | None) -> Any:
    """Read distances as a stage of the work."""
    from unbend import io
    from unbend.report import stage

    with stage("reading"):
        return io.read_distances(source(name), separator=separator)


def read_network(name: str, separator: str | None) -> tuple[Any, int]:
    """Read distances of which some are missing, and the number of the first point."""
    from unbend.io.distances import read_network as read
    from unbend.report import stage

    with stage("reading"):
        return read(source(name), separator=separator)


def read_matrices(name: str, data: Data) -> tuple[Rows, list[Any]]:
    """Read several matrices as a stage of the work, with the names of their objects."""
    import numpy as np

    from unbend import io
    from unbend.report import stage

    with stage("reading"):
        read = io.read_matrices(source(name), array=data.array, separator=data.mark)
    objects = None if read.objects is None else np.array(read.objects, dtype=object)
    called = None if objects is None else "object"
    n = read.values[0].shape[0]
    table = io.Table(np.empty((n, 0)), (), None, None, objects, called, np.arange(n))
    return Rows("matrices", table, {"kind": "matrices", "names": list(read.names)}), list(
        read.values
    )


def column_names(name: str, data: Data, *, index: bool = True) -> tuple[str, ...]:
    """Return the names of all columns, without reading the rows; with that of an index, or not."""
    from unbend import io
    from unbend.io.reading import open_source

    kind = kind_of(name, data)
    if kind == "cube":
        return (*ASIDE[kind], *open_cube(name, data).names)
    if kind != "table" and data.text_column is None:
        return ASIDE[kind]
    reading: dict[str, Any] = {"array": data.array, "separator": data.mark}
    opened = open_source(source(name), **reading)
    return opened.names if index else io.batches(source(name), **reading).columns

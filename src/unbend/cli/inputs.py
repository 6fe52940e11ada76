"""Data of a command: opened once, their kind detected once, read as rows of numbers."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.cached import cached_property
from unbend.cli.messages import PIPE, Misuse, say
from unbend.cli.options import KINDS, DataOptions
from unbend.cli.rows import (
    Rows,
    document_table,
    drop_columns,
    name_pixels,
    object_table,
    take_sample,
)

if TYPE_CHECKING:
    from unbend.cli.preparation import PreparedBatches
    from unbend.io import Cube, Frame, NamedDistances, Source, Table, TableReader

# Names that readers give to the ids and labels of data without columns.
OWN_NAMES = {
    "images": ("file", "folder"),
    "texts": ("file", "folder"),
    "cube": ("pixel", "band", "wavelength"),
}
TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst", ".tex")
# Objects up to which all eigenvalues of their distances are computed.
MOST_OBJECTS = 1000


class Input:
    """A file, a folder or stdin, opened once, and the options that say how to read it."""

    def __init__(self, name: str, options: DataOptions, default: str | None = None) -> None:
        if not name:
            raise Misuse("the name of the table is empty: give a file, a folder, or '-' for stdin")
        self.name, self.options, self._default = name, options, default
        # Rows of the whole table, once a sample of them is read.
        self.total_rows: int | None = None

    @cached_property
    def source(self) -> "Source | str":
        """The open source, or the name of a folder."""
        from unbend.io import open_source

        if self.name == PIPE:
            if sys.stdin is None:
                raise ValueError("stdin is closed: name a file, or send one to stdin")
            return open_source(BytesIO(sys.stdin.buffer.read()))
        return self.name if Path(self.name).is_dir() else open_source(self.name)

    @cached_property
    def kind(self) -> str:
        """Kind of the data: by the options, by the file, or the default."""
        if self.options.kind is not None:
            return self.options.kind
        if self.options.text_column is not None:
            return "texts"
        if isinstance(self.source, str):
            found = _folder_kind(self.name)
            if found is None and self._default is None:
                raise ValueError(
                    f"the folder {self.name} holds neither images nor files that end in "
                    f"{', '.join(TEXT_SUFFIXES)}: say --as texts, or take --method replicated_mds "
                    "or weighted_mds for matrices"
                )
        else:
            found = _file_kind(self.source)
        return found or self._default or "table"

    @property
    def of_pixels(self) -> bool:
        """Whether the rows are pixels of an image."""
        return self.kind == "cube" and not self.options.bands

    @property
    def files(self) -> list[str]:
        """The files behind the name, which a result must not replace: of ENVI cubes two."""
        from unbend.io.envi import find_files

        if self.options.envi_data is not None:
            return [self.name, self.options.envi_data]
        source = self.source
        if self.kind != "cube" or isinstance(source, str) or source.path is None:
            return [self.name]
        try:
            pair = find_files(source.path, is_header=source.format == "envi")
        except (ValueError, FileNotFoundError):
            return [self.name]
        return [self.name, *map(str, pair)]

    @cached_property
    def reader(self) -> "TableReader":
        """The table, of which the names of columns are known and no rows are read."""
        from unbend.io import open_table

        options = self.options
        return open_table(
            self.source,
            array=options.array,
            separator=options.separator,
            encoding=options.encoding,
        )

    @cached_property
    def cube(self) -> "Cube":
        """The cube, whose numbers stay in the file."""
        from unbend.io import read_cube

        return read_cube(self.source, data=self.options.envi_data, part=self.options.fits_part)

    def column_names(self, *, index: bool = True) -> tuple[str, ...]:
        """Return the names of all columns; with that of an index, or not."""
        from unbend.io import batches

        if self.kind == "cube":
            return (*OWN_NAMES["cube"], *self.cube.names)
        if self.kind != "table" and self.options.text_column is None:
            return OWN_NAMES[self.kind]
        return self.reader.names if index else batches(self.reader).columns

    def check_ignored(self) -> None:
        """Refuse unknown columns in --ignore: after a typo the column would be a feature."""
        if self.options.ignore:
            self.options.check_for(self.kind, self.name)
            from unbend.io.table import list_names
            from unbend.validation.scalars import hint

            names = self.column_names()
            for name in self.options.ignore:
                if name not in names:
                    raise ValueError(
                        f"{self.name} has no column {name!r} to ignore: its columns are "
                        f"{list_names(names)}{hint(name, names)}"
                    )

    def with_options(self, **changes: Any) -> "Input":
        """Return the same open data, read with other options."""
        other = copy(self)
        other.options = replace(self.options, **changes)
        return other

    def read(self, like: Mapping[str, Any] | None = None) -> Rows:
        """Read the rows; `like` describes the training data of a model."""
        from unbend import io
        from unbend.report import stage

        self.options.check_for(self.kind, self.name)
        with stage("reading"):
            if self.kind == "table":
                table = io.read(self.reader, **self.options.table_keywords())
                return Rows("table", table, {"kind": "table"})
            if self.kind == "matrices":
                raise Misuse(
                    "several matrices are for embed --method replicated_mds or weighted_mds"
                )
            rows = {"images": _read_images, "texts": _read_texts, "cube": _read_cube}[self.kind](
                self, like
            )
        for what, asked, own in (
            ("label", self.options.label, rows.table.label_name),
            ("id", self.options.id, rows.table.id_name),
        ):
            if asked not in (None, own):
                has = "has none" if own is None else f"has {own!r}"
                raise Misuse(
                    f"--{what} {asked} is not there: {self.name} is read as {KINDS[self.kind][0]} "
                    f"and {has}"
                )
        return rows

    def read_prepared(self, truth: Sequence[str] = ()) -> Rows:
        """Read the rows; columns of a table become features, but those of the truth.

        Arrays have one unit and stay as they are, unless an option asks for more.
        """
        from unbend.cli.preparation import prepare_rows
        from unbend.prepare.frames import holds_distances
        from unbend.report import stage
        from unbend.validation.distances import is_distances

        if self.kind != "table" or not (self.reader.tabular or self.options.asks_preparation):
            rows = self.read()
            self._refuse_distances(self.kind == "table" and is_distances(rows.table.values))
            return rows
        self.options.check_for(self.kind, self.name)
        with stage("reading"):
            (frame,) = self.read_frames(None)
        self._refuse_distances(holds_distances(frame))
        made = prepare_rows(frame, self.options, truth)
        preparation = None if made.identity else made.preparation
        return Rows("table", made.table, {"kind": "table"}, preparation=preparation)

    def read_frames(self, rows: int | None) -> "Iterable[Frame]":
        """Read columns of any kind, in batches of rows or all at once."""
        from unbend.io.table import Roles

        options = self.options
        roles = Roles(options.label, options.id, options.ignore)
        return self.reader.frames(roles.resolve(self.reader.names, self.reader.where), rows)

    def read_table(self) -> "Table":
        """Read the rows as a table of numbers."""
        return self.read().dense()

    def read_sampled(self, rows: int, seed: int, truth: Sequence[str] = ()) -> Rows:
        """Read a random sample of at most so many rows, prepared.

        A table larger than memory is not read whole.
        """
        return take_sample(self._read_whole(rows, seed, truth), rows, seed)

    def _read_whole(self, rows: int, seed: int, truth: Sequence[str]) -> Rows:
        whole = self._fit_in_memory(rows, seed)
        read = whole.read_prepared(truth)
        self.total_rows = whole.total_rows or len(read.table)
        return read

    def _fit_in_memory(self, rows: int, seed: int) -> "Input":
        from unbend.io.reading import fit_in_memory
        from unbend.report import stage

        if self.kind != "table":
            return self
        with stage("sampling"):
            reader, sample = fit_in_memory(self.reader, rows, seed)
        if sample is None:
            return self
        say(f"{self.name} is larger than memory: sampled {sample}.")
        other = copy(self)
        other.__dict__["reader"] = reader
        other.total_rows = sample.total
        return other

    def read_sample(self, rows: int, seed: int, truth: Sequence[str] = ()) -> "Table":
        """Read a random sample as a table of numbers."""
        from unbend.cli.preparation import check_euclidean

        check_euclidean(self.options)
        return self.read_sampled(rows, seed, truth).dense()

    def _refuse_distances(self, distances: bool) -> None:
        """Refuse what looks like distances, unless it is said to be a table."""
        if distances and self.options.kind is None:
            raise Misuse(
                f"{self.name} is square and symmetric with a zero diagonal, as distances are: say "
                "--distances, or --as table if its rows are points"
            )

    def prepare_batches(self, rows: int) -> "PreparedBatches | None":
        """Prepare a table in batches; None of arrays and pixels, which have one unit."""
        from unbend.cli.preparation import PreparedBatches

        self.options.check_for(self.kind, self.name)
        if self.kind != "table" or not (self.reader.tabular or self.options.asks_preparation):
            return None
        return PreparedBatches.fit(_Frames(self, rows), self.options, self.name)

    def read_batches(self, rows: int) -> "Iterable[Table]":
        """Open a table, or the pixels of a cube, as batches that can be read again and again."""
        from unbend import io

        self.options.check_for(self.kind, self.name)
        if self.of_pixels:
            ignore = self.options.ignore
            return io.batches(self.cube, rows=rows, ignore=ignore, missing="drop")
        if self.kind != "table":
            raise Misuse(
                f"--batches is for tables and pixels, and {self.name} is read as "
                f"{KINDS[self.kind][0]}"
            )
        return io.batches(self.reader, rows=rows, **self.options.table_keywords())

    def read_distances(self, symmetrize: bool = False) -> tuple[Rows, Any]:
        """Read a matrix of distances, and the names of its objects."""
        found = self.read_named_distances(symmetrize)
        like = {"kind": "distances", **_describe_distances(found.values)}
        return Rows("distances", object_table(found.names, len(found)), like), found.values

    def read_named_distances(self, symmetrize: bool = False) -> "NamedDistances":
        """Read distances, of which some may be missing, and say what was averaged."""
        from unbend import io
        from unbend.report import stage

        with stage("reading"):
            found = io.read_named_distances(
                self.source, separator=self.options.separator, symmetrize=symmetrize
            )
        if found.asymmetry or found.diagonal:
            say(
                f"Averaged the two directions, which differ by up to {found.asymmetry:.4g}, and "
                f"set the diagonal, up to {found.diagonal:.4g}, to zero."
            )
        return found

    def read_matrices(self) -> tuple[Rows, list[Any]]:
        """Read several matrices, and the names of their objects."""
        from unbend import io
        from unbend.report import stage

        with stage("reading"):
            options = self.options
            read = io.read_matrices(self.source, array=options.array, separator=options.separator)
        table = object_table(read.objects, read.values[0].shape[0])
        like = {"kind": "matrices", "names": list(read.names)}
        return Rows("matrices", table, like), list(read.values)


@dataclass(frozen=True)
class _Frames:
    """Columns of any kind in batches, which can be read again and again."""

    given: Input
    rows: int

    def __iter__(self) -> "Iterator[Frame]":
        return iter(self.given.read_frames(self.rows))


def _describe_distances(values: Any) -> dict[str, Any]:
    """Say whether distances are Euclidean, where all are known and they are not too many."""
    from unbend.arrays import is_sparse
    from unbend.mds.euclidean import euclidean_dimension

    if is_sparse(values) or len(values) > MOST_OBJECTS:
        return {}
    found = euclidean_dimension(values)
    say(f"The distances are {found}.")
    return {"euclidean": found.euclidean, "dimension": found.dimension}


def _folder_kind(name: str) -> str | None:
    """Detect what most of the files are: one image among texts is no folder of images."""
    from unbend.io.image_files import SUFFIXES
    from unbend.io.source import walk_files

    endings = Counter(path.suffix.lower() for path in walk_files(Path(name), None))
    if not endings:
        raise ValueError(f"the folder {name} holds no files")
    images, texts = (
        sum(endings[suffix] for suffix in known) for known in (SUFFIXES, TEXT_SUFFIXES)
    )
    if not images and not texts:
        return None
    return "images" if images >= texts else "texts"


def _file_kind(source: "Source") -> str | None:
    from unbend.io import open_source
    from unbend.io.envi import find_files

    if source.format in ("fits", "envi"):
        return "cube"
    if source.format == "idx":
        return "images"
    if source.path is None:
        return None
    try:
        # The data of an ENVI cube have its header beside them.
        header = find_files(source.path, is_header=False)[0]
    except ValueError:
        return None
    return "cube" if open_source(header).format == "envi" else None


def _read_images(given: Input, like: Mapping[str, Any] | None) -> Rows:
    from unbend import io

    options = given.options
    images = io.read_images(
        given.source,
        color=options.color,
        invert="auto" if options.invert is None else options.invert,
        size=options.height_and_width,
        array=options.array,
        like=like,
    )
    return Rows("images", images.table, {"kind": "images", **images.kind()})


def _read_texts(given: Input, like: Mapping[str, Any] | None) -> Rows:
    from unbend import io

    options = given.options
    column = options.text_column
    texts = io.read_texts(
        given.source if column is None else given.reader,
        column=column,
        label=None if column is None else options.label,
        id=None if column is None else options.id,
        weight=options.term_weight or "tf-idf",
        stop_words=_stop_words(options.stop_words),
        terms=_read_words(options.terms, "terms"),
        stem=options.stem,
        unit=not options.no_unit,
        encoding=options.encoding if column is None else None,
        separator=options.separator if column is None else None,
        like=like,
    )
    kept = {"kind": "texts", "column": column, **texts.dictionary()}
    return Rows("texts", document_table(texts), kept, sparse=texts.values)


def _stop_words(typed: str | None) -> Any:
    if typed in (None, "english", "none"):
        return None if typed == "none" else "english"
    return _read_words(typed, "stop words")


def _read_words(file: str | None, what: str) -> list[str] | None:
    """Read the words of a file."""
    if file is None:
        return None
    try:
        return Path(file).read_text("utf-8").split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8: save the {what} as such") from error


def _read_cube(given: Input, like: Mapping[str, Any] | None) -> Rows:
    bands = given.options.bands if like is None else like["bands"]
    cube = given.cube
    table = cube.bands() if bands else name_pixels(cube.pixels(), cube)
    like = {"kind": "cube", "bands": bands}
    return Rows("cube", drop_columns(table, given.options.ignore), like, cube=cube)

"""Arguments and options, as typer takes them; `DataOptions` are those of every data source."""

import inspect
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import typer

from unbend.cli.messages import Misuse
from unbend.cli.parameters import complete_embedding, complete_method, find_method, keyword

READABLE = "CSV, TSV, XLSX, Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT or Matrix Market"
READABLE_DATA = f"{READABLE}; ENVI or FITS; a folder of images, texts, Parquet or Zarr"
SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
PIXELS = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")
POLICIES = ("refuse", "drop", "mean", "median", "most_frequent", "indicator")
SCALES = ("auto", "none", "standard", "robust", "range", "log", "gower")
ENCODINGS = ("onehot", "ordinal")
COLUMN_KINDS = (
    *("numeric", "ordinal", "category", "date", "boolean", "terms", "text", "id", "constant"),
)
PREFIX = "data_"
PANEL = "Arrays, images, texts and cubes"
# What each kind of data is called in a sentence, one and many.
KINDS = {
    "table": ("a table", "tables"),
    "images": ("images", "images"),
    "texts": ("texts", "texts"),
    "cube": ("a cube", "cubes"),
    "matrices": ("several matrices", "several matrices"),
}
IMAGES, TEXTS, CUBES = ("images",), ("texts",), ("cube",)
# Options outside the panel of special data.
MAIN: dict[str, Any] = {"rich_help_panel": None}
# A tab or a space cannot be typed as it is, or is easily lost.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


def argument(metavar: str, help: str) -> Any:
    """Declare a required argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(words: str, help: str, **more: Any) -> Any:
    """Declare an option as it is typed: its names, and what stands for its value."""
    names = [word for word in words.split() if word.startswith("-")]
    value = next((word for word in words.split() if word not in names), None)
    return typer.Option(*names, metavar=value, help=help, **more)


TableFile = Annotated[str, argument("TABLE", f"{READABLE_DATA}; '-' is stdin.")]
ModelFile = Annotated[str, argument("FILE.unbend", "A model saved by embed.")]
EmbeddingFile = Annotated[str, argument("EMBEDDING", f"Coordinates of its rows: {READABLE}.")]
Method = Annotated[
    str,
    option(
        "--method -m NAME",
        "Method name; `unbend methods` lists them.",
        autocompletion=complete_embedding,
    ),
]
Methods = Annotated[
    list[str] | None,
    option(
        "--methods NAMES",
        "Method names, with commas between; by default one of each kind.",
        autocompletion=complete_method,
    ),
]
Components = Annotated[
    str | None,
    option("--components --n-components -d NUMBER", "Embedding dimension; 2 by default."),
]
Dimension = Annotated[int, option("--components -d", "Embedding dimension.", min=1)]
Clusters = Annotated[str | None, option("--clusters --n-clusters -n NUMBER", "Number of clusters.")]
Distances = Annotated[
    bool,
    option(
        "--distances",
        "The table holds distances: a square matrix, or two names or numbers and a distance.",
    ),
]
Symmetrize = Annotated[
    bool,
    option("--symmetrize", "Average distances that differ by direction; zero the diagonal."),
]
Output = Annotated[str | None, option("--output -o FILE", "Where to write; '-' is stdout.")]
SaveModel = Annotated[
    str | None, option("--model FILE.unbend", "Save the fitted model, for new samples.")
]
NoTraining = Annotated[
    bool,
    option(
        "--no-training",
        "Save the model without its training data; pca still transforms new samples.",
    ),
]
Float32 = Annotated[
    bool, option("--float32", "Save the model in single precision: a smaller file.")
]
Picture = Annotated[str | None, option("--plot FILE", "Plot the embedding: .png .svg .pdf .html")]
StillPicture = Annotated[str | None, option("--plot FILE", "Plot the result: .png .svg .pdf")]
Json = Annotated[bool, option("--json", "Report as JSON on stdout.")]
Score = Annotated[
    bool, option("--score", "Write the outlyingness of each row: about 1, far outside above 5.")
]
Seed = Annotated[int, option("--seed", "Random seed.", min=0)]
MethodSeed = Annotated[str | None, option("--seed --random-state NUMBER", "Random seed.")]
Threads = Annotated[
    str | None,
    option("--jobs --n-jobs -j NUMBER", "Threads; all cores by default, -2 for all but one."),
]
Jobs = Annotated[int | None, option("--jobs -j NUMBER", "Fits that run in parallel.")]
Memory = Annotated[str | None, option("--memory SIZE", "Refuse arrays larger than this, as 4GB.")]
Batches = Annotated[
    int | None,
    option(
        "--batches ROWS", "Fit on batches of so many rows: for tables larger than memory.", min=1
    ),
]
BatchRows = Annotated[int, option("--batches ROWS", "Read batches of so many rows.", min=1)]
Sample = Annotated[int, option("--sample ROWS", "Use a random sample of so many rows.", min=1)]
SomeRows = Annotated[
    int | None,
    option("--sample ROWS", "Use a random sample of so many rows; all by default.", min=1),
]
Scheduler = Annotated[
    str | None,
    option("--scheduler ADDRESS", "Folders of Parquet or Zarr: Dask cluster, as tcp://host:8786."),
]
Workers = Annotated[
    int | None,
    option("--workers NUMBER", "Folders of Parquet or Zarr: processes of a local cluster.", min=1),
]
Neighbors = Annotated[int, option("--neighbors -k", "Number of neighbours.", min=1)]
Truth = Annotated[
    list[str] | None, option("--truth COLUMNS", "Columns of TABLE with the true coordinates.")
]


def split_names(typed: list[str] | None) -> tuple[str, ...]:
    """Split names that were typed with commas between them."""
    words = [name.strip() for text in typed or () for name in text.split(",")]
    return tuple(word for word in words if word)


def class_names(typed: list[str] | None) -> list[str] | None:
    """Return the classes of the methods named, or None for the usual ones."""
    return [find_method(name).class_name for name in split_names(typed)] or None


def parse_bytes(size: str) -> int:
    """Read a size such as 4GB, 500M or 1e9."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)i?b?\s*", size.lower())
    try:
        if found is not None:
            return int(float(found[1]) * SIZES[found[2]])
    except (ValueError, OverflowError):
        pass
    raise Misuse(f"--memory {size} is not a size: write 4GB, 500MB or a number of bytes")


def _data(
    words: str,
    help: str,
    kinds: tuple[str, ...],
    default: Any = None,
    type: Any = str | None,
    *,
    fixed: bool = False,
    **more: Any,
) -> Any:
    """Declare an option of data: for which kinds it is, and whether a model fixes it."""
    more = {"rich_help_panel": PANEL, "show_default": False, **more}
    kept = {"words": words.split()[0], "kinds": kinds, "fixed": fixed, "type": type}
    return field(default=default, metadata={**kept, "declared": option(words, help, **more)})


@dataclass(frozen=True)
class DataOptions:
    """How data are read: their kind, the roles of their columns, and the options of each kind.

    A command that takes `data` has all of these as options.
    """

    kind: str | None = _data(
        "--as KIND",
        f"{', '.join(list(KINDS)[:-1])} or {list(KINDS)[-1]}; by default the file decides.",
        tuple(KINDS),
    )
    array: str | None = _data(
        "--array NAME",
        "Name of the array in an NPZ, HDF5 or MAT file, or sheet of a workbook.",
        ("table", "images", "matrices"),
    )
    typed_separator: str | None = _data(
        "--separator CHARACTER",
        "Text tables: field separator, or tab or space; detected by default.",
        ("table", "texts", "matrices"),
    )
    color: bool | None = _data(
        "--color/--gray",
        "Images: three channels, or one; by default as the first image.",
        IMAGES,
        type=bool | None,
        fixed=True,
    )
    invert: bool | None = _data(
        "--invert/--no-invert",
        "Images: invert black and white; by default for scans of writing.",
        IMAGES,
        type=bool | None,
        fixed=True,
    )
    size: str | None = _data(
        "--size WIDTHxHEIGHT", "Images: resize all to this size, as 32x24.", IMAGES, fixed=True
    )
    text_column: str | None = _data(
        "--text-column COLUMN", "Texts: column of a table that holds them.", TEXTS
    )
    term_weight: str | None = _data(
        "--term-weight WEIGHT", "Texts: tf-idf, or tf for term frequencies.", TEXTS, fixed=True
    )
    stop_words: str | None = _data(
        "--stop-words WORDS",
        "Texts: stop words: english, none, or a file with one a line.",
        TEXTS,
        fixed=True,
    )
    terms: str | None = _data(
        "--terms FILE",
        "Texts: vocabulary, one word a line; by default all words.",
        TEXTS,
        fixed=True,
    )
    stem: bool = _data(
        "--stem", "Texts: reduce English words to their stems.", TEXTS, False, bool, fixed=True
    )
    no_unit: bool = _data(
        "--no-unit",
        "Texts: do not normalise documents to unit length.",
        TEXTS,
        False,
        bool,
        fixed=True,
    )
    encoding: str | None = _data(
        "--encoding NAME",
        "Text tables and texts: encoding, as cp1252; detected in tables, utf-8 for texts.",
        ("table", "texts"),
    )
    bands: bool = _data(
        "--bands", "Cubes: rows are the bands, not the pixels.", CUBES, False, bool, fixed=True
    )
    fits_part: int | None = _data(
        "--fits-part NUMBER",
        "Cubes: number of the FITS part, the first being 0.",
        CUBES,
        type=int | None,
    )
    envi_data: str | None = _data(
        "--envi-data FILE", "Cubes: data file of an ENVI header, if not beside it.", CUBES
    )
    label: str | None = _data(
        "--label -l COLUMN", "Column with classes or values: not a feature.", tuple(KINDS), **MAIN
    )
    id: str | None = _data(
        "--id COLUMN", "Column with names of rows: not a feature.", tuple(KINDS), **MAIN
    )
    ignore: tuple[str, ...] = _data(
        "--ignore COLUMNS",
        "Columns to leave out, with commas between.",
        ("table", "cube"),
        (),
        list[str] | None,
        **MAIN,
    )
    missing: str = _data(
        "--missing POLICY",
        "Missing values: refuse, drop the row, impute by mean, median or most_frequent, or "
        "indicator: the median and a feature that marks them.",
        ("table",),
        "refuse",
        str,
        autocompletion=lambda: list(POLICIES),
        **MAIN,
    )
    scale: str = _data(
        "--scale SCALE",
        "Scaling of columns: auto (standard if units differ), none, standard, robust, range, log "
        "or gower (Gower's distance, by --metric cityblock).",
        ("table",),
        "auto",
        str,
        fixed=True,
        autocompletion=lambda: list(SCALES),
        **MAIN,
    )
    column_kinds: tuple[str, ...] = _data(
        "--column-kind COLUMN=KIND",
        f"Kind of a column: {', '.join(COLUMN_KINDS[:-1])} or {COLUMN_KINDS[-1]}; inferred by "
        "default. Repeatable.",
        ("table",),
        (),
        list[str] | None,
        fixed=True,
        **MAIN,
    )
    categories: str = _data(
        "--categories ENCODING",
        "Categories: onehot, or ordinal for one integer code.",
        ("table",),
        "onehot",
        str,
        fixed=True,
        autocompletion=lambda: list(ENCODINGS),
        **MAIN,
    )

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise Misuse(f"--as {self.kind} is not allowed: it must be one of {', '.join(KINDS)}")
        if self.term_weight not in (None, "tf-idf", "tf"):
            raise Misuse(
                f"--term-weight {self.term_weight} is not allowed: it must be tf-idf or tf"
            )
        if self.size is not None and PIXELS.fullmatch(self.size) is None:
            raise Misuse(
                f"--size {self.size} is not allowed: it must be a width and a height in pixels, as "
                "32x24"
            )
        for word, value, allowed in (
            ("--missing", self.missing, POLICIES),
            ("--scale", self.scale, SCALES),
            ("--categories", self.categories, ENCODINGS),
        ):
            if value not in allowed:
                raise Misuse(
                    f"{word} {value} is not allowed: it must be "
                    f"{', '.join(allowed[:-1])} or {allowed[-1]}"
                )
        for typed in self.column_kinds:
            column, _, kind = typed.rpartition("=")
            if not column or kind not in COLUMN_KINDS:
                raise Misuse(
                    f"--column-kind {typed} is not allowed: write COLUMN=KIND, where KIND is "
                    f"{', '.join(COLUMN_KINDS[:-1])} or {COLUMN_KINDS[-1]}"
                )
        mark = self.separator
        if mark is not None and (len(mark) != 1 or mark in '"\r\n\0'):
            raise Misuse(
                f"--separator {self.typed_separator} is not allowed: it must be one character, as "
                "';', or tab or space"
            )

    @property
    def separator(self) -> str | None:
        """Separator of fields, as the readers take it."""
        typed = self.typed_separator
        return None if typed is None else SEPARATORS.get(typed, typed)

    @property
    def height_and_width(self) -> tuple[int, int] | None:
        """Size that images are resized to, in the order of the library."""
        found = None if self.size is None else PIXELS.fullmatch(self.size)
        return None if found is None else (int(found[2]), int(found[1]))

    @property
    def kinds(self) -> dict[str, str] | None:
        """Kinds of columns by name, as `Prepare` takes them."""
        pairs = (typed.rpartition("=") for typed in self.column_kinds)
        return {column: kind for column, _, kind in pairs} or None

    @property
    def asks_preparation(self) -> bool:
        """Whether an option asks for what `Prepare` does, whatever the data are."""
        special = self.missing in ("most_frequent", "indicator") or self.categories != "onehot"
        return special or self.scale != "auto" or bool(self.column_kinds)

    def table_keywords(self) -> dict[str, Any]:
        """Return the keywords of `io.read` and `io.batches`, for an open table."""
        return {name: getattr(self, name) for name in ("label", "id", "ignore", "missing")}

    def check_for(self, kind: str, name: str) -> None:
        """Refuse options that would have no effect on data of a kind."""
        for option in self._non_default():
            kinds = option.metadata["kinds"]
            if kind not in kinds:
                column = kind == "table" and kinds == ("texts",)
                advice = "give --text-column" if column else f"say --as {kinds[0]}"
                raise Misuse(
                    f"{self._word(option)} is for {KINDS[kinds[0]][1]}, and {name} is read as "
                    f"{KINDS[kind][0]}: leave it out, or {advice}"
                )

    def check_distances(self, why: str) -> None:
        """Refuse every option but the separator, where the data are distances and nothing else."""
        for option in self._non_default():
            if option.name != "typed_separator":
                raise Misuse(
                    f"{self._word(option)} does not go with {why}: the data are distances and "
                    "nothing else"
                )

    def check_free(self, model: str) -> None:
        """Refuse options that a model fixes for new data."""
        for option in self._non_default():
            if option.metadata["fixed"]:
                raise Misuse(f"{self._word(option)} is fixed by {model} for new data: leave it out")

    def words(self) -> str:
        """Return the options as they are typed, each after a space."""
        typed = []
        for option in self._non_default():
            value = getattr(self, option.name)
            if option.name == "column_kinds":
                typed += [f" --column-kind {shlex.quote(kind)}" for kind in value]
                continue
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            argument = "" if isinstance(value, bool) else f" {shlex.quote(text)}"
            typed.append(f" {self._word(option)}{argument}")
        return "".join(typed)

    def _non_default(self) -> list[Any]:
        return [option for option in fields(self) if getattr(self, option.name) != option.default]

    def _word(self, option: Any) -> str:
        """Return the option as it was typed: --gray for the opposite of --color."""
        name, _, opposite = option.metadata["words"].partition("/")
        return str(opposite if opposite and getattr(self, option.name) is False else name)


def take_data_options(given: dict[str, Any]) -> DataOptions:
    """Take the data options out of all that were given."""
    values = {option.name: given.pop(f"{PREFIX}{option.name}") for option in fields(DataOptions)}
    names, kinds = split_names(values["ignore"]), tuple(values["column_kinds"] or ())
    return DataOptions(**{**values, "ignore": names, "column_kinds": kinds})


def data_parameters(defaults: Mapping[str, Any]) -> list[inspect.Parameter]:
    """Return the data options as typer takes them, under names that no method parameter has."""
    return [
        keyword(
            f"{PREFIX}{option.name}",
            Annotated[option.metadata["type"], option.metadata["declared"]],
            defaults.get(option.name, None if option.default == () else option.default),
        )
        for option in fields(DataOptions)
    ]


def data_option(name: str) -> Any:
    """Return the declaration of one data option, for commands that take only some."""
    return next(each.metadata["declared"] for each in fields(DataOptions) if each.name == name)


Label = Annotated[str | None, data_option("label")]
Id = Annotated[str | None, data_option("id")]
Ignore = Annotated[list[str] | None, data_option("ignore")]
Separator = Annotated[str | None, data_option("typed_separator")]

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

READABLE = "CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT or Matrix Market"
READABLE_DATA = f"{READABLE}; ENVI or FITS; a folder of images or texts"
SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
PIXELS = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")
POLICIES = ("refuse", "drop", "mean", "median")
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
# A tab or a space cannot be typed as it is, or is easily lost.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


def argument(metavar: str, help: str) -> Any:
    """Declare a required argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(*names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """Declare an option."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


TableFile = Annotated[str, argument("TABLE", f"{READABLE_DATA}; '-' is stdin.")]
ModelFile = Annotated[str, argument("FILE.unbend", "A model saved by embed.")]
EmbeddingFile = Annotated[str, argument("EMBEDDING", f"Coordinates of its rows: {READABLE}.")]
Method = Annotated[
    str,
    option(
        *("--method", "-m"),
        metavar="NAME",
        help="Method name; `unbend methods` lists them.",
        autocompletion=complete_embedding,
    ),
]
Methods = Annotated[
    list[str] | None,
    option(
        "--methods",
        metavar="NAMES",
        help="Method names, with commas between; by default one of each kind.",
        autocompletion=complete_method,
    ),
]
Components = Annotated[
    str | None,
    option(
        *("--components", "--n-components", "-d"),
        metavar="NUMBER",
        help="Embedding dimension; 2 by default.",
    ),
]
Dimension = Annotated[int, option("--components", "-d", min=1, help="Embedding dimension.")]
Distances = Annotated[
    bool,
    option(
        "--distances", help="The table holds distances: a square matrix, or columns i, j, distance."
    ),
]
Output = Annotated[
    str | None, option("--output", "-o", metavar="FILE", help="Where to write; '-' is stdout.")
]
SaveModel = Annotated[
    str | None,
    option("--model", metavar="FILE.unbend", help="Save the fitted model, for new samples."),
]
NoTraining = Annotated[
    bool,
    option(
        "--no-training",
        help="Save the model without its training data; pca still transforms new samples.",
    ),
]
Float32 = Annotated[
    bool, option("--float32", help="Save the model in single precision: a smaller file.")
]
Picture = Annotated[
    str | None, option("--plot", metavar="FILE", help="Plot the embedding: .png .svg .pdf .html")
]
StillPicture = Annotated[
    str | None, option("--plot", metavar="FILE", help="Plot the result: .png .svg .pdf")
]
Json = Annotated[bool, option("--json", help="Report as JSON on stdout.")]
Seed = Annotated[int, option("--seed", min=0, help="Random seed.")]
MethodSeed = Annotated[
    str | None, option("--seed", "--random-state", metavar="NUMBER", help="Random seed.")
]
Threads = Annotated[
    str | None,
    option(
        *("--jobs", "--n-jobs", "-j"),
        metavar="NUMBER",
        help="Threads; all cores by default, -2 for all but one.",
    ),
]
Jobs = Annotated[
    int | None, option("--jobs", "-j", metavar="NUMBER", help="Fits that run in parallel.")
]
Memory = Annotated[
    str | None, option("--memory", metavar="SIZE", help="Refuse arrays larger than this, as 4GB.")
]
Batches = Annotated[
    int | None,
    option(
        "--batches",
        metavar="ROWS",
        min=1,
        help="Fit on batches of so many rows: for tables larger than memory.",
    ),
]
BatchRows = Annotated[
    int, option("--batches", metavar="ROWS", min=1, help="Read batches of so many rows.")
]
Sample = Annotated[
    int, option("--sample", metavar="ROWS", min=1, help="Use a random sample of so many rows.")
]
Neighbors = Annotated[int, option("--neighbors", "-k", min=1, help="Number of neighbours.")]
Truth = Annotated[
    list[str] | None,
    option("--truth", metavar="COLUMNS", help="Columns of TABLE with the true coordinates."),
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
    names: str,
    help: str,
    kinds: tuple[str, ...],
    *,
    metavar: str | None = None,
    default: Any = None,
    type: Any = str | None,
    fixed: bool = False,
    panel: str | None = PANEL,
    **more: Any,
) -> Any:
    """Declare an option of data: for which kinds it is, and whether a model fixes it."""
    more |= {"rich_help_panel": panel, "show_default": False}
    declared = option(*names.split(), metavar=metavar, help=help, **more)
    kept = {"names": names.split()[0], "kinds": kinds, "fixed": fixed, "type": type}
    return field(default=default, metadata={**kept, "declared": declared})


@dataclass(frozen=True)
class DataOptions:
    """How data are read: their kind, the roles of their columns, and the options of each kind.

    A command that takes `data` has all of these as options.
    """

    kind: str | None = _data(
        "--as",
        f"{', '.join(list(KINDS)[:-1])} or {list(KINDS)[-1]}; by default the file decides.",
        tuple(KINDS),
        metavar="KIND",
    )
    array: str | None = _data(
        "--array",
        "Name of the array in an NPZ, HDF5 or MAT file.",
        ("table", "images", "matrices"),
        metavar="NAME",
    )
    typed_separator: str | None = _data(
        "--separator",
        "Text tables: field separator, or tab or space; detected by default.",
        ("table", "texts", "matrices"),
        metavar="CHARACTER",
    )
    color: bool | None = _data(
        "--color/--gray",
        "Images: three channels, or one; by default as the first image.",
        ("images",),
        type=bool | None,
        fixed=True,
    )
    invert: bool | None = _data(
        "--invert/--no-invert",
        "Images: invert black and white; by default for scans of writing.",
        ("images",),
        type=bool | None,
        fixed=True,
    )
    size: str | None = _data(
        "--size",
        "Images: resize all to this size, as 32x24.",
        ("images",),
        metavar="WIDTHxHEIGHT",
        fixed=True,
    )
    text_column: str | None = _data(
        "--text-column", "Texts: column of a table that holds them.", ("texts",), metavar="COLUMN"
    )
    term_weight: str | None = _data(
        "--term-weight",
        "Texts: tf-idf, or tf for term frequencies.",
        ("texts",),
        metavar="WEIGHT",
        fixed=True,
    )
    stop_words: str | None = _data(
        "--stop-words",
        "Texts: stop words: english, none, or a file with one a line.",
        ("texts",),
        metavar="WORDS",
        fixed=True,
    )
    stem: bool = _data(
        "--stem",
        "Texts: reduce English words to their stems.",
        ("texts",),
        default=False,
        type=bool,
        fixed=True,
    )
    no_unit: bool = _data(
        "--no-unit",
        "Texts: do not normalise documents to unit length.",
        ("texts",),
        default=False,
        type=bool,
        fixed=True,
    )
    encoding: str | None = _data(
        "--encoding", "Texts: encoding of the files; utf-8 by default.", ("texts",), metavar="NAME"
    )
    bands: bool = _data(
        "--bands",
        "Cubes: rows are the bands, not the pixels.",
        ("cube",),
        default=False,
        type=bool,
        fixed=True,
    )
    fits_part: int | None = _data(
        "--fits-part",
        "Cubes: number of the FITS part, the first being 0.",
        ("cube",),
        metavar="NUMBER",
        type=int | None,
    )
    envi_data: str | None = _data(
        "--envi-data",
        "Cubes: data file of an ENVI header, if not beside it.",
        ("cube",),
        metavar="FILE",
    )
    label: str | None = _data(
        "--label -l",
        "Column with classes or values: not a feature.",
        tuple(KINDS),
        metavar="COLUMN",
        panel=None,
    )
    id: str | None = _data(
        "--id",
        "Column with names of rows: not a feature.",
        tuple(KINDS),
        metavar="COLUMN",
        panel=None,
    )
    ignore: tuple[str, ...] = _data(
        "--ignore",
        "Columns to leave out, with commas between.",
        ("table", "cube"),
        metavar="COLUMNS",
        default=(),
        type=list[str] | None,
        panel=None,
    )
    missing: str = _data(
        "--missing",
        "Missing values: refuse, drop the row, or impute by mean or median.",
        ("table",),
        metavar="POLICY",
        default="refuse",
        type=str,
        panel=None,
        autocompletion=lambda: list(POLICIES),
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
        if self.missing not in POLICIES:
            raise Misuse(
                f"--missing {self.missing} is not allowed: it must be "
                f"{', '.join(POLICIES[:-1])} or {POLICIES[-1]}"
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

    def table_keywords(self) -> dict[str, Any]:
        """Return the keywords of `io.read` and `io.batches`, for an open table."""
        return {name: getattr(self, name) for name in ("label", "id", "ignore", "missing")}

    def check_for(self, kind: str, name: str) -> None:
        """Refuse options that would have no effect on data of a kind."""
        for option in self._given():
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
        for option in self._given():
            if option.name != "typed_separator":
                raise Misuse(
                    f"{self._word(option)} does not go with {why}: the data are distances and "
                    "nothing else"
                )

    def check_free(self, model: str) -> None:
        """Refuse options that a model fixes for new data."""
        for option in self._given():
            if option.metadata["fixed"]:
                raise Misuse(f"{self._word(option)} is fixed by {model} for new data: leave it out")

    def words(self) -> str:
        """Return the options as they are typed, each after a space."""
        typed = []
        for option in self._given():
            value = getattr(self, option.name)
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            argument = "" if isinstance(value, bool) else f" {shlex.quote(text)}"
            typed.append(f" {self._word(option)}{argument}")
        return "".join(typed)

    def _given(self) -> list[Any]:
        return [option for option in fields(self) if getattr(self, option.name) != option.default]

    def _word(self, option: Any) -> str:
        """Return the option as it was typed: --gray for the opposite of --color."""
        name, _, opposite = option.metadata["names"].partition("/")
        return str(opposite if opposite and getattr(self, option.name) is False else name)


def take_data_options(given: dict[str, Any]) -> DataOptions:
    """Take the data options out of all that were given."""
    values = {option.name: given.pop(f"{PREFIX}{option.name}") for option in fields(DataOptions)}
    return DataOptions(**{**values, "ignore": split_names(values["ignore"])})


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

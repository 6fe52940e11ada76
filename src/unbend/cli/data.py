"""Options for data that are no plain table: arrays by name, images, texts, cubes, matrices."""

import inspect
import re
import shlex
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import typer

from unbend.cli.errors import Misuse
from unbend.cli.separators import check_typed_separator, typed_separator

KINDS = ("table", "images", "texts", "cube", "matrices")
PREFIX = "data_"
SIZE = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")
PANEL = "Arrays, images, texts and cubes"
# What a kind is called in a sentence.
CALLED = {
    "table": "a table",
    "images": "images",
    "texts": "texts",
    "cube": "a cube",
    "matrices": "several matrices",
}


def _option(
    names: str,
    help: str,
    kinds: tuple[str, ...],
    *,
    default: Any = None,
    metavar: str | None = None,
    type: Any = str | None,
    settled: bool = False,
) -> Any:
    """Declare an option: for which kinds it is, and whether a model has it settled for new data."""
    declared = typer.Option(
        names, metavar=metavar, help=help, rich_help_panel=PANEL, show_default=False
    )
    told = {"names": names, "kinds": kinds, "settled": settled}
    return field(default=default, metadata={**told, "annotation": Annotated[type, declared]})


@dataclass(frozen=True)
class Data:
    """What was said of the data: which kind they are, and how to read them."""

    kind: str | None = _option(
        "--as",
        f"{', '.join(KINDS[:-1])} or {KINDS[-1]}; else the file tells.",
        KINDS,
        metavar="KIND",
    )
    array: str | None = _option(
        "--array",
        "Which array of an NPZ, HDF5 or MAT file.",
        ("table", "images", "matrices"),
        metavar="NAME",
    )
    separator: str | None = _option(
        "--separator",
        "Text tables: character between fields, or tab or space; else found from the first lines.",
        ("table", "texts", "matrices"),
        metavar="CHARACTER",
    )
    color: bool | None = _option(
        "--color/--grey",
        "Images: three colours for each pixel, or one; else as the first is.",
        ("images",),
        type=bool | None,
        settled=True,
    )
    invert: bool | None = _option(
        "--invert/--no-invert",
        "Images: exchange black and white; else done for writing on white.",
        ("images",),
        type=bool | None,
        settled=True,
    )
    size: str | None = _option(
        "--size",
        "Images: bring all to this size, as 32x24.",
        ("images",),
        metavar="WIDTHxHEIGHT",
        settled=True,
    )
    text_column: str | None = _option(
        "--text-column",
        "Texts: the column of a table that holds them.",
        ("texts",),
        metavar="COLUMN",
    )
    term_weight: str | None = _option(
        "--term-weight",
        "Texts: tf-idf, or tf for frequencies alone.",
        ("texts",),
        metavar="WEIGHT",
        settled=True,
    )
    stop_words: str | None = _option(
        "--stop-words",
        "Texts: words to leave out: english, none, or a file with one a line.",
        ("texts",),
        metavar="WORDS",
        settled=True,
    )
    stem: bool = _option(
        "--stem",
        "Texts: take English endings off.",
        ("texts",),
        default=False,
        type=bool,
        settled=True,
    )
    no_unit: bool = _option(
        "--no-unit",
        "Texts: do not bring documents to one length.",
        ("texts",),
        default=False,
        type=bool,
        settled=True,
    )
    encoding: str | None = _option(
        "--encoding", "Texts: of the files; else utf-8.", ("texts",), metavar="NAME"
    )
    bands: bool = _option(
        "--bands",
        "Cubes: rows are the bands, not the pixels.",
        ("cube",),
        default=False,
        type=bool,
        settled=True,
    )
    fits_part: int | None = _option(
        "--fits-part",
        "Cubes: which part of a FITS file, the first being 0.",
        ("cube",),
        metavar="NUMBER",
        type=int | None,
    )
    envi_data: str | None = _option(
        "--envi-data",
        "Cubes: the data of an ENVI header that lie elsewhere.",
        ("cube",),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise Misuse(f"--as {self.kind} is not allowed: it must be one of {', '.join(KINDS)}")
        if self.term_weight not in (None, "tf-idf", "tf"):
            raise Misuse(
                f"--term-weight {self.term_weight} is not allowed: it must be tf-idf or tf"
            )
        if self.size is not None and SIZE.fullmatch(self.size) is None:
            raise Misuse(
                f"--size {self.size} is not allowed: it must be a width and a height in pixels, as "
                "32x24"
            )
        check_typed_separator(self.separator)

    @property
    def mark(self) -> str | None:
        """Separator of fields, as the readers take it."""
        return typed_separator(self.separator)

    @property
    def height_and_width(self) -> tuple[int, int] | None:
        """Size that images are brought to, in the order of the library."""
        found = None if self.size is None else SIZE.fullmatch(self.size)
        return None if found is None else (int(found[2]), int(found[1]))

    def check_for(self, kind: str, name: str) -> None:
        """Refuse options that would have no effect on data of a kind."""
        for option in self._given():
            allowed = option.metadata["kinds"]
            if kind not in allowed:
                column = kind == "table" and allowed == ("texts",)
                say = "give --text-column" if column else f"say --as {allowed[0]}"
                raise Misuse(
                    f"{self._word(option)} is for {CALLED[allowed[0]]}, and {name} is read as "
                    f"{CALLED[kind]}: leave it out, or {say}"
                )

    def check_none(self, why: str) -> None:
        """Refuse every option but the separator, where the data are read in another way."""
        for option in self._given():
            if option.name == "separator":
                continue
            raise Misuse(f"{self._word(option)} does not go with {why}")

    def check_open(self, model: str) -> None:
        """Refuse what was settled when a model was fitted."""
        for option in self._given():
            if option.metadata["settled"]:
                raise Misuse(
                    f"{self._word(option)} was settled when {model} was fitted, which new data "
                    "follow: leave it out"
                )

    def words(self) -> str:
        """Return the options as they are typed, each after a space."""
        typed = []
        for option in self._given():
            value = getattr(self, option.name)
            argument = "" if isinstance(value, bool) else f" {shlex.quote(str(value))}"
            typed.append(f" {self._word(option)}{argument}")
        return "".join(typed)

    def _given(self) -> list[Any]:
        return [option for option in fields(self) if getattr(self, option.name) != option.default]

    def _word(self, option: Any) -> str:
        """Return the option as it was typed: --grey for the opposite of --color."""
        name, _, opposite = option.metadata["names"].partition("/")
        return str(opposite if opposite and getattr(self, option.name) is False else name)


def data_of(given: dict[str, Any]) -> Data:
    """Take the options out of all that were given."""
    return Data(**{option.name: given.pop(f"{PREFIX}{option.name}") for option in fields(Data)})


def data_options() -> list[inspect.Parameter]:
    """Return the options as typer takes them, under names that no parameter of a method has."""
    return [
        inspect.Parameter(
            f"{PREFIX}{option.name}",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=option.metadata["annotation"],
            default=option.default,
        )
        for option in fields(Data)
    ]

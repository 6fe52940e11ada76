"""Arguments and options, as typer takes them; several commands share most."""

import re
from typing import Annotated

import typer

from unbend.cli.errors import Misuse
from unbend.cli.parameters import every_method_name, method_entry, method_names

READABLE = "CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT or Matrix Market"
DATA = f"{READABLE}; ENVI or FITS; a folder of images or texts"
SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

TableFile = Annotated[
    str, typer.Argument(metavar="TABLE", help=f"{DATA}; '-' is stdin.", show_default=False)
]
ModelFile = Annotated[
    str, typer.Argument(metavar="FILE.unbend", help="A model of embed.", show_default=False)
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="How; unbend methods lists them.",
        autocompletion=every_method_name,
    ),
]
Components = Annotated[
    str | None,
    typer.Option(
        "--components",
        "--n-components",
        "-d",
        metavar="NUMBER",
        help="Coordinates; 2 if not given.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", "-l", metavar="COLUMN", help="Column with classes or values, kept aside."
    ),
]
Id = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column with names, kept aside.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="COLUMNS", help="Columns to leave out: names with commas between."
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="POLICY",
        help="Missing values: refuse, drop the row, or fill by mean or median.",
        autocompletion=lambda: ["refuse", "drop", "mean", "median"],
    ),
]
Distances = Annotated[
    bool,
    typer.Option(
        "--distances", help="The table holds distances: a square, or columns i, j, distance."
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write; '-' is stdout."),
]
KeptModel = Annotated[
    str | None,
    typer.Option("--model", metavar="FILE.unbend", help="Keep the fitted model, for new rows."),
]
NoTraining = Annotated[
    bool,
    typer.Option(
        "--no-training",
        help="Keep the model without the rows it was fitted to; pca can still place new ones.",
    ),
]
Float32 = Annotated[
    bool, typer.Option("--float32", help="Keep the model in single precision: a smaller file.")
]
Picture = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Draw the coordinates: .png .svg .pdf .html"),
]
Json = Annotated[bool, typer.Option("--json", help="Report as JSON on stdout.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of what is drawn at random.")]
MethodSeed = Annotated[
    str | None,
    typer.Option(
        "--seed", "--random-state", metavar="NUMBER", help="Seed of what is drawn at random."
    ),
]
Jobs = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        "--n-jobs",
        "-j",
        metavar="NUMBER",
        help="Threads; all cores if not given, -2 for all but one.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Refuse arrays larger than this, such as 4GB."),
]
Batches = Annotated[
    int | None,
    typer.Option(
        "--batches",
        metavar="ROWS",
        min=1,
        help="Read so many rows at a time: for tables larger than memory.",
    ),
]
RowsAtATime = Annotated[
    int, typer.Option("--batches", metavar="ROWS", min=1, help="Read so many rows at a time.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        metavar="NAMES",
        help="Methods, with commas between; one of each kind if not given.",
        autocompletion=method_names,
    ),
]
Sample = Annotated[
    int,
    typer.Option("--sample", metavar="ROWS", min=1, help="Look at so many rows, drawn at random."),
]
Cores = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="NUMBER", help="Fits at the same time.")
]
Size = Annotated[int, typer.Option("--neighbors", "-k", min=1, help="Size of the neighbourhoods.")]
StillPicture = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw it: .png .svg .pdf")
]


def listed(given: list[str] | None) -> tuple[str, ...]:
    """Split names that came with commas between them."""
    names = [name.strip() for text in given or () for name in text.split(",")]
    return tuple(name for name in names if name)


def class_names(given: list[str] | None) -> list[str] | None:
    """Return the classes of the methods named, or None for the usual ones."""
    names = [method_entry(name).class_name for name in listed(given)]
    return names or None


def bytes_of(size: str) -> int:
    """Read a size such as 4GB, 500M or 1e9."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)i?b?\s*", size.lower())
    try:
        if found is not None:
            return int(float(found[1]) * SIZES[found[2]])
    except (ValueError, OverflowError):
        pass
    raise Misuse(f"--memory {size} is not a size: write 4GB, 500MB or a number of bytes")

"""``unbend plot``: coordinates as a picture or a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together
from unbend.cli.options import READABLE, Id, Ignore, Label, listed
from unbend.cli.output import next_step
from unbend.cli.pictures import figure_of, save
from unbend.cli.progress import watched
from unbend.cli.tables import Columns, picked, read_table, without

MODEL = ".unbend"


def plot(
    embeddings: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help=f"Coordinates ({READABLE}) or a model; several: side by side."
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg, .pdf or .html file."),
    ],
    label: Label = None,
    color: Annotated[
        list[str] | None,
        typer.Option("--color", metavar="COLUMNS", help="One or two columns to colour by."),
    ] = None,
    id: Id = None,
    ignore: Ignore = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the picture.")] = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Draw the eigenvalues of a model.")
    ] = False,
    residual: Annotated[
        bool,
        typer.Option("--residual", help="Draw the residual variance of a model by dimension."),
    ] = False,
) -> None:
    """Draw coordinates, several side by side, or the spectrum of a model.

    Two or three coordinates are drawn, coloured by a label or by columns of numbers. An .html file
    can be turned and zoomed, and opens without a network.
    """
    columns = Columns(label, id, listed(ignore))
    with watched(), appearing_together() as beside:
        if spectrum or residual:
            figure = _curve(embeddings, spectrum)
        elif len(embeddings) > 1:
            figure = _side_by_side(embeddings, columns, listed(color), title)
        else:
            figure = _single(embeddings[0], columns, listed(color), title, Path(output).suffix)
        save(figure, beside(output))
    next_step(f"open {output}")


def _curve(files: list[str], spectrum: bool) -> Any:
    import unbend

    if len(files) != 1:
        raise Misuse("--spectrum and --residual draw one model")
    estimator = unbend.load(files[0])
    return unbend.plot.spectrum(estimator) if spectrum else unbend.plot.residual_variance(estimator)


def _single(
    file: str, columns: Columns, color: tuple[str, ...], title: str | None, suffix: str
) -> Any:
    drawn, colours = _drawn(file, columns, color)
    return figure_of(drawn, colours, title=title, suffix=suffix)


def _side_by_side(
    files: list[str], columns: Columns, color: tuple[str, ...], title: str | None
) -> Any:
    from unbend import plot as plots

    drawn = {Path(file).stem: _drawn(file, columns, color) for file in files}
    if len(drawn) < len(files):
        raise Misuse("the names of the files must differ: they become the titles")
    (_, colours) = next(iter(drawn.values()))
    return plots.contact_sheet({name: of for name, (of, _) in drawn.items()}, color=colours)


def _drawn(file: str, columns: Columns, color: tuple[str, ...]) -> tuple[Any, Any]:
    """Read what is to be drawn, and its colours where columns of numbers give them."""
    if Path(file).suffix == MODEL:
        import unbend

        return unbend.load(file), None
    table = read_table(file, columns)
    if not color:
        return table, None
    colours = picked(table, color, file)
    return without(table, color), colours[:, 0] if len(color) == 1 else colours


COMMAND = Command(
    plot,
    (
        "unbend plot flat.csv --label species -o flat.png",
        "unbend plot flat.csv --label species -o flat.html",
        "unbend plot pca.csv isomap.csv ltsa.csv --label species -o sheet.png",
        "unbend plot iris.unbend --spectrum -o spectrum.png",
    ),
)

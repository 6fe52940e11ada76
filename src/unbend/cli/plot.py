"""``unbend plot``: coordinates as a picture or a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.options import READABLE, Id, Ignore, Label, listed
from unbend.cli.output import next_step
from unbend.cli.pictures import PAGES, figure_of, maker, save
from unbend.cli.progress import watched
from unbend.cli.reading import read_table
from unbend.cli.separators import Separator
from unbend.cli.steps import named
from unbend.cli.tables import Columns, picked, without

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
    images: Annotated[
        str | None,
        typer.Option(
            "--images", metavar="FOLDER", help="Lay the images that were embedded on their points."
        ),
    ] = None,
    color: Annotated[
        list[str] | None,
        typer.Option("--color", metavar="COLUMNS", help="One or two columns to colour by."),
    ] = None,
    id: Id = None,
    ignore: Ignore = None,
    separator: Separator = None,
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
    can be turned and zoomed, and opens without a network. With --images as many images as have room
    lie on their points.
    """
    columns = Columns(label, id, listed(ignore), data=Data(separator=separator))
    check_files(picture=output, read=embeddings)
    _check_drawn(embeddings, columns, listed(color), spectrum, residual)
    if images is not None:
        _check_images(embeddings, output, spectrum or residual)
    with watched(), appearing_together() as beside:
        if spectrum or residual:
            figure = _curve(embeddings, spectrum, title)
        else:
            suffix = Path(output).suffix
            figure = _figure(embeddings, columns, listed(color), title, images, suffix)
        save(figure, beside(output))
    next_step(f"open {named(output)}")


def _figure(
    files: list[str],
    columns: Columns,
    color: tuple[str, ...],
    title: str | None,
    images: str | None,
    suffix: str,
) -> Any:
    """Draw coordinates: with images on them, side by side, or by themselves."""
    if images is not None:
        return _with_images(files[0], images, columns, color, title)
    if len(files) > 1:
        return _side_by_side(files, columns, color, title)
    drawn, colors = _drawn(files[0], columns, color)
    return figure_of(drawn, colors, title=title, suffix=suffix)


def _check_drawn(
    files: list[str], columns: Columns, color: tuple[str, ...], spectrum: bool, residual: bool
) -> None:
    """Refuse options that would have no effect."""
    if spectrum and residual:
        raise Misuse("--spectrum and --residual are two pictures: draw one after the other")
    models = [file for file in files if Path(file).suffix == MODEL]
    name = models[0] if models else "a curve"
    if (models or spectrum or residual) and (color or columns.label or columns.id):
        raise Misuse(f"{name} has no columns to colour by: draw the coordinates that embed wrote")


def _check_images(files: list[str], output: str, curve: bool) -> None:
    if curve or len(files) > 1 or output.lower().endswith(PAGES):
        raise Misuse("--images draws one set of coordinates, as a still: .png, .svg or .pdf")


def _with_images(
    file: str, images: str, columns: Columns, color: tuple[str, ...], title: str | None
) -> Any:
    from unbend import plot
    from unbend.io.shown import shown_images

    drawn, colors = _drawn(file, columns, color)
    label = colors if colors is not None else getattr(drawn, "label", None)
    points = getattr(drawn, "values", drawn)
    return plot.thumbnails(points, shown_images(images), label, title=title, method=maker(drawn))


def _curve(files: list[str], spectrum: bool, title: str | None) -> Any:
    import unbend

    if len(files) != 1:
        raise Misuse("--spectrum and --residual draw one model")
    estimator = unbend.load(files[0])
    draw = unbend.plot.spectrum if spectrum else unbend.plot.residual_variance
    return draw(estimator, title=title)


def _side_by_side(
    files: list[str], columns: Columns, color: tuple[str, ...], title: str | None
) -> Any:
    from unbend import plot as plots

    drawn = {Path(file).stem: _drawn(file, columns, color) for file in files}
    if len(drawn) < len(files):
        raise Misuse("the names of the files must differ: they become the titles")
    (first, colors) = next(iter(drawn.values()))
    for file, (other, own) in zip(files, drawn.values(), strict=True):
        if _values(own) != _values(colors) or _classes(other) != _classes(first):
            raise ValueError(
                f"{file} has other labels or colours than {files[0]}: pictures side by side are of "
                "the same rows"
            )
    shown = {name: of for name, (of, _) in drawn.items()}
    return plots.contact_sheet(shown, color=colors, title=title)


def _values(colors: Any) -> list[Any] | None:
    return None if colors is None else [str(value) for value in colors.tolist()]


def _classes(drawn: Any) -> set[str]:
    """Labels that there are: they give the colours, which must mean the same in all pictures."""
    label = getattr(drawn, "label", None)
    return set() if label is None else set(map(str, label.tolist()))


def _drawn(file: str, columns: Columns, color: tuple[str, ...]) -> tuple[Any, Any]:
    """Read what is to be drawn, and its colours where columns of numbers give them."""
    if Path(file).suffix == MODEL:
        import unbend

        return unbend.load(file), None
    table = read_table(file, columns)
    if not color:
        return table, None
    colors = picked(table, color, file)
    return without(table, color), colors[:, 0] if len(color) == 1 else colors


COMMAND = Command(
    plot,
    (
        "unbend plot flat.csv --label species -o flat.png",
        "unbend plot flat.csv --label species -o flat.html",
        "unbend plot pca.csv isomap.csv ltsa.csv --label species -o sheet.png",
        "unbend plot flat.csv --label folder --id file --images faces/ -o faces.png",
        "unbend plot iris.unbend --spectrum -o spectrum.png",
    ),
)

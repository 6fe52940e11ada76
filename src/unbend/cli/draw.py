"""``plot`` and ``report``: figures of coordinates, and one page about a table."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import (
    READABLE,
    DataOptions,
    Id,
    Ignore,
    Jobs,
    Json,
    Label,
    Sample,
    Seed,
    Separator,
    TableFile,
    option,
    split_names,
)
from unbend.cli.outputs import (
    PAGES,
    check_outputs,
    draw_embedding,
    guess_method,
    save_figure,
    write_results,
)
from unbend.cli.rows import drop_columns, pick_columns

if TYPE_CHECKING:
    from unbend.apps.study import Origin

MODEL = ".unbend"


def plot(
    embeddings: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help=f"Coordinates ({READABLE}) or a model; several: side by side."
        ),
    ],
    output: Annotated[str, option("--output -o FILE", "A .png, .svg, .pdf or .html file.")],
    label: Label = None,
    images: Annotated[
        str | None, option("--images FOLDER", "Draw the images at their points.")
    ] = None,
    color: Annotated[
        list[str] | None, option("--color COLUMNS", "One or two columns to colour by.")
    ] = None,
    id: Id = None,
    ignore: Ignore = None,
    separator: Separator = None,
    title: Annotated[str | None, option("--title", "Title of the figure.")] = None,
    spectrum: Annotated[bool, option("--spectrum", "Draw the eigenvalues of a model.")] = False,
    residual: Annotated[
        bool, option("--residual", "Draw the residual variance of a model by dimension.")
    ] = False,
) -> None:
    """Draw coordinates, several side by side, or the spectrum of a model.

    Two or three coordinates are drawn, coloured by a label or by columns of numbers. An .html file
    is interactive, and opens without a network. With --images as many images as have room are drawn
    at their points.
    """
    data = DataOptions(label=label, id=id, ignore=split_names(ignore), typed_separator=separator)
    colors = split_names(color)
    check_outputs(picture=output, read=embeddings)
    _check_plot(embeddings, data, colors, spectrum, residual)
    if images is not None:
        still = not output.lower().endswith(PAGES)
        if spectrum or residual or len(embeddings) > 1 or not still:
            raise Misuse("--images draws one embedding, and no page: .png, .svg or .pdf")
    with show_progress(), write_results():
        if spectrum or residual:
            figure = _curve(embeddings, spectrum, title)
        elif len(embeddings) > 1:
            figure = _side_by_side(embeddings, data, colors, title)
        else:
            points, values = _read_points(embeddings[0], data, colors)
            if images is None:
                figure = draw_embedding(points, values, title=title, target=output)
            else:
                figure = _with_images(points, values, images, title)
        save_figure(figure, output)
    next_step(f"open {shell_word(output)}")


def _check_plot(
    files: list[str], data: DataOptions, colors: tuple[str, ...], spectrum: bool, residual: bool
) -> None:
    """Refuse options that would have no effect."""
    if spectrum and residual:
        raise Misuse("--spectrum and --residual are two pictures: draw one after the other")
    models = [file for file in files if Path(file).suffix == MODEL]
    name = models[0] if models else "a curve"
    if (models or spectrum or residual) and (colors or data.label or data.id):
        raise Misuse(f"{name} has no columns to colour by: draw the coordinates that embed wrote")


def _with_images(points: Any, values: Any, images: str, title: str | None) -> Any:
    from unbend import plot
    from unbend.io.images import read_thumbnails

    label = values if values is not None else getattr(points, "label", None)
    coordinates, method = getattr(points, "values", points), guess_method(points)
    return plot.thumbnails(coordinates, read_thumbnails(images), label, title=title, method=method)


def _curve(files: list[str], spectrum: bool, title: str | None) -> Any:
    import unbend

    if len(files) != 1:
        raise Misuse("--spectrum and --residual draw one model")
    estimator = unbend.load(files[0])
    draw = unbend.plot.spectrum if spectrum else unbend.plot.residual_variance
    return draw(estimator, title=title)


def _side_by_side(
    files: list[str], data: DataOptions, colors: tuple[str, ...], title: str | None
) -> Any:
    from unbend import plot as plots

    read = {Path(file).stem: _read_points(file, data, colors) for file in files}
    if len(read) < len(files):
        raise Misuse("the names of the files must differ: they become the titles")
    first, values = next(iter(read.values()))
    for file, (other, own) in zip(files, read.values(), strict=True):
        if _texts(own) != _texts(values) or _classes(other) != _classes(first):
            raise ValueError(
                f"{file} has other labels or colours than {files[0]}: plots side by side show the "
                "same rows"
            )
    shown = {name: points for name, (points, _) in read.items()}
    return plots.contact_sheet(shown, color=values, title=title)


def _texts(values: Any) -> list[Any] | None:
    return None if values is None else [str(value) for value in values.tolist()]


def _classes(points: Any) -> set[str]:
    """Return the distinct labels: they give the colours, which all panels share."""
    label = getattr(points, "label", None)
    return set() if label is None else set(map(str, label.tolist()))


def _read_points(file: str, data: DataOptions, colors: tuple[str, ...]) -> tuple[Any, Any]:
    """Read coordinates or a model, and the values to colour by if columns are named."""
    if Path(file).suffix == MODEL:
        import unbend

        return unbend.load(file), None
    table = Input(file, data).read_table()
    if not colors:
        return table, None
    values = pick_columns(table, colors, file)
    return drop_columns(table, colors), values[:, 0] if len(colors) == 1 else values


PLOT = Command(
    plot,
    (
        "unbend plot flat.csv --label species -o flat.png",
        "unbend plot flat.csv --label species -o flat.html",
        "unbend plot pca.csv isomap.csv ltsa.csv --label species -o sheet.png",
        "unbend plot flat.csv --label folder --id file --images faces/ -o faces.png",
        "unbend plot iris.unbend --spectrum -o spectrum.png",
    ),
)

# What a row is called, and a column.
ROW_AND_COLUMN = {
    "images": ("image", "pixel"),
    "texts": ("document", "term"),
    "cube": ("pixel", "band"),
    "bands": ("band", "pixel"),
}


def report(
    table: TableFile,
    data: DataOptions,
    output: Annotated[
        str | None,
        option("--output -o FILE.html", "The page to write; TABLE-report.html by default."),
    ] = None,
    sample: Sample = 2000,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Write a page about a table: the data, dimension, method, embeddings, quality, commands.

    The page is one file that needs no network. Missing values are counted, and imputed by the
    median of their column unless --missing says otherwise. The page is reproducible: the same table
    and seed give the same page.
    """
    if output == PIPE or (output is None and table == PIPE):
        raise Misuse("a page cannot go to stdout: give -o FILE.html")
    if output is None:
        output = f"{Path(table).stem}-report.html"
    given = Input(table, data)
    check_outputs(page=output, read=[given])
    if given.kind != "table" and data.missing == "median":
        # The default, where nothing can be missing.
        data = replace(data, missing="refuse")
        given = given.with_options(missing="refuse")
    with show_progress(), write_results():
        from unbend.apps.study import page_html, study
        from unbend.files import atomic_write

        source, about = _study_source(given)
        options = DataOptions(
            label=data.label, id=data.id, ignore=data.ignore, missing=data.missing
        )
        found = _study(
            study,
            source,
            **options.table_keywords(),
            scale=data.scale,
            kinds=data.kinds,
            categories=data.categories,
            array=data.array if about is None else None,
            separator=data.separator if about is None else None,
            encoding=data.encoding if about is None else None,
            origin=about,
            max_rows=sample,
            random_state=seed,
            n_jobs=jobs,
            name="TABLE" if table == PIPE else table,
        )
        with atomic_write(output) as temporary:
            temporary.write_text(page_html(found), encoding="utf-8")
    dimension = f"intrinsic dimension {found.dimension.verdict}"
    chosen = found.recommended
    method = "all methods failed" if chosen is None else chosen.title
    say(f"{found.rows} rows, {dimension}: {method}")
    if json:
        emit_json({"table": table, "output": output, **found.to_dict()})
    next_step(f"open {shell_word(output)}")


def _study(study: Any, source: Any, **options: Any) -> Any:
    """Study the rows; name all problems of a table, each with its option."""
    from unbend.cli.preparation import refusal
    from unbend.prepare import UnusableTable

    try:
        return study(source, **options)
    except UnusableTable as error:
        raise refusal(error, options["name"]) from error


def _study_source(given: Input) -> "tuple[Any, Origin | None]":
    """Return what to study: an open table, or rows of images, texts or a cube."""
    from unbend.apps.study import Origin
    from unbend.cli.preparation import check_euclidean

    options = given.options
    options.check_for(given.kind, given.name)
    check_euclidean(options)
    if given.kind == "table":
        return given.reader, None
    rows = given.read()
    row, column = ROW_AND_COLUMN["bands" if rows.like.get("bands") else rows.kind]
    chosen = ".toarray()" if rows.sparse is not None else ".astype(float)"
    if options.ignore:
        chosen = f"[:, [name not in {options.ignore!r} for name in table.columns]]{chosen}"
    size = tuple(rows.like["size"]) if rows.kind == "images" else None
    code = _python_code(rows.kind, given.name, options)
    return rows.dense(), Origin(row, column, options.words(), code, chosen, size)


def _python_code(kind: str, name: str, options: DataOptions) -> str:
    """Return Python code that reads the same data."""
    words = {"none": "None", "english": "'english'", None: "None"}
    stop_words = words.get(options.stop_words, f"open({options.stop_words!r}).read().split()")
    column = options.text_column
    keywords: dict[str, Any] = {
        "color": options.color,
        "invert": options.invert,
        "size": options.height_and_width,
        "array": options.array,
        "column": column,
        "label": options.label if column else None,
        "id": options.id if column else None,
        "weight": options.term_weight,
        "stem": options.stem or None,
        "unit": False if options.no_unit else None,
        "encoding": options.encoding,
        "separator": options.separator,
        "data": options.envi_data,
        "part": options.fits_part,
    }
    shown = {word: repr(value) for word, value in keywords.items() if value is not None}
    if options.stop_words:
        shown["stop_words"] = stop_words
    given = "".join(f", {word}={value}" for word, value in shown.items())
    tail = {"images": ".table", "texts": "", "cube": ".bands()" if options.bands else ".pixels()"}
    return f"unbend.io.read_{kind}({name!r}{given}){tail[kind]}"


REPORT = Command(
    report,
    (
        "unbend report iris.csv --label species",
        "unbend report faces/ --gray -o faces.html",
        "unbend report news.csv --text-column body --stem --label topic -o news.html",
        "unbend report roll.csv --ignore chart_1,chart_2 --sample 1000 --seed 1 -o roll.html",
    ),
    {"missing": "median"},
)

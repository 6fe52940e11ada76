"""The page: one HTML file that needs no network; everything from the data is escaped."""

import warnings
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unbend import plot
from unbend.apps.study.sentences import (
    describe_data,
    describe_dimension,
    describe_quality,
    python_code,
    row_and_column,
    shell_commands,
)
from unbend.apps.study.study import NEIGHBORS, Column, Study
from unbend.arrays import FloatArray
from unbend.prepare.kinds import UNUSED
from unbend.selection.judging import BETTER

# Images in a row of the grid, and rows.
ACROSS, DOWN = 10, 4
# As many rows as `compare` uses: the areas are then those of its table.
CURVE_ROWS = 1000
MOST_COLUMNS = 40
LONGEST = 60
TITLES = {"r_nx_auc": "neighbourhood preservation (R_NX AUC)"}
EXPLAINED = {
    "trustworthiness": "neighbours in the embedding are close in the data",
    "continuity": "neighbours in the data are close in the embedding",
    "r_nx_auc": "neighbourhood preservation over all sizes, above chance",
    "redundancy": "a coordinate is a function of another",
    "occupancy": "share of the picture's places that points occupy, low for a few specks",
    "neighborhood_hit": "neighbours of the same class",
}


def page_html(found: Study) -> str:
    """Return the page about a study.

    Parameters
    ----------
    found : Study
        What `study` returned.

    Returns
    -------
    str
        HTML with its style and its pictures inside; the same study gives the same text.

    Examples
    --------
    >>> import unbend
    >>> from unbend.apps.study import study
    >>> page = page_html(study(unbend.datasets.swiss_roll(300, random_state=0).points))
    >>> "http" in page, page.count("<h2>")
    (False, 6)
    """
    sections = "\n".join(
        f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>"
        for title, body in _sections(found)
    )
    style = files("unbend.apps.study").joinpath("page.css").read_text("utf-8")
    title = f"{_text(found.request.source)}: a study"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{_data(found.request.source)}</h1>\n{sections}\n</body>\n</html>\n"
    )


def _sections(found: Study) -> Iterator[tuple[str, str]]:
    yield "The data", _the_data(found)
    votes = [(name, f"{vote:.1f}") for name, vote in found.dimension.votes.items()]
    votes += [(name, f"{vote:.1f} (abstains)") for name, vote in found.dimension.abstained.items()]
    dimension = f"<p class='answer'>{escape(found.dimension.verdict)}</p>"
    yield (
        "Intrinsic dimension",
        dimension
        + _list(describe_dimension(found))
        + "<div class='beside'>"
        + _table(("rule", "dimension"), [tuple(map(escape, vote)) for vote in votes])
        + dimension_picture(found)
        + "</div>",
    )
    others = ", ".join(str(other) for other in found.suggestion.alternatives)
    yield (
        "Which method?",
        f"<p class='answer'>{escape(str(found.suggestion.estimator))}</p>"
        + _list([*found.suggestion.reasons, f"Alternatives: {others}."]),
    )
    yield "Embeddings side by side", sheet_picture(found) if found.best else "<p>None.</p>"
    yield "Quality of the embeddings", _quality(found)
    shell, python = "\n".join(shell_commands(found)), python_code(found)
    yield (
        "To reproduce this",
        f"<pre class='shell'>{_text(shell)}</pre>\n<pre class='python'>{_text(python)}</pre>"
        + "<p>embed uses all rows of the table, also where a sample was studied.</p>"
        * (len(found.table) < found.kept and found.sample is None),
    )


def _the_data(found: Study) -> str:
    row, column = row_and_column(found.request)
    origin = found.request.origin
    size = None if origin is None else origin.size
    mixed = not all(each.numeric for each in found.columns)
    width = f"{len(found.columns)} {column}s" if size is None else f"{size[1]} x {size[0]} pixels"
    rows = f"{found.rows} {row}s" if found.sample is None else f"Sampled {found.sample}"
    summary = f"<p>{rows}, {width}" + " of numbers" * (origin is None and not mixed)
    label = found.request.label
    summary += "" if label is None else f", labelled by {_data(label)}"
    if size is not None:
        return f"{summary}.</p>" + _list(describe_data(found)) + draw_images(found)
    heads = (
        column,
        "missing",
        "minimum",
        "mean",
        "maximum",
        "standard deviation",
        "share of variance",
        "values",
    )
    lines = [
        (
            _data(each.name),
            str(each.missing),
            *_numbers(each),
        )
        for each in _heaviest(found.columns)
    ]
    left = len(found.columns) - len(lines)
    more = f"<p>… and {left} other {column}s that vary less or are no numbers.</p>" if left else ""
    return f"{summary}.</p>" + _list(describe_data(found)) + _table(heads, lines) + more


def _numbers(column: Column) -> tuple[str, ...]:
    """Return the cells about the values of a column; of text and dates few."""
    shown = "constant" if column.constant else escape(column.kind)
    if not column.numeric:
        if column.levels > 1:
            shown += f", {column.levels} different values"
        return (_format(column.least), "–", _format(column.most), "–", "–", shown)
    known = (column.least, column.mean, column.most, column.deviation)
    if column.kind not in UNUSED and not column.constant:
        shown = bars(column.bars)
    share = "–" if np.isnan(column.share) else f"{column.share:.1%}"
    return (*map(_format, known), share, shown)


def _format(value: Any) -> str:
    """Return a number to four digits, or a date, with its time of day unless that is midnight."""
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    return f"{value:.4g}" if np.isfinite(value) else "–"


def _heaviest(columns: list[Column]) -> list[Column]:
    """Return the columns in their order, or of very many those that vary most, most first."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    return sorted(columns, key=lambda column: -np.nan_to_num(column.share))[:MOST_COLUMNS]


def _quality(found: Study) -> str:
    names = [name for name in BETTER if found.best and name in found.best.measures]
    titles = {name: TITLES.get(name, name.replace("_", " ")) for name in names}
    heads = ("method", *titles.values(), "mean rank", "remarks")
    lines = []
    for trial in found.comparison.trials:
        numbers = [f"{trial.measures[name]:.4f}" if trial.measures else "–" for name in names]
        rank = f"{trial.mean_rank:.1f}" if np.isfinite(trial.mean_rank) else "–"
        remarks = [trial.failure and f"failed: {trial.failure}", trial.reason, *trial.warnings]
        words = "; ".join(remark for remark in remarks if remark)
        lines.append(tuple(escape(cell) for cell in (trial.title, *numbers, rank, words)))
    best = [
        f"{titles[name]}: {EXPLAINED[name]} ({1 if BETTER[name] else 0} is best)" for name in names
    ]
    pictures = "".join(best_pictures(found))
    return (
        _table(heads, lines)
        + _list(
            [
                *best,
                "mean rank: over these measures but the occupancy; redundant coordinates and a few "
                "specks come last; the best need not be good",
            ]
        )
        + (curves_picture(found) if found.best else "")
        + "<h3>The best of them</h3>"
        + _list(describe_quality(found))
        + f"<div class='beside'>{pictures}</div>"
    )


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are markup already."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table>\n<tr>{top}</tr>\n{rows}\n</table>\n"


def _list(sentences: Iterable[str]) -> str:
    items = "\n".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    return f"<ul>\n{items}\n</ul>\n" if items else ""


def _text(words: str) -> str:
    """Escape text, in which a letter that cannot be written becomes a question mark."""
    return escape(words.encode("utf-8", "replace").decode("utf-8"))


def _data(name: str) -> str:
    """Return a name out of the data: short, escaped, and unable to turn the text around it."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return f"<bdi>{_text(short)}</bdi>"


def embed_figure(figure: Any, words: str) -> str:
    """Return a figure as an image element that holds its own bytes."""
    buffer = BytesIO()
    with warnings.catch_warnings():
        # Characters without a glyph are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph")
        figure.savefig(buffer, format="png", dpi=figure.dpi)
    data = b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{data}">'


def dimension_picture(found: Study) -> str:
    """Draw the spectrum that two of the rules look at."""
    choice = found.dimension
    count = min(choice.dimension, len(choice.eigenvalues))
    figure = plot.spectrum(choice.eigenvalues, d=count, title="Eigenvalues of the geodesics")
    return embed_figure(figure, "eigenvalues of Isomap, largest first")


def sheet_picture(found: Study) -> str:
    """Draw all embeddings side by side."""
    figure = found.comparison.contact_sheet(found.table.label)
    return embed_figure(figure, "the embeddings side by side, best first")


def curves_picture(found: Study) -> str:
    """Draw the neighbourhood preservation of each embedding, over all sizes."""
    kept = {trial.title: trial.shown for trial in found.comparison.trials if not trial.failure}
    values = np.asarray(found.table.values, dtype=np.float64)
    figure = plot.quality_curves(values, kept, max_rows=CURVE_ROWS)
    return embed_figure(
        figure, "neighbourhood preservation above chance, over all sizes of neighbourhoods"
    )


def best_pictures(found: Study) -> list[str]:
    """Draw the best embedding, coloured by label and by trustworthiness."""
    best, trust = found.best, found.trust
    if best is None or trust is None:
        return []
    origin, colour = found.request.origin, found.table.label
    if origin is not None and origin.size is not None:
        shown = plot.thumbnails(best.estimator, _images(found), colour, title=best.title)
    else:
        shown = plot.scatter(best.estimator, colour, title=best.title)
    title = f"Trustworthiness of each point, {NEIGHBORS} neighbours"
    doubted = plot.scatter(best.estimator, np.asarray(trust.local), title=title)
    return [embed_figure(shown, best.title), embed_figure(doubted, title)]


def draw_images(found: Study) -> str:
    """Draw some of the images, and the mean of all, first."""
    images = _images(found)
    places = np.linspace(0, len(images) - 1, min(len(images), ACROSS * DOWN - 1)).astype(int)
    shown = np.stack([images.mean(axis=0), *images[places]])
    low, high = float(images.min()), float(images.max())
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for number, image in enumerate((shown - low) / ((high - low) or 1.0)):
        axes = figure.add_subplot(DOWN, ACROSS, number + 1)
        axes.imshow(image, cmap="gray", vmin=0, vmax=1)
        axes.set_axis_off()
        axes.set_title("mean" if number == 0 else "", fontsize=8)
    return embed_figure(figure, "the mean of all images, and some of them")


def _images(found: Study) -> FloatArray:
    origin = found.request.origin
    assert origin is not None
    assert origin.size is not None
    return np.asarray(found.table.values, dtype=np.float64).reshape(-1, *origin.size)


def bars(heights: FloatArray) -> str:
    """Return a small histogram."""
    most = heights.max() or 1.0
    rectangles = "".join(
        f'<rect x="{5 * place}" y="{20 - size:.1f}" width="4" height="{size:.1f}"/>'
        for place, size in enumerate(20 * heights / most)
    )
    return f'<svg width="80" height="20" role="img" aria-label="histogram">{rectangles}</svg>'

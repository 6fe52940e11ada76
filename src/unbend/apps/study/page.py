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
from unbend.apps.study.columns import Column
from unbend.apps.study.sentences import (
    describe_data,
    describe_dimension,
    describe_quality,
    describe_size,
    python_code,
    row_and_column,
    sentence,
    shell_commands,
)
from unbend.apps.study.study import NEIGHBORS, Study
from unbend.apps.study.summary import describe_choice, summarize, why_degenerate
from unbend.arrays import FloatArray
from unbend.prepare.kinds import UNUSED
from unbend.selection.comparison import Trial
from unbend.selection.format import BEST, HEADS, POOR
from unbend.selection.judging import BETTER

# Images in a row of the grid, and rows.
ACROSS, DOWN = 10, 4
# As many rows as `compare` uses: the areas are then those of its table.
CURVE_ROWS = 1000
MOST_COLUMNS = 40
LONGEST = 60
# Columns up to which their table is shown without a click.
FEW_COLUMNS = 12
EXPLAINED = {
    "trustworthiness": "neighbours in the picture are close in the data",
    "continuity": "neighbours in the data are close in the picture",
    "r_nx_auc": "neighbourhoods of all sizes are preserved, above chance",
    "redundancy": "how far one coordinate is a function of the other",
    "occupancy": "share of the picture's places that points occupy, low for a few specks",
    "neighborhood_hit": "neighbours in the picture have the same class",
}
# Rules that vote on the dimension, as people call them.
RULES = {
    "local_pca": "local PCA",
    "mle": "maximum likelihood",
    "two_nn": "two nearest neighbours",
    "u_statistic": "U-statistic",
    "multiscale_svd": "multiscale SVD",
    "correlation": "correlation dimension",
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
    (False, 7)
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
    yield "Summary", _summary(found)
    yield "The data", _the_data(found)
    yield "Intrinsic dimension", _dimension(found)
    yield "Which method?", _method(found)
    yield "Embeddings side by side", sheet_picture(found) if found.best else "<p>None.</p>"
    yield "Quality of the embeddings", _quality(found)
    shell, python = "\n".join(shell_commands(found)), python_code(found)
    yield (
        "To reproduce this",
        f"<pre class='shell'>{_text(shell)}</pre>\n<pre class='python'>{_text(python)}</pre>"
        + "<p>embed uses all rows of the table, also where a sample was studied.</p>"
        * (len(found.table) < found.kept and found.sample is None),
    )


def _summary(found: Study) -> str:
    """Return the four answers beside the recommended embedding."""
    answers = "\n".join(
        f"<dt>{escape(what)}</dt>\n<dd>{_text(words)}</dd>" for what, words in summarize(found)
    )
    picture = recommended_picture(found)
    return f"<div class='beside summary'><dl>\n{answers}\n</dl>\n{picture}</div>"


def _dimension(found: Study) -> str:
    choice = found.dimension
    votes = [(RULES.get(name, name), f"{vote:.1f}") for name, vote in choice.votes.items()]
    votes += [
        (RULES.get(name, name), f"{vote:.1f} (not counted)")
        for name, vote in choice.abstained.items()
    ]
    return (
        f"<p class='answer'>{escape(sentence(choice.verdict)[:-1])}</p>"
        + _list(describe_dimension(found))
        + "<div class='beside'>"
        + _table(("rule", "dimension"), [tuple(map(escape, vote)) for vote in votes])
        + dimension_picture(found)
        + "</div>"
    )


def _method(found: Study) -> str:
    suggestion, chosen = found.suggestion, found.recommended
    answer = "None" if chosen is None else str(chosen.estimator)
    # What begins with the method itself is the first reason again.
    ranking = [*describe_choice(found)][int(chosen is found.suggested) :]
    others = ", ".join(str(other) for other in suggestion.alternatives)
    reasons = [*(sentence(reason) for reason in suggestion.reasons), *ranking]
    return f"<p class='answer'>{escape(answer)}</p>" + _list([*reasons, f"Alternatives: {others}."])


def _the_data(found: Study) -> str:
    _, column = row_and_column(found.request)
    origin = found.request.origin
    summary = f"<p>{_text(describe_size(found))}.</p>" + _list(describe_data(found))
    if origin is not None and origin.size is not None:
        return summary + draw_images(found)
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
    shown = _table(heads, lines) + more
    if len(found.columns) <= FEW_COLUMNS:
        return summary + shown
    title = f"All {len(lines)} {column}s" if not left else f"The {len(lines)} that vary most"
    return f"{summary}<details>\n<summary>{title}</summary>\n{shown}</details>\n"


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
    trials = found.comparison.trials
    names = [name for name in BETTER if found.best and name in found.best.measures]
    heads = ("rank", "method", *(HEADS[name][1] for name in names), "mean rank", "remarks")
    shown: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for trial in trials:
        shown[not trial.failure and not trial.degenerate].append(_line(trials, trial, names))
    tables = _table(heads, shown[True], "quality") if shown[True] else ""
    if shown[False]:
        tables += "<h3>Methods that show little, ranked last</h3>"
        tables += _table(heads, shown[False], "quality")
    explained = [f"{HEADS[name][1]}: {EXPLAINED[name]} ({_bounds(name)})" for name in names]
    explained.append(
        "mean rank: the mean of a method's ranks by these measures, without redundancy and "
        "occupancy, which decide what comes last; it says which methods are better, not that any "
        "is good"
    )
    return (
        tables
        + _list(explained)
        + (curves_picture(found) if found.best else "")
        + "<h3>The recommended embedding</h3>"
        + _list(describe_quality(found))
        + trust_picture(found)
    )


def _bounds(name: str) -> str:
    """Say which value of a measure is best, and from where on it is marked as poor."""
    best = f"{1 if BETTER[name] else 0} is best"
    side = "below" if BETTER[name] else "above"
    return f"{best}; marked {side} {POOR[name][0]}" if name in POOR else best


def _line(trials: Sequence[Trial], trial: Trial, names: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a trial: its place, numbers with poor ones marked, and remarks."""
    place, remarks = str(trials.index(trial) + 1), list[str]()
    if trial.failure:
        said = escape(sentence(f"failed: {trial.failure}"))
        return (place, escape(trial.title), *("–" for _ in names), "–", said)
    if trial.degenerate:
        remarks.append(why_degenerate(trial.measures))
    rivals = [other for other in trials if not other.failure]
    for name, words in BEST.items():
        sign = 1 if BETTER[name] else -1
        if name in names and trial is max(rivals, key=lambda each: sign * each.measures[name]):
            remarks.append(words)
    # That coordinates are redundant is measured here already.
    remarks += [text for text in trial.warnings if not text.startswith("Coordinate ")]
    numbers = [_mark(name, trial.measures[name]) for name in names]
    said = " ".join(escape(sentence(remark)) for remark in remarks)
    return (place, escape(trial.title), *numbers, f"{trial.mean_rank:.1f}", said)


def _mark(name: str, value: float) -> str:
    """Return a number, marked where it is poor."""
    bound = POOR.get(name, (np.nan, ""))[0]
    poor = value < bound if BETTER[name] else value > bound
    return f"<span class='poor'>{value:.3f}</span>" if poor else f"{value:.3f}"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], kind: str = "plain") -> str:
    """Return a table of cells that are markup already."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table class='{kind}'>\n<tr>{top}</tr>\n{rows}\n</table>\n"


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
    # A range is no number to mark, nor is one beyond the eigenvalues computed.
    one = choice.low == choice.high <= len(choice.eigenvalues)
    count = choice.dimension if one else None
    figure = plot.spectrum(choice.eigenvalues, d=count, title="Eigenvalues of Isomap")
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


def recommended_picture(found: Study) -> str:
    """Draw the recommended embedding, coloured by label."""
    chosen = found.recommended
    if chosen is None:
        return ""
    origin, colour = found.request.origin, found.table.label
    if origin is not None and origin.size is not None:
        shown = plot.thumbnails(chosen.estimator, _images(found), colour, title=chosen.title)
    else:
        shown = plot.scatter(chosen.estimator, colour, title=chosen.title)
    return embed_figure(shown, chosen.title)


def trust_picture(found: Study) -> str:
    """Draw the recommended embedding, coloured by trustworthiness."""
    chosen, trust = found.recommended, found.trust
    if chosen is None or trust is None:
        return ""
    title = f"Trustworthiness of each point, {NEIGHBORS} neighbours"
    shown = plot.scatter(chosen.estimator, np.asarray(trust.local), title=title)
    return f"<div class='beside'>{embed_figure(shown, title)}</div>"


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

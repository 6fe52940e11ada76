"""The page: one file, readable without a network, in which nothing of the data is markup."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

import numpy as np

from unbend.apps.study.columns import Column
from unbend.apps.study.pictures import (
    bars,
    best_pictures,
    curves_picture,
    dimension_picture,
    sheet_picture,
    some_images,
)
from unbend.apps.study.study import Study
from unbend.apps.study.words import (
    about_data,
    about_dimension,
    about_quality,
    code,
    commands,
    names_of,
)
from unbend.selection.judging import BETTER

MOST_COLUMNS = 40
LONGEST = 60
EXPLAINED = {
    "trustworthiness": "no false neighbours",
    "continuity": "no neighbours torn apart",
    "r_nx_auc": "neighbours kept over all sizes, beyond chance",
    "repeated": "a coordinate repeats another",
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
    title = f"{_text(found.asked.source)}: a study"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{_data(found.asked.source)}</h1>\n{sections}\n</body>\n</html>\n"
    )


def _sections(found: Study) -> Iterator[tuple[str, str]]:
    yield "The data", _the_data(found)
    votes = [(name, f"{vote:.1f}") for name, vote in found.dimension.votes.items()]
    votes += [(name, f"{vote:.1f} (abstains)") for name, vote in found.dimension.abstained.items()]
    dimension = f"<p class='answer'>{found.dimension.dimension}</p>"
    yield (
        "How many dimensions?",
        dimension
        + _said(about_dimension(found))
        + "<div class='beside'>"
        + _table(("rule", "dimensions"), [tuple(map(escape, vote)) for vote in votes])
        + dimension_picture(found)
        + "</div>",
    )
    others = ", ".join(str(other) for other in found.suggestion.alternatives)
    yield (
        "Which method?",
        f"<p class='answer'>{escape(str(found.suggestion.estimator))}</p>"
        + _said([*found.suggestion.reasons, f"Also to be tried: {others}."]),
    )
    yield "Embeddings side by side", sheet_picture(found) if found.best else "<p>None.</p>"
    yield "Can the picture be believed?", _quality(found)
    shell, python = "\n".join(commands(found)), code(found)
    yield (
        "To get this again",
        f"<pre class='shell'>{_text(shell)}</pre>\n<pre class='python'>{_text(python)}</pre>"
        + "<p>embed places all rows of the table, also where a sample was studied.</p>"
        * (len(found.table) < found.kept),
    )


def _the_data(found: Study) -> str:
    row, column = names_of(found.asked)
    given = found.asked.given
    size = None if given is None else given.size
    width = f"{len(found.columns)} {column}s" if size is None else f"{size[1]} x {size[0]} pixels"
    summary = f"<p>{found.rows} {row}s, {width}" + " of numbers" * (given is None)
    label = found.asked.label
    summary += "" if label is None else f", labelled by {_data(label)}"
    if size is not None:
        return f"{summary}.</p>" + _said(about_data(found)) + some_images(found)
    heads = (column, "missing", "least", "mean", "most", "deviation", "of variance", "values")
    lines = [
        (
            _data(each.name),
            str(each.missing),
            *(f"{value:.4g}" for value in (each.least, each.mean, each.most, each.deviation)),
            f"{each.share:.1%}",
            "constant" if each.constant else bars(each.bars),
        )
        for each in _heaviest(found.columns)
    ]
    left = len(found.columns) - len(lines)
    more = f"<p>… and {left} {column}s that vary less.</p>" if left else ""
    return f"{summary}.</p>" + _said(about_data(found)) + _table(heads, lines) + more


def _heaviest(columns: list[Column]) -> list[Column]:
    """Return the columns in their order, or of very many those that vary most, most first."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    return sorted(columns, key=lambda column: -column.share)[:MOST_COLUMNS]


def _quality(found: Study) -> str:
    names = [name for name in BETTER if found.best and name in found.best.measures]
    heads = ("method", *(name.replace("_", " ") for name in names), "place", "in words")
    lines = []
    for trial in found.comparison.trials:
        numbers = [f"{trial.measures[name]:.4f}" if trial.measures else "–" for name in names]
        place = f"{trial.place:.1f}" if np.isfinite(trial.place) else "–"
        said = [trial.failure and f"failed: {trial.failure}", trial.reason, *trial.warnings]
        words = "; ".join(part for part in said if part)
        lines.append(tuple(escape(cell) for cell in (trial.title, *numbers, place, words)))
    best = [
        f"{name.replace('_', ' ')}: {EXPLAINED[name]} ({1 if BETTER[name] else 0} is best)"
        for name in names
    ]
    pictures = "".join(best_pictures(found))
    return (
        _table(heads, lines)
        + _said([*best, "place: the mean of the ranks by these; it says which is better, not good"])
        + (curves_picture(found) if found.best else "")
        + "<h3>The first of them</h3>"
        + _said(about_quality(found))
        + f"<div class='beside'>{pictures}</div>"
    )


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are markup already."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table>\n<tr>{top}</tr>\n{rows}\n</table>\n"


def _said(sentences: Iterable[str]) -> str:
    items = "\n".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    return f"<ul>\n{items}\n</ul>\n" if items else ""


def _text(words: str) -> str:
    """Escape text, in which a letter that cannot be written becomes a question mark."""
    return escape(words.encode("utf-8", "replace").decode("utf-8"))


def _data(name: str) -> str:
    """Return a name out of the data: short, escaped, and unable to turn the text around it."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return f"<bdi>{_text(short)}</bdi>"

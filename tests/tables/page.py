"""A page of ``unbend report`` as text and numbers, and what pandas and NumPy say of the table."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np
import pandas as pd

# Tables whose columns share a unit although their spreads differ: a person says so.
ONE_UNIT = ("pixels", "spectra", "terms")
ORDERS = (
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("cold", "warm", "hot"),
)
DAY = 86_400.0


@dataclass
class Section:
    """Paragraphs, list items, tables and answers by their questions, below one heading."""

    paragraphs: list = field(default_factory=list)
    answers: dict = field(default_factory=dict)
    items: list = field(default_factory=list)
    tables: list = field(default_factory=list)


class Page(HTMLParser):
    """The sections of a page by their headings; cells hold text, or the heights of bars."""

    def __init__(self, text):
        super().__init__()
        self.sections, self._tag, self._question, self.codes = {}, None, "", []
        self.feed(text)

    @property
    def _last(self):
        return next(reversed(self.sections.values())) if self.sections else Section()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "h2":
            self.sections["?"] = Section()
        elif tag == "p":
            self._last.paragraphs.append("")
        elif tag == "li":
            self._last.items.append("")
        elif tag == "table":
            self._last.tables.append([])
        elif tag == "tr":
            self._last.tables[-1].append([])
        elif tag in ("td", "th"):
            self._last.tables[-1][-1].append("")
        elif tag == "pre":
            self.codes.append("")
        elif tag == "svg":
            self._last.tables[-1][-1][-1] = []
        elif tag == "rect":
            self._last.tables[-1][-1][-1].append(float(given["height"]))
        if tag in ("h2", "p", "li", "td", "th", "pre", "dt", "dd"):
            self._tag = tag

    def handle_endtag(self, tag):
        if tag == self._tag:
            self._tag = None

    def handle_data(self, data):
        if self._tag == "h2":
            self.sections[data] = self.sections.pop("?")
        elif self._tag == "dt":
            self._question = data
        elif self._tag == "dd":
            self._last.answers[self._question] = self._last.answers.get(self._question, "") + data
        elif self._tag == "p":
            self._last.paragraphs[-1] += data
        elif self._tag == "li":
            self._last.items[-1] += data
        elif self._tag in ("td", "th"):
            self._last.tables[-1][-1][-1] += data
        elif self._tag == "pre":
            self.codes[-1] += data


def sentences_of(page):
    """Return all text of a page that is neither a table nor code."""
    for section in page.sections.values():
        yield from (*section.answers.values(), *section.paragraphs, *section.items)


class Expected:
    """A table as a person describes it: kinds, gaps, spreads and features by pandas and NumPy."""

    def __init__(self, name, messy, label=None):
        self.name, self.frame = name, messy.frame
        self.label = label
        features = messy.frame.drop(columns=[label] if label else [])
        self.columns = [str(column) for column in features]
        self.kinds = {column: messy.kinds.get(column) or self._kind(column) for column in features}
        used = [c for c in self.columns if self.kinds[c] not in ("id", "text", "constant")]
        self.used = used
        self.values = {
            c: self._numbers(c) for c in self.columns if self.kinds[c] != "constant" or self._is(c)
        }
        self.scale = self._scale()

    def _is(self, column):
        return pd.api.types.is_numeric_dtype(self.frame[column]) and self.frame[column].count() > 0

    def _kind(self, column):
        if not pd.api.types.is_numeric_dtype(self.frame[column]):
            return "category"
        return "boolean" if set(self.frame[column]) == {0, 1} else "numeric"

    def _numbers(self, column):
        """Numbers of a column, or None: dates as seconds, levels as their places."""
        series, kind = self.frame[column], self.kinds[column]
        if kind == "date":
            form = "%d.%m.%Y" if column == "sold" else None
            dates = pd.to_datetime(series, format=form)
            return ((dates - pd.Timestamp(0)) / pd.Timedelta(seconds=1)).to_numpy(float)
        if pd.api.types.is_bool_dtype(series) or pd.api.types.is_numeric_dtype(series):
            return series.to_numpy(float)
        if kind not in ("ordinal", "boolean"):
            return None
        held = set(series.dropna())
        order = next((o for o in ORDERS if held <= set(o)), ("no", "yes"))
        present = [level for level in order if level in held]
        return series.map({level: place for place, level in enumerate(present)}).to_numpy(float)

    def is_number(self, column):
        """Whether the table stores numbers."""
        return self._is(column)

    def _scale(self):
        if self.name in ONE_UNIT:
            return "none"
        if any(self.kinds[column] in ("category", "date", "ordinal") for column in self.used):
            return "standard"
        numeric = [c for c in self.used if self._is(c)]
        spreads = [np.std(fill(self.values[c])) for c in numeric]
        return "standard" if not spreads or max(spreads) > 10 * min(spreads) else "none"

    def features(self):
        """Return features of equal weight for each column, by plain formulas."""
        numeric = [c for c in self.used if self.kinds[c] == "numeric"]
        unit = 1.0
        if self.scale == "none" and numeric:
            unit = np.mean([np.var(fill(self.values[c])) for c in numeric])
        return np.concatenate([self._block(column, unit) for column in self.used], axis=1)

    def _block(self, column, unit):
        kind = self.kinds[column]
        if kind == "category":
            words = self.frame[column].fillna(self.frame[column].mode()[0])
            block = pd.get_dummies(words).to_numpy(float)
            return block * np.sqrt(unit / block.var(axis=0).sum())
        values = self.values[column]
        known = values[~np.isnan(values)]
        standard = (fill(values) - known.mean()) / known.std()
        if kind == "date":
            block = np.column_stack([standard, *cycles(fill(values))])
            return block * np.sqrt(unit / block.var(axis=0).sum())
        return (standard if self.scale == "standard" else fill(values))[:, None]


def fill(values):
    """Impute the median."""
    return np.where(np.isnan(values), np.nanmedian(values), values)


def cycles(seconds):
    """Yield cosine and sine of the cycles that dates cover at least one and a half times."""
    for period in (DAY, 7 * DAY, 365.2425 * DAY):
        phase = 2 * np.pi * (seconds / period % 1)
        pair = np.cos(phase), np.sin(phase)
        if np.ptp(seconds) >= 1.5 * period and np.var(pair[0]) + np.var(pair[1]) > 1e-3:
            yield from pair


def orders(first, second, sign, last=1):
    """Neighbours of each row by the first distances, ties by the second ones, near or far first.

    What is tied in both is in the order of the rows, or with `last=-1` in the opposite one.
    """
    places = np.broadcast_to(last * np.arange(len(first)), first.shape)
    ties = np.lexsort((places, sign * second, first), axis=1)
    n = len(first)
    return ties[ties != np.arange(n)[:, None]].reshape(n, n - 1)


def rank_measures(X, Y, k):
    """Trustworthiness, continuity and R_NX AUC: the least and the largest over ties."""
    before, after = (distances(points) for points in (X, Y))
    bounds = []
    for sign in (-1, 1):
        near_x, near_y = orders(before, after, sign), orders(after, before, sign, sign)
        rank_x, rank_y = ranks(near_x), ranks(near_y)
        local = 1 - excess(near_y[:, :k], rank_x, k)
        bounds.append(
            (local.mean(), 1 - excess(near_x[:, :k], rank_y, k).mean(), auc(rank_x, rank_y))
        )
    return np.min(bounds, axis=0), np.max(bounds, axis=0)


def local_trust(X, Y, k):
    """Trustworthiness of each row, with ties in the order of the rows."""
    near = np.argsort(distances(Y), axis=1, kind="stable")
    n = len(X)
    near = near[near != np.arange(n)[:, None]].reshape(n, n - 1)[:, :k]
    of = np.argsort(distances(X), axis=1, kind="stable")
    return 1 - excess(near, ranks(of[of != np.arange(n)[:, None]].reshape(n, n - 1)), k)


def distances(points):
    """Distances, those that differ by rounding made equal, and a row before all others."""
    found = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    found = np.round(found / found.max(), 9)
    np.fill_diagonal(found, -1)
    return found


def ranks(order):
    """Rank of every other row, the nearest being 1."""
    n = len(order)
    rank = np.zeros((n, n), dtype=int)
    np.put_along_axis(rank, order, np.arange(1, n)[None], axis=1)
    return rank


def excess(neighbors, rank, k):
    """Sum of the ranks beyond k, divided by its largest value."""
    n = len(rank)
    beyond = np.take_along_axis(rank, neighbors, axis=1) - k
    return np.maximum(beyond, 0).sum(axis=1) * 2 / (k * (2 * n - 3 * k - 1))


def auc(rank_x, rank_y):
    """Area below R_NX over the logarithm of the neighbourhood's size (Lee et al. 2013)."""
    n = len(rank_x)
    later = np.maximum(rank_x, rank_y)[~np.eye(n, dtype=bool)]
    sizes = np.arange(1, n - 1)
    shared = np.cumsum(np.bincount(later, minlength=n)[1 : n - 1]) / (sizes * n)
    r_nx = ((n - 1) * shared - sizes) / (n - 1 - sizes)
    return np.sum(r_nx / sizes) / np.sum(1 / sizes)


def numbers_in(text):
    """Return the numbers in a sentence, without those inside names."""
    plain = re.sub(r"'[^']*'", "", text)
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", plain)]

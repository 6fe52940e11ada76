"""Every number of the page of each messy table, against pandas, NumPy and scikit-learn."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

import unbend as library
from tests.cli.program import unbend
from tests.tables.consistency import check_page
from tests.tables.corpus import TABLES
from tests.tables.page import (
    Expected,
    Page,
    fill,
    local_trust,
    numbers_in,
    rank_measures,
    sentences_of,
)
from unbend.quality import coordinate_redundancy

# Tables of the default suite: gaps and categories, dates, a constant column, one unit, an encoding.
FAST = ("penguins", "houses_latin1", "broken_columns", "spectra")
# The table whose pictures are drawn.
DRAWN = "penguins"
LABELLED = ("wine", "passengers", "mushrooms")
CASES = [
    pytest.param(name, label, marks=() if name in FAST and not label else pytest.mark.slow)
    for name, label in [(name, False) for name in TABLES] + [(name, True) for name in LABELLED]
]


@pytest.mark.parametrize(("name", "labelled"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_every_number_of_the_page_is_right(name, labelled, tmp_path, request):
    if name != DRAWN:
        request.getfixturevalue("undrawn")
    messy = TABLES[name]()
    path = messy.save(tmp_path)
    label = messy.label if labelled else None
    unbend("report", path.name, *(("--label", label) if label else ()), cwd=tmp_path)
    page = Page((tmp_path / f"{path.stem}-report.html").read_text("utf-8"))
    expected = Expected(name, messy, label)
    X, rows = _features(path, label, expected)
    check_page(page, sentences_of(page))
    _check_answers(page.sections["Summary"].answers, expected, X)
    _check_summary(page.sections["The data"], expected)
    _check_columns(page.sections["The data"].tables[0], expected)
    _check_sentences(page.sections["The data"].items, expected, X)
    _check_dimension(page.sections["Intrinsic dimension"], X)
    _check_suggestion(page.sections["Which method?"], X)
    classes = rows.label.astype(str) if label else None
    chosen = page.sections["Which method?"].paragraphs[0].split("(")[0]
    _check_quality(page.sections["Quality of the embeddings"], X, classes, chosen)
    assert set(page.sections) == {
        "Summary",
        "The data",
        "Intrinsic dimension",
        "Which method?",
        "Embeddings side by side",
        "Quality of the embeddings",
        "To reproduce this",
    }


# How the report asks for advice on prepared columns.
AS_IT_IS = {"metric": "euclidean", "scale": "none"}


def _features(path, label, expected):
    """Return the features to the last bit, which must be those of the plain formulas."""
    frame = library.io.read_frame(path, label=label)
    prepare = library.Prepare(missing="median").fit(frame)
    X = prepare.transform(frame)
    np.testing.assert_allclose(X, expected.features(), rtol=1e-9, atol=1e-9)
    numbers = all(expected.is_number(column) for column in expected.columns)
    if expected.scale == "none" and numbers and not expected.frame.isna().any(axis=None):
        # Numbers that share a unit are taken as they are, constant columns among them.
        return expected.frame[expected.columns].to_numpy(float), frame.rest
    return X, frame.rest


def _size(expected):
    n, p = len(expected.frame), len(expected.columns)
    numbers = all(expected.is_number(column) for column in expected.columns)
    label = f", labelled by {expected.label!r}" if expected.label else ""
    return f"{n} rows, {p} columns{' of numbers' * numbers}{label}."


def _check_summary(section, expected):
    assert section.paragraphs[0] == _size(expected)


def _check_answers(answers, expected, X):
    assert list(answers) == ["Data", "Intrinsic dimension", "Method", "Trust"]
    gaps = int(expected.frame[expected.columns].isna().to_numpy().sum())
    assert answers["Data"].startswith(_size(expected))
    missing = f"{gaps} value{'s are' if gaps > 1 else ' is'} missing."
    assert answers["Data"].endswith(missing if gaps else "No value is missing.")
    for features in re.findall(r"(\d+) features", answers["Data"]):
        assert int(features) == X.shape[1]
    trust, continuity = (
        float(re.search(rf"{name} (\d\.\d+)", answers["Trust"])[1])
        for name in ("trustworthiness", "continuity")
    )
    worst = min(trust, continuity)
    near = (worst - 5e-4, worst, worst + 5e-4)
    grades = {"good" if w >= 0.95 else "fair" if w >= 0.9 else "poor" for w in near}
    assert re.search(r"Neighbourhoods: (\w+)\.", answers["Trust"])[1] in grades
    for moved in re.findall(r"moves points by (\d+)%", answers["Trust"]):
        # A bound that is reached by rounding may belong to either side.
        shares = (int(moved) - 0.5, int(moved) + 0.49)
        grades = {"good" if m < 5 else "fair" if m < 30 else "poor" for m in shares}
        assert re.search(r"Arrangement: (\w+)\.", answers["Trust"])[1] in grades


def _close(text, value, digits=4):
    """Whether text is a number to some digits, or zero up to rounding."""
    shown = float(text)
    assert (
        abs(shown - value)
        <= 0.5000001 * 10.0 ** (np.floor(np.log10(abs(value))) + 1 - digits if value else -12)
        + 1e-12 * abs(value)
        + 1e-15
    ), (text, value)


def _check_columns(table, expected):
    header, *lines = table
    assert header[1:] == [
        *("missing", "minimum", "mean", "maximum", "standard deviation", "share of variance"),
        "values",
    ]
    shares = {c: np.nanvar(expected.values[c]) for c in expected.used if expected.is_number(c)}
    total = sum(shares.values()) or 1.0
    if len(expected.columns) <= 40:
        assert [line[0] for line in lines] == expected.columns
    else:
        heaviest = sorted(shares.values(), reverse=True)[:40]
        assert np.allclose([shares.get(line[0], 0.0) for line in lines], heaviest)
    for name, missing, least, mean, most, deviation, share, values in lines:
        series, kind = expected.frame[name], expected.kinds[name]
        assert int(missing) == series.isna().sum()
        if not expected.is_number(name):
            _check_other_column(series, kind, (least, mean, most, deviation, share, values), name)
            continue
        known = series.dropna().astype(float)
        _close(least, known.min())
        if abs(known.mean()) > 1e-14 * known.abs().max():
            _close(mean, known.mean())
        else:
            assert mean == "0"
        _close(most, known.max())
        _close(deviation, known.std(ddof=0))
        if name in shares:
            assert share == f"{shares[name] / total:.1%}"
        elif kind == "constant":
            assert share in ("–", "0.0%")
        else:
            assert share == "–"
        if kind in ("id", "constant"):
            assert values == kind
        else:
            heights, _ = np.histogram(known, 16)
            np.testing.assert_allclose(values, 20 * heights / heights.max(), atol=0.051)


def _check_other_column(series, kind, cells, name):
    least, *between, most = cells[0], cells[1], cells[3], cells[4], cells[2]
    assert between == ["–"] * 3
    if kind == "date":
        dates = pd.to_datetime(series, format="%d.%m.%Y" if name == "sold" else None)
        assert (pd.Timestamp(least), pd.Timestamp(most)) == (dates.min(), dates.max())
        assert cells[5] == "date"
        return
    assert (least, most) == ("–", "–")
    distinct = series.nunique()
    assert cells[5] == (kind if distinct < 2 else f"{kind}, {distinct} different values")


def _check_sentences(items, expected, X):
    """Check every sentence about the data; one of a kind not known here fails."""
    frame, kinds = expected.frame[expected.columns], expected.kinds
    gaps = {c: int(frame[c].isna().sum()) for c in expected.columns}
    left_out = [c for c in expected.columns if c not in expected.used]
    duplicates = len(X) - len(pd.DataFrame(X).drop_duplicates())
    needed = {
        "missing": sum(gaps.values()) > 0,
        "of an earlier one": duplicates > 0,
        "constant": "constant" in kinds.values(),
        "Standardised": expected.scale == "standard",
        "Not scaled": expected.scale == "none",
        "Left out": bool(left_out) and expected.scale == "standard",
    }
    for sentence in items:
        start = next((word for word in needed if word in sentence), None)
        if "missing." in sentence:
            _check_gaps(sentence, gaps, expected)
        elif sentence.startswith("Of the rows studied"):
            assert numbers_in(sentence) == [duplicates]
        elif "were constant" in sentence or "was constant" in sentence:
            assert numbers_in(sentence) == [sum(k == "constant" for k in kinds.values())]
        elif start in ("Standardised", "Not scaled"):
            _check_scaling(sentence, expected)
        elif sentence.startswith("Left out"):
            assert _names(sentence) == [(c, kinds[c]) for c in left_out][:6]
        elif sentence.startswith("Encoded"):
            encoded = [c for c in expected.used if kinds[c] in ("category", "ordinal", "date")]
            assert _names(sentence) == [(c, kinds[c]) for c in encoded][:6]
        elif sentence.startswith("Duplicate columns"):
            assert re.findall("'(.*?)' = '(.*?)'", sentence) == [("again", "b")]
        elif sentence.startswith("Columns to look at"):
            _check_remarks(sentence, expected)
        elif sentence.startswith("One column"):
            spreads = {c: np.nanvar(expected.values[c]) for c in expected.used}
            heaviest = max(spreads, key=spreads.get)
            share = spreads[heaviest] / sum(spreads.values())
            assert f"{heaviest!r} holds {share:.0%}" in sentence
            assert share > 0.9
        else:
            pytest.fail(f"a sentence that the test does not know: {sentence}")
    said = " ".join(items)
    for word, holds in needed.items():
        assert (word in said) == holds, (word, said)


def _names(sentence):
    return re.findall(r"'([^']*)' \((\w+)\)", sentence)


def _check_gaps(sentence, gaps, expected):
    total = re.match(r"(\d+) values? w(?:as|ere) missing\.", sentence)
    assert int(total[1]) == sum(gaps.values())
    used = {c: gaps[c] for c in expected.used if gaps[c]}
    for way, listed in re.findall(r"by ([a-z ]+): ((?:'[^']*' \(\d+\)(?:, )?)+)", sentence):
        for name, count in re.findall(r"'([^']*)' \((\d+)\)", listed):
            assert used.pop(name) == int(count)
            frequent = expected.kinds[name] == "category"
            assert way == ("most frequent value" if frequent else "median")
    assert not used


def _check_scaling(sentence, expected):
    numeric = [c for c in expected.used if expected.is_number(c)]
    spreads = {c: np.std(fill(expected.values[c])) for c in numeric}
    if sentence.startswith("Standardised"):
        assert sentence.startswith(f"Standardised {len(expected.used)} column")
    if "range from" in sentence:
        low, high = min(spreads, key=spreads.get), max(spreads, key=spreads.get)
        found = re.search(r"from (\S+) \('(.*?)'\) to (\S+) \('(.*?)'\)", sentence)
        assert (float(found[1]), float(found[3])) == (
            float(f"{spreads[low]:.2g}"),
            float(f"{spreads[high]:.3g}"),
        )
        assert spreads[found[2]] == pytest.approx(spreads[low])
        assert found[4] == high
    if "within a factor" in sentence:
        spreads = [spread for spread in spreads.values() if spread > 0]
        (factor,) = re.findall(r"factor of ([\d.]+)\.", sentence)
        assert float(factor) == float(f"{max(spreads) / min(spreads):.2g}")
    if "is not numeric" in sentence:
        (first,) = re.findall("'(.*?)' is not numeric", sentence)
        assert expected.kinds[first] in ("category", "date", "ordinal")


def _check_remarks(sentence, expected):
    for name, count in re.findall(r"'([^']*)' looks like codes of (\d+) classes", sentence):
        values = np.unique(expected.values[name])
        assert len(values) == int(count)
        assert np.all(values == np.round(values))


# What the page calls the rules.
RULES = {
    "local_pca": "local PCA",
    "mle": "maximum likelihood",
    "two_nn": "two nearest neighbours",
    "u_statistic": "U-statistic",
    "multiscale_svd": "multiscale SVD",
    "correlation": "correlation dimension",
}


def _check_dimension(section, X):
    choice = library.choose_dimension(X, **AS_IT_IS)
    assert [words.lower() for words in section.paragraphs] == [choice.verdict]
    votes = {name: f"{vote:.1f}" for name, vote in choice.votes.items()}
    votes |= {name: f"{vote:.1f} (not counted)" for name, vote in choice.abstained.items()}
    named = {RULES.get(name, name): vote for name, vote in votes.items()}
    assert dict(section.tables[0][1:]) == named
    said = " ".join(section.items)
    assert ("not counted" in said) == bool(choice.abstained)
    agreed = sum(max(1, round(v)) == choice.dimension for v in choice.votes.values())
    for count, of, on in re.findall(r"(\d+) of (\d+) rules agree on (\d+)", said):
        assert (int(count), int(of)) == (agreed, len(choice.votes))
        assert int(on) == choice.dimension == choice.low == choice.high
    for components in re.findall(r"use (\d+)", said):
        assert int(components) == choice.high


def _check_suggestion(section, X):
    suggestion = library.suggest(X, random_state=0, **AS_IT_IS)
    others = ", ".join(map(str, suggestion.alternatives))
    reasons = [f"{reason[0].upper()}{reason[1:]}." for reason in suggestion.reasons]
    assert section.items[: len(reasons)] == reasons
    assert section.items[-1] == f"Alternatives: {others}."
    told = " ".join(section.items[len(reasons) : -1])
    if section.paragraphs != [str(suggestion.estimator)]:
        assert f"data suggest {type(suggestion.estimator).__name__}" in told
    verdict = library.choose_dimension(X, **AS_IT_IS).verdict
    data = f"{len(X)} rows, {X.shape[1]} features, intrinsic dimension {verdict}"
    assert section.items[0].startswith(data)


def _check_quality(section, X, classes, chosen):
    header = section.tables[0][0]
    lines = [line for table in section.tables for line in table[1:]]
    names = ["trustworthiness", "continuity", "neighbourhood preservation (R_NX AUC)", "redundancy"]
    names += ["occupancy"] + ["neighbourhood hit"] * (classes is not None)
    assert header == ["rank", "method", *names, "mean rank", "remarks"]
    tied = len(np.unique(X, axis=0)) < len(X)
    table = np.array([[float(cell) for cell in line[2 : len(names) + 2]] for line in lines])
    embeddings = [_embed(line[1], X) for line in lines]
    for numbers, Y, line in zip(table, embeddings, lines, strict=True):
        least, most = rank_measures(X, Y, 10)
        assert np.all(numbers[:3] >= least - 5.1e-4), line
        assert np.all(numbers[:3] <= most + 5.1e-4), line
        if not tied and np.allclose(least, most, rtol=0, atol=1e-9):
            # Without ties scikit-learn gives the first two as well.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                both = (
                    trustworthiness(
                        cdist(first, first), second, n_neighbors=10, metric="precomputed"
                    )
                    for first, second in ((X, Y), (Y, X))
                )
            np.testing.assert_allclose(numbers[:2], list(both), atol=5.1e-4)
        assert numbers[3] == pytest.approx(coordinate_redundancy(Y).max(), abs=5.1e-4)
        if classes is not None:
            hit = _neighborhood_hit(Y, classes)
            assert numbers[5] == pytest.approx(hit, abs=5.1e-4 if not tied else 0.02)
        distinct = np.sort(np.unique(X, axis=0, return_index=True)[1])
        assert numbers[4] == pytest.approx(occupied(Y[distinct]), abs=5.1e-4)
    place = next(place for place, line in enumerate(lines) if line[1].split()[0] == chosen)
    _check_best(section.items, X, embeddings[place], table[place], classes)


def occupied(Y):
    """Cells that hold 80 % of the points, fullest first, over 80 % of the points."""
    places = (Y - Y.min(axis=0)) / np.ptp(Y, axis=0)
    edges = [np.linspace(0, 1, 101)] * 2
    counts = np.sort(np.histogramdd(places, edges)[0].ravel())[::-1]
    return min(1.0, (1 + np.sum(np.cumsum(counts) < 0.8 * len(Y))) / (0.8 * len(Y)))


def _embed(title, X):
    method, *parameters = title.replace(",", "").split()
    given = {name: float(value) for name, value in (pair.split("=") for pair in parameters)}
    given = {name: value if name == "perplexity" else int(value) for name, value in given.items()}
    return getattr(library, method)(n_components=2, **given).fit_transform(X)


def _neighborhood_hit(points, classes):
    near = NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
    return np.mean(classes[near] == classes[:, None])


def _check_best(items, X, Y, numbers, classes):
    said = " ".join(items)
    for word, value in (("trustworthiness", numbers[0]), ("continuity", numbers[1])):
        (shown,) = re.findall(rf"{word} (?:is )?(\d\.\d+)", said)
        assert float(shown) == pytest.approx(value, abs=5.6e-4)
    for share in re.findall(r"below 0\.9 at (\d+)% of the points", said):
        doubtful = np.mean(local_trust(X, Y, 10) < 0.9)
        tied = len(np.unique(X, axis=0)) < len(X)
        assert abs(int(share) - 100 * doubtful) <= (5 if tied else 0.51)
    if classes is not None:
        before, after, chance = map(float, re.findall(r"(\d+\.\d)%", said))
        _, counts = np.unique(classes, return_counts=True)
        assert chance == pytest.approx(100 * np.sum((counts / len(X)) ** 2), abs=0.051)
        assert after == pytest.approx(100 * numbers[5], abs=0.06)
        assert before == pytest.approx(100 * _neighborhood_hit(X, classes), abs=2)

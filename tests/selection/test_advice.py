"""Advice on any input: purposes, one verdict on the dimension, scaling, distances and graphs."""

import json
import re
from dataclasses import replace

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import unbend
from tests.cli.program import unbend as run
from tests.loops import sampled
from tests.tables.corpus import TABLES
from unbend.selection.case import Case
from unbend.selection.findings import measure
from unbend.selection.inputs import open_data
from unbend.selection.rules import RULES, decide

PURPOSES = ("picture", "features", "chart", "clusters")
WINE = datasets.load_wine(as_frame=True)
CURVE = unbend.datasets.s_curve(150, random_state=3)
DISTANCES = cdist(CURVE.points, CURVE.points)
GRAPH = unbend.Isomap(n_neighbors=10).fit(CURVE.points).graph_


def measure_all(X, metric):
    data = open_data(X, metric)
    return measure(data, data.sample(1500, 0), None, data.n)


FOUND = measure_all(CURVE.points[:120], None)


def blobs(count, seed, columns=6):
    rng = np.random.default_rng(seed)
    centers = 12 * rng.normal(size=(count, columns))
    labels = np.repeat(np.arange(count), 80)
    return centers[labels] + rng.normal(size=(80 * count, columns)), labels


def messy(name):
    table = TABLES[name]()
    return table.frame.drop(columns=[table.label]) if table.label else table.frame


def stated(headline):
    """Return the verdict and the number of coordinates that a headline states."""
    found = re.search(r"intrinsic dimension (.*?)(, closed)?: (\d+) coordinates?", headline)
    return found[1], int(found[3]), bool(found[2])


# Tables of every kind of verdict, of numbers alone and mixed.
SAMPLE = (
    "accounts",
    "breast_cancer",
    "broken_columns",
    "diabetes",
    "houses",
    "iris_tabs",
    "mushrooms",
    "one_huge_column",
    "packages",
    "parquet",
    "pixels",
    "requests",
    "school",
    "spectra",
    "survey",
    "terms",
    "workbook",
    "yes_and_no",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_dimension_is_the_same_in_every_answer_and_the_number_stated_is_used(name):
    frame = messy(name)
    verdict = unbend.choose_dimension(frame, missing="median").verdict
    compared = unbend.compare(frame, ["PCA"], missing="median")
    assert f"intrinsic dimension {verdict}," in compared.headline
    for purpose in ("picture", "features", "chart"):
        suggestion = unbend.suggest(frame, for_=purpose, missing="median")
        found, used, closed = stated(suggestion.reasons[0])
        assert (found, used) == (verdict, suggestion.estimator.n_components)
        if purpose == "picture":
            assert used == 2
        elif verdict.isdigit():
            assert used == int(verdict) + closed


@pytest.mark.parametrize("name", ["wine", "penguins", "passengers", "quoted"])
def test_commands_and_report_state_the_dimension_that_the_library_finds(name, tmp_path):
    table = TABLES[name]()
    path = table.save(tmp_path)
    words = (path, *(("--label", table.label) if table.label else ()), "--missing", "median")
    verdict = unbend.choose_dimension(messy(name), missing="median").verdict
    facts = {
        command: json.loads(run(command, *words, *more, "--json", cwd=tmp_path).stdout)
        for command, *more in (
            ("dimension", "--estimators", "pca"),
            ("suggest",),
            ("compare", "--methods", "pca"),
        )
    }
    assert facts["dimension"]["verdict"] == verdict
    assert facts["suggest"]["dimension"] == facts["compare"]["dimension"] == verdict
    assert stated(facts["suggest"]["reasons"][0])[:2] == (verdict, 2)
    run("report", *words, "-o", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"<p class='answer'>{verdict[0].upper()}{verdict[1:]}</p>" in page
    assert f"intrinsic dimension {verdict}" in page


@pytest.mark.parametrize("load", [datasets.load_wine, datasets.load_breast_cancer])
def test_a_column_times_a_million_changes_no_answer(load):
    table = load(as_frame=True)
    frame, labels = table.data, table.target
    scaled = StandardScaler().fit_transform(frame)
    huge = frame.copy()
    huge[huge.columns[3]] *= 1e6
    expected = unbend.suggest(scaled, scale="none")
    best = unbend.compare(scaled, ["PCA", "Isomap"], labels=labels, scale="none")
    for X in (huge, huge.to_numpy()):
        suggestion = unbend.suggest(X)
        assert str(suggestion.estimator) == str(expected.estimator)
        assert suggestion.reasons[:-1] == expected.reasons
        assert "Standardised" in suggestion.reasons[-1]
        assert "units differ" in suggestion.reasons[-1]
        compared = unbend.compare(X, ["PCA", "Isomap"], labels=labels)
        assert "units differ" in str(compared)
        for one, other in zip(compared.trials, best.trials, strict=True):
            assert one.title == other.title
            assert one.measures == pytest.approx(other.measures, abs=1e-6)
        fitted = suggestion.pipeline.fit(X)[-1].embedding_
        alone = expected.estimator.fit(scaled).embedding_
        assert unbend.quality.procrustes(alone, fitted) < 1e-3


def test_columns_of_one_unit_stay_as_they_are():
    suggestion = unbend.suggest(CURVE.points)
    assert suggestion.preparation is None
    assert suggestion.pipeline is suggestion.estimator
    assert not any("Standardised" in reason for reason in suggestion.reasons)


def test_a_table_of_any_kind_is_prepared_and_dropped_rows_have_no_label():
    table = TABLES["penguins"]()
    frame, labels = messy("penguins"), table.frame[table.label]
    with pytest.raises(ValueError, match="missing='median'"):
        unbend.suggest(frame)
    complete = frame.notna().all(axis=1)
    dropped = unbend.compare(frame, ["PCA"], labels=labels, missing="drop")
    kept = unbend.compare(frame[complete], ["PCA"], labels=labels[complete])
    assert dropped.trials[0].measures == pytest.approx(kept.trials[0].measures)
    mapping = {name: frame[name].to_numpy() for name in frame}
    verdicts = {unbend.choose_dimension(X, missing="median").verdict for X in (frame, mapping)}
    assert len(verdicts) == 1


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("kind", ["distances", "graph", "networkx"])
def test_suggestions_for_distances_and_graphs_can_be_fitted(purpose, kind):
    X = {"distances": DISTANCES, "graph": GRAPH}.get(kind)
    if X is None:
        X = networkx.from_scipy_sparse_array(GRAPH.maximum(GRAPH.T), edge_attribute="weight")
        X.graph["weight"] = "length"
    suggestion = unbend.suggest(X, metric="precomputed", for_=purpose)
    assert (
        "distances between 150" in suggestion.reasons[0]
        or "graph of 150" in (suggestion.reasons[0])
    )
    for method in (suggestion.estimator, *suggestion.alternatives):
        assert method.metric == "precomputed"
        assert len(method.fit(X).embedding_) == 150


def test_distances_are_measured_as_the_points_they_belong_to():
    of_points = measure_all(CURVE.points, None)
    of_distances = measure_all(DISTANCES, "precomputed")
    for name in ("dimension", "low", "high", "parts", "clusters", "n_neighbors"):
        assert getattr(of_distances, name) == getattr(of_points, name)
    for name in ("outside", "residual"):
        assert getattr(of_distances, name) == pytest.approx(getattr(of_points, name), rel=1e-6)
    m = len(of_points.variances)
    assert of_distances.variances[:m] == pytest.approx(of_points.variances, rel=1e-9)
    trials = {
        metric: unbend.compare(X, ["Isomap", "ClassicalMDS"], metric=metric).trials
        for X, metric in ((CURVE.points, "euclidean"), (DISTANCES, "precomputed"))
    }
    for one, other in zip(trials["euclidean"], trials["precomputed"], strict=True):
        assert one.title == other.title
        assert one.measures == pytest.approx(other.measures, abs=1e-6)


def test_a_graph_is_judged_by_the_lengths_of_its_shortest_paths():
    found = unbend.compare(GRAPH, metric="precomputed")
    assert [trial.failure for trial in found.trials] == [""] * 4
    isomap = next(trial for trial in found.trials if trial.title == "Isomap")
    ways = unbend.graphs.geodesics(GRAPH.maximum(GRAPH.T))
    expected = unbend.quality.trustworthiness(
        ways, isomap.embedding, n_neighbors=10, metric="precomputed"
    )
    assert isomap.measures["trustworthiness"] == pytest.approx(float(expected))


def test_other_metrics_are_handed_to_the_methods():
    rng = np.random.default_rng(0)
    texts = rng.poisson(rng.gamma(0.3, size=(120, 40))) + 0.01
    suggestion = unbend.suggest(texts, metric="cosine")
    assert suggestion.estimator.metric == "cosine"
    suggestion.estimator.fit(texts)
    failed = unbend.compare(texts, ["PCA", "Isomap"], metric="cosine").trials[-1]
    assert (failed.title, failed.failure[:17]) == ("PCA", "PCA has no metric")


@pytest.mark.parametrize("function", [unbend.suggest, unbend.compare, unbend.choose_dimension])
def test_distances_passed_as_points_are_refused_unless_insisted_on(function):
    sentence = r"as distances are\. Pass metric='precomputed' .*, or metric='euclidean' if its rows"
    with pytest.raises(ValueError, match=sentence):
        function(DISTANCES[:60, :60])
    function(DISTANCES[:60, :60], metric="euclidean")
    # Square, but not symmetric or without a zero diagonal: points.
    rng = np.random.default_rng(0)
    function(rng.normal(size=(60, 60)))


def test_the_command_refuses_distances_passed_as_points(tmp_path):
    np.savetxt(tmp_path / "far.csv", DISTANCES[:60, :60], delimiter=",")
    for command in ("suggest", "dimension"):
        refused = run(command, "far.csv", cwd=tmp_path, code=2)
        assert b"say --distances, or --as table" in refused.stderr
    facts = json.loads(run("suggest", "far.csv", "--distances", "--json", cwd=tmp_path).stdout)
    expected = unbend.suggest(DISTANCES[:60, :60], metric="precomputed")
    assert facts["reasons"] == expected.reasons
    told = json.loads(run("suggest", "far.csv", "--as", "table", "--json", cwd=tmp_path).stdout)
    assert told["reasons"][0].startswith("60 rows, 60 features")
    again = json.loads(run("dimension", "far.csv", "--distances", "--json", cwd=tmp_path).stdout)
    assert again["verdict"] == facts["dimension"]
    compared = run("compare", "far.csv", "--distances", "--methods", "isomap", cwd=tmp_path)
    assert f"intrinsic dimension {facts['dimension']}," in compared.stdout.decode()


@sampled("seed", range(3))
@pytest.mark.parametrize("count", [3, 5])
def test_clusters_are_counted_and_spectral_clustering_finds_them(count, seed):
    points, labels = blobs(count, 50 + seed)
    suggestion = unbend.suggest(points, for_="clusters", scale="none")
    assert suggestion.reasons[0].endswith(f": {count} clusters")
    assert suggestion.estimator.n_clusters == count
    found = suggestion.estimator.fit(points).labels_
    pairs = {(int(a), int(b)) for a, b in zip(labels, found, strict=True)}
    assert len(pairs) == count
    embedding = unbend.suggest(points, for_="clusters", n_components=2, scale="none").estimator
    assert embedding.fit(points).embedding_.shape == (len(points), 2)


def test_data_in_one_piece_have_no_clusters():
    suggestion = unbend.suggest(CURVE.points, for_="clusters")
    assert suggestion.reasons[0].endswith(": no clusters")
    assert type(suggestion.estimator).__name__ == "LaplacianEigenmaps"


def test_a_picture_of_more_dimensions_says_what_it_loses():
    scaled = StandardScaler().fit_transform(WINE.data)
    suggestion = unbend.suggest(scaled)
    _, values, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    lost = 1 - np.sum(values[:2] ** 2) / np.sum(values**2)
    assert f"lose {lost:.0%} of the variance" in " ".join(suggestion.reasons)
    others = [unbend.PCA(), unbend.Isomap(), unbend.DiffusionMaps()]
    found = suggestion.estimator.fit(scaled).embedding_
    areas = [
        float(unbend.quality.coranking(scaled, Y).r_nx_auc)
        for Y in (found, *(other.fit_transform(scaled) for other in others))
    ]
    assert max(areas) == areas[0]


def test_a_picture_that_leaves_much_of_the_geodesics_shows_neighbourhoods():
    """Two coordinates that leave half of them cannot hold the data, whatever the dimension is."""
    for left, name in ((0.5, "NeighborEmbedding"), (0.1, "MetricMDS")):
        found = replace(FOUND, outside=0.9, residual=0.7, residuals=np.array([0.7, left]))
        method, why, _ = decide(Case(replace(found, dimension=1), "picture", None, "euclidean"))
        assert type(method).__name__ == name
        assert f"leave {left:.0%} of the geodesics" in why


def test_closed_data_need_one_coordinate_more_and_the_headline_says_so():
    rng = np.random.default_rng(5)
    sphere = rng.normal(size=(700, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    chart = unbend.suggest(sphere, for_="chart")
    assert (
        "intrinsic dimension 2, closed: 3 coordinates, since closed data need" in (chart.reasons[0])
    )
    assert chart.estimator.n_components == 3
    picture = unbend.suggest(sphere)
    assert "closed: 2 coordinates for a picture" in picture.reasons[0]
    assert "3 coordinates to be shown without a tear" in picture.reasons[1]
    solid = unbend.suggest(rng.uniform(size=(500, 4)) @ rng.normal(size=(4, 7)), for_="chart")
    assert "closed" not in solid.reasons[0]
    assert solid.estimator.n_components == 4


def test_columns_without_noise_do_not_hide_that_data_close_up():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 500)
    ring = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(500)))
    ring += 0.08 * rng.normal(size=ring.shape)
    turn = np.linalg.qr(rng.normal(size=(80, 3)))[0].T
    for rows in (ring, np.column_stack((ring, np.ones((500, 60)))), ring @ turn):
        assert unbend.suggest(rows, for_="chart", scale="none").findings.closed


def test_the_number_asked_for_is_taken_for_every_purpose():
    for purpose in PURPOSES:
        suggestion = unbend.suggest(CURVE.points, for_=purpose, n_components=3)
        assert suggestion.estimator.n_components == 3
        assert "3 coordinates, as requested" in suggestion.reasons[0]
    for wrong, error in (("2", TypeError), (0, ValueError)):
        with pytest.raises(error, match="n_components"):
            unbend.suggest(CURVE.points, n_components=wrong)
    with pytest.raises(ValueError, match=r"for_=.table. is not allowed"):
        unbend.suggest(CURVE.points, for_="table")


def test_features_have_a_transform_of_single_rows():
    frame = StandardScaler().fit_transform(WINE.data)
    suggestion = unbend.suggest(frame, for_="features")
    assert suggestion.estimator.n_components == suggestion.findings.high
    for method in (suggestion.estimator, *suggestion.alternatives):
        fitted = method.fit(frame[:150])
        together = fitted.transform(frame[150:])
        alone = np.concatenate([fitted.transform(row[None]) for row in frame[150:]])
        assert alone == pytest.approx(together, abs=1e-9)


def test_landmarks_are_promised_only_of_a_surface_of_known_dimension():
    """A fit with more coordinates than the surface that was measured would decline to denoise."""
    noisy = replace(FOUND, outside=0.3, hidden=3.0, surface=True, residuals=np.full(9, 0.01))
    for change, denoised in (
        ({"dimension": 2, "low": 2, "high": 2}, True),
        ({"dimension": 7, "low": 5, "high": 8}, False),
    ):
        case = Case(replace(noisy, **change), "features", None, "euclidean")
        method, why, _ = decide(case)
        assert ("landmarks on it are fitted" in why) == denoised
        assert (getattr(method, "denoise", False) == "auto") == denoised


def test_few_rows_are_not_taken_for_a_hole():
    roll = unbend.datasets.swiss_roll(500, random_state=0).points
    assert "or few rows" in unbend.suggest(roll).reasons[1]


def test_rows_of_the_whole_decide_whether_there_are_landmarks():
    sample = unbend.datasets.swiss_roll(1000, random_state=0).points
    assert type(unbend.suggest(sample).estimator).__name__ == "Isomap"
    large = unbend.suggest(sample, n_rows=50_000)
    assert type(large.estimator).__name__ == "LandmarkIsomap"
    assert large.reasons[0].startswith("50000 rows")


@pytest.mark.parametrize("kind", ["points", "distances", "graph"])
def test_some_rule_decides_in_every_case(kind):
    """Every combination of what can be found has a method, a reason and coordinates as stated."""
    base = replace(FOUND, kind=kind)
    metric = "euclidean" if kind == "points" else "precomputed"
    for purpose in PURPOSES:
        for change in (
            {},
            {"clusters": 4},
            {"outside": 0.0},
            {"hidden": 3.0},
            {"residual": 0.06},
            {"residual": 0.01},
            {"residual": 0.0},
            {"low": 1, "high": 9},
            {"dimension": 5, "low": 5, "high": 6, "outside": 0.2, "residual": 0.06},
            {"n": 50_000},
            {"n": 50_000, "dimension": 5, "low": 5, "high": 6},
        ):
            case = Case(replace(base, **change), purpose, None, metric)
            rule = next(r for r in RULES if purpose in r.purposes and r.holds(case))
            method = rule.method(case)
            assert method is not None
            assert rule.why(case)
            assert getattr(method, "n_components", case.coordinates) == case.coordinates


def test_polars_and_arrow_tables_are_taken():
    polars = pytest.importorskip("polars")
    frame = WINE.data
    expected = unbend.choose_dimension(frame)
    assert unbend.choose_dimension(polars.from_pandas(frame)).votes == expected.votes
    assert unbend.suggest(pd.DataFrame(frame)).findings.verdict == expected.verdict


def test_no_more_coordinates_are_suggested_than_there_are_columns():
    X = np.random.default_rng(0).normal(size=(60, 4))
    with pytest.raises(ValueError, match=r"n_components=9 is not allowed: .* 4 with 4 columns"):
        unbend.suggest(X, for_="features", n_components=9)
    line = unbend.suggest(X[:, :1]).estimator
    assert line.fit(X[:, :1]).embedding_.shape == (60, 1)


def test_curves_are_not_given_to_local_methods_with_two_coordinates():
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 3, 600))
    arc = 3 * np.column_stack((np.cos(angle), np.sin(angle)))
    pieces = np.linspace(0, 0.3, 12)[:, None] * rng.normal(size=(10, 1, 2))
    outliers = (pieces + rng.uniform(8, 60, size=(10, 1, 2))).reshape(-1, 2)
    for rows in (arc, np.concatenate((arc, outliers))):
        suggestion = unbend.suggest(rows)
        assert suggestion.findings.high == 1
        assert type(suggestion.estimator).__name__ == "Isomap"
        assert "beyond 1 dimension would follow the curvature" in suggestion.reasons[1]
        assert not re.search(r"e-\d", suggestion.reasons[1])


def test_one_linear_feature_is_not_said_to_be_enough():
    rows = datasets.make_moons(400, noise=0.05, random_state=0)[0]
    assert "82% of the variance in 1 linear feature, and" in str(
        unbend.suggest(rows, for_="features")
    )


def test_reasons_have_plain_numbers():
    """Of a star no coordinates explain anything, and rows fill their columns."""
    star = np.zeros((100, 100))
    star[0, 1:] = star[1:, 0] = 1
    reason = unbend.suggest(csr_array(star), for_="chart", metric="precomputed").reasons[1]
    assert "100% of the geodesics" in reason
    rows = np.random.default_rng(0).normal(size=(200, 2))
    constant = np.column_stack((rows, np.ones(200)))
    for full in (rows, constant):
        suggestion = unbend.suggest(full, for_="chart", scale="none")
        assert type(suggestion.estimator).__name__ == "PCA"
        assert "as many dimensions as columns that vary" in suggestion.reasons[1]
    flat = np.column_stack((rows, 0.01 * rows[:, 0] ** 2))
    assert "of the variance lies outside a plane" in unbend.suggest(flat, scale="none").reasons[1]

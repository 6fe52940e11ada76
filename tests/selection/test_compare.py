"""Comparisons, suggestions, stability and scores."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.manifold import Isomap as ScikitIsomap
from sklearn.model_selection import GridSearchCV

import unbend
from tests.loops import each, sampled
from unbend.plot import panels
from unbend.progress import Cancelled
from unbend.registry import METHODS
from unbend.selection.comparison import Trial, _rank
from unbend.selection.trials import CHARTS


def test_methods_that_unroll_stand_before_those_that_press():
    roll = unbend.datasets.swiss_roll(1000, random_state=0)
    found = unbend.compare(roll.points, truth=roll.chart)
    titles = [trial.title for trial in found.trials]
    assert set(titles[:4]) == {"RigidAlignment", "Isomap", "LTSA", "HessianLLE"}
    assert titles.index("PCA") > 3
    first, pca = found.trials[0], found.trials[titles.index("PCA")]
    assert first.mean_rank < pca.mean_rank
    assert "is not the true chart" in pca.reason
    assert found.best is first.estimator
    assert all(trial.title in str(found) for trial in found.trials)
    assert list(found.to_dict()) == titles


def test_the_methods_that_are_suggested_for_charts_are_compared_unless_others_are_named():
    curve = unbend.datasets.s_curve(200, random_state=0)
    distances = np.linalg.norm(curve.points[:, None] - curve.points, axis=2)
    points = {trial.title for trial in unbend.compare(curve.points).trials}
    assert points >= set(CHARTS)
    far = unbend.compare(distances, metric="precomputed").trials
    assert {trial.title for trial in far} >= {*CHARTS, "ClassicalMDS"} - {"PCA"}
    assert not any(trial.failure for trial in far)


def test_every_combination_is_tried_and_the_result_does_not_depend_on_threads():
    curve = unbend.datasets.s_curve(300, random_state=0)
    options = {"parameters": {"n_neighbors": [6, 10], "kind": ["self_tuning"]}, "n_neighbors": 8}
    methods = {"waves": unbend.DiffusionMaps(), "flat": "PCA", "isomap": unbend.Isomap}
    one, two = (unbend.compare(curve.points, methods, n_jobs=jobs, **options) for jobs in (1, 2))
    assert {trial.title for trial in one.trials} == {
        "waves n_neighbors=6, kind=self_tuning",
        "waves n_neighbors=10, kind=self_tuning",
        "flat",
        "isomap n_neighbors=6",
        "isomap n_neighbors=10",
    }
    for first, second in zip(one.trials, two.trials, strict=True):
        assert (first.title, first.measures) == (second.title, second.measures)


def test_a_parameter_may_be_meant_for_one_method():
    curve = unbend.datasets.s_curve(100, random_state=0)
    tried = {"Isomap__n_neighbors": [6, 7], "n_neighbors": [9]}
    found = unbend.compare(curve.points, ["PCA", "Isomap", "LTSA"], parameters=tried)
    own = {t.title: t.estimator.get_params().get("n_neighbors") for t in found.trials}
    assert own == {
        "PCA": None,
        "Isomap n_neighbors=6": 6,
        "Isomap n_neighbors=7": 7,
        "LTSA n_neighbors=9": 9,
    }
    for wrong in ("Isomap__wings", "LLE__n_neighbors", "__n_neighbors"):
        with pytest.raises(ValueError, match=f"none of the methods has a parameter '{wrong}'"):
            unbend.compare(curve.points, ["Isomap"], parameters={wrong: [3]})


def test_small_redundancy_decides_nothing():
    measures = {
        "better": {"trustworthiness": 0.99, "redundancy": 0.3, "occupancy": 0.5},
        "worse": {"trustworthiness": 0.98, "redundancy": 0.0, "occupancy": 1.0},
        "redundant": {"trustworthiness": 1.0, "redundancy": 0.9, "occupancy": 1.0},
    }
    ranked = _rank([Trial(title, None, values, 0.0) for title, values in measures.items()])
    assert [trial.title for trial in ranked] == ["better", "worse", "redundant"]
    assert [trial.mean_rank for trial in ranked] == [2.0, 3.0, 1.0]


def test_failed_trials_are_reported_and_ranked_last():
    curve = unbend.datasets.s_curve(100, random_state=0)
    bad = unbend.Isomap(n_components=0)
    found = unbend.compare(curve.points, {"bad": bad, "good": "PCA"})
    assert [trial.title for trial in found.trials] == ["good", "bad"]
    assert "n_components=0 is not allowed" in found.trials[1].failure
    assert "failed: n_components=0" in str(found)
    with pytest.raises(ValueError, match="no method succeeded"):
        _ = unbend.compare(curve.points, [bad]).best
    with pytest.raises(ValueError, match="method='TSNE' is not allowed: it must be one of 'PCA'"):
        unbend.compare(curve.points, ["TSNE"])


class FitReturnsCoordinates(BaseEstimator):
    """As openTSNE: `fit` returns the coordinates, and nothing is kept."""

    def fit(self, X):
        return np.array(X[:, :2])


class FitTransformOnly(BaseEstimator):
    """As some: only `fit_transform`."""

    def fit_transform(self, X, y=None):
        return np.array(X[:, :2])


class Breaks(BaseEstimator):
    def fit(self, X):
        raise RuntimeError("the compiler is missing")


def test_estimators_of_other_libraries_are_judged_by_the_same_measures():
    points = unbend.datasets.s_curve(200, random_state=0).points
    methods = [FitReturnsCoordinates(), FitTransformOnly(), Breaks(), unbend.PCA()]
    found = unbend.selection.compare(points, [*methods, ScikitIsomap()])
    measures = {trial.title: trial.measures for trial in found.trials}
    assert measures["FitReturnsCoordinates"] == measures["FitTransformOnly"]
    expected = unbend.quality.trustworthiness(points, points[:, :2], n_neighbors=10)
    assert measures["FitReturnsCoordinates"]["trustworthiness"] == pytest.approx(expected)
    assert found.trials[-1].failure == "the compiler is missing"
    assert found.trials[0].title == "Isomap"
    assert len(found.contact_sheet().axes) >= 4
    np.testing.assert_array_equal(
        next(t for t in found.trials if t.title == "FitTransformOnly").embedding, points[:, :2]
    )


class Overwrites(BaseEstimator):
    """Writes into its input, as some do that save memory."""

    def fit_transform(self, X, y=None):
        X[:] = 0
        return X[:, :2]


class CountsFits(BaseEstimator):
    """Both `fit` and `fit_transform`, as scikit-learn's transformers."""

    fits = 0

    def fit(self, X, y=None):
        CountsFits.fits += 1
        return self

    def fit_transform(self, X, y=None):
        self.fit(X)
        return csr_array(X[:, :2])


def test_an_estimator_that_overwrites_its_input_does_not_judge_the_others():
    points = unbend.datasets.s_curve(200, random_state=0).points
    before = points.copy()
    found = unbend.compare(points, [Overwrites(), unbend.PCA()])
    alone = unbend.compare(points, [unbend.PCA()])
    np.testing.assert_array_equal(points, before)
    assert found.trials[0].title == "PCA"
    assert found.trials[0].measures == alone.trials[0].measures


def test_an_estimator_of_another_library_is_fitted_once():
    points = unbend.datasets.s_curve(200, random_state=0).points
    found = unbend.compare(points, [CountsFits()])
    assert CountsFits.fits == 1
    np.testing.assert_array_equal(found.trials[0].embedding, points[:, :2])


def test_estimators_of_one_class_have_titles_that_differ():
    points = unbend.datasets.s_curve(100, random_state=0).points
    methods = [ScikitIsomap(n_neighbors=6), ScikitIsomap(n_neighbors=12), "Isomap", "PCA", "PCA"]
    titles = {trial.title for trial in unbend.compare(points, methods).trials}
    named = {f"sklearn.Isomap n_neighbors={count}" for count in (6, 12)}
    assert titles == {*named, "Isomap", "PCA", "PCA (2)"}


def test_progress_is_reported_trial_by_trial_and_can_cancel():
    curve = unbend.datasets.s_curve(100, random_state=0)
    seen = []
    with unbend.monitoring(lambda progress: seen.append((progress.stage, progress.done))):
        unbend.compare(curve.points, ["PCA", "Isomap"])
    assert seen == [("compare", 0), ("compare", 1), ("compare", 2)]
    with pytest.raises(Cancelled), unbend.monitoring(lambda progress: False):
        unbend.compare(curve.points, ["PCA", "Isomap"])


def test_the_contact_sheet_shows_all_in_order():
    curve = unbend.datasets.s_curve(100, random_state=0)
    found = unbend.compare(curve.points, ["PCA", "Isomap"], labels=np.arange(100) // 50)
    assert "neighborhood_hit" in found.trials[0].measures
    figure = found.contact_sheet(curve.chart[:, 0])
    assert isinstance(figure, panels.Picture)
    titles = [axes.get_title() for axes in figure.axes][:2]
    assert titles == [trial.title for trial in found.trials]


KNOWN = [
    ("square", {}, {"PCA"}),
    ("square", {"noise": 0.05}, {"PCA"}),
    ("swiss_roll", {}, {"Isomap"}),
    ("swiss_roll", {"noise": 0.3}, {"RigidAlignment"}),
    ("s_curve", {}, {"Isomap"}),
    ("swiss_hole", {}, {"HessianLLE", "LTSA"}),
    ("punched_sphere", {}, {"DiffusionMaps"}),
    ("clusters_3d", {}, {"MetricMDS"}),
    ("toroidal_helix", {}, {"DiffusionMaps"}),
]


@each("seed", range(3), keep=1)
@each(("name", "options", "methods"), KNOWN)
def test_suggestions_fit_surfaces_whose_truth_is_known(name, options, methods, seed):
    points = unbend.datasets.SURFACES[name](1500, random_state=seed, **options).points
    suggestion = unbend.suggest(points)
    found = suggestion.findings
    assert type(suggestion.estimator).__name__ in methods
    assert found.dimension == (1 if name == "toroidal_helix" else 2)
    assert found.flat == (name == "square")
    assert found.clustered == (name == "clusters_3d")
    assert found.closed == (name in ("punched_sphere", "toroidal_helix"))
    assert found.noisy == (options.get("noise") == 0.3)
    suggestion.estimator.fit(points)
    assert len(suggestion.reasons) >= 2
    assert "also:" in str(suggestion)


def test_separate_clusters_and_large_data_are_seen():
    rng = np.random.default_rng(0)
    blobs = np.concatenate([rng.normal(size=(150, 5)) + 50 * i * np.eye(5)[i] for i in range(1, 4)])
    found = unbend.suggest(blobs, dimension=2)
    assert found.findings.parts == 3
    assert "3 clusters" in found.reasons[1]
    large = unbend.suggest(unbend.datasets.swiss_roll(20_000, random_state=0).points)
    assert type(large.estimator).__name__ == "LandmarkIsomap"
    assert any("landmarks" in reason for reason in large.reasons)
    with pytest.raises(ValueError, match="All rows of X are equal"):
        unbend.suggest(np.ones((50, 2)))


def test_stability_is_none_for_flat_data_and_large_for_chance():
    square = unbend.datasets.square(400, random_state=0)
    exact = unbend.stability(unbend.ClassicalMDS(), square.points)
    assert exact < 1e-9
    assert exact.local.shape == (400,)
    noise = np.random.default_rng(0).normal(size=(200, 50))
    assert unbend.stability(unbend.PCA(), noise) > 0.3
    with pytest.raises(ValueError, match=r"share=.* is not allowed"):
        unbend.stability(unbend.PCA(), noise, share=1.5)


@pytest.mark.parametrize("method", ["Isomap", "LTSA"])
@sampled("seed", range(3))
def test_grid_search_takes_a_number_of_neighbours_that_unrolls(method, seed):
    roll = unbend.datasets.swiss_roll(1000, random_state=seed)
    search = GridSearchCV(getattr(unbend, method)(), {"n_neighbors": [3, 8, 100]}, cv=3)
    search.fit(roll.points)
    assert search.best_params_ == {"n_neighbors": 8}
    assert 0.5 < search.best_score_ <= 1


def test_the_score_is_perfect_for_an_isometry_and_nothing_for_chance():
    square = unbend.datasets.square(300, random_state=0)
    assert unbend.PCA().fit(square.points[:200]).score(square.points[200:]) == 1
    noise = np.random.default_rng(0).normal(size=(900, 100))
    assert abs(unbend.PCA().fit(noise[:300]).score(noise[300:])) < 0.1


def test_precomputed_distances_are_scored_against_the_fitted_rows():
    curve = unbend.datasets.s_curve(400, random_state=0)
    between = np.linalg.norm(curve.points[:, None] - curve.points, axis=2)
    model = unbend.Isomap(metric="precomputed").fit(between[:300, :300])
    assert model.score(between[300:, :300]) > 0.6
    search = GridSearchCV(unbend.Isomap(metric="precomputed"), {"n_neighbors": [5, 8]}, cv=3)
    assert search.fit(between).best_score_ > 0.6
    with pytest.raises(ValueError, match="at least 3 rows"):
        unbend.PCA().fit(curve.points).score(curve.points[:2])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"methods": "PCA"}, TypeError, "must be a list"),
        ({"parameters": {"n_neighbours": [5]}}, ValueError, "use 'n_neighbors'"),
        ({"parameters": {"n_neighbors": 5}}, TypeError, "to try must be a list"),
        ({"truth": np.ones((9, 2))}, ValueError, "truth has 9 rows and X has 30"),
        ({"truth": np.ones((30, 2))}, ValueError, "two different points"),
        ({"labels": np.arange(9)}, ValueError, "one value for each of 30 rows"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0 is not allowed"),
    ],
)
def test_what_would_fail_in_every_trial_is_refused_at_once(options, error, words):
    points = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(error, match=words):
        unbend.compare(points, **{"methods": ["PCA", "Isomap"], **options})


@pytest.mark.parametrize("n", [8, 10, 12])
def test_a_handful_of_rows_can_be_compared(n):
    points = np.random.default_rng(n).normal(size=(n, 4))
    found = unbend.compare(points, ["PCA", "ClassicalMDS"], truth=points, labels=np.arange(n) % 2)
    assert [trial.failure for trial in found.trials] == ["", ""]
    assert {"color_mixing", "procrustes", "neighborhood_hit"} <= set(found.trials[0].measures)


def test_suggestions_see_each_row_once():
    curve = unbend.datasets.s_curve(500, random_state=0).points
    once, often = unbend.suggest(curve), unbend.suggest(np.repeat(curve, 3, axis=0))
    assert type(often.estimator) is type(once.estimator)
    assert often.findings.residual == once.findings.residual
    with pytest.raises(ValueError, match="4 distinct sample"):
        unbend.suggest(np.repeat(curve[:4], 10, axis=0))


class Collapse(BaseEstimator):
    """Puts all points but a few at three places."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit(self, X, y=None):
        rng = np.random.default_rng(0)
        self.embedding_ = np.eye(3)[np.argmax(X[:, :3], axis=1), :2] + 1e-4 * rng.normal(
            size=(len(X), 2)
        )
        return self


@sampled("seed", range(20, 23))
def test_a_picture_of_a_few_specks_is_never_first(seed):
    """Of four clusters at the corners of a rectangle spectral methods show a few dots."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 80)
    corners = np.array([[0.0, 0.0], [14.0, 0.0], [0.0, 9.0], [14.0, 9.0]])
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    blobs = (np.pad(corners[labels], ((0, 0), (0, 4))) + rng.normal(size=(320, 6))) @ turn
    methods = ["LaplacianEigenmaps", "LTSA", "DiffusionMaps", Collapse(), "PCA"]
    found = unbend.compare(blobs, methods, labels=labels, scale="none")
    assert found.trials[0].title == "PCA"
    assert not found.trials[0].degenerate
    specks = {trial.title for trial in found.trials if trial.measures["occupancy"] < 0.1}
    assert {"LaplacianEigenmaps", "Collapse"} <= specks
    assert all("a few specks" in trial.reason for trial in found.trials if trial.title in specks)
    alone = unbend.compare(blobs, [Collapse()], scale="none")
    assert "no method gave a usable picture" in str(alone)


@sampled("seed", range(3))
def test_redundant_coordinates_are_never_first(seed):
    """The second wave along a strip wins by neighbourhoods against a poor method, not by rank."""
    strip = np.random.default_rng(seed).uniform(size=(400, 2)) * [8, 1]
    waves = unbend.LaplacianEigenmaps()
    poor = unbend.RandomProjection(random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(400, 2))
    found = unbend.compare(
        np.hstack((strip, 0.01 * noise)), {"waves": waves, "poor": poor}, scale="none"
    )
    by_title = {trial.title: trial for trial in found.trials}
    assert by_title["waves"].measures["redundancy"] > 0.8
    assert [trial.title for trial in found.trials] == ["poor", "waves"]


def test_the_mean_rank_has_the_documented_weights():
    curve = unbend.datasets.s_curve(200, random_state=0)
    found = unbend.compare(curve.points, ["PCA", "Isomap", "LTSA"], truth=curve.chart)
    better = {"trustworthiness": -1, "continuity": -1, "r_nx_auc": -1}
    better |= {"procrustes": 1, "color_mixing": 1, "isometry_error": 1}
    assert set(found.trials[0].measures) == {*better, "redundancy", "occupancy"}
    for trial in found.trials:
        ranks = [
            1
            + sum(
                round(sign * other.measures[name], 3) < round(sign * trial.measures[name], 3)
                for other in found.trials
            )
            for name, sign in better.items()
        ]
        assert trial.mean_rank == pytest.approx(np.mean(ranks))


def test_printed_tables_fit_80_columns_and_show_failures_and_warnings():
    curve = unbend.datasets.s_curve(150, random_state=0)
    several = [entry.load()() for entry in METHODS if entry.class_name != "SupervisedLLE"]
    long = {"a long title that leaves no room for any number beside it " * 2: unbend.PCA()}
    methods = {type(method).__name__: method for method in several} | long
    methods["bad"] = unbend.Isomap(n_components=0)
    methods["few"] = unbend.HessianLLE(n_neighbors=3)
    found = unbend.compare(
        curve.points, methods, truth=curve.chart, labels=np.arange(150) // 75, n_jobs=1
    )
    text = str(found)
    assert max(map(len, text.split("\n"))) <= 80
    assert "failed: n_components=0 is not allowed" in text
    flat = " ".join(text.split())
    for trial in found.trials:
        assert " ".join(trial.title.split()) in flat
        assert all(" ".join(warning.split()) in flat for warning in trial.warnings)
    assert any(trial.warnings for trial in found.trials)
    short = unbend.compare(curve.points, ["PCA", "LTSA"])
    line = next(line for line in str(short).split("\n") if line.startswith("LTSA"))
    figures = {t.title: t for t in short.trials}["LTSA"].measures
    assert f"{figures['trustworthiness']:.3f}" in line


def test_of_equal_mean_ranks_those_best_by_some_measure_come_first():
    measures = {
        "second by both": {"trustworthiness": 0.98, "continuity": 0.97},
        "first and third": {"trustworthiness": 0.99, "continuity": 0.96},
        "third and first": {"trustworthiness": 0.95, "continuity": 0.99},
    }
    ranked = _rank([Trial(title, None, values, 0.0) for title, values in measures.items()])
    assert [trial.mean_rank for trial in ranked] == [2.0, 2.0, 2.0]
    assert [trial.title for trial in ranked] == [
        "first and third",
        "third and first",
        "second by both",
    ]


def test_pictures_of_many_dimensions_are_neighbour_embeddings():
    digits = load_digits().data[:800]
    suggestion = unbend.suggest(digits, for_="picture", scale="none")
    assert type(suggestion.estimator).__name__ == "NeighborEmbedding"
    assert "MetricMDS" in [type(other).__name__ for other in suggestion.alternatives]
    picture = suggestion.estimator.fit(digits).embedding_
    flat = unbend.PCA().fit(digits).embedding_
    trust = [unbend.quality.trustworthiness(digits, found) for found in (picture, flat)]
    assert trust[0] > trust[1] + 0.1

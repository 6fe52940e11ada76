"""Metric scaling: what stress must do, whatever the loss, the solver and the start."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform

import unbend
from unbend import MetricMDS, mds
from unbend.mds import Pairs
from unbend.neighbors import PointSpace
from unbend.quality import procrustes

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(60, 2)) * [2.0, 1.0]
EXACT = squareform(pdist(PLANE))
SOLID = RNG.normal(size=(60, 5))
LOSSES = ("raw", "stress1", "sstress", "sammon")
LOSS = pytest.mark.parametrize("loss", LOSSES)


def scaled(**options):
    return MetricMDS(metric="precomputed", **options)


def defined(loss, distances, given):
    """Return a loss by its definition."""
    if loss == "raw":
        return np.sum((distances - given) ** 2)
    if loss == "stress1":
        return np.sqrt(np.sum((distances - given) ** 2) / np.sum(distances**2))
    if loss == "sstress":
        return np.sum((distances**2 - given**2) ** 2)
    return np.sum((distances - given) ** 2 / given) / given.sum()


@LOSS
@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_distances_in_the_plane_are_recovered(loss, solver):
    if (loss, solver) == ("sstress", "smacof"):
        with pytest.raises(ValueError, match="use solver='lbfgs'"):
            scaled(loss=loss, solver=solver).fit(EXACT)
        return
    assert procrustes(PLANE, scaled(loss=loss, solver=solver).fit_transform(EXACT)) < 1e-10


@LOSS
def test_the_stress_is_that_of_the_definition_and_a_minimum(loss):
    given = pdist(SOLID)
    fitted = MetricMDS(loss=loss).fit(SOLID)
    assert fitted.stress_ == pytest.approx(defined(loss, pdist(fitted.embedding_), given), rel=1e-9)
    assert fitted.history_[-1] == pytest.approx(fitted.stress_, rel=1e-6)

    def value(flat):
        return defined(loss, pdist(flat.reshape(60, 2)), given)

    again = minimize(value, fitted.embedding_.ravel(), method="L-BFGS-B", options={"maxiter": 30})
    assert again.fun >= fitted.stress_ * (1 - 1e-6)


def test_smacof_never_raises_the_stress_and_ends_where_lbfgs_does():
    weights = np.triu(RNG.uniform(0.1, 2.0, (60, 60)), 1)
    options = {"weights": weights + weights.T}
    slow = MetricMDS(solver="smacof", max_iter=5000).fit(SOLID, **options)
    fast = MetricMDS().fit(SOLID, **options)
    assert np.all(np.diff(slow.history_) <= 1e-12 * slow.history_[0])
    assert slow.stress_ == pytest.approx(fast.stress_, rel=1e-9)
    assert fast.n_iter_ < slow.n_iter_


def unknown_pairs(share):
    hidden = np.triu(np.random.default_rng(1).random(EXACT.shape) < share, 1)
    return hidden | hidden.T


@pytest.mark.parametrize("how", ["nan", "mask", "weights", "sparse"])
def test_pairs_that_are_not_known_are_not_needed(how):
    hidden = unknown_pairs(0.5)
    wrong = np.where(hidden, 99.0, EXACT)
    fit = {
        "nan": lambda: scaled().fit(np.where(hidden, np.nan, EXACT)),
        "mask": lambda: scaled().fit(wrong, mask=~hidden),
        "weights": lambda: scaled().fit(wrong, weights=np.where(hidden, 0.0, 1.0)),
        "sparse": lambda: scaled().fit(csr_array(np.where(hidden, 0.0, EXACT))),
    }[how]()
    assert procrustes(PLANE, fit.embedding_) < 1e-8
    assert fit.report_.stage("dissimilarities").facts["unknown"] == hidden.sum() // 2
    assert len(fit.shepard().distances) == (~hidden).sum() // 2 - 30


def test_groups_without_a_distance_between_them_are_refused():
    far = EXACT.copy()
    far[:20, 20:] = far[20:, :20] = np.nan
    with pytest.raises(ValueError, match="2 groups"):
        scaled().fit(far)


def test_weights_say_which_errors_count():
    points = SOLID.copy()
    points[:10, 2:] = 0.0  # these ten have a plane of their own
    weights = np.ones((60, 60))
    weights[:10, :10] = 1e6
    kept = MetricMDS().fit(points, weights=weights)
    assert procrustes(points[:10, :2], kept.embedding_[:10]) < 1e-6
    assert procrustes(points[:10, :2], MetricMDS().fit(points).embedding_[:10]) > 1e-3


@pytest.mark.parametrize("init", ["classical", "pivot", "random"])
def test_every_start_finds_the_plane(init):
    assert procrustes(PLANE, scaled(init=init, n_init=8).fit_transform(EXACT)) < 1e-8


def test_a_given_start_is_used_and_the_best_of_several_random_ones_is_kept():
    start = RNG.normal(size=(60, 2))
    with pytest.warns(UserWarning, match="did not converge in 1 iterations"):
        one = MetricMDS(init=start, max_iter=1).fit(SOLID)
    assert one.history_[0] == pytest.approx(defined("raw", pdist(start), pdist(SOLID)))
    many = MetricMDS(init="random", n_init=6).fit(SOLID)
    single = MetricMDS(init="random", n_init=1).fit(SOLID)
    assert many.stress_ <= single.stress_
    with pytest.raises(ValueError, match="init must hold 60 x 2"):
        MetricMDS(init=start[:50]).fit(SOLID)


@LOSS
def test_new_objects_minimise_their_own_stress(loss):
    fitted = MetricMDS(loss=loss).fit(SOLID)
    new = np.random.default_rng(2).normal(size=(8, 5))
    placed, away = fitted.transform(new), cdist(new, SOLID)
    stretch = 1.0
    if loss == "stress1":  # at the scale of raw stress each object minimises raw stress
        distances = pdist(fitted.embedding_)
        stretch = np.sum(distances * pdist(SOLID)) / np.sum(distances**2)
    own = "raw" if loss == "stress1" else loss
    for row, given in zip(placed * stretch, away, strict=True):

        def value(y, given=given):
            return defined(own, np.linalg.norm(fitted.embedding_ * stretch - y, axis=1), given)

        assert minimize(value, row, method="BFGS").fun >= value(row) * (1 - 1e-9)


def test_new_objects_in_the_plane_are_placed_exactly_from_some_distances():
    fitted = scaled().fit(EXACT)
    new = np.random.default_rng(3).normal(size=(20, 2))
    rows = cdist(new, PLANE)
    rows[:, ::3] = np.nan
    placed = fitted.transform(rows)
    both = np.vstack([fitted.embedding_, placed])
    assert procrustes(np.vstack([PLANE, new]), both) < 1e-8
    with pytest.raises(ValueError, match="no distance to any fitted object"):
        fitted.transform(np.full((1, 60), np.nan))


def test_similarities_of_covariance_type_are_converted():
    centred = PLANE - PLANE.mean(axis=0)
    fitted = MetricMDS(metric="kernel").fit(centred @ centred.T)
    assert procrustes(PLANE, fitted.embedding_) < 1e-10
    assert "s_ii" in fitted.report_.stage("dissimilarities").facts["conversion"]


def test_invalid_distances_are_repaired_only_on_request():
    noise = RNG.normal(scale=1e-3, size=EXACT.shape)
    for bad, word in [(EXACT + noise, "symmetric|negative"), (EXACT + np.eye(60), "diagonal")]:
        with pytest.raises(ValueError, match=word):
            scaled().fit(bad)
        repaired = scaled(repair="clean").fit(bad)
        assert procrustes(PLANE, repaired.embedding_) < 1e-4
        assert repaired.report_.stage("dissimilarities").facts["diagonal"] > 0


def test_every_object_has_its_share_of_the_stress():
    given = EXACT.copy()
    given[7] *= 1.5
    given[:, 7] = given[7]
    fitted = scaled().fit(given)
    off = (squareform(pdist(fitted.embedding_)) - given) ** 2
    np.testing.assert_allclose(fitted.stress_per_object_, off.sum(axis=1) / off.sum(), rtol=1e-8)
    assert fitted.stress_per_object_.argmax() == 7


def test_the_shepard_diagram_of_exact_distances_is_the_diagonal():
    shepard = scaled().fit(EXACT).shepard()
    np.testing.assert_allclose(shepard.distances, shepard.dissimilarities, atol=1e-6)
    np.testing.assert_allclose(shepard.disparities, shepard.dissimilarities)


def test_dealt_dissimilarities_fit_worse_than_those_of_points():
    baseline = scaled(loss="stress1").fit(EXACT).permutation_baseline(9)
    assert baseline.share == 0.1
    assert baseline.random.min() > 0.2 > baseline.stress


def test_the_axes_are_principal_with_fixed_signs():
    coordinates = MetricMDS().fit_transform(SOLID)
    covariance = coordinates.T @ coordinates
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] >= covariance[1, 1]
    peak = np.abs(coordinates).argmax(axis=0)
    assert np.all(coordinates[peak, [0, 1]] > 0)


def test_single_precision_beyond_a_thousand_objects_finds_the_same_stress():
    points = np.random.default_rng(4).normal(size=(1100, 4))
    fitted = MetricMDS().fit(points)
    exact = defined("raw", pdist(fitted.embedding_), pdist(points))
    assert fitted.stress_ == pytest.approx(exact, rel=1e-6)
    threads = MetricMDS(n_jobs=2).fit(points)
    assert np.array_equal(fitted.embedding_, threads.embedding_)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "correlation"])
def test_single_precision_takes_every_metric_at_its_word(metric):
    points = np.random.default_rng(6).uniform(0.1, 1.0, size=(1100, 4))
    fitted = MetricMDS(metric=metric, max_iter=2000).fit(points)
    given = pdist(points, "cityblock" if metric == "manhattan" else metric)
    exact = defined("raw", pdist(fitted.embedding_), given)
    assert fitted.stress_ == pytest.approx(exact, rel=1e-4)


def test_stochastic_gradient_comes_near_the_minimum_and_holds_no_pairs():
    points = np.random.default_rng(5).normal(size=(800, 5))
    best, drawn = MetricMDS().fit(points), MetricMDS(solver="sgd", max_iter=3000).fit(points)
    exact = defined("raw", pdist(drawn.embedding_), pdist(points))
    assert exact < 1.05 * best.stress_
    assert drawn.stress_ == pytest.approx(exact, rel=0.02)
    with unbend.memory_limit(1_000_000):
        MetricMDS(solver="sgd", max_iter=5).fit(points)
        with pytest.raises(MemoryError, match="sgd"):
            MetricMDS().fit(points)
    with pytest.raises(ValueError, match="keeps no pairs"):
        drawn.shepard()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("init", ["auto", "given"])
def test_stochastic_gradient_gives_duplicate_rows_equal_coordinates(metric, init):
    rng = np.random.default_rng(11)
    distinct = rng.normal(size=(60, 4))
    copy = rng.permutation(np.r_[np.arange(60), rng.integers(0, 60, size=40)])
    rows = distinct[copy]
    given = squareform(pdist(rows)) if metric == "precomputed" else rows
    best = MetricMDS(metric=metric).fit(given)
    near = best.embedding_ + 0.3 * rng.normal(size=(100, 2))
    start = near if init == "given" else "auto"
    fitted = MetricMDS(metric=metric, solver="sgd", init=start, max_iter=3000).fit(given)
    first = np.unique(copy, return_index=True)[1]
    assert np.array_equal(fitted.embedding_, fitted.embedding_[first[copy]])
    assert fitted.report_.stage("dissimilarities").facts["duplicates"] == 40
    name = {"precomputed": "euclidean", "manhattan": "cityblock"}.get(metric, metric)
    exact = defined("raw", pdist(fitted.embedding_), pdist(rows, name))
    # The minimum over distinct objects, weighed by their numbers, is no other problem.
    assert exact < 1.03 * best.stress_


def test_matchings_without_duplicates_take_the_same_steps():
    points = np.random.default_rng(12).normal(size=(31, 3))

    def lengths(rows, columns):
        return np.linalg.norm(points[rows] - points[columns], axis=1)

    start = points[:, :2]
    plain, told = (
        mds.stochastic_gradient(lengths, start, 50, np.random.default_rng(0), copy)
        for copy in (None, np.arange(31))
    )
    assert np.array_equal(plain, told)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_of_wide_rows_are_those_of_differences(offset):
    rng = np.random.default_rng(11)
    points = rng.normal(size=(40, 3000)) + offset
    points[7] = points[3]
    points[8] = points[3] + 1e-6 * rng.normal(size=3000)
    found = Pairs.from_points(PointSpace(points)).dissimilarities
    np.testing.assert_allclose(found, pdist(points), 1e-12, 0)
    assert found.min() == 0

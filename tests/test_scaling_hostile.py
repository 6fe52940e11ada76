"""Scaling methods and what users may hand them: every answer is right, or one clear sentence."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.conformance.cases import refused
from tests.loops import sampled
from unbend import MetricMDS, NonmetricMDS, ReplicatedMDS, WeightedMDS

RNG = np.random.default_rng(7)
POINTS = RNG.normal(size=(25, 4))
DISTANCES = squareform(pdist(POINTS))
KNOWN = np.triu(RNG.random(DISTANCES.shape) < 0.6, 1)
KNOWN = KNOWN | KNOWN.T | np.eye(25, dtype=bool)
PARTLY = np.where(KNOWN, DISTANCES, np.nan)
SINGLE = [MetricMDS, NonmetricMDS]
SEVERAL = [ReplicatedMDS, WeightedMDS]


def given(method, distances, **options):
    mds = method(metric="precomputed", **options)
    return mds.fit([distances, distances] if method in SEVERAL else distances)


@pytest.mark.parametrize("method", SINGLE + SEVERAL)
@pytest.mark.parametrize("size", [1e100, 1e-100])
def test_sizes_whose_squares_are_lost_are_refused(method, size):
    refused(lambda: given(method, DISTANCES * size), "Rescale")


@pytest.mark.parametrize("method", SINGLE + SEVERAL)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("power", [150, -150])
def test_the_unit_of_distances_only_changes_the_scale(method, power):
    plain, other = given(method, DISTANCES), given(method, DISTANCES * 2.0**power)
    stretch = 1.0 if method is WeightedMDS else 2.0**power
    np.testing.assert_allclose(other.embedding_, plain.embedding_ * stretch, rtol=1e-9)


@pytest.mark.parametrize("method", SINGLE)
@pytest.mark.parametrize("power", [130, -130])
def test_many_objects_beyond_single_precision_are_kept_in_double(method, power):
    distances = squareform(pdist(np.random.default_rng(0).normal(size=(1001, 5))))
    mds = method(metric="precomputed", max_iter=2, tol=1e-2)
    far = mds.fit_transform(distances * 2.0**power) / 2.0**power
    np.testing.assert_allclose(far, mds.fit_transform(distances), rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", SINGLE)
def test_an_object_that_leaves_single_precision_is_refused(method):
    points = np.random.default_rng(0).normal(size=(1001, 5))
    points[1] = 1e20
    refused(lambda: given(method, squareform(pdist(points))), "single precision", "rescale")


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_weights_that_sums_would_lose_are_refused(size):
    weights = np.full(DISTANCES.shape, size)
    refused(lambda: MetricMDS(metric="precomputed").fit(DISTANCES, weights=weights), "divide them")


@pytest.mark.parametrize("method", SINGLE)
def test_masked_entries_are_not_known(method):
    masked = np.ma.array(np.nan_to_num(PARTLY, nan=1e4), mask=~KNOWN)
    assert np.array_equal(given(method, masked).embedding_, given(method, PARTLY).embedding_)


@pytest.mark.parametrize("method", SINGLE)
def test_a_start_in_one_place_is_refused(method):
    refused(lambda: given(method, DISTANCES, init=np.ones((25, 2))), "the same coordinates")


@pytest.mark.parametrize("method", SINGLE + SEVERAL)
def test_the_sentence_names_the_repair(method):
    refused(lambda: given(method, DISTANCES + np.triu(DISTANCES)), "repair='clean'")
    refused(lambda: given(method, DISTANCES + np.eye(25)), "repair='clean'")


def test_similarities_are_repaired_too():
    kernel = POINTS @ POINTS.T
    skew = np.triu(RNG.normal(size=kernel.shape), 1)
    mds = MetricMDS(metric="kernel", repair="clean").fit(kernel + skew - skew.T)
    plain = MetricMDS(metric="kernel").fit(kernel)
    np.testing.assert_allclose(mds.embedding_, plain.embedding_, atol=1e-6)
    refused(lambda: MetricMDS(metric="kernel").fit(kernel + skew), "not symmetric")


def test_stochastic_gradient_repairs_and_reports_missing_pairs():
    skew = np.triu(0.1 * DISTANCES)
    mds = MetricMDS(metric="precomputed", solver="sgd", repair="clean").fit(DISTANCES + skew)
    assert "asymmetry" in str(mds.report_)
    refused(lambda: given(MetricMDS, PARTLY, solver="sgd"), "all distances", "lbfgs")


@pytest.mark.parametrize("method", SINGLE)
def test_the_baseline_of_a_chain_of_known_pairs_stays_connected(method):
    chain = np.full(DISTANCES.shape, np.nan)
    for i in range(24):
        chain[i, i + 1] = chain[i + 1, i] = DISTANCES[i, i + 1]
    chain[0, 5] = chain[5, 0] = DISTANCES[0, 5]
    assert np.isfinite(given(method, chain).permutation_baseline(4).random).all()
    refused(lambda: given(method, DISTANCES).permutation_baseline(0), "n_permutations")


def test_a_pivot_start_goes_along_known_pairs():
    plane = POINTS[:, :2]
    distances = np.where(KNOWN, squareform(pdist(plane)), np.nan)
    mds = given(MetricMDS, distances, init="pivot", max_iter=1)
    assert mds.history_[0] < 0.5 * np.nansum(distances**2) / 2


@pytest.mark.parametrize("loss", ["raw", "stress1", "sstress", "sammon"])
def test_shares_of_objects_are_those_of_the_embedding(loss):
    mds = given(MetricMDS, DISTANCES, loss=loss)
    power, found = (2 if loss == "sstress" else 1), squareform(pdist(mds.embedding_))
    off = (found**power - DISTANCES**power) ** 2
    off /= (DISTANCES + np.eye(25)) if loss == "sammon" else 1.0
    np.testing.assert_allclose(mds.stress_per_object_, off.sum(axis=1) / off.sum(), rtol=1e-8)


@sampled("seed", range(4))
def test_interval_disparities_are_distances_and_majorisation_never_goes_up(seed):
    rng = np.random.default_rng(seed)
    distances = squareform(pdist(rng.normal(size=(16, 4))))
    options = {"transformation": "interval", "init": "random", "n_init": 3, "max_iter": 2000}
    mds = given(NonmetricMDS, distances, solver="smacof", **options)
    assert np.all(np.diff(mds.history_) <= 1e-12)
    assert mds.shepard().disparities.min() >= 0


def test_an_object_missing_from_one_matrix_is_placed_by_another():
    partly = squareform(pdist(POINTS[:, :2]))
    whole = 2.0 * partly
    partly[3], partly[:, 3] = np.nan, np.nan
    mds = ReplicatedMDS().fit([partly, whole])
    assert mds.stress_ < 1e-6
    refused(lambda: ReplicatedMDS().fit([partly, partly]), "no distance is known")
    refused(lambda: ReplicatedMDS().fit([whole, np.full_like(whole, np.nan)]), "no known pair")


def test_weighted_scaling_takes_unit_weights_and_refuses_new_samples_with_missing_distances():
    ones = [np.ones_like(DISTANCES)] * 2
    mds = WeightedMDS().fit([DISTANCES, DISTANCES], weights=ones)
    new = DISTANCES[:2] + np.where(np.arange(25) < 3, np.nan, 0.0)
    refused(lambda: mds.transform([new, new]), "all distances")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("loss", ["raw", "sstress", "sammon"])
def test_a_new_row_very_far_away_is_placed_there(loss):
    rows = DISTANCES[:2] * 1e140
    rows[:, :2] = 1e140
    placed = given(MetricMDS, DISTANCES, loss=loss).transform(rows)
    assert np.all(np.isfinite(placed))
    assert np.linalg.norm(placed, axis=1).min() > 1e139


@pytest.mark.parametrize("transformation", ["ratio", "interval"])
def test_fitted_objects_are_at_rest_between_their_targets(transformation):
    options = {"transformation": transformation, "max_iter": 5000}
    mds = given(NonmetricMDS, DISTANCES, **options)
    both = ReplicatedMDS(**options).fit([DISTANCES, 3.0 * DISTANCES**1.2])
    # Without its own zero a row has to be placed by the others.
    alone = DISTANCES + np.diag(np.full(25, np.nan))
    np.testing.assert_allclose(mds.transform(alone), mds.embedding_, atol=1e-5)
    np.testing.assert_allclose(
        both.transform([alone, 3.0 * alone**1.2]), both.embedding_, atol=1e-5
    )

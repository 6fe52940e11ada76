"""Non-metric scaling: only the order counts, ties as asked, and no collapse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.isotonic import IsotonicRegression

from tests.loops import each
from tests.stages.drawn import LAW, rngs
from unbend import NonmetricMDS
from unbend.mds import Interval, Monotone, Pairs, Ratio, Replicated, Stress1
from unbend.quality import procrustes, stress

PLANE = np.random.default_rng(0).normal(size=(50, 2))
EXACT = squareform(pdist(PLANE))
SOLID = np.random.default_rng(1).normal(size=(50, 5))


def ordinal(**options):
    return NonmetricMDS(metric="precomputed", **options)


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 30), st.booleans())
def test_secondary_ties_are_the_isotonic_regression_of_scikit_learn(rng, n, levels, weighted):
    values = rng.integers(0, levels, n * (n - 1) // 2).astype(float)
    weights = rng.uniform(0.1, 2, len(values)) if weighted else None
    distances = rng.uniform(0, 1, len(values))
    found = Monotone(Pairs(n, values, weights), equal_ties=True)(distances)
    expected = IsotonicRegression().fit(values, distances, weights).predict(values)
    np.testing.assert_allclose(found.targets, expected, atol=1e-12)


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 30))
def test_primary_ties_are_never_worse_and_keep_the_order(rng, n, levels):
    values = rng.integers(0, levels, n * (n - 1) // 2).astype(float)
    distances = rng.uniform(0, 1, len(values))
    free = Monotone(Pairs(n, values))(distances)
    tied = Monotone(Pairs(n, values), equal_ties=True)(distances)
    assert free.residual <= tied.residual + 1e-12
    for low in np.unique(values)[:-1]:
        below, above = free.targets[values <= low], free.targets[values > low]
        assert below.max() <= above.min() + 1e-12


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 30), st.booleans())
def test_dissimilarities_that_differ_by_rounding_are_tied(rng, n, levels, equal):
    values = rng.integers(0, levels, n * (n - 1) // 2).astype(float)
    distances = rng.uniform(0, 1, len(values))
    rough = values * (1 + 1e-13 * rng.uniform(-1, 1, len(values)))
    exact, found = (Monotone(Pairs(n, given), equal_ties=equal) for given in (values, rough))
    np.testing.assert_allclose(found(distances).targets, exact(distances).targets, atol=1e-12)
    read = exact.curve(distances)(values + 0.25)
    np.testing.assert_allclose(found.curve(distances)(values + 0.25), read, atol=1e-9)


TRANSFORMATIONS = {
    "ratio": Ratio,
    "interval": Interval,
    "primary": Monotone,
    "secondary": lambda pairs: Monotone(pairs, equal_ties=True),
    "replicated": lambda pairs: Replicated([Ratio(pairs), Monotone(pairs)]),
}


@each("weighted", [False, True])
@each("kind", TRANSFORMATIONS)
def test_the_gradient_is_the_derivative_though_disparities_move(kind, weighted):
    rng = np.random.default_rng(2)
    values, x = rng.uniform(0, 1, 190), rng.normal(size=(20, 2))
    weights = rng.uniform(0.1, 2, 190) if weighted else None
    stress = Stress1(20, TRANSFORMATIONS[kind](Pairs(20, values, weights)))
    direction = rng.normal(size=x.shape)
    after, before = (stress(x + h * direction)[0] for h in (1e-6, -1e-6))
    slope = np.vdot(stress(x)[1], direction)
    assert slope == pytest.approx((after - before) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("bend", [np.sqrt, np.square, np.expm1, lambda d: d**5])
def test_any_increasing_function_of_the_distances_gives_the_same_configuration(bend):
    found = ordinal().fit(bend(EXACT))
    assert found.stress_ < 1e-4
    assert procrustes(PLANE, found.embedding_) < 1e-3


def test_ratio_and_interval_undo_a_line_and_ratio_is_metric_scaling():
    line = 0.7 + 0.1 * EXACT
    np.fill_diagonal(line, 0.0)
    assert procrustes(PLANE, ordinal(transformation="interval").fit_transform(line)) < 1e-8
    assert ordinal(transformation="ratio").fit(line).stress_ > 0.1
    from unbend import MetricMDS

    ratio = NonmetricMDS(transformation="ratio").fit(SOLID)
    metric = MetricMDS(loss="stress1").fit(SOLID)
    assert ratio.stress_ == pytest.approx(metric.stress_, rel=1e-9)
    assert procrustes(metric.embedding_, ratio.embedding_) < 1e-8


@pytest.mark.parametrize("transformation", ["monotone", "interval", "ratio"])
@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_smacof_never_raises_stress_and_ends_no_lower_than_lbfgs(transformation, ties):
    rounded = EXACT.round(0) + (1 - np.eye(50))
    options = {"transformation": transformation, "ties": ties, "max_iter": 3000, "tol": 1e-7}
    slow = ordinal(solver="smacof", **options).fit(rounded)
    fast = ordinal(**options).fit(rounded)
    assert np.all(np.diff(slow.history_) <= 1e-10)
    assert np.all(np.diff(fast.history_) <= 1e-10)
    assert fast.stress_ <= slow.stress_ * 1.01


def test_the_stress_is_kruskals_and_at_most_that_of_metric_scaling():
    from unbend import MetricMDS

    found = NonmetricMDS().fit(SOLID)
    shepard = found.shepard()
    off = np.sum((shepard.distances - shepard.disparities) ** 2)
    expected = np.sqrt(off / np.sum(shepard.distances**2))
    assert found.stress_ == pytest.approx(expected, rel=1e-6)
    assert found.stress_ < MetricMDS(loss="stress1").fit(SOLID).stress_
    order = np.argsort(shepard.dissimilarities)
    assert np.all(np.diff(shepard.disparities[order]) >= -1e-12)


def test_objects_do_not_fall_into_one_point():
    noise = np.random.default_rng(3).uniform(0.9, 1.1, (30, 30))
    found = ordinal().fit(squareform(squareform(np.triu(noise, 1) + np.triu(noise, 1).T)))
    assert np.sqrt(np.mean(pdist(found.embedding_) ** 2)) == pytest.approx(1.0, rel=0.01)


def test_warns_when_two_clusters_collapse_into_points():
    inside = np.random.default_rng(4).uniform(0.1, 0.2, (20, 20))
    given = np.triu(inside, 1) + np.triu(inside, 1).T
    given[:10, 10:] = given[10:, :10] = 1.0 + 1e-3 * inside[:10, 10:]
    given = (given + given.T) / 2
    with pytest.warns(UserWarning, match="degenerate"):
        ordinal(n_components=1).fit(given)


def test_unknown_pairs_are_not_needed():
    hidden = np.triu(np.random.default_rng(5).random(EXACT.shape) < 0.3, 1)
    hidden |= hidden.T
    found = ordinal().fit(np.where(hidden, np.nan, EXACT**2))
    assert procrustes(PLANE, found.embedding_) < 2e-3


def test_new_objects_are_placed_by_what_their_dissimilarities_became():
    found = ordinal().fit(EXACT**2)
    new = np.random.default_rng(6).normal(scale=0.7, size=(20, 2))
    placed = found.transform(cdist(new, PLANE) ** 2)
    assert procrustes(np.vstack([PLANE, new]), np.vstack([found.embedding_, placed])) < 2e-3


INVERSE = {
    "solid": pdist(SOLID),
    "plane with noise": pdist(PLANE) ** 2
    * np.exp(0.3 * np.random.default_rng(7).normal(size=1225)),
    "noise": np.random.default_rng(8).uniform(0.2, 1, 1225),
}


@pytest.mark.parametrize("data", INVERSE)
@pytest.mark.parametrize("init", ["auto", "random"])
def test_the_inverse_form_falls_from_where_the_default_ends(data, init):
    """Notes (21): √(Σ (δ − f(d))² / Σ δ²), by scikit-learn's isotonic regression."""
    given, options = INVERSE[data], {"init": init, "n_init": 1}
    found = ordinal(loss="inverse", **options).fit(squareform(given))
    distances = pdist(found.embedding_)
    fitted = IsotonicRegression().fit(distances, given).predict(distances)
    expected = np.sqrt(np.sum((given - fitted) ** 2) / np.sum(given**2))
    assert found.stress_ == pytest.approx(expected, rel=1e-9)
    measured = stress(squareform(given), found.embedding_, kind="inverse", metric="precomputed")
    assert found.stress_ == pytest.approx(float(measured), rel=1e-9)
    assert np.all(np.diff(found.history_) < 0)
    default = ordinal(**options).fit(squareform(given))
    start = stress(squareform(given), default.embedding_, kind="inverse", metric="precomputed")
    assert found.history_[0] == pytest.approx(float(start), rel=1e-9)
    assert found.stress_ < 0.99 * float(start)
    # No small step finds much less: the end is a minimum but for the steps of the loss.
    rng, size = np.random.default_rng(0), np.abs(found.embedding_).max()
    for scale in np.geomspace(1e-4, 0.1, 40):
        near = found.embedding_ + scale * size * rng.normal(size=found.embedding_.shape)
        value = stress(squareform(given), near, kind="inverse", metric="precomputed")
        assert float(value) > 0.995 * found.stress_


def test_the_inverse_form_of_exact_order_is_zero_and_places_new_objects():
    found = ordinal(loss="inverse").fit(EXACT**2)
    assert found.stress_ < 1e-3
    assert procrustes(PLANE, found.embedding_) < 1e-3
    new = np.random.default_rng(6).normal(scale=0.7, size=(20, 2))
    placed = found.transform(cdist(new, PLANE) ** 2)
    assert procrustes(np.vstack([PLANE, new]), np.vstack([found.embedding_, placed])) < 1e-4
    shepard = found.shepard()
    # Disparities are the distances at which f has the value of the dissimilarity.
    off = np.sqrt(np.mean((shepard.disparities - shepard.distances) ** 2))
    assert off < 0.03 * np.sqrt(np.mean(shepard.distances**2))
    assert np.mean(shepard.disparities) == pytest.approx(np.mean(shepard.distances), rel=0.01)
    assert found.stress_per_object_.sum() == pytest.approx(1)


def test_the_inverse_form_takes_unknown_pairs_and_weights():
    given = INVERSE["plane with noise"]
    hidden = np.triu(np.random.default_rng(5).random(EXACT.shape) < 0.3, 1)
    hidden |= hidden.T
    weights = np.random.default_rng(6).uniform(0.5, 2, EXACT.shape)
    weights += weights.T
    masked = np.where(hidden, np.nan, squareform(given))
    found = ordinal(loss="inverse").fit(masked, weights=weights)
    known = ~squareform(hidden, checks=False)
    w, delta = squareform(weights, checks=False)[known], given[known]
    distances = pdist(found.embedding_)[known]
    fitted = IsotonicRegression().fit(distances, delta, w).predict(distances)
    expected = np.sqrt(np.sum(w * (delta - fitted) ** 2) / np.sum(w * delta**2))
    assert found.stress_ == pytest.approx(expected, rel=1e-9)
    assert np.all(np.diff(found.history_) < 0)
    whole = np.nan_to_num(masked) + np.nan_to_num(masked).T
    listed = ordinal(loss="inverse").fit(csr_array(whole / 2), weights=weights)
    assert listed.stress_ == pytest.approx(found.stress_, rel=0.02)


@pytest.mark.parametrize("options", [{"transformation": "interval"}, {"solver": "smacof"}])
def test_the_inverse_form_is_monotone_and_has_one_solver(options):
    with pytest.raises(ValueError, match="loss='inverse' needs transformation='monotone'"):
        ordinal(loss="inverse", **options).fit(EXACT)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("loss", ["stress1", "inverse"])
def test_one_pair_and_coincident_objects_have_no_stress(loss):
    model = NonmetricMDS(1, loss=loss, metric="precomputed", random_state=0)
    two = model.fit(np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert two.stress_ == 0
    assert np.ptp(two.embedding_) > 0
    assert not two.stress_per_object_.any()
    same = model.fit(np.zeros((4, 4)))
    assert same.stress_ == 0
    assert not same.embedding_.any()
    assert not same.stress_per_object_.any()


@pytest.mark.parametrize("tied", [False, True])
def test_stress_in_ascending_order_is_that_of_the_pairs(tied):
    rng = np.random.default_rng(3)
    lengths = rng.uniform(1, 2, 45).round(1 if tied else 15)
    own = Stress1(10, Monotone(Pairs(10, lengths)))
    x = rng.normal(size=(10, 2))
    value, gradient = own(x)
    plain = Stress1(10, Monotone(Pairs(10, lengths, np.ones(45))))
    expected, slope = plain(x)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, slope, 1e-10, 1e-13)
    # The order within ties is kept from call to call, and does not show.
    assert own(rng.normal(size=(10, 2)))[0] > 0
    assert own(x)[0] == pytest.approx(value, rel=1e-13)

"""Recognition: distances and statuses against plain NumPy, thresholds against their rates."""

import warnings

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as ScikitPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import unbend
from tests.conformance.cases import refused
from tests.loops import each
from unbend.recognition.examples import discriminant_directions, least_error_shrinkage

RECOGNIZER = unbend.SubspaceRecognizer


def people(count, per_person, seed, columns=400, spread=0.3):
    """Return samples of classes that differ inside a 20-dimensional subspace, and their labels."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(np.random.default_rng(99).normal(size=(columns, 20)))[0]
    centers = rng.normal(size=(count, 20))
    labels = np.repeat(np.arange(count), per_person)
    inside = centers[labels] + spread * rng.normal(size=(len(labels), 20))
    return inside @ basis.T + 0.01 * rng.normal(size=(len(labels), columns)), labels


@pytest.fixture(scope="module")
def trained():
    X, y = people(25, 6, seed=0)
    return X, y, RECOGNIZER(n_components=20, false_acceptance=0.1).fit(X, y)


def test_distances_are_those_of_the_book(trained):
    """d₁ = ‖x − m − AA'(x − m)‖ and d₂ = min ‖A'(x − x_i)‖, (5.3.2), by scikit-learn's axes."""
    X, y, model = trained
    new = people(10, 2, seed=1)[0]
    peer = ScikitPCA(20, svd_solver="full").fit(X)
    found = model.identify(new)
    restored = peer.inverse_transform(peer.transform(new))
    np.testing.assert_allclose(found.subspace_distance, np.linalg.norm(new - restored, axis=1))
    distances = cdist(peer.transform(new), peer.transform(X))
    np.testing.assert_allclose(found.example_distance, distances.min(axis=1))
    assert np.array_equal(found.nearest, distances.argmin(axis=1))
    assert np.array_equal(model.predict(new), y[distances.argmin(axis=1)])
    np.testing.assert_allclose(model.score_samples(new), -found.subspace_distance)


def test_relative_distances_follow_their_definition(trained):
    _, y, model = trained
    new = people(10, 2, seed=1)[0]
    gallery, placed = model.embedding_, (new - model.mean_) @ model.components_.T
    distances = cdist(placed, gallery)
    own = cdist(gallery, gallery) + np.where(y[:, None] == y, 0, np.inf) + np.diag([np.inf] * 150)
    means = np.array([own.min(axis=1)[y == label].mean() for label in range(25)])
    np.testing.assert_allclose(model.spread_, (means + means.mean()) / 2)
    nearest = distances.argmin(axis=1)
    other = np.where(y[nearest][:, None] == y, np.inf, distances).min(axis=1)
    d = distances.min(axis=1)
    expected = d**2 / other / model.spread_[y[nearest]]
    np.testing.assert_allclose(model.identify(new).score, expected)


@pytest.mark.parametrize("subspace", ["pca", "random_projection"])
@pytest.mark.parametrize("discriminant", [False, True])
def test_known_new_and_other_samples_are_separated(subspace, discriminant):
    everyone, labels = people(40, 10, seed=3)
    known, test = labels < 30, np.tile(np.arange(10) >= 7, 40)
    model = RECOGNIZER(
        subspace=subspace, discriminant=discriminant, false_acceptance=0.1, random_state=0
    ).fit(everyone[known & ~test], labels[known & ~test])
    same, strangers = model.identify(everyone[known & test]), model.identify(everyone[~known])
    assert np.mean(same.label == labels[known & test]) > 0.9
    assert np.median(strangers.score) > 3 * np.median(same.score)
    noise = 5 * np.random.default_rng(0).normal(size=(50, 400))
    assert set(model.identify(noise).status) == {"not of this kind"}


@pytest.mark.parametrize("discriminant", [False, True])
def test_strangers_are_accepted_at_the_rate_asked_for(discriminant):
    """The mean over many samples of classes; thresholds are learnt without the strangers."""
    accepted, rejected = [], []
    for seed in range(20):
        X, y = people(45, 6, seed=seed, columns=30, spread=0.45)
        model = RECOGNIZER(n_components=18, false_acceptance=0.1, discriminant=discriminant)
        status = model.fit(X[y < 25], y[y < 25]).identify(X[y >= 25]).status
        accepted.append(np.mean(status == "known"))
        rejected.append(np.mean(status == "not of this kind"))
    # The standard error of the mean of 20 fits, each to 25 classes, is about 0.013.
    assert 0.06 < np.mean(accepted) < 0.14
    assert np.mean(rejected) < 0.06


def test_the_discriminant_spans_that_of_scikit_learn():
    X, y = load_digits(return_X_y=True)
    rows = X[:, X.std(axis=0) > 1]
    ours = discriminant_directions(rows, y, 0.0)
    peer = LinearDiscriminantAnalysis(solver="eigen").fit(rows, y)
    # The prior of scikit-learn weighs classes by their size, which differ by 2 %.
    assert np.degrees(subspace_angles(ours, peer.scalings_[:, :9])).max() < 1
    centered = rows - np.array([rows[y == digit].mean(axis=0) for digit in range(10)])[y]
    within = centered.T @ centered / (len(rows) - 10)
    np.testing.assert_allclose(ours.T @ within @ ours, np.eye(9), atol=1e-9)


@each("rows", [20, 200])
def test_the_shrinkage_is_that_of_ledoit_and_wolf(rows):
    rng = np.random.default_rng(0)
    centered = rng.normal(size=(rows, 12)) * np.linspace(3, 0.2, 12)
    centered -= centered.mean(axis=0)
    expected = ledoit_wolf_shrinkage(centered, assume_centered=True)
    assert 0 < expected < 1
    assert least_error_shrinkage(centered) == pytest.approx(expected)
    assert least_error_shrinkage(np.zeros((5, 3))) == 0


def test_a_discriminant_ignores_what_varies_within_classes():
    """One wide direction that all classes share hides the classes, but not from Fisher."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 40)
    X = rng.normal(size=(240, 8))
    X[:, 0] *= 100
    X[:, 1:7] += 6 * np.eye(6)[labels]
    train = np.tile(np.arange(40) < 20, 6)
    scores = {
        flag: RECOGNIZER(n_components=8, discriminant=flag, shrinkage=0.0)
        .fit(X[train], labels[train])
        .score(X[~train], labels[~train])
        for flag in (False, True)
    }
    assert scores[False] < 0.7 < 0.98 < scores[True]


def test_given_thresholds_are_compared_with_the_distances_themselves(trained):
    X, y, _ = trained
    model = RECOGNIZER(n_components=20, subspace_threshold=0.3, example_threshold=1.5).fit(X, y)
    assert (model.subspace_threshold_, model.example_threshold_) == (0.3, 1.5)
    new = np.concatenate((X[:9] + 0.001, people(10, 5, seed=1)[0], 9 * X[:3]))
    found = model.identify(new)
    near, like = found.example_distance <= 1.5, found.subspace_distance <= 0.3
    expected = np.where(~like, "not of this kind", np.where(near, "known", "new"))
    assert np.array_equal(found.status, expected)
    assert set(expected) == {"known", "new", "not of this kind"}
    assert [label is None for label in found.label] == (expected != "known").tolist()


@each(
    ("labels", "unknown"),
    [
        (lambda y: y, -1),
        (lambda y: y, "stranger"),
        (lambda y: y.astype(np.int8), 1000),
        (lambda y: np.array([f"person {i}" for i in y]), "stranger"),
        (lambda y: np.array([f"person {i}" for i in y]), -1),
        (lambda y: y * 1.0, -1),
    ],
)
def test_open_set_prediction_needs_a_label_for_the_unknown(labels, unknown):
    X, y = people(12, 6, seed=0)
    names = labels(y)
    closed = RECOGNIZER(n_components=10, false_acceptance=0.1).fit(X, names)
    opened = RECOGNIZER(n_components=10, false_acceptance=0.1, unknown_label=unknown).fit(X, names)
    new = np.concatenate((X[:5], 30 * X[:5]))
    assert set(closed.predict(new)) <= set(names)
    assert opened.predict(new)[5:].tolist() == [unknown] * 5
    assert opened.predict(new)[:5].tolist() == names[:5].tolist()
    assert opened.predict(new[5:]).tolist() == [unknown] * 5


def test_a_rate_that_few_classes_cannot_support_is_warned_of():
    X, y = people(4, 6, seed=0)
    with pytest.warns(UserWarning, match="4 classes are too few .* at least 19 classes"):
        RECOGNIZER(n_components=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RECOGNIZER(n_components=3, false_acceptance=0.2).fit(X, y)


def test_one_class_is_novelty_detection():
    X, y = people(1, 60, seed=0)
    model = RECOGNIZER(n_components=10).fit(X, y)
    fresh = people(1, 40, seed=0)[0]
    assert np.mean(model.identify(fresh).status == "known") > 0.85
    assert "known" not in model.identify(fresh + people(1, 1, seed=5)[0]).status


def test_rotating_the_features_changes_nothing(trained):
    X, y, model = trained
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(400, 400)))[0]
    turned = RECOGNIZER(n_components=20, false_acceptance=0.1).fit(X @ turn, y)
    new = people(10, 2, seed=1)[0]
    before, after = model.identify(new), turned.identify(new @ turn)
    assert np.array_equal(before.status, after.status)
    np.testing.assert_allclose(before.score, after.score, rtol=1e-8)
    assert model.example_threshold_ == pytest.approx(turned.example_threshold_, rel=1e-8)


def test_auto_keeps_98_hundredths_of_the_variance(trained):
    X, y, _ = trained
    model = RECOGNIZER().fit(X, y)
    share = np.cumsum(ScikitPCA(svd_solver="full").fit(X).explained_variance_ratio_)
    assert len(model.components_) == np.searchsorted(share, 0.98) + 1
    assert len(RECOGNIZER(0.5).fit(X, y).components_) == np.searchsorted(share, 0.5) + 1


@pytest.mark.parametrize("model", [unbend.PCA(5), unbend.RandomProjection(5)], ids=["PCA", "RP"])
def test_linear_models_measure_the_distance_to_their_subspace(model):
    X = np.random.default_rng(0).normal(size=(60, 12))
    X[X < 0.5] = 0.0
    new = X[:20] + 0.1
    model = model.fit(X)
    center = getattr(model, "mean_", np.zeros(12))
    basis = np.linalg.qr(model.components_.T)[0]
    offset = new - center
    expected = np.linalg.norm(offset - offset @ basis @ basis.T, axis=1)
    np.testing.assert_allclose(model.subspace_distances(new), expected)
    np.testing.assert_allclose(model.subspace_distances(csr_array(new)), expected)
    np.testing.assert_allclose(model.score_samples(new), -expected)
    inside = model.inverse_transform(model.transform(new))
    assert model.subspace_distances(inside).max() < 1e-12


def test_mistakes_have_one_sentence(trained):
    X, y, model = trained
    cases = {
        "labels of the wrong length": (lambda: RECOGNIZER().fit(X, y[:3]), "150 rows"),
        "numbers as labels": (lambda: RECOGNIZER().fit(X, y + 0.123), "Unknown label type"),
        "too many components": (lambda: RECOGNIZER(151).fit(X, y), "at most 149"),
        "a share of random directions": (
            lambda: RECOGNIZER(0.9, subspace="random_projection").fit(X, y),
            "give an integer",
        ),
        "two classes": (lambda: RECOGNIZER(discriminant=True).fit(X[:12], y[:12]), "threshold"),
        "one class": (lambda: RECOGNIZER(discriminant=True).fit(X[:6], y[:6]), "two classes"),
        "two groups of three classes": (
            lambda: RECOGNIZER(discriminant=True, n_folds=2).fit(X[:18], y[:18]),
            "3 classes, of which one would be left when others are held out",
        ),
        "a label that is taken": (lambda: RECOGNIZER(unknown_label=3).fit(X, y), "unknown_label=3"),
        "another width": (lambda: model.identify(X[:, :7]), "features"),
    }
    for action, words in cases.values():
        refused(action, words)


@pytest.mark.filterwarnings("ignore:.*classes are too few", "error::RuntimeWarning")
@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ([0, 1], {}),
        ([0, 0], {}),
        ([0, 0, 1], {}),
        ([0, 0, 1, 2], {"discriminant": True}),
        ([0, 0, 0, 1, 2], {"discriminant": True}),
    ],
)
def test_samples_that_nothing_is_left_of_when_they_are_held_out(labels, options):
    X = np.random.default_rng(0).normal(size=(len(labels), 6))
    model = RECOGNIZER(**options).fit(X, labels)
    assert model.identify(X).status.tolist() == ["known"] * len(labels)
    assert model.identify(X).label.tolist() == labels
    assert model.identify(X + 100).status.tolist() == ["not of this kind"] * len(labels)


def test_the_distance_to_the_subspace_of_one_other_sample_is_the_distance_to_it():
    X = np.random.default_rng(0).normal(size=(2, 6))
    with pytest.warns(UserWarning, match="2 classes are too few"):
        model = RECOGNIZER().fit(X, [0, 1])
    assert model.subspace_threshold_ == pytest.approx(np.linalg.norm(X[0] - X[1]))


def test_rounding_does_not_take_samples_out_of_the_subspace():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(2, 5))
    X, y = rng.normal(size=(200, 2)) @ basis, np.arange(200) % 40
    model = RECOGNIZER(2).fit(X, y)
    inside = 0.5 * rng.normal(size=(500, 2)) @ basis
    assert np.all(model.identify(inside).subspace_distance <= model.subspace_threshold_)
    outside = inside + 1e-9 * rng.normal(size=(500, 5))
    assert np.mean(model.identify(outside).subspace_distance > model.subspace_threshold_) > 0.99


def test_a_callback_is_asked_between_blocks_of_distances(trained, monkeypatch):
    """All pairs of 100 000 examples take minutes: a fit must stop before they are compared."""
    X, y, expected = trained
    monkeypatch.setattr("unbend.recognition.examples.HELD_BYTES", 24 * 10 * len(X))
    seen = []
    with unbend.monitoring(lambda progress: seen.append(progress)):
        fitted = RECOGNIZER(n_components=20, false_acceptance=0.1).fit(X, y)
    assert fitted.example_threshold_ == expected.example_threshold_
    assert len([one for one in seen if one.stage == "subspace"]) >= len(X) // 10
    asked = len([one for one in seen if one.stage == "thresholds"])
    assert asked >= 25 * (len(X) - len(X) // 25) // 10

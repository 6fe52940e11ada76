"""Fits to batches are the fits to all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unbend
from unbend.methods import random_projection

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((400, 6)) * [5, 4, 3, 2, 1, 0.5] + np.arange(6)
FITTED = [
    "components_",
    "mean_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
]


def cut(rows, places):
    return np.split(rows, sorted(places))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 399), unique=True, max_size=8),
    st.integers(1, 6),
    st.sampled_from(["auto", "full", "covariance_eigh"]),
)
def test_pca_of_batches_is_pca_of_the_rows(places, d, solver):
    parts = cut(ROWS, places)
    batched = unbend.PCA(n_components=d, svd_solver=solver).fit_batches(parts)
    whole = unbend.PCA(n_components=d, svd_solver=solver).fit(ROWS)
    for name in FITTED:
        np.testing.assert_allclose(getattr(batched, name), getattr(whole, name), atol=1e-11)
    placed = np.concatenate([batched.transform(part) for part in parts])
    np.testing.assert_allclose(placed, whole.embedding_, atol=1e-10)
    np.testing.assert_allclose(
        batched.inverse_transform(placed), whole.inverse_transform(placed), atol=1e-10
    )


def test_small_variances_beside_large_ones_survive():
    """A covariance holds their squares, 1e-20 of the largest, and would lose them."""
    turn = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
    rows = (RNG.standard_normal((300, 4)) * [1, 1e-4, 1e-8, 1e-10]) @ turn
    batched = unbend.PCA(n_components=4).fit_batches(np.split(rows, 3))
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(batched.singular_values_, exact, rtol=1e-4)


def test_a_large_mean_does_not_matter():
    far = ROWS + 1e6
    batched = unbend.PCA(n_components=3).fit_batches(np.split(far, 4))
    near = unbend.PCA(n_components=3).fit(ROWS)
    np.testing.assert_allclose(batched.components_, near.components_, atol=1e-8)


def test_more_columns_than_rows_and_rows_that_are_all_equal():
    wide = RNG.standard_normal((5, 40))
    batched = unbend.PCA(n_components=4).fit_batches([wide[:1], wide[1:3], wide[3:]])
    whole = unbend.PCA(n_components=4, svd_solver="full").fit(wide)
    np.testing.assert_allclose(batched.components_, whole.components_, atol=1e-11)
    np.testing.assert_allclose(batched.noise_variance_, whole.noise_variance_, atol=1e-11)
    flat = unbend.PCA(n_components=1).fit_batches([np.ones((2, 3)), np.ones((1, 3))])
    assert flat.transform(np.ones((2, 3))).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("svd", [False, True])
@pytest.mark.parametrize("n_components", [3, "auto"])
def test_random_projection_of_batches_is_that_of_the_rows(svd, n_components, monkeypatch):
    rows = RNG.standard_normal((300, 600)) + 2
    # So little memory that distances of 100 rows are compared.
    monkeypatch.setattr(random_projection, "COMPARED_BYTES", 100 * 8 * 600)
    parameters = {"n_components": n_components, "svd": svd, "eps": 0.9, "random_state": 3}
    parts = cut(rows, [1, 50, 51, 190])
    batched = unbend.RandomProjection(**parameters).fit_batches(parts)
    whole = unbend.RandomProjection(**parameters).fit(rows)
    assert batched.bound_ == whole.bound_
    assert batched.distortion_["pairs"] == 4950
    np.testing.assert_allclose(batched.components_, whole.components_, atol=1e-11)
    for name, value in whole.distortion_.items():
        assert batched.distortion_[name] == pytest.approx(value, rel=1e-10)
    placed = np.concatenate([batched.transform(part) for part in parts])
    np.testing.assert_allclose(placed, whole.embedding_, atol=1e-9)


@pytest.mark.parametrize("method", [unbend.PCA, unbend.RandomProjection])
def test_what_fit_batches_keeps_and_takes(method):
    tables = unbend.io.batches(ROWS.astype(np.float32), rows=90)
    model = method(n_components=2).fit(ROWS).fit_batches(tables)
    assert model.embedding_.shape == (0, 2)
    assert model.transform(ROWS.astype(np.float32)).dtype == np.float32
    assert (model.n_features_in_, len(model.get_feature_names_out())) == (6, 2)
    assert model.report_.stages[0].name == "mean"


@pytest.mark.parametrize("method", [unbend.PCA, unbend.RandomProjection])
def test_what_fit_batches_refuses_leaves_the_model_as_it_was(method):
    model = method(n_components=2).fit(ROWS)
    before = model.embedding_
    refused = [
        (iter([ROWS]), TypeError, "an iterator does not allow"),
        ([], ValueError, "0 rows together"),
        ([ROWS[:1]], ValueError, "1 rows together|smaller of the two"),
        ([ROWS, ROWS[:, :3]], ValueError, "3 features"),
        ([ROWS, ROWS * np.nan], ValueError, "NaN"),
        ([ROWS * 1e100], ValueError, "Rescale X"),
    ]
    for batches, error, words in refused:
        with pytest.raises(error, match=words):
            model.fit_batches(batches)
        assert model.embedding_ is before


def test_batches_that_change_between_passes_are_noticed():
    class Changing:
        passes = 0

        def __iter__(self):
            self.passes += 1
            yield ROWS[: 100 * self.passes]

    with pytest.raises(ValueError, match="had 100 rows on the first pass and 200 now"):
        unbend.PCA().fit_batches(Changing())


@pytest.mark.parametrize("solver", ["randomized", "em", "sensible", "dual", "arpack"])
def test_solvers_that_need_all_rows_are_refused(solver):
    with pytest.raises(ValueError, match=f"svd_solver='{solver}' needs all rows at once"):
        unbend.PCA(svd_solver=solver).fit_batches([ROWS])


@pytest.mark.parametrize("method", [unbend.PCA, unbend.RandomProjection])
@pytest.mark.parametrize("training", [True, False])
def test_a_model_fitted_to_batches_is_saved_and_loaded(method, training, tmp_path):
    model = method(n_components=2).fit_batches(np.split(ROWS, 4))
    model.save(tmp_path / "m.unbend", training=training)
    loaded = unbend.load(tmp_path / "m.unbend")
    assert np.array_equal(loaded.transform(ROWS), model.transform(ROWS))

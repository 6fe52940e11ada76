"""PCA is exact by default: singular values and spans against LAPACK's decomposition of the rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.decomposition import PCA as ScikitPCA

import unbend
import unbend.sklearn
from tests.loops import each
from unbend.gram import principal

SHAPES = [(600, 400), (1200, 100), (400, 3000), (700, 650)]
SPECTRA = {
    "noise": None,
    "slow": lambda k: 0.99 ** np.arange(k),
    "fast": lambda k: 0.8 ** np.arange(k),
    "power": lambda k: 1.0 / np.arange(1, k + 1),
    "low rank": lambda k: np.where(np.arange(k) < 7, 1.0 + np.arange(k), 0.0)[::-1],
}


def rows(n, columns, spectrum, seed=0):
    """Rows with given singular values before centring, at an offset."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, columns))
    if SPECTRA[spectrum] is None:
        return noise + 3.0
    left, _, right = np.linalg.svd(noise, full_matrices=False)
    return (left * SPECTRA[spectrum](min(n, columns))) @ right + 3.0


def check_exact(model, points, d):
    """Compare with LAPACK: values to 1e-12 of the largest, spans to 1e-12 over the gap."""
    centred = points - points.mean(axis=0)
    # What rounding of the mean left is no variance.
    centred -= centred.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, singular[:d], 0, 1e-12 * singular[0])
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), 0, 1e-12)
    for j in {1, d}:
        gap = (singular[j - 1] - singular[j] if j < len(singular) else singular[-1]) / singular[0]
        away = model.components_[:j] - (model.components_[:j] @ axes[:j].T) @ axes[:j]
        assert np.linalg.norm(away, 2) <= 1e-12 / max(gap, 1e-300)
    variance = np.square(singular) / (len(points) - 1)
    total = variance.sum()
    ratio = model.explained_variance_ratio_
    np.testing.assert_allclose(ratio, variance[:d] / total, 0, 1e-12)
    columns = points.shape[1]
    left = variance[d:].sum() / (columns - d) if d < columns else 0.0
    assert model.noise_variance_ == pytest.approx(left, abs=1e-13 * total)


@each("d", [2, 50, 99], keep=1)
@each("spectrum", SPECTRA)
@each("shape", SHAPES)
def test_the_default_is_exact_for_every_shape_and_spectrum(shape, spectrum, d):
    points = rows(*shape, spectrum)
    check_exact(unbend.PCA(n_components=d).fit(points), points, d)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_axes_are_exact_too(shape):
    points = rows(*shape, "slow")
    d = min(shape)
    check_exact(unbend.PCA(n_components=d).fit(points), points, d)


@pytest.mark.parametrize("spectrum", ["noise", "slow", "fast"])
@pytest.mark.parametrize("shape", [(600, 400), (400, 3000)])
def test_iterated_axes_of_large_data_are_exact(shape, spectrum, monkeypatch):
    monkeypatch.setattr(principal, "DENSE_SIDE", 300)
    points = rows(*shape, spectrum)
    check_exact(unbend.PCA(n_components=5).fit(points), points, 5)


@pytest.mark.parametrize(
    ("shape", "spectrum", "d", "solver"),
    [
        ((600, 400), "slow", 5, "covariance"),
        ((5000, 30), "slow", 5, "covariance"),
        ((400, 3000), "slow", 5, "dual"),
        ((600, 400), "fast", 50, "full"),
        ((400, 3000), "low rank", 9, "full"),
        ((600, 400), "slow", 399, "full"),
        ((1200, 100), "slow", 2, "covariance"),
        ((600, 16), "slow", 2, "full"),
    ],
)
def test_the_report_names_the_solver_that_was_chosen(shape, spectrum, d, solver):
    model = unbend.PCA(n_components=d).fit(rows(*shape, spectrum))
    facts = model.report_.stage("spectrum").facts
    assert facts["solver"] == solver
    assert facts["because"]
    assert (facts["rows"], facts["columns"]) == shape


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e8])
def test_columns_of_unequal_units_lose_no_axis(ratio):
    rng = np.random.default_rng(0)
    points = np.c_[
        rng.normal(0, ratio, 900), rng.normal(size=(900, 299)) @ np.diag(np.r_[3:1:299j])
    ]
    check_exact(unbend.PCA(n_components=3).fit(points), points, 3)


def test_dual_finds_singular_values_that_are_small():
    points = rows(60, 500, "fast")
    model = unbend.PCA(n_components=50, svd_solver="dual").fit(points)
    singular = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, singular[:50], 0, 1e-12 * singular[0])


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_single_precision_rows_far_from_the_origin_are_centred_in_double(convert):
    rng = np.random.default_rng(0)
    points = (rng.normal(size=(20_000, 4)) * [4, 3, 2, 1] + 1e4).astype(np.float32)
    model = unbend.PCA(n_components=2).fit(convert(points))
    wide = points.astype(np.float64)
    singular = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, singular[:2], 1e-9)
    total = np.square(singular).sum()
    np.testing.assert_allclose(
        model.explained_variance_ratio_, np.square(singular[:2]) / total, 1e-9
    )


@pytest.mark.parametrize("entries", [0, 10**7])
@pytest.mark.parametrize("d", [3, 120])
def test_sparse_rows_are_exact_made_dense_or_not(entries, d, monkeypatch):
    monkeypatch.setattr("unbend.methods.pca.DENSE_ENTRIES", entries)
    rng = np.random.default_rng(0)
    sparse = csr_array(random_array((300, 120), density=0.05, rng=rng))
    model = unbend.PCA(n_components=d).fit(sparse)
    check_exact(model, sparse.toarray(), d)
    expected = "full" if d == 120 else "arpack" if entries == 0 else "covariance"
    assert model.report_.stage("spectrum").facts["solver"] == expected


def test_the_variance_of_sparse_rows_survives_a_large_mean():
    points = np.random.default_rng(0).normal(1e8, 1.0, (500, 3))
    model = unbend.PCA(n_components=1, svd_solver="arpack").fit(csr_array(points))
    total = np.var(points, axis=0, ddof=1).sum()
    share = model.explained_variance_ / model.explained_variance_ratio_
    np.testing.assert_allclose(share, total, 1e-6)


def test_randomised_axes_are_had_by_name_only():
    points = rows(700, 650, "noise")
    singular = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    named = unbend.PCA(n_components=20, svd_solver="randomized").fit(points)
    assert np.abs(named.singular_values_ / singular[:20] - 1).max() > 1e-4
    assert named.report_.stage("spectrum").facts["solver"] == "randomized"


def test_the_name_in_unbend_sklearn_is_scikit_learns_class():
    assert unbend.sklearn.PCA is ScikitPCA


@pytest.mark.parametrize("shape", [(600, 400), (150, 900)])
def test_all_solvers_agree_with_lapack(shape):
    points, d = rows(*shape, "slow"), 10
    models = {
        solver: unbend.PCA(n_components=d, svd_solver=solver).fit(points)
        for solver in ("auto", "full", "dual", "em", "sensible")
    }
    models["covariance"] = (
        unbend.PCA(n_components=d, svd_solver="covariance_eigh").fit(points)
        if shape[0] > shape[1]
        else models["full"]
    )
    models["batches"] = unbend.PCA(n_components=d).fit_batches(np.array_split(points, 4))
    _, singular, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    for solver, model in models.items():
        exact = solver not in ("em", "sensible")
        tolerance = 1e-12 if exact else 1e-7
        np.testing.assert_allclose(
            model.singular_values_, singular[:d], 0, tolerance * singular[0], err_msg=solver
        )
        away = model.components_ - (model.components_ @ axes[:d].T) @ axes[:d]
        gap = (singular[d - 1] - singular[d]) / singular[0]
        assert np.linalg.norm(away, 2) <= (tolerance / gap if exact else 1e-7), solver


@pytest.mark.parametrize("shape", [(600, 400), (50, 200), (300, 8)])
@pytest.mark.parametrize("share", [0.3, 0.95, 0.999])
def test_a_share_of_variance_takes_as_many_axes_as_scikit_learn_does(shape, share):
    points = rows(*shape, "slow") if shape[1] > 8 else rows(*shape, "power")
    peer = ScikitPCA(share, svd_solver="full").fit(points)
    for model in (
        unbend.PCA(n_components=share).fit(points),
        unbend.PCA(share, svd_solver="dual").fit(points),
        unbend.PCA(share).fit_batches(np.array_split(points, 3)),
    ):
        d = model.n_components_
        assert d == peer.n_components_ == len(model.components_)
        np.testing.assert_allclose(model.singular_values_, peer.singular_values_, 1e-11)
        assert model.explained_variance_ratio_.sum() > share
        assert model.explained_variance_ratio_[:-1].sum() <= share
        assert model.transform(points).shape == (len(points), d)


def test_a_share_of_variance_of_sparse_rows_counts_all_of_it():
    rng = np.random.default_rng(0)
    sparse = csr_array(random_array((300, 120), density=0.05, rng=rng))
    model = unbend.PCA(0.9).fit(sparse)
    assert (
        model.n_components_ == ScikitPCA(0.9, svd_solver="full").fit(sparse.toarray()).n_components_
    )


@pytest.mark.parametrize("solver", ["em", "sensible", "arpack", "randomized"])
def test_solvers_that_need_the_number_of_axes_refuse_a_share(solver):
    with pytest.raises(ValueError, match="share of the variance"):
        unbend.PCA(0.9, svd_solver=solver).fit(rows(30, 8, "slow"))


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, -0.2])
def test_a_share_of_variance_lies_between_nought_and_one(share):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        unbend.PCA(share).fit(rows(30, 8, "slow"))


@pytest.mark.parametrize("shape", [(50, 200), (200, 50)])
def test_the_noise_variance_is_the_mean_over_all_directions_left_out(shape):
    points = np.random.default_rng(0).normal(size=shape)
    eigenvalues = np.sort(np.linalg.eigvalsh(np.cov(points.T)))[::-1]
    left = eigenvalues[3:].mean()
    for solver in ("auto", "full", "dual", "em"):
        model = unbend.PCA(n_components=3, svd_solver=solver).fit(points)
        assert model.noise_variance_ == pytest.approx(left, rel=1e-10)
    sensible = unbend.PCA(n_components=3, svd_solver="sensible").fit(points)
    n = len(points)
    assert sensible.noise_variance_ == pytest.approx(left * (n - 1) / n, rel=1e-7)


def test_the_noise_variance_of_sensible_pca_maximises_the_likelihood():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 6)) + 0.8 * rng.normal(size=(40, 6))
    model = unbend.PCA(n_components=2, svd_solver="sensible").fit(points)
    centred = points - points.mean(axis=0)
    scatter = centred.T @ centred / len(points)
    variances = np.square(model.singular_values_) / len(points)

    def log_likelihood(noise):
        covariance = model.components_.T @ np.diag(variances - noise) @ model.components_
        covariance += noise * np.eye(6)
        return -np.linalg.slogdet(covariance)[1] - np.trace(np.linalg.solve(covariance, scatter))

    best = model.noise_variance_
    assert log_likelihood(best) > max(log_likelihood(f * best) for f in (0.98, 0.99, 1.01, 1.02))


@pytest.mark.parametrize("shape", [(90, 12), (30, 80)])
def test_no_matrix_of_lower_rank_is_nearer(shape):
    """Theorem 5.1: the squared error is the sum of the squared singular values left out."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=shape) * np.linspace(4, 0.5, shape[1])
    centred = points - points.mean(axis=0)
    left_out = np.linalg.svd(centred, compute_uv=False)
    for d in (1, 4, 9):
        model = unbend.PCA(n_components=d).fit(points)
        restored = model.inverse_transform(model.embedding_)
        error = np.linalg.norm(points - restored)
        assert error == pytest.approx(np.linalg.norm(left_out[d:]), rel=1e-10)
        assert np.linalg.norm(points - restored, 2) == pytest.approx(left_out[d], rel=1e-9)
        for _ in range(20):
            turned = np.linalg.qr(model.components_.T + 0.1 * rng.normal(size=(shape[1], d)))[0]
            assert np.linalg.norm(centred - centred @ turned @ turned.T) > error


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_of_rank_one_give_the_same_bits_by_every_call_of_arpack(form):
    points = np.outer(np.arange(-3.0, 4.0), [1.0, 2.0, 4.0])
    found = [unbend.PCA(2, svd_solver="arpack").fit(form(points)) for _ in range(20)]
    assert len({model.components_.tobytes() for model in found}) == 1
    np.testing.assert_allclose(found[0].singular_values_, [np.sqrt(21 * 28), 0], 0, 1e-12)

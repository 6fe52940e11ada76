"""Random projections: what is guaranteed, what is measured, and what it costs (book chapter 7)."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, random_array
from scipy.spatial.distance import pdist
from scipy.stats import chi2

import unbend
from unbend.lowrank import (
    guaranteed_distortion,
    guaranteed_exponent,
    johnson_lindenstrauss,
    length_tails,
    sparse_signs,
)

RNG = np.random.default_rng(4)
WIDE = RNG.normal(size=(200, 2000))


def ratios(points, embedding):
    return np.square(pdist(embedding) / pdist(points))


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_the_distortion_of_few_rows_is_that_of_all_pairs(convert):
    model = unbend.RandomProjection(n_components=300, eps=0.3, random_state=4).fit(convert(WIDE))
    true = ratios(WIDE, model.embedding_)
    found = model.distortion_
    assert found["pairs"] == len(true) == 19_900
    for name, value in {"least": true.min(), "mean": true.mean(), "largest": true.max()}.items():
        assert found[name] == pytest.approx(value, rel=1e-9)
    assert found["within"] == pytest.approx(np.mean(np.abs(true - 1) <= 0.3))


def test_pairs_that_nearly_coincide_are_measured_by_differences():
    points = np.repeat(WIDE[:20], 3, axis=0) + 1e6
    points += 1e-5 * RNG.normal(size=points.shape)
    model = unbend.RandomProjection(n_components=10).fit(points)
    true = ratios(points, model.embedding_)
    assert model.distortion_["largest"] == pytest.approx(true.max(), rel=1e-6)
    assert model.distortion_["least"] == pytest.approx(true.min(), rel=1e-6)


@pytest.mark.parametrize(("n", "k"), [(2000, 50), (5000, 3)])
def test_measuring_costs_no_more_products_than_projecting(n, k):
    points = np.random.default_rng(0).normal(size=(n, 60))
    model = unbend.RandomProjection(n_components=k).fit(points)
    rows = max(200, int(np.sqrt(n * k)))
    assert model.distortion_["pairs"] == rows * (rows - 1) // 2
    true = ratios(points[:600], model.embedding_[:600])
    assert model.distortion_["mean"] == pytest.approx(true.mean(), rel=0.05)


@pytest.mark.parametrize("beta", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("eps", [0.1, 0.3, 0.9])
def test_bound_distortion_and_exponent_are_inverse(eps, beta):
    k = johnson_lindenstrauss(500, eps, beta)
    assert guaranteed_distortion(500, k, beta) <= eps
    assert guaranteed_exponent(500, k, eps) >= beta
    assert guaranteed_exponent(500, k - 1, eps) < beta
    found = guaranteed_distortion(500, k, beta)
    assert guaranteed_exponent(500, k, found) == pytest.approx(beta, abs=1e-9)


def test_a_guarantee_exists_only_from_six_times_the_numerator_on():
    """(4 + 2β) ln n / k < 1/6, or no ε below one solves (7.6)."""
    least = 6 * (4 + 2 * 1.0) * np.log(1000)
    assert np.isnan(guaranteed_distortion(1000, int(least), 1.0))
    assert 0.95 < guaranteed_distortion(1000, int(least) + 1, 1.0) < 1
    few = unbend.RandomProjection(n_components=2).fit(WIDE)
    assert few.guarantee_ is None
    assert few.beta_ < 0
    assert few.report_.stage("distortion").facts["guarantee"] == "none: too few coordinates"
    many = unbend.RandomProjection(n_components="auto", eps=0.5).fit(WIDE)
    assert many.guarantee_ <= 0.5
    assert many.beta_ >= 1


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (johnson_lindenstrauss, (1000, 1.6)),
        (johnson_lindenstrauss, (1000, -0.1)),
        (johnson_lindenstrauss, (1, 0.5)),
        (johnson_lindenstrauss, (1000, 0.5, -1)),
        (guaranteed_distortion, (1000, 0)),
        (guaranteed_exponent, (1000, 10, 1.0)),
        (length_tails, (10, 1.0)),
    ],
)
def test_values_outside_the_theorem_are_refused(function, arguments):
    with pytest.raises(ValueError, match="is not allowed: it must be"):
        function(*arguments)


def test_an_estimator_refuses_a_distortion_of_one():
    with pytest.raises(ValueError, match="above 0 and below 1"):
        unbend.RandomProjection(eps=1.6).fit(WIDE)


@pytest.mark.parametrize("k", [5, 60, 400])
@pytest.mark.parametrize("beta", [1.01, 1.2, 2.0])
def test_tails_bound_the_law_of_chi_squared(k, beta):
    tails = length_tails(k, beta)
    assert chi2.cdf(k / beta, k) < tails.lower <= 1
    assert chi2.sf(k * beta, k) < tails.upper <= 1
    # Both are the least of Chernoff's bounds, E exp(h‖y‖²) = (1 − 2h)^(−k/2).
    places = -np.linspace(0, 2.0, 200_001), np.linspace(0, 0.4999, 200_001)
    for bound, edge, h in zip(
        (tails.lower, tails.upper), (k / beta, k * beta), places, strict=True
    ):
        chernoff = np.min(-k / 2 * np.log1p(-2 * h) - h * edge)
        assert np.log(bound) == pytest.approx(chernoff, rel=1e-5)


@pytest.mark.parametrize("density", [1 / 3, 0.02])
def test_sparse_signs_have_mean_zero_and_variance_one(density):
    matrix = sparse_signs(300, 1000, density, np.random.default_rng(0))
    values = matrix.toarray()
    assert abs(values.mean()) < 5 / np.sqrt(values.size)
    assert abs(values.var() - 1) < 5 / np.sqrt(density * values.size)
    assert abs(matrix.nnz / values.size - density) < 5 * np.sqrt(density / values.size)
    # Entries are independent: so are the counts of rows and columns.
    for axis in (0, 1):
        counts = np.count_nonzero(values, axis=axis)
        expected = values.shape[axis] * density * (1 - density)
        assert counts.var() == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("density", [None, "auto", 0.3])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_sparse_matrices_are_stored_sparse_and_project_alike(density, convert, tmp_path):
    model = unbend.RandomProjection(n_components=40, kind="sparse", density=density)
    model.fit(convert(WIDE))
    matrix = model.components_
    assert issparse(matrix)
    share = {None: 1 / 3, "auto": 2000**-0.5, 0.3: 0.3}[density]
    assert matrix.nnz == pytest.approx(share * 80_000, rel=0.1)
    np.testing.assert_allclose(np.abs(matrix.data), 1 / np.sqrt(40 * share), rtol=1e-12)
    expected = WIDE @ matrix.toarray().T
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-10)
    np.testing.assert_allclose(model.transform(WIDE[:3]), expected[:3], atol=1e-10)
    np.testing.assert_allclose(model.transform(csr_array(WIDE[:3])), expected[:3], atol=1e-10)
    back = model.inverse_transform(model.embedding_)
    np.testing.assert_allclose(back, expected @ np.linalg.pinv(matrix.toarray()).T, atol=1e-9)
    model.save(tmp_path / "model.unbend")
    again = unbend.load(tmp_path / "model.unbend")
    np.testing.assert_array_equal(again.transform(WIDE[:3]), model.transform(WIDE[:3]))
    np.testing.assert_array_equal(
        again.inverse_transform(expected), model.inverse_transform(expected)
    )


def test_a_density_is_of_sparse_matrices():
    with pytest.raises(ValueError, match=r"density=0.1 has no effect"):
        unbend.RandomProjection(density=0.1).fit(WIDE)


@pytest.mark.parametrize("kind", ["gaussian", "sparse"])
@pytest.mark.parametrize("k", [10, 300])
def test_the_svd_has_the_singular_values_of_the_coordinates(kind, k):
    options = {"n_components": k, "kind": kind, "random_state": 1}
    plain = unbend.RandomProjection(**options).fit(WIDE)
    assert plain.singular_values_ is None
    turned = unbend.RandomProjection(svd=True, **options).fit(WIDE)
    centred = plain.embedding_ - plain.embedding_.mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    np.testing.assert_allclose(turned.singular_values_[: len(singular)], singular, atol=1e-9)
    lengths = np.linalg.norm(turned.embedding_ - turned.embedding_.mean(axis=0), axis=0)
    np.testing.assert_allclose(lengths, turned.singular_values_, atol=1e-9)
    batched = unbend.RandomProjection(svd=True, **options).fit_batches(np.array_split(WIDE, 3))
    np.testing.assert_allclose(batched.singular_values_, turned.singular_values_, atol=1e-9)


def test_texts_may_stay_sparse():
    texts = csr_array(random_array((300, 5000), density=0.01, rng=np.random.default_rng(0)))
    for options in ({}, {"kind": "sparse", "density": "auto"}):
        model = unbend.RandomProjection(n_components=200, **options).fit(texts)
        true = ratios(texts.toarray(), model.embedding_)
        assert model.distortion_["mean"] == pytest.approx(true.mean(), rel=0.02)
        assert abs(true.mean() - 1) < 0.05

"""Top eigenpairs of kernels: few products, partial spectra, no distances, no needless search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import aslinearoperator

import unbend
from tests.loops import each, sampled
from tests.oracles.neighbors import pairwise
from tests.stages.drawn import EPS, LAW, rngs
from unbend import preimage
from unbend._kernels import kernels
from unbend.eigen import Dense, Lanczos, dense, krylov, solve
from unbend.eigen.problem import Formable, SpectralProblem
from unbend.gram import Gram, PointGram, Squares
from unbend.gram import kernels as gram_kernels
from unbend.gram.centered import inner_products
from unbend.gram.kernels import gaussians_between
from unbend.neighbors.metrics import norms


def counting_problem(matrix):
    """Return a problem of products with a matrix, and the list of their widths so far."""
    widths = []

    def product(vectors):
        widths.append(vectors.shape[1])
        return matrix @ vectors

    n = len(matrix)
    return SpectralProblem(Formable(n, product, matrix.copy), "top", size=1.0), widths


@pytest.mark.parametrize("d", [2, 10])
@sampled("seed", range(3))
def test_a_spectrum_without_a_gap_takes_few_products(seed, d, monkeypatch):
    noise = np.random.default_rng(seed).normal(size=(700, 784)) / 30
    matrix = noise @ noise.T
    problem, widths = counting_problem(matrix)
    found, now = solve(problem, d, Lanczos()), len(widths)
    monkeypatch.setattr(krylov, "KEPT_BLOCKS", 1)
    problem, widths = counting_problem(matrix)
    solve(problem, d, Lanczos())
    assert now <= 0.85 * len(widths)
    assert found.converged
    exact = eigh(matrix, eigvals_only=True)[: -d - 1 : -1]
    np.testing.assert_allclose(found.values, exact, 0, 700 * EPS * exact[0])
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(d), 0, 700 * EPS)


@pytest.mark.parametrize("end", ["top", "bottom"])
@pytest.mark.parametrize("n", [100, 300, 600])
def test_lapack_is_asked_for_the_part_that_is_wanted(n, end, monkeypatch):
    asked = []

    def recorded(matrix, **options):
        asked.append(options)
        return eigh(matrix, **options)

    monkeypatch.setattr(dense, "eigh", recorded)
    noise = np.random.default_rng(n).normal(size=(n, n))
    matrix = noise + noise.T
    found = solve(SpectralProblem(matrix, end), 2, Dense())
    assert [set(options) for options in asked] == [{"subset_by_index"}]
    exact = eigh(matrix, eigvals_only=True)
    exact = exact[:2] if end == "bottom" else exact[:-3:-1]
    slack = 4 * n * EPS * np.abs(matrix).sum(axis=1).max()
    np.testing.assert_allclose(found.values, exact, 0, slack)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), 0, 8 * EPS)


@LAW
@given(rngs, st.integers(2, 30), st.integers(1, 40), st.sampled_from([0.0, 1.0, 1e8]))
def test_the_kernel_of_points_is_that_of_their_distances(rng, n, columns, offset):
    points = rng.normal(size=(n, columns)) + offset
    found, expected = PointGram.of(points), Gram(pairwise(points))
    slack = 64 * (n + columns) * EPS * np.square(pairwise(points)).max()
    np.testing.assert_allclose(found.form(), expected.form(), 0, slack)
    np.testing.assert_allclose(found.trace, expected.trace, 0, n * slack)
    np.testing.assert_allclose(found.mean_squares, expected.mean_squares, 0, slack)
    vectors = rng.normal(size=(n, 2))
    vectors -= vectors.mean(axis=0)
    size = slack * (1 + np.abs(vectors).sum())
    np.testing.assert_allclose(found.operator() @ vectors, expected.operator() @ vectors, 0, size)


@LAW
@given(rngs, st.integers(2, 30), st.floats(0, 2), st.booleans())
def test_the_formed_matrix_is_that_of_the_products(rng, n, lift, squared):
    distances = rng.uniform(size=(n, n))
    gram = Gram(distances + distances.T, Squares(squared=squared), lift)
    slack = 16 * n * EPS * (4 + lift)
    np.testing.assert_allclose(gram.form(), gram.operator() @ np.eye(n), 0, slack)


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 60), st.sampled_from([0.0, 1e6]))
def test_gaussians_from_products_are_those_from_differences(rng, n, columns, offset):
    points = rng.normal(size=(n, columns)) + offset
    gamma = 1.0 / np.square(pairwise(points)).mean()
    found = gaussians_between(points, gamma)
    if found is not None:
        differences = points[:, None].astype(np.longdouble) - points
        exact = np.exp(-gamma * np.square(differences).sum(axis=2))
        np.testing.assert_allclose(found, exact.astype(float), 0, 32 * (columns + 4) * EPS)
        assert (found == found.T).all()
        assert (found.diagonal() == 1).all()
    points[0] += 1e6
    assert gaussians_between(points, gamma) is None


@each("n", [511, 512, 513, 1200])
@each("threads", [1, 3])
def test_inner_products_by_blocks_are_those_of_all_rows(n, threads):
    points = np.random.default_rng(0).integers(-9, 10, (n, 5)).astype(float)  # no rounding
    with kernels.Team(threads):
        found = inner_products(points, threads)
    np.testing.assert_array_equal(found, np.einsum("ik,jk->ij", points, points))


MODELS = [
    unbend.KernelPCA(),
    unbend.KernelPCA(kernel="linear"),
    unbend.KernelPCA(kernel="cosine"),
    unbend.ClassicalMDS(),
    unbend.ClassicalMDS(metric="mahalanobis"),
]


@each("n", [80, 700])
@each("model", MODELS)
def test_kernels_of_points_need_no_distances_and_no_regression(model, n, monkeypatch):
    def refused(*_):
        raise AssertionError("this is not needed")

    for module, name in ((gram_kernels, "cdist"), (norms, "cdist"), (preimage, "cho_factor")):
        monkeypatch.setattr(module, name, refused)
    points = np.random.default_rng(n).normal(size=(n, 20)) * np.linspace(3, 1, 20)
    model.fit(points)
    facts = model.report_.stage("spectrum").facts
    assert (facts["negative_share"], model.negative_share_) == (0.0, 0.0)
    assert facts["negative_share_by"] == "the kind of kernel: it has none"
    assert facts["solver"] == ("Dense" if n < 600 else "Lanczos")
    assert facts["because"]
    monkeypatch.undo()
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(points), model.embedding_, 0, 1e-9 * size)
    assert np.isfinite(model.inverse_transform(model.embedding_)).all()


@pytest.mark.parametrize("n", [100, 700])
def test_the_report_records_how_the_negative_share_was_computed(n):
    points = np.random.default_rng(0).normal(size=(n, 3))
    euclidean, other = pairwise(points), pairwise(points) ** 1.5

    def by(distances):
        model = unbend.ClassicalMDS(metric="precomputed").fit(distances)
        return model.report_.stage("spectrum").facts["negative_share_by"], model.negative_share_

    assert by(euclidean) == ("Cholesky factorisation", 0.0)
    how, share = by(other)
    assert how == ("all eigenvalues" if n < 600 else "quadrature from 8 probes")
    values = np.linalg.eigvalsh(Gram(other).form())
    exact = -values[values < 0].sum() / np.abs(values).sum()
    assert share == pytest.approx(exact, rel=1e-9 if n < 600 else 0.3)


@pytest.mark.parametrize(
    ("options", "positive"),
    [({}, True), ({"degree": 2.5}, False), ({"coef0": -0.5}, False), ({"degree": 1}, True)],
)
def test_only_some_polynomials_are_known_to_be_positive(options, positive):
    points = np.abs(np.random.default_rng(0).normal(size=(60, 3)))
    model = unbend.KernelPCA(kernel="poly", gamma=1.0, **{"coef0": 1.0, **options}).fit(points)
    by = model.report_.stage("spectrum").facts["negative_share_by"]
    assert (by == "the kind of kernel: it has none") == positive


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_entries_in_any_order_stay_as_they_are_and_give_the_same_bits(kind):
    n = 700
    ring = np.arange(n)
    columns = np.stack(((ring + 1) % n, ring, (ring - 1) % n), axis=1)
    values = np.stack((-np.ones(n), 2.0 + 9.0 / (1 + ring), -np.ones(n)), axis=1).ravel()
    matrix = csr_array((values, columns.ravel(), 3 * np.arange(n + 1)), shape=(n, n))
    matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
    ordered, before = matrix.sorted_indices(), matrix.indices.copy()
    found = [solve(SpectralProblem(m, "top"), 2, Lanczos()) for m in (matrix, ordered)]
    assert found[0].converged
    assert found[0].vectors.tobytes() == found[1].vectors.tobytes()
    assert (matrix.indices == before).all()


@each("n", [2, 255, 256, 257, 600])
@each("where", ["first", "last", "middle"])
def test_one_entry_that_differs_from_its_mirror_image_is_found(n, where):
    distances = pairwise(np.random.default_rng(n).normal(size=(n, 2)))
    row, column = {"first": (0, 1), "last": (n - 1, n - 2), "middle": (n // 2, n - 1 - n // 2)}[
        where
    ]
    if row == column:
        row = n - 1
    distances[row, column] += 0.5
    with pytest.raises(ValueError, match=r"differ by up to 0\.5"):
        unbend.ClassicalMDS(n_components=1, metric="precomputed").fit(distances)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_fitted_rows_far_from_the_origin_are_placed_where_they_are(offset):
    points = np.random.default_rng(0).normal(size=(200, 5)) * [5, 3, 2, 1, 0.5] + offset
    model = unbend.KernelPCA(n_components=2, kernel="linear").fit(points)
    np.testing.assert_allclose(model.transform(points), model.embedding_, atol=1e-9)


def test_the_regression_of_pre_images_asks_for_its_memory():
    points = np.random.default_rng(0).normal(size=(700, 3))
    model = unbend.KernelPCA(n_components=2, kernel="linear").fit(points)
    with unbend.memory_limit(1_000_000), pytest.raises(MemoryError, match="Nystrom"):
        model.inverse_transform(model.embedding_[:2])


def test_warns_when_the_ridge_is_too_small():
    points = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 3, axis=0)
    model = unbend.KernelPCA(n_components=2, alpha=1e-300).fit(points)
    with pytest.raises(ValueError, match="use a larger alpha"):
        model.inverse_transform(model.embedding_)


def test_equal_rows_lie_at_the_origin():
    with pytest.warns(UserWarning, match="only 0 positive eigenvalues"):
        found = unbend.ClassicalMDS(n_components=2).fit_transform(np.full((50, 3), 0.1))
    assert not found.any()


def test_no_more_than_all_is_negative():
    with pytest.warns(UserWarning, match="positive"):
        model = unbend.KernelPCA(n_components=2, kernel="precomputed").fit(-np.eye(800))
    assert model.negative_share_ <= 1


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9, 1e-11])
def test_lanczos_resolves_eigenvalues_far_below_the_largest(small):
    """Vectors are right up to the rounding of the largest eigenvalue, and it stops there."""
    n = 800
    rng = np.random.default_rng(0)
    values = small * 0.9 ** np.arange(n)
    values[0] = 1.0
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    problem = SpectralProblem(aslinearoperator((basis * values) @ basis.T), "top")
    found = solve(problem, 3, Lanczos())
    assert found.converged
    np.testing.assert_allclose(found.values, values[:3], 0, 64 * EPS)
    away = found.vectors - basis[:, :3] * np.sum(basis[:, :3] * found.vectors, axis=0)
    # Demanded are residuals of 1e-8 of the own eigenvalue; neighbours differ by a tenth of it.
    assert np.linalg.norm(away, axis=0).max() <= 64 * EPS / (0.1 * small) + 1e-7


def test_asymmetry_of_rounded_paths_is_no_lack_of_convergence():
    """Lengths of paths that are summed from either end differ by more than their own rounding."""
    places = np.linspace(0, 1, 1500)
    exact = np.abs(places[:, None] - places)
    forth = np.triu(np.ones_like(exact), 1)
    rounded = (exact * (1 + 12 * float(np.finfo(np.float32).eps) * forth)).astype(np.float32)
    found = solve(Gram(rounded).problem(), 1, Lanczos(passes=20))
    assert found.converged
    top = eigh(Gram(exact).form(), eigvals_only=True)[-1]
    np.testing.assert_allclose(found.values, top, 1e-5)


@pytest.mark.parametrize("spread", [0.3, 0.01])
def test_slow_convergence_near_the_accuracy_is_not_taken_for_asymmetry(spread):
    """Residuals of crowded eigenvalues fall by a fifth in several looks, not in each."""
    values = np.concatenate(([1.0, 0.9], spread * np.linspace(1, 0, 2998)))
    accuracy = 2 * float(np.finfo(np.float32).eps)
    problem = SpectralProblem(aslinearoperator(diags_array(values)), "top", accuracy=accuracy)
    found = solve(problem, 4, Lanczos())
    assert found.converged
    assert found.residuals.max() <= 1.01 * accuracy
    np.testing.assert_allclose(found.values, values[:4], rtol=0, atol=0.01 * accuracy)

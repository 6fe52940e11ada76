"""Repairs of negative eigenvalues with every eigensolver, against dense NumPy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from tests.conformance.cases import assert_clear
from tests.loops import each
from tests.oracles.neighbors import nearest, union_graph
from unbend import ClassicalMDS, Fat, Isomap, KernelPCA, Nystrom
from unbend.datasets import s_curve
from unbend.gram import Gram, additive_constant

pytestmark = pytest.mark.filterwarnings("ignore:the coordinates may be")
N = 90
POINTS = s_curve(N, random_state=0).points
EXACT = ["auto", "dense", "lanczos"]
WRAPPED = [Fat("prat", 40), Fat("gat", 40), Fat("irat", 40)]
COLUMNS = [Nystrom(30), Fat("irat", 30, columns_only=True)]
REPAIRS = [None, "additive_constant", "spectrum_shift"]
over_repairs = each("repair", REPAIRS)
over_solvers = each("solver", EXACT + WRAPPED + COLUMNS)


def bent():
    """Distances that no Euclidean space has."""
    noise = np.random.default_rng(0).uniform(0.0, 1.0, (N, N))
    distances = cdist(POINTS, POINTS) + noise + noise.T
    np.fill_diagonal(distances, 0.0)
    return distances


def geodesic():
    return shortest_path(union_graph(POINTS, nearest(POINTS, 8)[0]))


def centred(matrix):
    return matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()


def repaired(distances, repair):
    """Gram matrix, by Cailliez' eigenvalue problem or by raising all eigenvalues but that of 1."""
    n = len(distances)
    gram = centred(-0.5 * distances**2)
    if repair == "spectrum_shift":
        return gram - np.linalg.eigvalsh(gram)[0] * (np.eye(n) - 1.0 / n)
    if repair == "additive_constant":
        block = [[np.zeros((n, n)), 2.0 * gram], [-np.eye(n), 2.0 * centred(distances)]]
        longer = distances + np.linalg.eigvals(np.block(block)).real.max()
        np.fill_diagonal(longer, 0.0)
        return centred(-0.5 * longer**2)
    return gram


def top(gram, d=2):
    values, vectors = np.linalg.eigh(gram)
    return vectors[:, : -d - 1 : -1] * np.sqrt(values[: -d - 1 : -1])


def error(found, expected):
    """Largest error, relative, up to the sign of each coordinate."""
    signs = np.sign(np.sum(found * expected, axis=0))
    return np.abs(found * signs - expected).max() / np.abs(expected).max()


# Each an estimator, what it is fitted to, and the distances of which it has the Gram matrix.
CASES = {
    "points": (
        ClassicalMDS(metric="cityblock"),
        POINTS,
        lambda: cdist(POINTS, POINTS, "cityblock"),
    ),
    "distances": (ClassicalMDS(metric="precomputed"), bent(), bent),
    "geodesics": (Isomap(n_neighbors=8), POINTS, geodesic),
    "given geodesics": (
        Isomap(n_neighbors=8, metric="precomputed"),
        cdist(POINTS, POINTS),
        geodesic,
    ),
}


@each("case", CASES)
@over_repairs
@over_solvers
def test_coordinates_are_those_of_the_dense_matrix_and_continuous_or_refused(case, repair, solver):
    model, X, distances = CASES[case]
    model.set_params(repair=repair, eigen_solver=solver)
    if repair and solver in COLUMNS:
        with pytest.raises(ValueError, match="use repair=None, or eigen_solver='auto'") as caught:
            model.fit(X)
        assert_clear(caught.value, f"repair={repair!r}", "takes those")
        return
    model.fit(X)
    assert error(model.transform(X), model.embedding_) < 1e-10
    # Beside the fitted rows, where none of them is met and the extension itself is at work.
    assert error(model.transform(X + 1e-11), model.embedding_) < 1e-8
    if solver not in COLUMNS:
        tolerance = 1e-10 if solver in EXACT else 1e-4
        assert error(model.embedding_, top(repaired(distances(), repair))) < tolerance


@pytest.mark.parametrize("solver", [Nystrom(N), Fat("irat", N, columns_only=True)], ids=repr)
@pytest.mark.parametrize("case", CASES)
def test_all_columns_give_the_dense_result(case, solver):
    model, X, distances = CASES[case]
    model.set_params(repair=None, eigen_solver=solver).fit(X)
    assert error(model.embedding_, top(repaired(distances(), None))) < 1e-10


@over_solvers
@each(
    "model",
    [
        ClassicalMDS(metric="kernel"),
        ClassicalMDS(metric="kernel", repair="spectrum_shift"),
        KernelPCA(kernel="precomputed"),
    ],
)
def test_given_similarities_are_continuous_at_fitted_rows(model, solver):
    kernel = POINTS @ POINTS.T + 0.1 * np.cos(bent())
    model.set_params(eigen_solver=solver)
    repair = getattr(model, "repair", None)
    if repair and solver in COLUMNS:
        with pytest.raises(ValueError, match="use repair=None, or eigen_solver='auto'"):
            model.fit(kernel)
        return
    model.fit(kernel)
    assert error(model.transform(kernel), model.embedding_) < 1e-10
    assert error(model.transform(kernel + 1e-11), model.embedding_) < 1e-8
    gram = centred(kernel)
    if repair:
        gram -= np.linalg.eigvalsh(gram)[0] * (np.eye(N) - 1.0 / N)
    if solver not in COLUMNS:
        assert error(model.embedding_, top(gram)) < (1e-10 if solver in EXACT else 1e-5)


def test_similarities_have_no_distances_to_shift():
    with pytest.raises(ValueError, match="use repair='spectrum_shift'"):
        ClassicalMDS(metric="kernel", repair="additive_constant").fit(POINTS @ POINTS.T)


@pytest.mark.parametrize("repair", ["additive_constant", "spectrum_shift"])
@pytest.mark.parametrize("kind", ["even", "random"])
def test_distances_along_a_line_need_no_repair(kind, repair):
    # Rounding alone makes eigenvalues negative: an iteration for the least constant never ended.
    places = np.linspace(0.0, 1.0, 300)
    if kind == "random":
        places = np.random.default_rng(0).uniform(size=300)
    model = Isomap(n_components=1, n_neighbors=8, repair=repair).fit(places[:, None])
    assert error(model.embedding_, places[:, None] - places.mean()) < 1e-10
    facts = model.report_.stage("kernel").facts
    assert facts["additive_constant"] < 1e-6
    assert facts["spectrum_shift"] < 1e-12


@pytest.mark.parametrize("n", [150, 700])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_additive_constant_is_the_least_that_leaves_nothing_negative(n, precision):
    rng = np.random.default_rng(n)
    distances = cdist(*[rng.normal(size=(n, 3))] * 2, "cityblock") + rng.uniform(size=(n, n))
    distances = ((distances + distances.T) / 2 * (1 - np.eye(n))).astype(precision)
    tau = additive_constant(Gram(distances))

    def lowest(constant):
        longer = (distances.astype(np.float64) + constant) * (1 - np.eye(n))
        # The constant vector is moved out of the way.
        return np.linalg.eigvalsh(centred(-0.5 * longer**2) + 1e6 / n)[0]

    size = float(np.square(distances).max()) * n
    assert lowest(tau) > -(1e-12 if precision == np.float64 else 1e-6) * size
    assert lowest(tau * (1 - 1e-3)) < -1e-6 * size


@pytest.mark.parametrize("repair", ["additive_constant", "spectrum_shift"])
def test_repairs_are_lapacks_where_lanczos_finds_the_lowest_eigenvalue(repair, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(700, 50))
    distances = cdist(rows, rows, "cityblock")
    exact = Gram(distances).repair(repair)
    monkeypatch.setattr("unbend.gram.distances.DENSE_LOWEST", 600)
    found = Gram(distances).repair(repair)
    np.testing.assert_allclose(found.squares.constant, exact.squares.constant, rtol=1e-12)
    np.testing.assert_allclose(found.spectrum_shift, exact.spectrum_shift, rtol=1e-12)
    # The lowest eigenvalue of the repaired kernel is zero.
    values = np.linalg.eigvalsh(found.form())
    assert abs(values[0]) <= 1e-11 * values[-1]

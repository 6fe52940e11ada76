"""Every iterative solver stops, says so, and checks its result before it says `converged`.

Solvers are starved of iterations, and fed clustered and degenerate spectra. Judges are LAPACK and
the inertia of a shifted matrix (Sylvester): the number of eigenvalues beyond the last one found.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import ldl
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import unbend
from tests.conformance.cases import curve
from tests.stages.drawn import EPS
from unbend import rounding
from unbend.eigen import Dense, Lanczos, ShiftInvert, solve
from unbend.eigen.problem import Eigenpairs, SpectralProblem
from unbend.eigen.solve import NotConverged
from unbend.layout import descent
from unbend.mds import placement
from unbend.preimage import FixedPoint
from unbend.rounding import discretize

RNG = np.random.default_rng(0)
X = curve(120)


def squares(k: int = 2) -> list[np.ndarray]:
    return [squareform(pdist(RNG.normal(size=(30, 3)))) for _ in range(k)]


def starved_kmeans() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounding, "ITERATIONS", 1)
        return unbend.SpectralClustering(4).fit(RNG.normal(size=(200, 3)))


def starved_placement() -> Any:
    model = unbend.MetricMDS(metric="precomputed").fit(squares(1)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "ITERATIONS", 1)
        return model.transform(RNG.uniform(1, 5, size=(4, 30)))


def starved_preimages() -> Any:
    model = unbend.KernelPCA(kernel="rbf", preimage="fixed_point").fit(X)
    fixed = model._preimage
    return FixedPoint(fixed.start, fixed.points, fixed.weights, 8 * fixed.gamma, steps=1)(
        1.5 * model.embedding_
    )


def turned_rows() -> np.ndarray:
    rows = RNG.normal(size=(300, 5))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def program() -> Any:
    constraints = [np.diag(np.eye(12)[i]) for i in range(12)]
    return unbend.mvu.solve_semidefinite(
        np.cos(np.add.outer(np.arange(12), np.arange(12)) ** 2), constraints, [1.0] * 12, max_iter=2
    )


PATH = csr_array(np.diag(np.full(900, 2.0)) - np.eye(900, k=1) - np.eye(900, k=-1))
# Each is given too few iterations, and says so.
STARVED: dict[str, Callable[[], Any]] = {
    "Lanczos": lambda: solve(SpectralProblem(PATH, "bottom"), 3, Lanczos(passes=1)),
    "ShiftInvert": lambda: solve(
        SpectralProblem(PATH, "bottom"), 3, ShiftInvert(passes=1, tol=1e-16)
    ),
    "L-BFGS": lambda: unbend.MetricMDS(max_iter=1).fit(X),
    "SMACOF": lambda: unbend.MetricMDS(solver="smacof", max_iter=1).fit(X),
    "isotonic": lambda: unbend.NonmetricMDS(max_iter=1).fit(X),
    "replicated": lambda: unbend.ReplicatedMDS(max_iter=1).fit(squares()),
    "INDSCAL": lambda: unbend.WeightedMDS(max_iter=1).fit(squares()),
    "EM": lambda: unbend.PCA(svd_solver="em", max_iter=1).fit(X),
    "sensible": lambda: unbend.PCA(svd_solver="sensible", max_iter=1).fit(X),
    "semidefinite": program,
    "k-means": starved_kmeans,
    "discretisation": lambda: discretize(turned_rows(), RNG, starts=1, steps=1),
    "pre-images": starved_preimages,
    "new samples of scaling": starved_placement,
}


@pytest.mark.parametrize("name", STARVED)
def test_a_solver_without_enough_iterations_stops_and_says_so(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        STARVED[name]()
    said = [str(w.message) for w in caught if "converge" in str(w.message)]
    assert said, [str(w.message) for w in caught]


def test_maximum_variance_unfolding_that_is_cut_short_is_not_certified(monkeypatch: Any) -> None:
    from unbend.mvu import sdp

    real = sdp.certify
    # A certificate is computed from the result, whatever the solver believes.
    rough = lambda edges, relaxation, feasible, tensions: real(  # noqa: E731
        edges, relaxation, feasible * 0.9, tensions
    )
    monkeypatch.setattr(sdp, "certify", rough)
    with pytest.warns(UserWarning, match="not certified"):
        model = unbend.MVU().fit(curve(60))
    assert model.gap_ > model.tol


def test_a_layout_that_gets_worse_has_not_converged(monkeypatch: Any) -> None:
    values = iter([5.0, 4.0, 4.5, 4.6, 4.6000001] + [4.6000001] * 50)
    monkeypatch.setattr(descent._Descent, "objective", lambda self, e: next(values))
    points = np.random.default_rng(0).normal(size=(60, 3))
    model = unbend.NeighborEmbedding(perplexity=5, tol=1e-4).fit(points)
    recorded = str(model.report_)
    # The rise from 4 to 4.6 is no convergence: the fifth value is the first that stands.
    assert f"{descent.CHECK * 5 + 250}" in recorded


class Liar:
    """A solver that says it converged."""

    def __init__(self, values: np.ndarray, vectors: np.ndarray) -> None:
        self.pairs = Eigenpairs(values, vectors)

    def eigenpairs(self, problem: Any, count: int, rng: Any, threads: int = 1) -> Eigenpairs:
        return self.pairs


def test_what_a_solver_says_of_itself_is_checked() -> None:
    matrix = np.diag(np.arange(1.0, 21.0))
    eye = np.eye(20)
    oblique = np.column_stack([eye[:, 0], eye[:, 0]])
    problem = SpectralProblem(matrix, "bottom")
    for values, vectors in (
        (np.array([1.0, 2.0]), oblique),
        (np.array([1.0, 2.5]), eye[:, :2]),
        (np.array([1.0, np.nan]), eye[:, :2]),
    ):
        with pytest.warns(NotConverged):
            assert not solve(problem, 2, Liar(values, vectors)).converged
    trivial = SpectralProblem(matrix, "bottom", trivial=eye[:, :1])
    with pytest.warns(NotConverged):
        assert not solve(trivial, 2, Liar(np.array([1.0, 2.0]), eye[:, :2])).converged
    assert solve(problem, 2, Liar(np.array([1.0, 2.0]), eye[:, :2])).converged


def spectrum(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw eigenvalues: clustered, multiple, crowded at zero, graded or with a far outlier."""
    kind = rng.integers(6)
    if kind == 0:
        return np.repeat(rng.uniform(0, 1, -(-n // 7)), 7)[:n]
    if kind == 1:
        return 1.0 + 1e-8 * rng.standard_normal(n)
    if kind == 2:
        return rng.uniform(0, 1, n) ** 12
    if kind == 3:
        return 10.0 ** rng.uniform(-12, 0, n)
    if kind == 4:
        return np.concatenate([[1e6], rng.uniform(0, 1, n - 1)])
    return rng.choice([0.0, 0.5, 1.0], n) + 1e-10 * rng.random(n)


def inertia_beyond(matrix: np.ndarray, shift: float) -> int:
    """Count eigenvalues below a shift, by Sylvester's law from a factorisation LDL'."""
    _, blocks, _ = ldl(matrix - shift * np.eye(len(matrix)))
    return int(np.sum(np.linalg.eigvalsh(blocks) < 0))


def check_against_lapack(seed: int) -> bool:
    """Compare one drawn problem with LAPACK; whether the solver says that it converged."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(150, 260)), int(rng.integers(1, 5))
    values = spectrum(rng, n)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    matrix = (turn * values) @ turn.T
    matrix = (matrix + matrix.T) / 2
    end = "bottom" if rng.random() < 0.5 else "top"
    solver: Any = [Lanczos(), ShiftInvert(), Dense()][rng.integers(3)]
    if isinstance(solver, ShiftInvert):
        end = "bottom"
    form = csr_array(matrix) if rng.random() < 0.5 or isinstance(solver, ShiftInvert) else matrix
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = solve(SpectralProblem(form, end), count, solver, rng)
        except ValueError:
            return False  # refused: not positive definite to rounding
    if not found.converged:
        return False
    size = np.abs(values).max()
    exact = np.sort(np.linalg.eigvalsh(matrix))
    exact = exact[:count] if end == "bottom" else exact[::-1][:count]
    allowed = size * (1e-11 if not isinstance(solver, ShiftInvert) else 1e-12)
    np.testing.assert_allclose(found.values, exact, rtol=0, atol=allowed + 50 * n * EPS * size)
    gram = found.vectors.T @ found.vectors
    np.testing.assert_allclose(gram, np.eye(count), atol=1e-9)
    # No eigenvalue nearer to the end was missed: a count, not another solver's word.
    sign = 1.0 if end == "bottom" else -1.0
    slack = allowed + 50 * n * EPS * size
    assert inertia_beyond(sign * matrix, sign * found.values[-1] - 2 * slack) <= count - 1
    return True


@pytest.mark.parametrize(
    "seeds",
    [range(40), pytest.param(range(40, 1000), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_what_converged_is_lapacks_answer_on_degenerate_spectra(seeds: range) -> None:
    converged = [check_against_lapack(seed) for seed in seeds]
    assert np.mean(converged) > 0.6


@pytest.mark.parametrize("solver", ["em", "sensible", "randomized", "arpack", "dual", "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_principal_axes_of_clustered_spectra_hold_the_variance_of_lapacks(
    solver: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    singular = np.array([[1, 1, 1, 0.5], [1, 0.999, 0.998, 0.997], [1, 1e-3, 1e-6, 1e-9]][seed % 3])
    left = np.linalg.qr(rng.standard_normal((80, 4)))[0]
    left -= left.mean(axis=0)
    rows = np.linalg.qr(left)[0] * singular @ np.linalg.qr(rng.standard_normal((9, 4)))[0].T
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = unbend.PCA(2, svd_solver=solver).fit(rows)
    if any("converge" in str(w.message) for w in caught):
        return
    held = np.square((rows - rows.mean(axis=0)) @ model.components_.T).sum()
    assert held >= (1 - 1e-5) * np.square(exact[:2]).sum()

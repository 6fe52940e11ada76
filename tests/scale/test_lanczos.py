"""The graph of all rows solved on all workers: eigenvalues and vectors of the gathered solution."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


from itertools import pairwise

import dask
import dask.array as da
import numpy as np
from scipy.sparse import csr_array, random_array

import unbend
from unbend import scale
from unbend.scale import halo, lanczos, spectral
from unbend.scale import neighbors as searching
from unbend.scale.boxes import BoxNeighbors

# Sides of a box: eigenvalues are then far enough from each other for vectors to be unique.
SIDES = np.array([1.0, 0.8, 0.65, 0.5, 0.4, 0.35])


@pytest.fixture(scope="module")
def cube():
    """Rows that fill six dimensions, with duplicates."""
    rows = np.random.default_rng(0).uniform(size=(1500, 6)) * SIDES
    rows[700:720] = rows[100:120]
    return rows


@pytest.fixture
def small_blocks(monkeypatch):
    """Several boxes, and several boxes in a block, of few rows."""
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 16)
    monkeypatch.setattr(spectral, "BLOCK_BYTES", 1 << 17)


def lazy(rows, parts=5):
    return da.from_array(rows, chunks=(len(rows) // parts, rows.shape[1]))


def fit_both(name, rows, **options):
    options = {"random_state": 0, **options}
    plain = getattr(unbend, name)(**options).fit(rows)
    model = getattr(scale, name)(**options, sample=None, graph_solver="distributed")
    return plain, model.fit(lazy(rows))


@pytest.fixture(scope="module")
def both(cube):
    """Laplacian eigenmaps of the rows in one memory and in blocks, fitted once."""
    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="synchronous"):
        patch.setattr(searching, "BOX_BYTES", 1 << 16)
        patch.setattr(spectral, "BLOCK_BYTES", 1 << 17)
        return fit_both("LaplacianEigenmaps", cube)


def test_blocks_have_the_spectrum_of_the_gathered_graph(both):
    check_spectrum(*both)


def test_diffusion_maps_in_blocks_have_the_eigenvalues_of_one_memory(
    cube, small_blocks, monkeypatch
):
    # Errors of eigenvalues are squares of residuals, so few products are enough to compare them.
    monkeypatch.setattr(lanczos, "TOLERANCE", 1e-4)
    with dask.config.set(scheduler="synchronous"):
        plain, model = fit_both("DiffusionMaps", cube, n_neighbors=12)
    assert model._local.header.eigenvalues_ == pytest.approx(plain.eigenvalues_, rel=1e-5)
    assert model._local.header.bandwidth_ == pytest.approx(plain.bandwidth_, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("LaplacianEigenmaps", {"weights": "heat", "normalization": "symmetric"}),
        ("LaplacianEigenmaps", {"symmetrization": "mean", "normalization": "none"}),
        ("LaplacianEigenmaps", {"symmetrization": "min", "n_neighbors": 20}),
        ("DiffusionMaps", {"n_neighbors": 12}),
        ("DiffusionMaps", {"kind": "graph_laplacian", "normalization": "symmetric"}),
    ],
)
@pytest.mark.slow
def test_blocks_have_the_spectrum_of_every_kernel(name, options, cube, small_blocks):
    with dask.config.set(scheduler="synchronous"):
        check_spectrum(*fit_both(name, cube, **options))


def check_spectrum(plain, model):
    with dask.config.set(scheduler="synchronous"):
        found = model.embedding_.compute()
    header = model._local.header
    assert header.eigenvalues_ == pytest.approx(plain.eigenvalues_, rel=1e-10)
    size = np.abs(plain.embedding_).max(axis=0)
    assert np.abs((found - plain.embedding_) / size).max() < 1e-5
    facts = {fact: value for one in model.report_.stages for fact, value in one.facts.items()}
    assert facts["blocks"] >= 3
    assert facts["tier"] == "graph"
    assert facts["converged"]
    assert facts["residual"] <= 1e-8
    assert 4.5 < facts["intrinsic_dimension"] < 7


@pytest.mark.parametrize(
    ("tolerance", "error"), [(1e-4, 1e-2), pytest.param(1e-8, 1e-5, marks=pytest.mark.slow)]
)
def test_clusters_are_those_of_the_gathered_graph(tolerance, error, small_blocks, monkeypatch):
    # Few products are enough for the labels.
    monkeypatch.setattr(lanczos, "TOLERANCE", tolerance)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1500, 7))
    rows[:, 0] += 4.0 * (np.arange(1500) % 3)
    with dask.config.set(scheduler="synchronous"):
        plain, model = fit_both("SpectralClustering", rows, n_clusters=3, n_neighbors=15)
        labels, placed = dask.compute(model.labels_, model.embedding_)
    assert np.array_equal(labels, plain.labels_)
    assert np.abs(placed - plain.embedding_).max() < error
    assert model._local.header.ncut_ == pytest.approx(plain.ncut_, rel=1e-12)


def test_the_bits_are_those_of_any_number_of_workers(client, cube, small_blocks, monkeypatch):
    # Few products: the law is about bits, and every product is many messages.
    monkeypatch.setattr(lanczos, "PRODUCTS", 3)
    options = {"random_state": 0, "sample": None, "graph_solver": "distributed"}
    with dask.config.set(scheduler="synchronous"), pytest.warns(UserWarning, match="3 products"):
        alone = scale.LaplacianEigenmaps(**options).fit(lazy(cube)).embedding_.compute()
    with pytest.warns(UserWarning, match="did not converge in 3 products"):
        two = scale.LaplacianEigenmaps(**options).fit(lazy(cube, 3))
    assert np.array_equal(two.embedding_.compute(), alone)


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 2.0, 5.0])
def test_the_bits_survive_the_death_of_a_worker(client, cube, small_blocks, dying, after):
    import os
    import signal
    import threading

    options = {"random_state": 0, "sample": None, "graph_solver": "distributed"}
    alone = scale.LaplacianEigenmaps(**options).fit(lazy(cube)).embedding_.compute()
    # Before the first product, by a block of the rows, or while products are computed.
    rows = dying(lazy(cube)) if not after else lazy(cube)
    pid = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(after, os.kill, (pid, signal.SIGKILL))
    if after:
        timer.start()
    model = scale.LaplacianEigenmaps(**options).fit(rows)
    if after:
        timer.join()
    assert np.array_equal(model.embedding_.compute(), alone)


def test_curves_and_surfaces_are_refused_with_the_alternative(rows):
    model = scale.LaplacianEigenmaps(sample=None, graph_solver="distributed")
    with pytest.raises(ValueError, match=r"dimension of about 2\.\d.*graph_solver='gathered'.*sam"):
        model.fit(lazy(rows))


def test_a_graph_too_large_for_a_worker_is_solved_on_all(cube, monkeypatch):
    monkeypatch.setattr(lanczos, "PRODUCTS", 2)  # The law is about the choice.
    limit = unbend.memory_limit(1_000_000)
    with limit, dask.config.set(scheduler="synchronous"), pytest.warns(match="2 products"):
        model = scale.LaplacianEigenmaps(sample=None).fit(lazy(cube))
    assert model.report_.stage("spectrum").facts["solver"] == "block Lanczos"


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("DiffusionMaps", {"kind": "self_tuning"}, "kind='self_tuning' needs the graph in one"),
        ("DiffusionMaps", {"n_components": "auto"}, "n_components='auto' needs the graph in one"),
        ("LaplacianEigenmaps", {"n_neighbors": 2}, "n_neighbors of at least 3"),
    ],
)
def test_what_needs_one_memory_is_refused(name, options, sentence, cube):
    model = getattr(scale, name)(**options, sample=None, graph_solver="distributed")
    with pytest.raises(ValueError, match=sentence):
        model.fit(lazy(cube))
    with pytest.raises(ValueError, match="at least 1000 rows and X has 300"):
        scale.LaplacianEigenmaps(sample=None, graph_solver="distributed").fit(lazy(cube[:300]))


def test_disconnected_graphs_are_refused_across_blocks(cube, small_blocks):
    apart = cube + 10.0 * (np.arange(len(cube))[:, None] % 3)
    with pytest.raises(ValueError, match=r"has 3 connected components.*Increase n_neighbors"):
        scale.LaplacianEigenmaps(sample=None, graph_solver="distributed").fit(lazy(apart))


def test_new_samples_need_a_model(cube, both, tmp_path):
    _, model = both
    for use in (lambda: model.transform(lazy(cube)), lambda: model.save(tmp_path / "m.unbend")):
        with pytest.raises(ValueError, match="fit with graph_solver='gathered' or a sample"):
            use()


def symmetric(n, seed):
    """Make sparse symmetric weights, and their sums by row."""
    rng = np.random.default_rng(seed)
    half = random_array((n, n), density=0.04, rng=rng, data_sampler=rng.uniform)
    weights = csr_array(half + half.T)
    weights.setdiag(0)
    weights.eliminate_zeros()
    return weights, np.asarray(weights.sum(axis=1)).ravel()


@pytest.mark.parametrize(
    "cuts", [[50, 51], *(pytest.param(some, marks=pytest.mark.slow) for some in ([], [50]))]
)
def test_lanczos_agrees_with_lapack_for_any_blocks(cuts):
    weights, degree = symmetric(200, 3)
    edges = [0, *cuts, 200]
    blocks = []
    for low, high in pairwise(edges):
        rows = weights[low:high].tocsc()
        outside = [c for c in np.flatnonzero(np.diff(rows.indptr)) if not low <= c < high]
        owner = np.searchsorted(edges[1:], outside, side="right")
        part = csr_array(rows[:, [*range(low, high), *outside]])
        needed = {int(c): np.array(outside)[owner == c] for c in np.unique(owner)}
        none = np.empty((0, 2), dtype=int)
        blocks.append(halo.BlockGraph(np.arange(low, high), none, degree[low:high], part, needed))
    matrix = lanczos.BlockMatrix(blocks)
    pairs = list(pairwise(edges))
    trivial = [np.full((high - low, 1), 200**-0.5) for low, high in pairs]
    numbers = [np.arange(low, high) for low, high in pairs]
    assert matrix.count_components() == 1
    size = 2 * degree.max()
    found = lanczos.least_pairs(matrix, trivial, numbers, 3, 7, size)
    laplacian = np.diag(degree) - weights.toarray()
    values, vectors = np.linalg.eigh(laplacian)
    assert found.values == pytest.approx(values[1:4], rel=1e-10)
    assert found.next_value == pytest.approx(values[4], rel=1e-8)
    joined = np.concatenate(dask.compute(*found.vectors))
    assert np.abs(joined.T @ joined - np.eye(3)).max() < 1e-13
    cosines = np.linalg.svd(vectors[:, 1:4].T @ joined, compute_uv=False)
    assert 1 - cosines.min() < 1e-10
    assert np.abs(joined.sum(axis=0)).max() < 1e-12


def test_multiple_eigenvalues_are_found_with_their_multiplicity():
    # A cycle of cliques: eigenvalues come in pairs, and few are distinct, so that the Krylov space
    # ends before the basis is full.
    n, cycle = 200, 8
    rows = np.arange(n)
    matrix = (rows[:, None] % cycle == rows % cycle).astype(float)
    for shift in (1, cycle - 1):
        matrix += (rows[:, None] % cycle == (rows + shift) % cycle) * 0.5
    np.fill_diagonal(matrix, 0)
    degree = matrix.sum(axis=1)
    block = halo.BlockGraph(rows, np.empty((0, 2), int), degree, csr_array(matrix), {})
    trivial = [np.full((n, 1), n**-0.5)]
    found = lanczos.least_pairs(lanczos.BlockMatrix([block]), trivial, [rows], 4, 0, 2 * n)
    exact = np.linalg.eigvalsh(np.diag(degree) - matrix)[1:5]
    assert exact[0] == pytest.approx(exact[1])
    assert found.values == pytest.approx(exact, rel=1e-10)


def test_the_growth_of_distances_gives_the_dimension():
    for dimension in (1, 2, 5, 8):
        points = np.random.default_rng(dimension).uniform(size=(4000, dimension))
        near = unbend.neighbors.PointSpace(points).nearest(6)
        empty = np.empty((0, 2), dtype=np.int64)
        shape = (4000, 6)
        box = BoxNeighbors(
            unbend.neighbors.PointSpace(points),
            np.arange(4000),
            near.indices.reshape(shape),
            near.distances.reshape(shape),
            empty,
        )
        total, count = halo.measure_growth(box)
        assert count == 4000
        assert count / total == pytest.approx(float(unbend.dimension.mle(points, n_neighbors=6)))

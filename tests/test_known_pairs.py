"""A sparse matrix of known pairs: the stress of the dense one, in memory of its own size."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, triu
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform

import unbend
from tests.conformance.cases import refused
from unbend import MetricMDS, NonmetricMDS, ReplicatedMDS
from unbend.mds import MetricStress, Monotone, Pairs, Stress1
from unbend.mds.objective import cg_solver, factor_solver, laplacian
from unbend.quality import procrustes

RNG = np.random.default_rng(3)
DISTANCES = squareform(pdist(RNG.normal(size=(40, 4))))
KNOWN = np.triu(RNG.random(DISTANCES.shape) < 0.5, 1)
SPARSE = csr_array(np.where(KNOWN | KNOWN.T, DISTANCES, 0.0))
DENSE = np.where(KNOWN | KNOWN.T | np.eye(40, dtype=bool), DISTANCES, np.nan)
LISTED = Pairs(40, DISTANCES[KNOWN], RNG.uniform(0.5, 2.0, KNOWN.sum()), np.stack(KNOWN.nonzero()))


def scaled(method=MetricMDS, **options):
    return method(metric="precomputed", **options)


def all_pairs():
    """Return the listed pairs with an entry for every other, of weight zero."""
    whole, index = Pairs(40, np.zeros(780)), Pairs(40, np.zeros(780)).index(*LISTED.ends)
    weights = np.zeros(780)
    whole.dissimilarities[index], weights[index] = LISTED.dissimilarities, LISTED.weights
    return Pairs(40, whole.dissimilarities, weights)


@pytest.mark.parametrize("loss", ["raw", "sstress", "sammon"])
def test_listed_stress_its_gradient_and_shares_are_those_of_all_pairs(loss):
    x = RNG.normal(size=(40, 3))
    few, whole = MetricStress(LISTED, loss), MetricStress(all_pairs(), loss)
    assert few(x)[0] == pytest.approx(whole(x)[0], rel=1e-12)
    np.testing.assert_allclose(few(x)[1], whole(x)[1], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(few.per_object(x), whole.per_object(x), rtol=1e-12)


def test_listed_disparities_are_those_of_all_pairs():
    x = RNG.normal(size=(40, 2))
    few = Stress1(40, Monotone(LISTED), ends=LISTED.ends)(x)
    whole = Stress1(40, Monotone(all_pairs()))(x)
    assert few[0] == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(few[1], whole[1], atol=1e-12)


@pytest.mark.parametrize("inverse", [factor_solver, cg_solver])
def test_the_weights_are_inverted(inverse):
    vectors = RNG.normal(size=(40, 2))
    vectors -= vectors.mean(axis=0)
    expected = np.linalg.pinv(laplacian(LISTED).toarray()) @ vectors
    np.testing.assert_allclose(inverse(LISTED)(vectors), expected, atol=1e-9)


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
@pytest.mark.parametrize("loss", ["raw", "stress1", "sstress", "sammon"])
def test_a_sparse_matrix_gives_what_the_dense_one_does(loss, solver):
    if (loss, solver) == ("sstress", "smacof"):
        return
    options = {"loss": loss, "solver": solver, "max_iter": 20000}
    weights = RNG.uniform(0.5, 2.0, size=(40, 40))
    weights += weights.T
    few = scaled(**options).fit(SPARSE, weights=weights)
    whole = scaled(**options).fit(DENSE, weights=weights)
    assert few.stress_ == pytest.approx(whole.stress_, rel=1e-9)
    np.testing.assert_allclose(few.embedding_, whole.embedding_, atol=1e-4)
    np.testing.assert_allclose(few.stress_per_object_, whole.stress_per_object_, atol=1e-5)
    for mine, theirs in zip(few.shepard(), whole.shepard(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)


@pytest.mark.parametrize("transformation", ["monotone", "interval", "ratio"])
def test_a_sparse_matrix_gives_what_the_dense_one_does_by_order(transformation):
    options = {"transformation": transformation, "max_iter": 5}
    with pytest.warns(UserWarning, match="did not converge"):
        few = scaled(NonmetricMDS, **options).fit(SPARSE)
    with pytest.warns(UserWarning, match="did not converge"):
        whole = scaled(NonmetricMDS, **options).fit(DENSE)
    np.testing.assert_allclose(few.history_, whole.history_, rtol=1e-9)


def test_either_direction_will_do_and_a_stored_zero_is_a_distance():
    both, one = scaled().fit(SPARSE), scaled().fit(csr_array(triu(SPARSE)))
    assert np.array_equal(both.embedding_, one.embedding_)
    rows, columns = SPARSE.nonzero()
    values = np.where(np.minimum(rows, columns) == 0, 0.0, SPARSE.data)
    zero = csr_array((values, (rows, columns)), shape=(40, 40))
    dense = np.where(np.isnan(DENSE), np.nan, np.where(np.isnan(DENSE), 0.0, DENSE))
    dense[0] = np.where(np.isnan(dense[0]), np.nan, 0.0)
    dense[:, 0] = dense[0]
    assert scaled().fit(zero).stress_ == pytest.approx(scaled().fit(dense).stress_, rel=1e-6)


def test_what_is_no_distance_is_refused_or_repaired():
    skew = csr_array(SPARSE + csr_array(triu(SPARSE)) * 0.2)
    diagonal = csr_array(SPARSE + csr_array(np.eye(40)))
    negative = csr_array(SPARSE - 2.0 * SPARSE.multiply(SPARSE.max() - 1e-9 < SPARSE))
    for method in (MetricMDS, NonmetricMDS):
        for bad in (skew, diagonal, negative):
            refused(lambda bad=bad, method=method: scaled(method).fit(bad), "repair='clean'")
    clean = scaled(repair="clean").fit(skew)
    dense = scaled(repair="clean").fit(np.where(np.isnan(DENSE), np.nan, skew.toarray()))
    assert clean.stress_ == pytest.approx(dense.stress_, rel=1e-9)
    assert scaled(repair="clean").fit(diagonal).stress_ == scaled().fit(SPARSE).stress_
    assert scaled(repair="clean").fit(negative).shepard().dissimilarities.min() == 0
    assert ReplicatedMDS(repair="clean").fit([skew, diagonal]).stress_ < 1


def local(n, rng):
    points = rng.random((n, 2))
    lengths, near = cKDTree(points).query(points, k=13)
    rows = np.repeat(np.arange(n), 12)
    graph = csr_array((lengths[:, 1:].ravel(), (rows, near[:, 1:].ravel())), shape=(n, n))
    return points, graph


def test_twenty_thousand_objects_take_memory_of_their_known_pairs_only():
    points, graph = local(20_000, np.random.default_rng(0))
    tracemalloc.start()
    mds = scaled(tol=1e-5).fit(graph)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e8  # all pairs would be 1.6e9
    assert procrustes(points, mds.embedding_) < 1e-3
    with unbend.memory_limit(10**8):
        refused(lambda: ReplicatedMDS().fit([graph]), "20000 x 20000", error=MemoryError)


def test_a_fit_to_known_pairs_is_kept_placed_and_dealt_anew(tmp_path):
    mds = scaled().fit(SPARSE)
    mds.save(tmp_path / "known.unbend")
    again = unbend.load(tmp_path / "known.unbend")
    assert np.array_equal(again.transform(DENSE), mds.transform(DENSE))
    assert np.array_equal(again.shepard().distances, mds.shepard().distances)
    assert mds.permutation_baseline(4).share == 0.2

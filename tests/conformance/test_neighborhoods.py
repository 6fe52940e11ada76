"""Every kind of neighbourhood through every method: against oracles, and against each other."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import unbend
from tests.conformance.cases import (
    EVERY_NEIGHBORHOOD,
    NEIGHBORHOOD,
    ORACLES,
    STRICT,
    assert_same,
    curve,
    over,
    quietly,
)
from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from tests.oracles.neighbors import nearest
from unbend.quality import procrustes

pytestmark = STRICT
ORACLE = over([method for method in NEIGHBORHOOD if method.__name__ in ORACLES])


def parts(points: np.ndarray, k: int, mutual: bool) -> int:
    near = nearest(points, k)[0]
    dense = np.zeros((len(points), len(points)), dtype=bool)
    dense[np.repeat(np.arange(len(points)), k), near.ravel()] = True
    return int(connected_components(csr_array(dense & dense.T if mutual else dense | dense.T))[0])


@ORACLE
def test_mutual_neighbours_give_the_oracles_coordinates(method: type) -> None:
    points = curve()
    near = [set(row.tolist()) for row in nearest(points, 16)[0]]
    mutual = [
        np.array([j for j in row if i in near[j]]) for i, row in enumerate(nearest(points, 16)[0])
    ]
    fitted = method(n_neighbors=16, mutual=True).fit(points)
    assert min(len(row) for row in mutual) >= 6
    assert subspace_angle(fitted.embedding_, ORACLES[method.__name__](points, mutual, 2)) < 1e-6
    assert_same(fitted.embedding_, fitted.transform(points), 1e-8)


@each("mutual", [False, True])
@EVERY_NEIGHBORHOOD
def test_an_open_number_is_the_smallest_that_joins_the_graph(method: type, mutual: bool) -> None:
    points = curve(300)
    fitted, _ = quietly(lambda: method(n_neighbors="auto", mutual=mutual).fit(points))
    k = fitted.report_.stage("neighbors").facts["n_neighbors"]
    assert parts(points, k, mutual) == 1
    least = max(6, fitted._needs().neighbors + 1)
    assert k == least or parts(points, k - 1, mutual) > 1
    expected, _ = quietly(lambda: method(n_neighbors=k, mutual=mutual).fit(points))
    assert np.array_equal(fitted.embedding_, expected.embedding_)


@EVERY_NEIGHBORHOOD
def test_clusters_far_apart_leave_an_open_number_small(method: type) -> None:
    points = np.concatenate((curve(150), curve(150, seed=1) + 1000.0))
    fitted, warned = quietly(lambda: method(n_neighbors="auto", connect="components").fit(points))
    assert fitted.component_.max() == 1
    assert fitted.report_.stage("neighbors").facts["n_neighbors"] <= 33
    assert any("2 components" in message for message in warned)


@EVERY_NEIGHBORHOOD
def test_an_open_number_serves_few_rows_and_repeated_ones(method: type) -> None:
    few = curve(12)
    assert np.isfinite(quietly(lambda: method(n_neighbors="auto").fit(few))[0].embedding_).all()
    repeated = np.repeat(curve(60), 5, axis=0)
    fitted, _ = quietly(lambda: method(n_neighbors="auto").fit(repeated))
    assert np.array_equal(fitted.embedding_[::5], fitted.embedding_[4::5])


@each("seed", range(3), keep=1)
def test_an_open_number_recovers_the_roll(seed: int) -> None:
    roll = unbend.datasets.swiss_roll(2000, random_state=seed)
    for method, kind in ((unbend.Isomap, "similarity"), (unbend.LTSA, "affine")):
        flat = method(n_neighbors="auto").fit_transform(roll.points)
        assert procrustes(roll.chart, flat, kind=kind) < 0.02

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
def test_an_open_number_joins_the_graph_and_gives_the_fit_of_that_number(
    method: type, mutual: bool
) -> None:
    points = curve(300)
    fitted, _ = quietly(lambda: method(n_neighbors="auto", mutual=mutual).fit(points))
    facts = fitted.report_.stage("neighbors").facts
    k, connecting, measured = facts["n_neighbors"], facts["connecting"], facts.get("measured", 0)
    least = max(6, fitted._needs().neighbors + 1, connecting)
    assert parts(points, k, mutual) == 1
    assert connecting == 1 or parts(points, connecting - 1, mutual) > 1
    assert parts(points, connecting, mutual) == 1
    assert k == least or least < k <= measured
    assert measured in ((0,) if "MVU" in method.__name__ else (12, 18, 27))
    expected, _ = quietly(lambda: method(n_neighbors=k, mutual=mutual).fit(points))
    assert np.array_equal(fitted.embedding_, expected.embedding_)


@each("seed", range(4), keep=1)
def test_an_open_number_does_not_depend_on_the_order_of_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = unbend.datasets.swiss_roll(600, noise=rng.uniform(0, 1), random_state=seed).points
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    order = rng.permutation(600)
    for X, metric in ((points, "euclidean"), (distances, "precomputed")):
        model = unbend.Isomap(n_neighbors="auto", metric=metric)
        one = model.fit(X).report_.stage("neighbors").facts
        turned = X[order] if metric == "euclidean" else X[np.ix_(order, order)]
        other = model.fit(turned).report_.stage("neighbors").facts
        assert one["n_neighbors"] == other["n_neighbors"]
        assert np.isclose(one["share_across"], other["share_across"], rtol=1e-6)


@each("seed", range(3), keep=1)
def test_an_open_number_bears_noise_that_the_fewest_neighbours_do_not(seed: int) -> None:
    roll = unbend.datasets.swiss_roll(1500, noise=0.2, random_state=seed)
    for method in (unbend.LTSA, unbend.Isomap):
        fitted, _ = quietly(lambda m=method: m(n_neighbors="auto").fit(roll.points))
        fewest = max(6, fitted.report_.stage("neighbors").facts["connecting"])
        few, _ = quietly(lambda m=method, k=fewest: m(n_neighbors=k).fit(roll.points))
        error, before = (
            procrustes(roll.chart, np.asarray(model.embedding_), kind="affine")
            for model in (fitted, few)
        )
        assert error < 0.5 * before


@each("seed", range(3), keep=1)
def test_an_open_number_does_not_jump_between_sheets(seed: int) -> None:
    # Noise asks for forty neighbours, which reach from one turn of the roll to the next.
    roll = unbend.datasets.swiss_roll(1500, noise=0.5, random_state=seed)
    fitted, _ = quietly(lambda: unbend.Isomap(n_neighbors="auto").fit(roll.points))
    facts = fitted.report_.stage("neighbors").facts
    assert facts["n_neighbors"] < facts["measured"]
    wide, _ = quietly(lambda: unbend.Isomap(n_neighbors=facts["measured"]).fit(roll.points))
    error, spoiled = (
        procrustes(roll.chart, np.asarray(model.embedding_), kind="affine")
        for model in (fitted, wide)
    )
    assert error < 0.1 < spoiled


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

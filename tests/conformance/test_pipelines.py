"""Graphs of scikit-learn's neighbour transformers feed the methods that take a bare graph."""

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline

from tests.conformance.cases import NEIGHBORHOOD, STRICT, assert_same, curve, over, quietly

pytestmark = [STRICT, pytest.mark.timeout(60)]
GRAPH_METHODS = [method for method in NEIGHBORHOOD if not method.local_blocks]
ALGORITHM = pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])


def fed(transformer: Any, method: Any) -> Any:
    return make_pipeline(transformer, method(metric="precomputed"))


def test_some_methods_take_a_bare_graph() -> None:
    names = {method.__name__ for method in GRAPH_METHODS}
    assert {"Isomap", "LandmarkIsomap", "LaplacianEigenmaps", "DiffusionMaps"} <= names


@ALGORITHM
@over(GRAPH_METHODS)
def test_nearest_neighbours_of_a_transformer_give_the_direct_fit(
    method: Any, algorithm: str
) -> None:
    nearest = KNeighborsTransformer(n_neighbors=9, mode="distance", algorithm=algorithm)
    embedding = fed(nearest, method).fit_transform(curve())
    assert_same(method(n_neighbors=9).fit_transform(curve()), embedding, 1e-7)


@ALGORITHM
@over(GRAPH_METHODS)
def test_a_radius_of_a_transformer_gives_the_direct_fit(method: Any, algorithm: str) -> None:
    within = RadiusNeighborsTransformer(radius=1.2, mode="distance", algorithm=algorithm)
    embedding, _ = quietly(lambda: fed(within, method).fit_transform(curve()))
    direct, _ = quietly(lambda: method(n_neighbors=None, radius=1.2).fit_transform(curve()))
    assert_same(direct, embedding, 1e-7)


@over(GRAPH_METHODS)
def test_new_samples_pass_through_the_pipeline(method: Any) -> None:
    nearest = KNeighborsTransformer(n_neighbors=9, mode="distance")
    pipeline = fed(nearest, method).fit(curve())
    fitted = pipeline[-1].embedding_
    placed = pipeline.transform(curve(50, seed=1))
    assert np.all(np.isfinite(placed))
    # Where a new row lies among the fitted ones, its coordinates lie among theirs.
    near = KNeighborsTransformer(n_neighbors=1).fit(curve())
    closest = near.kneighbors(curve(50, seed=1), 1, return_distance=False)[:, 0]
    apart = np.linalg.norm(placed - fitted[closest], axis=1)
    assert np.median(apart) < 0.1 * np.ptp(fitted, axis=0).max()
    assert_same(fitted, pipeline.transform(curve()), 1e-6)

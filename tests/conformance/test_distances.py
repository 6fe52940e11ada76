"""Distances: every metric, every kind of distance matrix, and what is none."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from tests.conformance.cases import (
    EVERY_NEIGHBORHOOD,
    STRICT,
    answered,
    assert_alike,
    assert_clear,
    curve,
    fit_curve,
    over,
    quietly,
    refused,
    with_parameter,
)
from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from tests.oracles.neighbors import pairwise

pytestmark = STRICT
METRIC = over(with_parameter("metric"))


def root_of_sum(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.sqrt(np.abs(first - second)).sum())


METRICS: dict[str, tuple[Any, dict[str, Any] | None]] = {
    "manhattan": ("manhattan", None),
    "chebyshev": ("chebyshev", None),
    "minkowski 3": ("minkowski", {"p": 3}),
    "minkowski 1.5": ("minkowski", {"p": 1.5}),
    "minkowski weighted": ("minkowski", {"p": 2, "w": [1.0, 9.0, 4.0]}),
    "cosine": ("cosine", None),
    "callable": (root_of_sum, None),
}


@each("columns", [3, 20])
@each("what", METRICS)
@METRIC
def test_every_metric_is_that_of_scipy(method: type, what: str, columns: int) -> None:
    metric, params = METRICS[what]
    points = np.tile(curve(120), 7)[:, :columns] + np.arange(1.0, columns + 1.0)
    options = dict(params or {})
    if "w" in options:
        options["w"] = np.resize(options["w"], columns)
    name = "cityblock" if metric == "manhattan" else metric
    fitted, _ = quietly(lambda: method(metric=metric, metric_params=options or None).fit(points))
    distances = cdist(points, points, name, **options)
    np.fill_diagonal(distances, 0.0)
    given, _ = quietly(lambda: method(metric="precomputed").fit(distances))
    assert_alike(method, given.embedding_, fitted.embedding_, 1e-5)


MISFITS: list[tuple[Any, dict[str, Any]]] = [
    ("euclidean", {"q": 3}),
    ("manhattan", {"p": 3}),
    ("minkowski", {"q": 3}),
    ("minkowski", {"p": "three"}),
    ("cosine", {"p": 3}),
    ("minkowski", {"w": [1.0]}),
]


@each(("metric", "params"), MISFITS)
@METRIC
def test_parameters_that_the_metric_does_not_have_are_refused(
    method: type, metric: str, params: dict[str, Any]
) -> None:
    refused(lambda: method(metric=metric, metric_params=params).fit(curve(50)))


@each("metric", ["cosine", "correlation"])
@METRIC
def test_a_row_without_a_direction_has_no_angle_and_is_refused(method: type, metric: str) -> None:
    rows = np.vstack([curve(50), np.zeros((1, 3))])
    refused(lambda: method(metric=metric).fit(rows), metric)


@each("answer", [np.nan, np.inf, "far", None])
@METRIC
def test_a_callable_that_gives_no_distance_is_refused(method: type, answer: Any) -> None:
    refused(lambda: method(metric=lambda a, b: answer).fit(curve(30)))


def test_a_callable_that_gives_negative_distances_is_refused() -> None:
    # In a process of its own: shortest paths over negative edges run for ever, deaf to signals.
    names = [method.__name__ for method in with_parameter("metric")]
    program = (
        "import numpy as np, unbend\n"
        f"for name in {names}:\n"
        "    method = getattr(unbend, name)(metric=lambda a, b: -1.0)\n"
        "    try: method.fit(np.random.default_rng(0).normal(size=(30, 3)), np.zeros(30))\n"
        "    except (ValueError, TypeError) as error: print(error)\n"
        "    else: print(name, 'raised nothing')\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        timeout=120, capture_output=True, text=True, check=True,
    )  # fmt: skip
    messages = run.stdout.splitlines()
    assert len(messages) == len(names)
    for message in messages:
        assert_clear(ValueError(message), "negative")


def changed(i: int, j: int, value: float) -> np.ndarray:
    distances = pairwise(curve(50))
    distances[i, j] = value
    return distances


MATRICES = {
    "asymmetric": (changed(3, 4, 9.0), ["symmetric"]),
    "negative": (-pairwise(curve(50)), ["negative"]),
    "not square": (pairwise(curve(50))[:, :40], ["square"]),
    "nonzero diagonal": (pairwise(curve(50)) + np.eye(50), ["diagonal"]),
    "nan": (changed(3, 4, np.nan), ["NaN"]),
    "infinite": (changed(3, 4, np.inf), ["infinity"]),
    "points": (curve(50), []),
    "sparse and not square": (csr_array(pairwise(curve(50))[:, :40]), []),
    "sparse and negative": (csr_array(-pairwise(curve(50))), []),
    "sparse with a nan": (csr_array(changed(3, 4, np.nan)), []),
    "sparse, different both ways": (csr_array(changed(3, 4, 9.0)), []),
}


@each("what", MATRICES)
@METRIC
def test_an_invalid_distance_matrix_raises_a_clear_error(method: type, what: str) -> None:
    matrix, words = MATRICES[what]
    refused(lambda: method(metric="precomputed").fit(matrix), *words)


@METRIC
def test_rounding_in_a_distance_matrix_is_no_asymmetry(method: type) -> None:
    distances = pairwise(curve()).astype(np.float32)
    distances += np.triu(np.full_like(distances, 1e-7), 1)
    fitted = method(metric="precomputed").fit(distances)
    assert fitted.embedding_.dtype == np.float32
    assert subspace_angle(fit_curve(method).embedding_, fitted.embedding_) < 1e-4


@EVERY_NEIGHBORHOOD
def test_a_graph_without_the_pairs_a_method_needs_is_refused_with_a_way_out(method: type) -> None:
    distances = pairwise(curve())
    sparse = csr_array(np.where(distances < 1.0, distances, 0.0))
    fitted = answered(lambda: method(metric="precomputed", connect="components").fit(sparse))
    found = {"n_neighbors": None, "radius": 1.0, "connect": "components"}
    if method.local_blocks:
        assert fitted is None
    else:
        assert_alike(
            method,
            answered(lambda: method(**found).fit(curve())).embedding_,
            fitted.embedding_,
            1e-6,
        )


@METRIC
def test_the_distances_of_a_frame_of_names_are_taken(method: type) -> None:
    names = [f"city {i}" for i in range(50)]
    frame = pd.DataFrame(pairwise(curve(50)), index=names, columns=names)
    fitted = method(metric="precomputed").set_output(transform="pandas")
    assert list(fitted.fit_transform(frame).index) == names


KERNEL = over(with_parameter("kernel"))


@each("answer", [np.nan, np.inf, "alike", None])
@KERNEL
def test_a_callable_that_gives_no_similarity_is_refused(method: type, answer: Any) -> None:
    refused(lambda: method(kernel=lambda a, b: answer).fit(curve(30)))


@KERNEL
def test_given_similarities_are_as_good_as_the_kernel(method: type) -> None:
    points, new = curve(), curve(30, seed=1)
    by_points = method(kernel="rbf", gamma=0.5).fit(points)
    given = method(kernel="precomputed").fit(np.exp(-0.5 * pairwise(points) ** 2))
    assert_alike(method, by_points.embedding_, given.embedding_, 1e-6)
    similar = np.exp(-0.5 * cdist(new, points, "sqeuclidean"))
    assert np.abs(by_points.transform(new) - given.transform(similar)).max() < 1e-6
    refused(lambda: given.inverse_transform(given.embedding_))


@KERNEL
def test_what_is_no_kernel_matrix_is_refused_by_the_name_that_the_user_gave(method: type) -> None:
    kernel = np.exp(-(pairwise(curve(50)) ** 2))
    given = method(kernel="precomputed")
    refused(lambda: given.fit(kernel[:, :40]), "square", "precomputed")
    refused(lambda: given.fit(np.triu(kernel)), "symmetric")


@KERNEL
def test_parameters_of_a_kernel_are_used_or_refused(method: type) -> None:
    refused(lambda: method(kernel="rbf", kernel_params={"gamma": 9.0}).fit(curve(50)))
    refused(lambda: method(kernel="poly", degree=4000).fit(1e3 * curve(50)))

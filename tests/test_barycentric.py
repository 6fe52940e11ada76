"""Barycentric coordinates, and weights of LLE without a ridge (book 10.1.1, 10.1.3)."""

import numpy as np
import pytest
from scipy.optimize import minimize

import unbend
from tests.loops import sampled
from unbend.datasets import s_curve
from unbend.local import barycentric_coordinates, barycentric_weights
from unbend.methods.lle import reconstruction_weights
from unbend.neighbors import PointSpace


@sampled("seed", range(5))
def test_points_of_a_simplex_have_their_own_coordinates(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(4, 3))
    weights = rng.dirichlet(np.ones(4), size=6) + np.array([0.3, -0.3, 0.0, 0.0])
    found = barycentric_coordinates(weights @ vertices, vertices)
    np.testing.assert_allclose(found, weights, atol=1e-9)


@pytest.mark.parametrize(("k", "D"), [(3, 5), (6, 2), (5, 5), (2, 1)])
def test_weights_without_a_ridge_are_the_shortest_of_the_best(k, D):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        point, vertices = rng.normal(size=D), rng.normal(size=(k, D))
        found = barycentric_coordinates(point[None], vertices)[0]
        assert found.sum() == pytest.approx(1.0)
        # Least squares on all w = 1/k + Nz with Σw = 1, of least length.
        basis = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))[0][:, 1:]
        start = np.full(k, 1.0 / k)
        z = np.linalg.lstsq(vertices.T @ basis, point - vertices.T @ start, rcond=None)[0]
        np.testing.assert_allclose(found, start + basis @ z, atol=1e-8)
        ridged = barycentric_coordinates(point[None], vertices, reg=1e-11)[0]
        np.testing.assert_allclose(found, ridged, atol=1e-4)


def test_weights_that_are_not_negative_reach_the_nearest_point_of_the_hull():
    rng = np.random.default_rng(0)
    vertices, point = rng.normal(size=(6, 2)), np.array([3.0, 3.0])
    found = barycentric_coordinates(point[None], vertices, nonnegative=True)[0]
    assert found.min() >= 0
    best = minimize(
        lambda w: np.sum((point - w @ vertices) ** 2),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    assert np.sum((point - found @ vertices) ** 2) == pytest.approx(best.fun, rel=1e-5)


def test_every_point_may_have_vertices_of_its_own():
    rng = np.random.default_rng(0)
    vertices = rng.normal(size=(5, 3, 2))
    weights = rng.dirichlet(np.ones(3), size=5)
    points = np.einsum("ij,ijk->ik", weights, vertices)
    np.testing.assert_allclose(barycentric_coordinates(points, vertices), weights, atol=1e-9)
    with pytest.raises(ValueError, match="vertices must be"):
        barycentric_coordinates(points, vertices[:3])
    with pytest.raises(ValueError, match="NaN"):
        barycentric_coordinates(points, np.full((5, 3, 2), np.nan))


def test_neighbours_that_coincide_with_the_point_have_equal_weights():
    same = np.ones((2, 4, 3))
    np.testing.assert_allclose(barycentric_weights(same, 0.0), 1 / 3)


def test_lle_without_a_ridge_is_the_unridged_eigenproblem():
    """With k = 8 < D = 30 the local Gram matrices are regular."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(120, 30)) @ np.diag(np.linspace(3, 0.3, 30))
    model = unbend.LLE(2, n_neighbors=8, reg=0).fit(points)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    weights = np.zeros((120, 120))
    for i, row in enumerate(distances):
        near = np.argsort(row)[1:9]
        gram = (points[near] - points[i]) @ (points[near] - points[i]).T
        solved = np.linalg.solve(gram, np.ones(8))
        weights[i, near] = solved / solved.sum()
    errors = np.eye(120) - weights
    values = np.linalg.eigvalsh(errors.T @ errors)
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-6)
    kernel = errors.T @ errors
    moved = model.embedding_ * model.eigenvalues_
    np.testing.assert_allclose(kernel @ model.embedding_, moved, atol=1e-8)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_lle_without_a_ridge_refuses_more_neighbours_than_directions(metric):
    curve = s_curve(200, random_state=0).points
    rows = np.linalg.norm(curve[:, None] - curve, axis=2) if metric == "precomputed" else curve
    with pytest.raises(ValueError, match="10 neighbours in 3 directions undetermined: use reg=1e-"):
        unbend.LLE(2, n_neighbors=10, reg=0, metric=metric).fit(rows)


@pytest.mark.parametrize("columns", [5, 30, 200])
def test_weights_of_wide_rows_are_those_of_their_least_squares(columns):
    rng = np.random.default_rng(columns)
    points = rng.normal(size=(60, columns)) + 100.0
    space, reg = PointSpace(points), 1e-3
    neighbors = space.nearest(9)
    found = reconstruction_weights(space, neighbors, reg).toarray()
    for row, near in enumerate(neighbors.indices.reshape(-1, 9)):
        apart = points[near] - points[row]
        gram = apart @ apart.T
        gram += reg * np.trace(gram) * np.eye(9)
        weights = np.linalg.solve(gram, np.ones(9))
        np.testing.assert_allclose(found[row, near], weights / weights.sum(), atol=1e-12)

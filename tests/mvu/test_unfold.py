"""Unfoldings that are known, bounds that hold in plain arithmetic, solvers that agree."""

from dataclasses import replace

import numpy as np
import pytest

from tests.loops import sampled
from tests.mvu.graphs import cycle, of_points, path, plain_bounds, star
from unbend.datasets import swiss_roll
from unbend.mvu import Inequality, Soft, certificate, certify, unfold
from unbend.mvu.burer_monteiro import stationary_point
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.sdp import _increase_rank, stiffness

SOLVER = pytest.mark.parametrize("solver", ["interior", "factored"])


def roll(n: int, k: int = 5, seed: int = 0):
    return of_points(swiss_roll(n, random_state=seed).points, k)


@SOLVER
def test_a_path_becomes_straight(solver):
    found = unfold(path(12), solver=solver)
    places = np.arange(12) - 5.5
    assert found.certificate.lower == pytest.approx(np.sum(places**2), rel=1e-7)
    assert found.certificate.gap < 1e-6
    assert np.allclose(np.abs(found.factor[:, 0]), np.abs(places), atol=1e-4)


@SOLVER
def test_a_cycle_becomes_a_regular_polygon(solver):
    found = unfold(cycle(9), solver=solver)
    radius = 0.5 / np.sin(np.pi / 9)
    assert found.eigenvalues[:2] == pytest.approx([4.5 * radius**2] * 2, rel=1e-5)
    assert found.certificate.gap < 1e-6


@SOLVER
def test_the_leaves_of_a_star_balance(solver):
    found = unfold(star(5), solver=solver)
    assert found.certificate.lower == pytest.approx(5.0, rel=1e-6)
    assert found.certificate.gap < 1e-6


def test_a_grid_with_diagonals_stays_flat():
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    edges = of_points(points + 1e-3 * np.random.default_rng(0).normal(size=points.shape), 8)
    spread = float(np.square(points - points.mean(axis=0)).sum())
    found = unfold(edges)
    assert found.certificate.gap < 1e-6
    assert found.certificate.lower == pytest.approx(spread, rel=0.02)


@sampled("seed", range(3))
def test_the_data_themselves_are_never_better(seed):
    surface = swiss_roll(80, random_state=seed).points
    found = unfold(of_points(surface, 5))
    assert found.certificate.lower > float(np.square(surface - surface.mean(axis=0)).sum())


@sampled("seed", range(3))
def test_bounds_hold_in_plain_numpy(seed):
    edges = roll(70, seed=seed)
    found = unfold(edges)
    lower, upper = plain_bounds(edges, found)
    assert found.certificate.gap < 1e-6
    assert found.certificate.lower <= lower * (1 + 1e-14)
    assert found.certificate.upper == pytest.approx(upper, rel=1e-8)
    assert lower <= upper


@pytest.mark.parametrize("slack", [0.1, 0.01, 1e-3])
def test_bounds_of_springs_hold_in_plain_numpy(slack):
    edges = roll(60)
    found = unfold(edges, "soft", slack=slack)
    scaled, size = edges.normalize()
    springs = Soft(stiffness(scaled, slack).kappa * size)
    lower, upper = plain_bounds(edges, found, springs)
    assert found.certificate.gap < 1e-6
    assert found.certificate.lower == pytest.approx(lower, rel=1e-9)
    assert lower <= upper * (1 + 1e-12)


@pytest.mark.parametrize("constraint", ["inequality", "soft", "equality"])
def test_the_kernel_and_its_factor_give_the_same_variance(constraint):
    edges = roll(50)
    dense = unfold(edges, constraint, solver="interior").certificate
    thin = unfold(edges, constraint, solver="factored").certificate
    assert dense.lower == pytest.approx(thin.lower, rel=1e-5)
    assert dense.lower <= thin.upper
    assert thin.lower <= dense.upper


def test_equal_lengths_are_kept_better_the_stiffer_the_springs():
    edges = roll(60)
    residuals = [unfold(edges, "soft", slack=slack).residual for slack in (0.1, 0.01, 0.001)]
    residuals.append(unfold(edges, "equality").residual)
    assert np.all(np.diff(residuals) < 0)


@sampled("seed", range(4))
def test_any_tensions_bound_any_coordinates(seed):
    # Weak duality, for a pair that no solver made: above and below the sparse proof's threshold.
    rng = np.random.default_rng(seed)
    edges, _ = roll((60, 400)[seed % 2], k=6, seed=seed).normalize()
    tensions = rng.uniform(0.1, 10.0, edges.m)
    coordinates = rng.normal(size=(edges.n, 3))
    for relaxation in (Inequality(), stiffness(edges, 0.01)):
        claimed, _ = relaxation.feasible(coordinates, edges.stretch(coordinates))
        proof = certify(edges, relaxation, claimed, tensions)
        best = unfold(edges).certificate
        assert proof.lower <= proof.upper
        if isinstance(relaxation, Inequality):
            assert proof.lower <= best.upper
            assert proof.upper >= best.lower


def test_the_sparse_proof_is_below_the_eigenvalue_and_close():
    edges, _ = roll(400, k=5, seed=1).normalize()
    found = unfold(edges)
    laplacian = edges.laplacian(found.tensions).toarray()
    least = np.linalg.eigvalsh(laplacian)[1]
    bound = float(found.tensions.sum() / found.certificate.upper)
    assert bound <= least * (1 + 1e-13)
    assert bound >= least * (1 - 1e-6)


def test_too_low_a_rank_grows_until_it_is_certified():
    # Springs of a small roll need rank six; two columns are a saddle.
    edges, size = roll(100).normalize()
    springs = stiffness(edges, 0.01)
    start = landmark_isomap(edges, 2, np.random.default_rng(0))
    narrow = stationary_point(edges, springs, start)
    grown = _increase_rank(edges, springs, start, 1e-6, size)
    assert certify(edges, springs, narrow.coordinates, narrow.tensions).gap > 1e-3
    assert grown.certificate.gap < 1e-6
    assert grown.rank > 2


def test_scaling_the_lengths_scales_everything():
    edges = roll(60)
    longer = replace(edges, squares=edges.squares * 1e8)
    first, second = unfold(edges), unfold(longer)
    assert second.certificate.lower == pytest.approx(1e8 * first.certificate.lower, rel=1e-9)
    assert second.certificate.upper == pytest.approx(1e8 * first.certificate.upper, rel=1e-9)


def test_a_search_for_directions_that_does_not_end_is_ended(monkeypatch):
    """Eigenvalues may crowd so that Lanczos finds few of them: those it has are taken."""
    monkeypatch.setattr(certificate, "RESTARTS", 1)
    monkeypatch.setattr(certificate, "LANCZOS_VECTORS", 8)
    laplacian = path(2000).laplacian(np.ones(1999))
    found = certificate.escape_directions(laplacian, 4, 0.0, 1.0)
    sizes = np.einsum("ij,ij->j", found, laplacian @ found)
    assert found.shape[1] <= 4
    assert np.all(np.abs(found.sum(axis=0)) < 1e-6)
    assert np.all((sizes > 0) & (sizes < 1.0))

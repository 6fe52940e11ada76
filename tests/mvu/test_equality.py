"""The optimum with every length kept: closed forms, a dual bound in plain NumPy, and Clarabel."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.loops import each
from tests.mvu.graphs import of_points
from unbend.datasets import SURFACES
from unbend.mvu import unfold


def two_hubs(rim, apart):
    """Graph of hubs 0 and 1 at a distance, and of `rim` points at distance one from both."""
    first = np.concatenate(([0], np.tile([0, 1], rim)))
    second = np.concatenate(([1], np.repeat(np.arange(2, rim + 2), 2)))
    values = np.concatenate(([apart], np.ones(2 * rim)))
    graph = csr_array((values, (first, second)), shape=(rim + 2, rim + 2))
    return graph + graph.T


def variance(model):
    return np.square(model.kernel_).sum()


@each("rim", [3, 6, 12])
@each("apart", [0.5, 1.2, 1.9])
def test_the_variance_of_two_hubs_is_its_closed_form(rim, apart):
    """Points of the rim lie on a sphere of radius √(1 − c²/4) about the middle of the hubs.

    n tr K is the sum of squares over pairs, c² + 2m + m²(1 − c²/4), if the rim is balanced. It
    falls with c: bounds let the hubs meet, and only equality keeps them apart.
    """
    graph = two_hubs(rim, apart)
    kept = unbend.MVU(metric="precomputed", constraint="equality").fit(graph)
    optimum = (apart**2 + 2 * rim + rim**2 * (1 - apart**2 / 4)) / (rim + 2)
    assert variance(kept) == pytest.approx(optimum, rel=1e-4)
    assert optimum <= kept.upper_bound_ <= optimum * (1 + 1e-4)
    bounded = unbend.MVU(metric="precomputed").fit(graph)
    assert variance(bounded) == pytest.approx(rim, rel=1e-4)
    assert variance(bounded) > variance(kept)


@each("surface", ["swiss_roll", "s_curve", "punched_sphere"])
@each(("n", "k"), [(30, 4), (60, 5)])
def test_tensions_of_either_sign_prove_the_optimum(surface, n, k):
    """Weak duality: Σ u bounds tr K over kernels that keep the lengths, if L(u) ⪰ I on 1⊥.

    The data keep them, so the optimum lies between their variance and this bound. Springs stretch
    a nearly rigid graph by 1e-4, which is up to 1.1 % of the variance.
    """
    points = SURFACES[surface](n, random_state=1).points
    edges = of_points(points, k)
    tensions = unfold(edges, "equality").tensions
    incidence = np.zeros((edges.m, n))
    incidence[np.arange(edges.m), edges.first] = 1.0
    incidence[np.arange(edges.m), edges.second] = -1.0
    laplacian = (incidence.T * (tensions / edges.squares)) @ incidence
    # Ones lift the constant vector out of the way; tensions over the least eigenvalue are feasible.
    least = np.linalg.eigvalsh(laplacian + np.ones((n, n)))[0]
    assert least > 0.9
    bound = tensions.sum() / least
    assert tensions.min() < 0  # Bounds alone would let these edges shorten.
    model = unbend.MVU(n_neighbors=k, constraint="equality").fit(points)
    assert np.square(points - points.mean(axis=0)).sum() <= bound
    assert bound * (1 - 1e-3) <= variance(model) <= bound * 1.015
    assert bound <= model.upper_bound_ * (1 + 1e-3)


# Optima by Clarabel 0.11.1, an interior-point solver for cones, on the same edges: 25 points of
# seed 0, four neighbours. Its primal and dual values agree to all digits here.
CLARABEL = {"swiss_roll": 3953.2027, "s_curve": 124.38030, "punched_sphere": 7.2784502}


@each("surface", list(CLARABEL))
def test_the_optimum_is_that_of_a_general_solver(surface):
    points = SURFACES[surface](25, random_state=0).points
    model = unbend.MVU(n_neighbors=4, constraint="equality").fit(points)
    assert variance(model) == pytest.approx(CLARABEL[surface], rel=1e-3)
    # Springs relax the lengths, so their optimum is no smaller.
    assert CLARABEL[surface] * (1 - 1e-7) <= model.upper_bound_ <= CLARABEL[surface] * (1 + 5e-4)

"""Agreement with CSDP, to four digits of the objective."""

import shutil

import numpy as np
import pytest

from tests.loops import each
from tests.mvu.csdp import variance, variance_in_span
from tests.mvu.graphs import of_points
from unbend.datasets import SURFACES
from unbend.methods.landmark_mvu import smoothest
from unbend.mvu import unfold, unfold_in_span
from unbend.mvu.edges import orthonormal_basis
from unbend.mvu.sdp import stiffness

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("csdp") is None, reason="CSDP (coinor-csdp) is not installed"),
]
SURFACE = each("surface", ["swiss_roll", "s_curve", "punched_sphere"])


@pytest.mark.parametrize("n", [40, 100])
@SURFACE
def test_bounds_enclose_what_csdp_finds(surface, n, tmp_path):
    edges = of_points(SURFACES[surface](n, random_state=0).points, 6)
    proof = unfold(edges).certificate
    independent = variance(edges, tmp_path)
    assert independent == pytest.approx(proof.lower, rel=1e-4)
    assert independent <= proof.upper * (1 + 1e-6)


@SURFACE
def test_springs_have_the_objective_that_csdp_finds(surface, tmp_path):
    edges = of_points(SURFACES[surface](40, random_state=0).points, 6)
    scaled, size = edges.normalize()
    kappa = stiffness(scaled, 0.01).kappa * size
    proof = unfold(edges, "soft", slack=0.01).certificate
    assert variance(edges, tmp_path, kappa) == pytest.approx(proof.lower, rel=1e-4)


@each("columns", [4, 9])
@each("span", ["smooth", "random"])
@SURFACE
def test_bounds_within_a_span_enclose_what_csdp_finds(surface, span, columns, tmp_path):
    edges = of_points(SURFACES[surface](60, random_state=0).points, 5)
    drawn = np.random.default_rng(0).standard_normal((60, columns))
    basis = orthonormal_basis(smoothest(edges, columns) if span == "smooth" else drawn)
    found = unfold_in_span(edges, basis, "inequality")
    independent = variance_in_span(edges, basis, tmp_path)
    assert independent == pytest.approx(found.certificate.lower, rel=1e-6)
    assert independent <= found.certificate.upper * (1 + 1e-6)
    assert edges.stretch(found.factor).max() <= 0.0

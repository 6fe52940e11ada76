"""Agreement with CSDP, to four digits of the objective."""

import shutil

import pytest

from tests.unfold.csdp import variance
from tests.unfold.graphs import of_points
from unbend.datasets import SURFACES
from unbend.unfold import unfold
from unbend.unfold.solve import stiffness

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("csdp") is None, reason="CSDP (coinor-csdp) is not installed"),
]
SURFACE = pytest.mark.parametrize("surface", ["swiss_roll", "s_curve", "punched_sphere"])


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
    scaled, size = edges.scaled()
    kappa = stiffness(scaled, 0.01).kappa * size
    proof = unfold(edges, "soft", slack=0.01).certificate
    assert variance(edges, tmp_path, kappa) == pytest.approx(proof.lower, rel=1e-4)

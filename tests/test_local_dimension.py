"""Local methods with more coordinates than the data have dimensions: what grows is curvature.

The threshold was set on curves and surfaces of its own (`graphs/noise.py`); here it is judged on
the surfaces of `unbend.datasets` and on other data.
"""

import warnings

import numpy as np
import pytest

import unbend
from tests.loops import each
from unbend.apps.gallery.panels import embed
from unbend.apps.gallery.viewer import page_html
from unbend.datasets import SURFACES, swiss_roll, toroidal_helix
from unbend.graphs import consistency
from unbend.graphs.noise import growth_exponents
from unbend.neighbors import DistanceSpace, PointSpace
from unbend.registry import METHODS

SHEETS = [name for name in SURFACES if name != "toroidal_helix"]


def messages(method, points, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(unbend, method)(**options).fit(points)
    return [str(one.message) for one in caught]


@each("noise", [0.0, 0.02, 0.1, 0.2])
@each("surface", SHEETS)
@each("k", [8, 10, 14])
def test_no_surface_with_or_without_noise_is_called_a_curve(k, surface, noise):
    for seed in range(10, 16):
        points = SURFACES[surface](700, noise=noise, random_state=seed).points
        assert growth_exponents(PointSpace(points), 2, k)[1] < 1.5


def test_the_roll_keeps_passing():
    for seed in range(3):
        report = consistency(swiss_roll(1000, random_state=seed).points, 2)
        assert report.passes
        assert report.local_dimension == 2


@each("k", [8, 10, 14])
def test_curves_have_one_local_dimension(k):
    for seed in range(10, 12):
        points = toroidal_helix(1200, random_state=seed).points
        report = consistency(points, 2, k)
        assert report.local_dimension == 1
        assert not report.passes
        assert "direction 2 of the neighbourhoods is curvature" in str(report)
        assert "use d = 1" in report.advice()
        assert consistency(points, 1, k).local_dimension == 1


@each("method", ["LTSA", "HessianLLE"])
@each("turns", [7, 8])
def test_a_wound_curve_in_the_plane_warns_and_names_the_remedy(method, turns):
    samples = [toroidal_helix(n, turns=turns, sampling="even") for n in range(600, 603)]
    samples += [toroidal_helix(1000, turns=turns, random_state=seed) for seed in range(2)]
    for helix in samples:
        found = messages(method, helix.points)
        warned = [text for text in found if "local dimension" in text]
        assert len(warned) == 1
        assert "The local dimension is 1, below n_components=2" in warned[0]
        assert "Use n_components=1, or DiffusionMaps" in warned[0]
        assert not any("is a function of earlier ones" in text for text in found)


@each("method", ["LTSA", "HessianLLE", "RigidAlignment"])
def test_a_surface_with_three_coordinates_warns(method):
    points = swiss_roll(1500, random_state=0).points
    found = messages(method, points, n_components=3, n_neighbors=14)
    assert any("The local dimension is 2, below n_components=3" in text for text in found)
    assert not any("local dimension" in text for text in messages(method, points, n_neighbors=10))


@pytest.mark.parametrize("d", [3, 5])
def test_solids_have_all_their_dimensions(d):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        solid = np.ascontiguousarray(rng.uniform(size=(1000, d)))
        assert np.all(growth_exponents(PointSpace(solid), d, 12) < 1.5)
        bent = np.column_stack([np.cos(solid), np.sin(solid)])
        assert np.all(growth_exponents(PointSpace(bent), d, 12) < 1.5)


def test_distances_give_the_exponents_of_their_points():
    points = toroidal_helix(400, random_state=0).points
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(
        growth_exponents(DistanceSpace(distances), 2, 8),
        growth_exponents(PointSpace(points), 2, 8),
        rtol=1e-6,
    )


def test_exponents_do_not_depend_on_scale_and_are_unknown_without_rows_or_directions():
    points = swiss_roll(500, random_state=0).points
    here = growth_exponents(PointSpace(points), 2, 10)
    np.testing.assert_allclose(growth_exponents(PointSpace(1e6 * points), 2, 10), here, rtol=1e-9)
    assert np.isnan(growth_exponents(PointSpace(points[:5]), 2, 10)).all()
    line = np.outer(np.random.default_rng(0).uniform(size=300), [1.0, 2.0, 3.0])
    assert np.isnan(growth_exponents(PointSpace(line), 2, 10)[1])


def test_the_demo_shows_the_warning_and_its_reason():
    entries = [entry for entry in METHODS if entry.class_name in ("LTSA", "HessianLLE")]
    row = embed("toroidal_helix", 1000, 0, methods=entries)
    for panel in row.panels:
        assert any("The local dimension is 1, below n_components=2" in w for w in panel.warnings)
        assert not any("is a function of earlier ones" in w for w in panel.warnings)
    assert page_html([row]).count("class='warning'>The local dimension is 1") == 2
    flat = embed("swiss_roll", 1000, 0, methods=entries)
    assert not any("local dimension" in w for panel in flat.panels for w in panel.warnings)

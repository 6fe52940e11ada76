"""Clusters are distinguished from surfaces by valleys of density within patches."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import unbend
from unbend.denoising import Sample, measure_noise
from unbend.denoising.measurement import VALLEY
from unbend.denoising.valleys import mean_valley
from unbend.neighbors import PointSpace


def domain(kind, n, d, rng):
    """Rows of a flat domain: a cube, one whose density falls by 20:1, or one with a hole."""
    cube = rng.uniform(-1, 1, size=(8 * n, d))
    if kind == "falling":
        kept = rng.uniform(size=len(cube)) < 20 ** -((cube[:, 0] + 1) / 2)
    elif kind == "hole":
        kept = np.linalg.norm(cube - 0.2, axis=1) > 0.4
    else:
        kept = np.ones(len(cube), dtype=bool)
    return cube[kept][:n]


def make_clusters(rng, columns, separation, count=5):
    """Draw normal clusters with centres typically so many standard deviations apart."""
    centers = rng.normal(size=(count, columns)) * separation / np.sqrt(2 * columns)
    return rng.normal(size=(1500, columns)) + centers[rng.integers(count, size=1500)]


@pytest.mark.parametrize("kind", ["cube", "falling", "hole"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_domains_have_no_valleys(kind, d):
    rng = np.random.default_rng(d)
    flat = domain(kind, 2000, d, rng)
    rows = np.column_stack((flat, 0.05 * rng.normal(size=(len(flat), 3))))
    points = np.column_stack((flat[:128], np.zeros((128, 3))))
    for size in (20, 100, 300):
        assert mean_valley(PointSpace(rows), points, size, d) < VALLEY


def test_the_depth_of_a_valley_is_in_standard_errors():
    """Between 100 rows and 300 the middle is empty: the lower side has 100 rows."""
    along = np.repeat([-1.0, 1.0], [100, 300]) + 1e-3 * np.resize([-1, 1], 400)
    rows = np.column_stack((along, np.zeros(400)))
    assert mean_valley(PointSpace(rows), rows[:4], 400, 1) == pytest.approx(np.sqrt(100))


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("separation", [8, 10])
def test_clusters_near_each_other_are_no_surface(separation, d):
    """Connectivity alone takes about half of those at 8 and a fifth of those at 10 for one."""
    rng = np.random.default_rng([separation, d])
    taken = sum(
        measure_noise(
            Sample.of(PointSpace(make_clusters(rng, columns, separation)), d), d
        ).patch_size
        is not None
        for columns in (5, 6, 7, 8, 9, 10)
    )
    assert taken <= 1


@pytest.mark.parametrize("kind", ["cube", "falling", "hole"])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_bent_domains_are_no_clusters(kind, noise):
    """Also where noise is so wide that no patch shows the plane clearly."""
    for seed in range(3):
        rng = np.random.default_rng([seed, 7])
        flat = domain(kind, 1500, 2, rng)
        clean = np.column_stack((np.sin(flat[:, 0]), np.cos(flat[:, 0]), flat[:, 1]))
        rows = clean + noise * rng.normal(size=clean.shape)
        assert not measure_noise(Sample.of(PointSpace(rows), 2), 2).clustered


@pytest.mark.parametrize("method", [unbend.LLE, unbend.Isomap])
def test_digits_are_left_as_they_are(method):
    """Patches that show a plane hold several digits; projected onto it, LLE mixes them."""
    rows = load_digits().data
    auto = method(2, denoise="auto").fit(rows)
    assert "clusters" in auto.report_.stage("denoise").facts["declined"]
    assert np.array_equal(auto.embedding_, method(2).fit_transform(rows))

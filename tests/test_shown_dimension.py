"""The dimension that neighbourhoods show: clouds, folded sheets, noise and doubt."""

import numpy as np
import pytest

import unbend
from unbend.neighbors import PointSpace
from unbend.shown_dimension import fall_in_ball, shown_dimension


def turned(points, columns, noise=0.0, seed=0):
    """Points turned into more columns, with noise in all of them."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(columns, points.shape[1])))[0]
    return points @ axes.T + rng.normal(scale=max(noise, 1e-9), size=(len(points), columns))


def test_a_line_leaves_no_undefined_difference():
    line = np.random.default_rng(5).normal(size=(120, 1))
    with np.errstate(invalid="raise"):
        assert shown_dimension(PointSpace(line)) is None


def folded(n, d, periods, seed=0):
    """Sine by arc length, times intervals."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(0, 2 * np.pi * periods, 20_000)
    curve = np.column_stack((fine, 2 * np.sin(fine)))
    lengths = np.append(0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    s = rng.uniform(0, lengths[-1], n)
    bent = np.column_stack([np.interp(s, lengths, column) for column in curve.T])
    return np.column_stack((bent, rng.uniform(0, lengths[-1] / 2, size=(n, d - 1))))


def shown(points):
    return shown_dimension(PointSpace(np.ascontiguousarray(points)))


@pytest.mark.parametrize(("d", "k"), [(1, 8), (1, 300), (2, 40), (3, 12), (4, 18)])
def test_ratios_of_a_ball_are_those_of_points_drawn_in_one(d, k):
    balls = 1000
    points = np.random.default_rng(d).uniform(-1, 1, size=(12 * balls * k, d + 1))
    points = points[np.linalg.norm(points, axis=1) < 1][: balls * k].reshape(balls, k, d + 1)
    points = np.concatenate((np.zeros((balls, 1, d + 1)), points), axis=1)
    variances = np.linalg.eigvalsh([np.cov(one.T) for one in points])[:, ::-1]
    ratio = np.median(variances[:, d] / variances[:, d - 1])
    assert fall_in_ball(d, k) == pytest.approx(ratio, abs=0.04)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_cubes_in_more_columns_show_their_dimension(d):
    rng = np.random.default_rng(d)
    found = shown(turned(rng.uniform(size=(800, d)), 8, 0.005))
    assert (found.dimension, found.high) == (d, d)


@pytest.mark.parametrize("columns", [2, 3, 6])
def test_clouds_that_fill_their_columns_show_none(columns):
    rng = np.random.default_rng(columns)
    assert shown(rng.normal(size=(1000, columns))) is None
    for n in (500, 1000):
        # Walls make the last variance of large neighbourhoods smaller.
        assert shown(rng.uniform(size=(n, columns))) is None
        assert shown(rng.uniform(size=(n, columns)) * np.linspace(1, 0.6, columns)) is None


@pytest.mark.parametrize("d", [2, 3])
def test_sheets_close_to_each_other_are_not_taken_for_a_solid(d):
    # Neighbourhoods of forty rows reach the next fold, and their spectra are those of a solid.
    found = shown(turned(folded(1200, d, 3, seed=d), 10, 0.02))
    assert found.dimension == d


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sides", [(3, 3, 0.3), (3, 2, 2, 0.4)])
def test_narrow_surfaces_have_all_their_dimensions(sides, seed):
    """Larger neighbourhoods reach both walls, smaller ones do not."""
    rng = np.random.default_rng(seed)
    rows = turned(rng.uniform(size=(700, len(sides))) * sides, 8, 0.005, seed)
    assert shown(rows).high == len(sides)
    assert unbend.choose_dimension(rows, scale="none").verdict == str(len(sides))


@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_surface_of_sheets_keeps_its_smaller_dimension(seed):
    """Sheets close to each other have walls, too, but their nearest neighbours show them."""
    rng = np.random.default_rng(seed)
    sheets = np.column_stack((rng.uniform(size=(2000, 3)), 0.2 * rng.integers(3, size=2000)))
    assert unbend.choose_dimension(turned(sheets, 8, 0.002, seed), scale="none").verdict == "3"


def test_a_curve_as_wide_as_its_noise_shows_one_dimension_in_large_neighborhoods():
    found = shown(turned(folded(1500, 1, 1), 10, 0.2))
    assert found.dimension == 1
    assert found.n_neighbors > 12


def test_a_bent_surface_of_few_rows_leaves_both_dimensions_open():
    # Four dimensions, 700 rows and four folds: each row has the next fold among its neighbours.
    found = shown(turned(folded(700, 4, 4), 8, 0.01))
    assert found is None or found.dimension <= 4 <= found.high


def test_the_order_of_rows_does_not_matter():
    points = turned(folded(600, 2, 2), 5, 0.05)
    order = np.random.default_rng(0).permutation(len(points))
    assert shown(points) == shown(points[order])

"""Distances that are equal or zero, exactly or up to rounding."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from tests.dimension import manifolds
from tests.loops import each
from unbend import dimension

pytestmark = pytest.mark.filterwarnings("error")
NEAREST = ("mle", "two_nn")
BY_DISTANCE = (*NEAREST, "u_statistic", "correlation", "entropic_graph", "capacity")


def turned(points):
    """Turn points at random, which changes distances by rounding only."""
    size = points.shape[1]
    return points @ np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))[0]


def grid(side, d=2):
    return np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d) * 1.0


def rounded_otherwise(points):
    """Return the same points up to rounding, scale and a rigid motion."""
    ulps = np.random.default_rng(0).integers(-4, 5, points.shape)
    columns = points.shape[1] + 2
    return {
        "ulps": points + ulps * np.spacing(np.abs(points)),
        "thirds": points / 3,
        "turned": manifolds.placed(points, columns, 0),
        "far": manifolds.placed(points / 3, columns, 1) + 100,
    }


SIDES = {1: 400, 2: 24, 3: 10}


@pytest.mark.parametrize("name", ["mle", "two_nn", "capacity", "entropic_graph"])
def test_distances_tied_up_to_rounding_give_no_dimension(name):
    """Rounding read as a ratio of distances would say 1e16."""
    for simplex in (np.eye(40), turned(np.eye(40))):
        with pytest.raises(ValueError, match=r"tied|not denser"):
            getattr(dimension, name)(simplex)


def test_turning_a_grid_changes_no_estimate_of_its_neighbours():
    with pytest.raises(ValueError, match="tied"):
        dimension.two_nn(turned(grid(9)))
    plain, moved = (dimension.mle(X, n_neighbors=3) for X in (grid(9), turned(grid(9))))
    assert moved.dimension == pytest.approx(plain.dimension, rel=1e-9)
    # Which of the tied rows are neighbours is chance; that no number is rounding is not.
    assert np.all(np.isinf(moved.local) | (moved.local < 100))


def test_tied_radii_leave_the_uncertainty_of_a_packing_finite():
    corners = np.stack(np.meshgrid(*[np.arange(2.0)] * 6), axis=-1).reshape(-1, 6)
    found = dimension.capacity(corners)
    assert found.uncertainty < found.dimension


@each("name", BY_DISTANCE)
@each("metric", ["angular", "cosine"])
def test_multiples_of_rows_are_duplicates_under_angles(name, metric):
    rows = np.random.default_rng(0).normal(size=(150, 3))
    longer = rows * np.random.default_rng(1).uniform(1, 3, size=(150, 1))
    once = getattr(dimension, name)(rows, metric=metric)
    twice = getattr(dimension, name)(np.vstack([rows, longer]), metric=metric)
    assert twice.dimension == pytest.approx(once.dimension, rel=1e-6)
    if once.local is not None:
        np.testing.assert_array_equal(twice.local, np.tile(twice.local[:150], 2))


def seen(a, b):
    """Distance of the first three columns: the others are not seen."""
    return float(np.linalg.norm(a[:3] - b[:3]))


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_rows_at_distance_zero_in_a_metric_are_duplicates(name):
    rows = manifolds.affine(60, 3, 3, 0)
    numbered = np.column_stack([np.repeat(rows, 3, axis=0), np.arange(180.0)])
    once = getattr(dimension, name)(rows)
    thrice = getattr(dimension, name)(numbered, metric=seen)
    assert thrice.dimension == pytest.approx(once.dimension, rel=1e-6)


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_zero_distances_are_duplicates_though_their_rows_differ_by_rounding(name):
    distances = cdist(*[manifolds.affine(60, 3, 3, 0)] * 2)
    np.fill_diagonal(distances, 0)
    rough = distances * (1 + 1e-10)
    both = np.block([[distances, rough], [rough, distances]])
    once = getattr(dimension, name)(distances, metric="precomputed")
    twice = getattr(dimension, name)(both, metric="precomputed")
    assert twice.dimension == pytest.approx(once.dimension, rel=1e-6)


@pytest.mark.parametrize("name", NEAREST)
def test_differences_whose_squares_vanish_are_none(name):
    points = np.column_stack([manifolds.affine(60, 3, 3, 0), np.zeros(60)])
    copied = np.vstack([points, points[:5] + np.array([0, 0, 0, 1e-200])])
    expected = getattr(dimension, name)(points).dimension
    assert getattr(dimension, name)(copied).dimension == expected


@pytest.mark.parametrize("name", ["mle", "two_nn", "local_pca"])
@pytest.mark.parametrize("number", ["many", [5], 2.5])
def test_a_number_of_neighbours_is_an_integer(name, number):
    with pytest.raises(TypeError, match=r"n_neighbors=.* must be an integer"):
        getattr(dimension, name)(manifolds.affine(60, 3, 3, 0), n_neighbors=number)


@pytest.mark.parametrize("d", SIDES)
def test_a_lattice_has_no_rate_of_convergence(d):
    lattice = grid(SIDES[d], d)
    for points in (lattice, *rounded_otherwise(lattice).values()):
        with pytest.raises(ValueError, match="tied"):
            dimension.u_statistic(points)


EXACT = ("correlation", "capacity", "entropic_graph", "mle", "pca", "local_pca", "multiscale_svd")


@each("d", SIDES)
@each("name", EXACT)
def test_rounding_decides_no_estimate_on_a_lattice(name, d):
    """Rounding parts tied distances at random, as another processor or BLAS would."""
    lattice = grid(SIDES[d], d)
    expected = getattr(dimension, name)(lattice)
    for change, points in rounded_otherwise(lattice).items():
        found = getattr(dimension, name)(points)
        assert found.dimension == pytest.approx(expected.dimension, rel=1e-9), change
        assert found.uncertainty == pytest.approx(expected.uncertainty, rel=1e-6), change


@pytest.mark.parametrize("d", SIDES)
def test_half_of_the_pairs_at_a_radius_are_nearer(d):
    """The correlation sum at a tied distance is the mean of those on both sides of it."""
    lattice = grid(SIDES[d], d)
    curve = dimension.correlation(turned(lattice)).curve
    pairs = pdist(lattice)
    for x, y in zip(curve.x, curve.y, strict=True):
        sides = [np.mean(pairs < np.exp(x) * (1 + share)) for share in (-1e-6, 1e-6)]
        assert np.exp(y) == pytest.approx(np.mean(sides), rel=1e-9)


def test_distances_of_few_values_have_no_slope():
    corners = grid(2, 5)
    for points in (np.eye(40), turned(np.eye(40)), corners, turned(corners)):
        with pytest.raises(ValueError, match="tied"):
            dimension.correlation(points)


def test_equal_variances_have_no_gap():
    """All directions that can be distinguished count: half of the ten rows seen at once."""
    for simplex in (np.eye(40), turned(np.eye(40))):
        found = dimension.multiscale_svd(simplex)
        assert (found.dimension, found.uncertainty) == (5, 0)
        assert np.all(found.local == 5)


def test_tied_ratios_are_cut_together():
    """Pairs at distance 1 with gaps of 2 between them: all ratios are 2, and none is cut off."""
    pairs = np.add.outer(3.0 * np.arange(200), [0.0, 1.0]).reshape(-1, 1)
    for points in (pairs, *rounded_otherwise(pairs).values()):
        local = dimension.two_nn(points, n_neighbors=10).local
        np.testing.assert_allclose(local[30:-30], 10 / (11 * np.log(2)), rtol=1e-9)


@pytest.mark.parametrize("name", ["pca", "local_pca"])
def test_a_variance_at_the_threshold_is_not_above_it(name):
    """Columns of ±1 and ±½ in all combinations: the ratio of their variances is ¼."""
    cross = np.array([[1.0, 0.5], [1, -0.5], [-1, 0.5], [-1, -0.5]])
    for points in (cross, turned(cross), cross / 3, turned(cross / 3)):
        assert getattr(dimension, name)(points, threshold=0.25).dimension == 1
        assert getattr(dimension, name)(points, threshold=0.249).dimension == 2

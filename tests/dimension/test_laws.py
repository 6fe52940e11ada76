"""What must hold for every estimator of the intrinsic dimension."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist

from tests.dimension import manifolds
from tests.loops import each
from unbend import dimension
from unbend.neighbors import PointSpace

NAMES = (
    "capacity",
    "correlation",
    "entropic_graph",
    "local_pca",
    "mle",
    "multiscale_svd",
    "pca",
    "two_nn",
    "u_statistic",
)
WHOLE = ("local_pca", "multiscale_svd", "pca", "u_statistic")
LOCAL = ("local_pca", "mle", "multiscale_svd", "two_nn")
every = each("name", NAMES)


def estimated(name, X, **options):
    return getattr(dimension, name)(X, **options)


@pytest.fixture(scope="module")
def cube():
    """Three dimensions in six columns."""
    return manifolds.affine(600, 3, 6, 0)


def same(first, second, rel=1e-6):
    assert second.dimension == pytest.approx(first.dimension, rel=rel)
    assert (first.local is None) == (second.local is None)


@every
def test_every_estimate_has_its_parts(name, cube):
    found = estimated(name, cube)
    assert found.method == name
    assert isinstance(found.dimension, float)
    assert found.uncertainty >= 0
    assert float(found) == found.dimension
    written, _, error = str(found).removeprefix(f"{name}: ").partition(" ± ")
    assert float(written) == pytest.approx(found.dimension, abs=found.uncertainty + 1e-4)
    assert float(error.lstrip("<")) == pytest.approx(found.uncertainty, rel=0.06, abs=1e-4)
    curve = found.curve
    assert np.all(np.diff(curve.x) >= 0)
    assert len(curve.x) == len(curve.y)
    assert curve.x[0] - 1e-9 <= curve.fitted[0] <= curve.fitted[1] <= curve.x[-1] + 1e-9 or (
        name == "two_nn"
    )
    assert curve.line is None or curve.line.shape == curve.x.shape
    assert (found.local is not None) == (name in LOCAL)
    if found.local is not None:
        assert found.local.shape == (len(cube),)


@every
def test_the_unit_of_length_and_rigid_motions_do_not_matter(name, cube):
    turned = 1e4 * manifolds.placed(cube, 9, 5)
    same(estimated(name, cube), estimated(name, turned))


@every
def test_duplicate_rows_count_once(name, cube):
    once, thrice = estimated(name, cube), estimated(name, np.repeat(cube, 3, axis=0))
    same(once, thrice, rel=1e-12)
    if once.local is not None:
        np.testing.assert_array_equal(np.repeat(once.local, 3), thrice.local)


@every
@each("far", [30.0, 1e6])
def test_one_outlier_changes_nothing(name, cube, far):
    away = np.vstack([cube, cube.mean(axis=0) + far * np.array([1.0, -1, 1, 1, -1, 1])])
    found, clean = estimated(name, away), estimated(name, cube)
    assert found.dimension == pytest.approx(clean.dimension, rel=0.05)
    assert found.local is None or len(found.local) == len(away)


@every
def test_a_few_scattered_outliers_change_little(name, cube):
    strays = np.random.default_rng(1).normal(scale=100, size=(6, 6))
    found, clean = estimated(name, np.vstack([cube, strays])), estimated(name, cube)
    assert found.dimension == pytest.approx(clean.dimension, rel=0.1)


@every
def test_distances_tell_as_much_as_points(name, cube):
    distances = cdist(cube, cube)
    np.fill_diagonal(distances, 0)
    same(estimated(name, cube), estimated(name, distances, metric="precomputed"), rel=1e-5)


@every
def test_tables_and_spaces_are_taken(name, cube):
    expected = estimated(name, cube).dimension
    columns = [f"c{i}" for i in range(cube.shape[1])]
    assert estimated(name, pd.DataFrame(cube, columns=columns)).dimension == expected
    assert estimated(name, pl.DataFrame(cube, schema=columns)).dimension == expected
    assert estimated(name, PointSpace(cube)).dimension == expected


@every
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(name, cube):
    first, second = estimated(name, cube), estimated(name, cube, n_jobs=2)
    assert first.dimension == second.dimension
    assert first.uncertainty == second.uncertainty


@every
def test_directions_have_one_dimension_less_than_the_vectors(name):
    """The angular distance does not see lengths, so vectors of three numbers lie on a sphere."""
    vectors = np.random.default_rng(0).normal(size=(800, 3))
    vectors *= np.exp(np.random.default_rng(1).normal(size=(800, 1)))
    found = estimated(name, vectors, metric="angular")
    if name == "pca":
        # Arcs on the whole sphere are distances in no plane of few dimensions.
        assert found.dimension >= 3
    else:
        assert found.dimension == pytest.approx(2, rel=0.15)


@every
@each("d", [1, 2, 3])
def test_planes_have_their_dimension(name, d):
    found = estimated(name, manifolds.affine(1500, d, d + 4, d))
    slack = {"capacity": 0.25, "correlation": 0.08, "entropic_graph": 0.08}
    expected = pytest.approx(d, rel=slack.get(name, 0.08))
    assert found.dimension == (d if name in WHOLE else expected)


@every
def test_distances_must_be_distances(name):
    X = np.random.default_rng(0).normal(size=(60, 60))
    with pytest.raises(ValueError, match="non-negative"):
        estimated(name, X, metric="precomputed")
    with pytest.raises(ValueError, match="must be square"):
        estimated(name, np.abs(X[:50]), metric="precomputed")
    lopsided = np.abs(X)
    np.fill_diagonal(lopsided, 0)
    with pytest.raises(ValueError, match="not symmetric"):
        estimated(name, lopsided, metric="precomputed")


@every
@each(
    ("X", "error", "words"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], ValueError, "contains NaN"),
        ([1.0, 2.0, 3.0], ValueError, "rows and columns"),
        ([["a", "b"], ["c", "d"]], TypeError, "real numbers"),
        (np.ones((100, 3)), ValueError, "distinct sample"),
        (np.full((100, 3), 1e200), ValueError, "leaves double precision"),
    ],
)
def test_input_that_is_no_table_of_numbers_raises_a_clear_error(name, X, error, words):
    with pytest.raises(error, match=words):
        estimated(name, X)


@every
def test_an_unknown_metric_is_refused(name, cube):
    with pytest.raises(ValueError, match="metric='euclid' is not allowed"):
        estimated(name, cube, metric="euclid")
    with pytest.raises(ValueError, match="n_jobs=0"):
        estimated(name, cube, n_jobs=0)

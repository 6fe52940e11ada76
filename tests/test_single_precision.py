"""Rows in single precision are stored as such, and give what the same numbers give as doubles."""

import warnings

import numpy as np
import pytest

import unbend
from tests.loops import each
from unbend.neighbors import AutoIndex, BruteForce, KDTree, NNDescent, PointSpace, open_space
from unbend.registry import CLUSTERINGS, METHODS

ROLL = unbend.datasets.swiss_roll(300, noise=0.05, random_state=0).points.astype(np.float32)
NEW = (ROLL[::7] + np.float32(0.01)).astype(np.float32)
CLASSES = np.arange(len(ROLL)) % 3
NAMES = [entry.class_name for entry in (*METHODS, *CLUSTERINGS)]
# Methods that keep the training rows as a table of numbers or an array of similarities; the others
# keep none.
KEEPS_NO_SPACE = {"PCA", "RandomProjection"}
# Its points are the argument of a kernel, which is computed in double precision throughout.
KEEPS_DOUBLES = {"KernelPCA"}


def fit(name, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(unbend, name)().fit(rows, CLASSES)


def spaces_in(value, found, seen):
    """All spaces of points that the rows were fitted in, among the values of a fitted estimator."""
    if id(value) in seen:
        return found
    seen.add(id(value))
    if isinstance(value, PointSpace):
        if value.points.shape[1] == ROLL.shape[1]:
            found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            spaces_in(item, found, seen)
    elif isinstance(value, list | tuple):
        for item in value:
            spaces_in(item, found, seen)
    elif type(value).__module__.startswith("unbend") or hasattr(value, "__self__"):
        spaces_in(getattr(value, "__self__", None), found, seen)
        spaces_in(getattr(value, "__dict__", {}), found, seen)
    return found


@each("name", NAMES)
def test_fits_of_single_precision_are_those_of_the_same_numbers_in_double_precision(name):
    single, double = fit(name, ROLL), fit(name, ROLL.astype(np.float64))
    expected = double.embedding_
    assert single.embedding_.dtype == np.float32
    scale = np.abs(expected).max()
    # One unit in the last place of the result, which is in single precision.
    np.testing.assert_allclose(single.embedding_, expected, rtol=0, atol=1.2e-7 * scale)
    if hasattr(single, "transform"):
        placed = double.transform(NEW.astype(np.float64))
        np.testing.assert_allclose(single.transform(NEW), placed, rtol=0, atol=2.4e-7 * scale)


@each("name", sorted(set(NAMES) - KEEPS_NO_SPACE))
def test_fitted_estimators_and_their_files_store_rows_of_single_precision_as_such(name, tmp_path):
    model = fit(name, ROLL)
    model.save(tmp_path / "model.unbend")
    loaded = unbend.load(tmp_path / "model.unbend")
    wanted = np.float64 if name in KEEPS_DOUBLES else np.float32
    for one in (model, loaded):
        kept = spaces_in(vars(one), [], set())
        assert kept
        assert {space.points.dtype.type for space in kept} == {wanted}
    if hasattr(model, "transform"):
        assert np.array_equal(loaded.transform(NEW), model.transform(NEW))
    assert np.array_equal(loaded.embedding_, model.embedding_)


def ties(rng, n, columns):
    """Rows of a small lattice: many tied distances, and duplicates."""
    return rng.integers(0, 4, (n, columns)).astype(np.float32)


def far_off(rng, n, columns):
    """Rows whose differences have few digits left in single precision."""
    return (1000 + rng.normal(size=(n, columns))).astype(np.float32)


def spread(rng, n, columns):
    return (rng.normal(size=(n, columns)) * 0.9 ** np.arange(columns)).astype(np.float32)


@each("index", [KDTree(), KDTree(p=1), KDTree(p=np.inf), BruteForce(), NNDescent(), AutoIndex(0.9)])
@each("draw", [ties, far_off, spread])
@each("columns", [3, 30])
def test_searches_of_single_precision_find_the_neighbours_of_double_precision(columns, draw, index):
    rows = draw(np.random.default_rng(columns), 2500, columns)
    doubles = rows.astype(np.float64)
    single, double = index.build(rows), index.build(doubles)
    new = rows[:99] + np.float32(0.5)
    for found, expected in (
        (single.query_self(7), double.query_self(7)),
        (single.query(new, 7), double.query(new.astype(np.float64), 7)),
    ):
        # To the last bit: ties are broken alike.
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])


@each("metric", ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis"])
def test_spaces_of_single_precision_measure_as_those_of_double_precision(metric):
    single, double = (open_space(rows, metric) for rows in (ROLL, ROLL.astype(np.float64)))
    rows, columns = np.arange(0, 300, 7), np.arange(1, 300, 7)
    blocks = single.nearest(6).indices.reshape(-1, 6)
    for found, expected in (
        (single.lengths(rows, columns), double.lengths(rows, columns)),
        (single.distances_of(NEW), double.distances_of(NEW)),
        (single.nearest_of(NEW, 5), double.nearest_of(NEW, 5)),
        (single.coordinates(blocks), double.coordinates(blocks)),
        (single.coordinates_of(NEW, blocks[: len(NEW)]), double.coordinates_of(NEW, blocks[:43])),
        (single.rows(rows), double.rows(rows)),
        (single.within(1.5).distances, double.within(1.5).distances),
        (single.spacing, double.spacing),
    ):
        assert np.array_equal(found, expected)
        assert np.asarray(found).dtype == np.float64


@each("metric", ["cosine", "mahalanobis", lambda a, b: float(np.abs(a - b).sum())])
def test_metrics_that_compute_from_rows_get_doubles(metric):
    assert open_space(ROLL, metric).points.dtype == np.float64


def test_a_single_row_of_float32_takes_half_the_file(tmp_path):
    rows = np.random.default_rng(0).normal(size=(1000, 50)).astype(np.float32)
    sizes = []
    for number, some in enumerate((rows, rows.astype(np.float64))):
        path = tmp_path / f"{number}.unbend"
        unbend.LTSA(n_neighbors=12).fit(some).save(path)
        sizes.append(path.stat().st_size)
    # What else is stored is equal but for the embedding.
    less = rows.nbytes + 1000 * 2 * 4
    assert sizes[1] - sizes[0] == pytest.approx(less, abs=2000)

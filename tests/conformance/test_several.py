"""Laws of methods whose X is several matrices of the same objects."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

import unbend
from tests.conformance.cases import STRICT, assert_same, curve, over, quietly, refused
from tests.loops import each
from unbend.arrays import FloatArray
from unbend.registry import SEVERAL
from unbend.validation.parameters import parameters

CLASSES = [entry.load() for entry in SEVERAL]
EVERY = over(CLASSES)
POINTS = curve(40)
STRETCHES = np.array([[1.0, 0.5, 0.2], [0.3, 1.0, 0.4], [0.6, 0.6, 1.5], [1.2, 0.3, 0.8]])


def matrices(points: FloatArray = POINTS) -> list[FloatArray]:
    return [squareform(pdist(points * stretch)) for stretch in STRETCHES]


def new_rows(points: FloatArray) -> list[FloatArray]:
    return [np.linalg.norm((points[:, None] - POINTS) * row, axis=2) for row in STRETCHES]


NEW = new_rows(POINTS[:5] + 0.05)


@EVERY
@STRICT
@each("d", [1, 2, 3])
def test_coordinates_are_finite_centred_and_varied(method: type, d: int) -> None:
    found = quietly(lambda: method(n_components=d).fit(matrices()))[0].embedding_
    assert found.shape == (40, d)
    assert np.all(np.isfinite(found))
    assert_same(np.zeros(d) + np.abs(found).max(), found.mean(axis=0) + np.abs(found).max())
    assert found.std(axis=0).min() > 0


@EVERY
def test_a_list_a_tuple_and_an_array_are_one_input(method: type) -> None:
    first = method().fit(matrices()).embedding_
    for form in (tuple(matrices()), np.stack(matrices()), [m.tolist() for m in matrices()]):
        assert np.array_equal(method().fit(form).embedding_, first)
    fortran = [np.asfortranarray(m) for m in matrices()]
    assert np.array_equal(method().fit(fortran).embedding_, first)


@EVERY
def test_the_order_of_the_matrices_does_not_matter(method: type) -> None:
    first, second = method().fit(matrices()), method().fit(matrices()[::-1])
    assert_same(first.embedding_, second.embedding_, 1e-4)


@EVERY
def test_reordering_the_objects_reorders_the_coordinates(method: type) -> None:
    order = np.random.default_rng(1).permutation(40)
    first, second = method().fit(matrices()), method().fit(matrices(POINTS[order]))
    assert_same(np.abs(first.embedding_[order]), np.abs(second.embedding_), 1e-4)


@EVERY
def test_one_unit_for_all_matrices_scales_isometric_coordinates_and_no_others(
    method: Any,
) -> None:
    first = method().fit(matrices())
    second = method().fit([8.0 * matrix for matrix in matrices()])
    factor = 8.0 if method.isometric else 1.0
    assert_same(factor * first.embedding_, second.embedding_, 1e-6)


@EVERY
@each("state", [0, 7, np.random.RandomState(1), np.random.default_rng(2)])
def test_a_seed_gives_the_same_bits_for_any_n_jobs(method: type, state: Any) -> None:
    states = pickle.loads(pickle.dumps((state, state)))[0], pickle.loads(pickle.dumps(state))
    one = method(random_state=states[0], n_jobs=1).fit(matrices())
    two = method(random_state=states[1], n_jobs=2).fit(matrices())
    assert np.array_equal(one.embedding_, two.embedding_)
    assert_same(one.embedding_, method().fit(matrices()).embedding_, 1e-4)


@EVERY
def test_float32_stays_float32_and_close_to_float64(method: type) -> None:
    double = method().fit(matrices())
    single = method().fit([m.astype(np.float32) for m in matrices()])
    assert single.embedding_.dtype == np.float32
    assert_same(double.embedding_, single.embedding_.astype(np.float64), 1e-3)


@EVERY
def test_fitted_objects_are_placed_where_they_are_and_near_ones_near(method: type) -> None:
    mds = method(n_components=3).fit(matrices())
    assert np.array_equal(mds.transform(matrices()), mds.embedding_)
    exact = new_rows(POINTS[:5] + 1e-3)
    assert_same(mds.embedding_[:5], mds.transform(exact), 0.05)
    one_by_one = [mds.transform([m[i : i + 1] for m in NEW])[0] for i in range(5)]
    assert_same(mds.transform(NEW), np.array(one_by_one), 1e-9)


@EVERY
def test_clones_pickles_and_saved_models_give_the_same_bits(method: type, tmp_path: Path) -> None:
    mds = method().fit(matrices())
    assert np.array_equal(clone(mds).fit(matrices()).embedding_, mds.embedding_)
    mds.save(tmp_path / "several.unbend")
    for copy in (pickle.loads(pickle.dumps(mds)), unbend.load(tmp_path / "several.unbend")):
        assert np.array_equal(copy.transform(NEW), mds.transform(NEW))


@EVERY
def test_input_is_read_only_for_fit_and_forgotten_after_it(method: type) -> None:
    given, kept = matrices(), matrices()
    for matrix in given:
        matrix.flags.writeable = False
    mds = method().fit(given)
    placed = mds.transform(NEW)
    for matrix, same in zip(given, kept, strict=True):
        assert np.array_equal(matrix, same)
        matrix.flags.writeable = True
        matrix[:] = 0.0
    mds.embedding_[:] = 0.0
    assert np.array_equal(mds.transform(NEW), placed)


@EVERY
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(method: type) -> None:
    mds = method().fit(matrices())
    placed = mds.transform(NEW)
    refused(lambda: mds.fit([matrices()[0], -matrices()[1]]), "negative")
    assert np.array_equal(mds.transform(NEW), placed)


@EVERY
def test_the_report_records_every_stage_and_missing_convergence(method: type) -> None:
    mds, warned = quietly(lambda: method(max_iter=1).fit(matrices()))
    words = "did not converge in 1 iterations"
    assert any(words in text for text in warned)
    assert any(words in str(text) for text in mds.report_.warnings)
    for stage in ("dissimilarities", "stress", "coordinates"):
        assert stage in str(mds.report_)


@EVERY
def test_values_that_are_not_allowed_are_refused_by_name(method: type) -> None:
    for parameter in parameters(method):
        if parameter.name != "n_jobs":  # of which -7 is one
            mds = method(**{parameter.name: -7})
            refused(lambda mds=mds: mds.fit(matrices()), parameter.name)


@EVERY
def test_too_little_memory_is_refused(method: type) -> None:
    with unbend.memory_limit(1000):
        refused(lambda: method().fit(matrices()), "are available", error=MemoryError)

"""The same mistake gets the same exception and the same sentence from every public function.

One test per name of `tests/entry_points.py` loops over mistakes.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.entry_points import (
    COUNTS,
    DISTANCES,
    EXEMPT,
    FLAT,
    GRAM,
    ROWS,
    SQUARE,
    TABLE,
    X,
    public_names,
)
from unbend import dimension, graphs, lowrank, neighbors, quality, selection
from unbend.registry import METHODS


def test_every_public_name_is_in_the_table_or_exempt():
    assert public_names() - set(TABLE) - set(EXEMPT) == set()


def sentence(error: BaseException, name: str) -> str:
    """Return a message with the argument's name and all numbers replaced."""
    text = re.sub(rf"\b{name}\b", "NAME", str(error)) if name != "X" else str(error)
    text = re.sub(r"(?<![\w(])X\b(?!\.T| \+)", "NAME", text) if name == "X" else text
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text)


def assert_refused(
    call: Callable[[Any], Any], wrong: Any, error: type[Exception], text: str, name: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call(wrong)
    found = sentence(caught.value, name)
    assert found.startswith(text), found
    assert type(caught.value) is error, caught.value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(TABLE))
def test_mistakes_get_their_sentence(name):
    entry = TABLE[name]
    good = X if entry.good is None else entry.good
    for mistake, (spoil, error, text) in ROWS.items():
        if mistake not in entry.allowed:
            assert_refused(entry.rows, spoil(good), error, text, entry.name)
    if entry.distances is not None:
        for wrong, error, text in DISTANCES.values():
            assert_refused(entry.distances, wrong, error, text, entry.name)
    if entry.count is not None:
        for mistake, (k, text) in COUNTS.items():
            if mistake not in entry.allowed:
                assert_refused(entry.count, k, ValueError, text, entry.counted)


@pytest.mark.parametrize("value", [np.nan, -1.0])
def test_lengths_and_weights_of_graphs_get_their_sentence(value):
    graph = csr_array(np.array([[0, value, 1.0], [value, 0, 1.0], [1.0, 1.0, 0]]))
    text = "NAME contains NaN (first in row #, column #)." if np.isnan(value) else ""
    for function, name in ((graphs.geodesics, "lengths"), (graphs.laplacian, "weights")):
        what = "Distances" if name == "lengths" else "Weights"
        negative = f"{what} must be non-negative, and the smallest in NAME is #."
        assert_refused(function, graph, ValueError, text or negative, name)


OPTIONS = {
    "n_jobs": {0: ValueError, "2": TypeError, 1.5: TypeError, True: TypeError},
    "metric_params": {3: TypeError, "p": TypeError, (1, 2): TypeError},
    "random_state": {"3": TypeError, -1: ValueError, 1.5: TypeError},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_functions_refuse_options_as_estimators_do(option):
    functions: list[Callable[..., Any]] = [dimension.pca, dimension.correlation]
    functions += [dimension.mle] if option != "random_state" else [selection.choose_bandwidth]
    if option != "n_jobs":
        functions.append(lambda rows, **given: quality.trustworthiness(rows, FLAT, **given))
    for value, error in OPTIONS[option].items():
        with pytest.raises(error) as expected:
            unbend.Isomap(**{option: value}).fit(X)
        for function in functions:
            with pytest.raises(error) as caught:
                function(X, **{option: value})
            found, wanted = (str(one.value).split(" it must be ") for one in (caught, expected))
            assert found[0] == wanted[0]
            assert set(found[1].split(" or ")) == set(wanted[1].split(" or "))


@pytest.mark.parametrize("wrong", [3, "isomap", unbend.Isomap, None])
def test_what_is_no_estimator_is_refused_in_our_words(wrong):
    calls = [lambda: selection.stability(wrong, X), lambda: selection.resample(wrong, X)]
    if isinstance(wrong, int):
        calls.append(lambda: selection.compare(X, [wrong]))
    if wrong in (3, "isomap"):
        calls.append(lambda: selection.choose_neighbors(X, method=wrong))
    for call in calls:
        with pytest.raises(TypeError, match="is not allowed: it must be an estimator"):
            call()


def test_arguments_of_choices_are_checked_before_work():
    for call in (
        lambda: selection.compare(X, ["PCA"], n_components="3"),
        lambda: selection.compare(X, ["PCA"], parameters=3),
        lambda: selection.suggest(X, dimension="3"),
        lambda: neighbors.open_space(X, index=3),
        lambda: lowrank.largest_singular(X, "3"),
        lambda: lowrank.fat_rows(X, 1, m="3"),
    ):
        with pytest.raises(TypeError, match="is not allowed: it must be"):
            call()
    with pytest.raises(ValueError, match="steps=0 is not allowed"):
        lowrank.largest_eigenvalue(GRAM, 0)


def test_sparse_rows_get_their_sentence_from_transformations_of_rows():
    with pytest.raises(TypeError, match="matrix has sparse rows, and dense ones are needed"):
        lowrank.fat_rows(csr_array(X), 1)


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.uint64])
@pytest.mark.parametrize("method", [e.load() for e in METHODS], ids=lambda m: m.__name__)
@pytest.mark.filterwarnings("ignore")
def test_numpy_integers_of_any_size_are_parameters(method, integer):
    rows = np.random.default_rng(0).normal(size=(300 if "MVU" not in method.__name__ else 40, 3))
    classes = np.arange(len(rows)) % 3
    expected = method(n_components=2).fit_transform(rows, classes)
    found = method(n_components=integer(2)).fit_transform(rows, classes)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("denoise", [np.False_, np.True_])
@pytest.mark.parametrize("method", ["LTSA", "Isomap", "LaplacianEigenmaps"])
@pytest.mark.filterwarnings("ignore")
def test_numpy_booleans_are_those_of_python(method, denoise):
    """A grid of parameters is often an array, whose `False` is not the object of Python."""
    rows = unbend.datasets.s_curve(300, noise=0.1, random_state=0).points
    expected = getattr(unbend, method)(denoise=bool(denoise)).fit_transform(rows)
    model = getattr(unbend, method)(denoise=denoise).fit(rows)
    np.testing.assert_array_equal(model.embedding_, expected)
    assert any(stage.name == "denoise" for stage in model.report_.stages) == bool(denoise)


@pytest.mark.parametrize("value", [10**30, 10**400])
def test_integers_of_any_size_are_real_numbers_within_double_precision(value):
    model = unbend.Isomap(radius=value)
    if value < 10**300:
        assert model.fit(X).embedding_.shape == (40, 2)
    else:
        with pytest.raises(ValueError, match="is not allowed: it must be a number above 0"):
            model.fit(X)


def test_single_precision_of_the_other_byte_order_is_single_precision():
    distances = SQUARE.astype(np.float32)
    distances[0, 1] = np.nextafter(distances[0, 1], np.float32(np.inf))
    model = unbend.ClassicalMDS(metric="precomputed")
    expected = model.fit_transform(distances)
    np.testing.assert_array_equal(model.fit_transform(distances.astype(">f4")), expected)


def test_graphs_are_refused_in_one_sentence_where_all_distances_are_needed():
    graph = csr_array(np.where(SQUARE < 2, SQUARE, 0.0))
    calls = {name: TABLE[name].distances for name in TABLE if ".quality." in name}
    calls |= {name: TABLE[name].distances for name in TABLE if ".dimension." in name}
    text = "NAME is a graph, which does not have all distances. Pass points, or"
    for call in filter(None, calls.values()):
        assert_refused(call, graph, TypeError, text, "X")


def test_masked_distances_are_missing_for_every_measure():
    masked = np.ma.masked_array(SQUARE, np.eye(40, k=1) + np.eye(40, k=-1) > 0)
    for name in TABLE:
        call = TABLE[name].distances
        if ".quality." in name and call is not None:
            assert_refused(call, masked, ValueError, "NAME contains NaN (first in row #,", "X")

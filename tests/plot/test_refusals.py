"""What cannot be drawn is refused in one sentence that says what to do."""

import sys

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import unbend
from tests.loops import each

PLANE = np.random.default_rng(0).normal(size=(20, 2))


@each("draw", ["scatter", "interactive"])
@each(
    ("embedding", "options", "error", "sentence"),
    [
        (np.where(np.arange(40).reshape(20, 2) == 7, np.nan, 1.0), {}, ValueError, "NaN .*row 3"),
        (np.where(np.arange(40).reshape(20, 2) == 7, np.inf, 1.0), {}, ValueError, "infin.*row 3"),
        (PLANE[:1], {}, ValueError, "minimum of 2 is required"),
        (np.empty((0, 2)), {}, ValueError, "minimum of 2 is required"),
        (np.empty((5, 0)), {}, ValueError, "Pass at least one column"),
        (np.ones((3, 3, 3)), {}, ValueError, "rows and columns"),
        (np.ones((20, 7)), {}, ValueError, "7 columns, at most 6 can be drawn"),
        ([["a", "b"], ["c", "d"]], {}, TypeError, "real numbers"),
        (PLANE + 1j, {}, ValueError, "real numbers"),
        (pandas.DataFrame({"u": [1, 2], "w": ["x", "y"]}), {}, TypeError, "to color by a column"),
        (pandas.DataFrame({"u": [1, 2]}), {"color": "v"}, ValueError, "no column 'v'"),
        (PLANE, {"color": ["a", "b"]}, ValueError, "color has 2 entries and the embedding has 20"),
        (PLANE, {"color": np.ones(19)}, ValueError, "color has 19 entries"),
        (PLANE, {"color": 3}, ValueError, "color has one value"),
        (PLANE, {"color": "red"}, ValueError, "color='red' would name a column"),
        (PLANE, {"color": np.ones((20, 3))}, ValueError, "color has 3 columns"),
        (PLANE, {"color": pandas.date_range("2020", periods=20)}, TypeError, "dates"),
        (PLANE, {"names": ["a"]}, ValueError, "names has 1 entries"),
        (PLANE, {"method": "tsne"}, ValueError, "'tsne' is not known: use one of pca"),
        (PLANE, {"graph": csr_array((3, 3))}, ValueError, "3 vertices and the embedding 20 rows"),
        (PLANE, {"graph": np.ones((20, 20))}, TypeError, "sparse matrix or a fitted"),
        (PLANE, {"graph": unbend.PCA()}, ValueError, "PCA has no graph"),
        (PLANE, {"graph": unbend.Isomap()}, ValueError, "Isomap instance is not fitted yet"),
        (unbend.Isomap(), {}, ValueError, "Isomap holds no embedding: fit it"),
        (unbend.Isomap, {}, TypeError, "Isomap is a class"),
    ],
)
def test_invalid_arguments_raise_a_clear_error(draw, embedding, options, error, sentence):
    with pytest.raises(error, match=sentence):
        getattr(unbend.plot, draw)(embedding, **options)


def test_axes_must_suit_the_number_of_columns():
    figure = Figure()
    with pytest.raises(ValueError, match="projection='3d'"):
        unbend.plot.scatter(np.ones((5, 3)), ax=figure.add_subplot())
    with pytest.raises(ValueError, match="plane axes"):
        unbend.plot.scatter(PLANE, ax=figure.add_subplot(projection="3d"))
    with pytest.raises(ValueError, match="4 columns, one Axes shows at most 3"):
        unbend.plot.scatter(np.ones((5, 4)), ax=figure.add_subplot())
    with pytest.raises(TypeError, match="a matplotlib Axes"):
        unbend.plot.scatter(PLANE, ax="left")


@each(
    ("call", "error", "sentence"),
    [
        (lambda: unbend.plot.spectrum(unbend.RandomProjection()), ValueError, "no eigenvalues"),
        (lambda: unbend.plot.spectrum([[1.0]]), ValueError, "array of numbers"),
        (lambda: unbend.plot.spectrum([1.0, np.nan]), ValueError, "NaN"),
        (
            lambda: unbend.plot.spectrum([1.0, 2.0], d=3),
            ValueError,
            "d=3 is not allowed: it must be at most 2",
        ),
        (lambda: unbend.plot.residual_variance(PLANE), ValueError, "pass X"),
        (lambda: unbend.plot.residual_variance({}), ValueError, "at least one"),
        (lambda: unbend.plot.residual_variance(PLANE, PLANE[:5]), ValueError, "embedding has 20"),
        (lambda: unbend.plot.contact_sheet({}), ValueError, "mapping of titles"),
        (lambda: unbend.plot.contact_sheet({"a": PLANE}, columns=0), ValueError, "at least 1"),
        (lambda: unbend.plot.contact_sheet({"a": PLANE}, "red"), ValueError, "'red'"),
    ],
)
def test_curves_and_sheets_refuse_what_they_cannot_show(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_points_that_all_coincide_can_be_drawn():
    value, chart = np.zeros(9), np.zeros((9, 2))
    for width, color in ((1, value), (2, None), (2, value), (2, chart), (3, chart), (4, value)):
        figure = unbend.plot.scatter(np.ones((9, width)), color, method="pca")
        figure.canvas.draw()


@pytest.mark.parametrize(
    ("missing", "name"), [("matplotlib", "scatter"), ("plotly", "interactive")]
)
def test_without_its_package_a_function_says_what_to_install(monkeypatch, missing, name):
    for module in list(sys.modules):
        if module.split(".")[0] == missing or module.startswith("unbend.plot."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"{name} needs {missing}: pip install 'unbend\[plot\]'"):
        getattr(unbend.plot, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'histogram'"):
        unbend.plot.histogram  # noqa: B018

"""Eigenfunctions of a kernel as curves and images: the values drawn are those of the formula."""

import numpy as np
import pytest

import unbend
from unbend.lowrank import Eigenfunctions

RNG = np.random.default_rng(0)


def gauss(a, b):
    return np.exp(-np.square(a[:, None] - b).sum(axis=2) / 2.0)


def test_curves_are_the_eigenfunctions_of_the_gaussian():
    """Of exp(−(x−y)²/2) under N(0, 1) the eigenvalues fall by a constant ratio."""
    x = RNG.normal(size=(1500, 1))
    functions = Eigenfunctions.of(gauss(x, x), 4)
    figure = unbend.plot.eigenfunctions(functions, gauss, x, title="Gaussian")
    curves, values = figure.axes
    for number, line in enumerate(curves.lines[:4]):
        expected = functions(gauss(line.get_xdata()[:, None], x))[:, number]
        np.testing.assert_allclose(line.get_ydata(), expected)
        inside = np.abs(line.get_xdata()) < 1.5
        signs = np.sign(line.get_ydata()[inside])
        assert np.count_nonzero(np.diff(signs)) == number
    drawn = values.lines[0].get_ydata()
    np.testing.assert_allclose(drawn, functions.values)
    # a = 1/4, b = 1/2, c = √(a² + 2ab): μ falls by b/(a + b + c).
    ratio = 0.5 / (0.25 + 0.5 + np.sqrt(0.0625 + 0.25))
    np.testing.assert_allclose(drawn[1:] / drawn[:-1], ratio, rtol=0.15)
    assert values.get_yscale() == "log"


def test_images_are_the_eigenfunctions_over_the_plane():
    points = RNG.normal(size=(200, 2))
    functions = Eigenfunctions.of(gauss(points, points), 5)
    figure = unbend.plot.eigenfunctions(functions, gauss, points, count=5)
    images = [axes for axes in figure.axes if axes.images]
    assert len(images) == 5
    assert len(figure.axes) == 6
    picture = images[1].images[0]
    left, right, low, high = picture.get_extent()
    first, second = np.linspace(left, right, 120), np.linspace(low, high, 120)
    place = np.array([[first[30], second[80]]])
    expected = functions(gauss(place, points))[0, 1]
    assert picture.get_array()[80, 30] == pytest.approx(expected)
    assert images[0].get_title(loc="left") == f"ψ1: {functions.values[0]:.3g}"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [(RNG.normal(size=(30, 3)), "one or two"), (RNG.normal(size=(7, 1)), "pass the same rows")],
)
def test_rows_that_cannot_be_drawn_are_refused(rows, sentence):
    x = RNG.normal(size=(30, 1))
    functions = Eigenfunctions.of(gauss(x, x), 3)
    with pytest.raises(ValueError, match=sentence):
        unbend.plot.eigenfunctions(functions, gauss, rows)

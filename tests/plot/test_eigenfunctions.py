"""Eigenfunctions are drawn with the values that they have."""

import numpy as np
import pytest

import unbend


def hermite(x, count, a=0.25, b=0.5):
    """Return the closed form for exp(−b (x − y)²) under a normal density of variance 1/(4a)."""
    c = np.sqrt(a**2 + 2 * a * b)
    ratio = b / (a + b + c)
    functions = [
        np.exp(-(c - a) * x**2)
        * np.polynomial.hermite.hermval(np.sqrt(2 * c) * x, np.eye(count)[order])
        for order in range(count)
    ]
    return np.array(functions), np.sqrt(2 * a / (a + b + c)) * ratio ** np.arange(count)


def test_curves_of_a_gaussian_kernel_are_hermite_functions():
    x, line = np.random.default_rng(0).normal(size=3000), np.linspace(-2, 2, 101)
    gauss = [np.exp(-0.5 * np.subtract.outer(points, x) ** 2) for points in (x, line)]
    found = unbend.lowrank.Eigenfunctions.of(gauss[0], 4)
    figure = unbend.plot.eigenfunctions(line, found(gauss[1]), eigenvalues=found.values)
    expected, values = hermite(line, 4, a=0.25)
    np.testing.assert_allclose(found.values, values, rtol=0.1)
    for axes, function, value in zip(figure.axes, expected, found.values, strict=True):
        drawn = axes.lines[1].get_ydata()
        assert abs(np.corrcoef(drawn, function)[0, 1]) > 0.99
        assert f"{value:.3g}" in axes.get_title()


def test_values_in_the_plane_are_coloured_alike():
    points = np.random.default_rng(0).normal(size=(50, 2))
    values = np.column_stack((points[:, 0], 3 * points[:, 1]))
    figure = unbend.plot.eigenfunctions(points, values)
    for axes, column in zip(figure.axes, values.T, strict=True):
        assert np.array_equal(axes.collections[0].get_array(), column)
    assert len({axes.collections[0].get_clim() for axes in figure.axes}) == 1


@pytest.mark.parametrize(
    ("points", "values", "options", "words"),
    [
        (np.ones((5, 3)), np.ones((5, 2)), {}, "one or two columns"),
        (np.ones(5), np.ones((4, 2)), {}, "a row for each point"),
        (np.ones(5), np.ones((5, 13)), {}, "1 to 12 columns"),
        (np.ones(5), np.ones((5, 2)), {"eigenvalues": [1.0]}, "1 eigenvalues and 2 functions"),
    ],
)
def test_what_cannot_be_drawn_is_refused(points, values, options, words):
    with pytest.raises(ValueError, match=words):
        unbend.plot.eigenfunctions(points, values, **options)

"""Spectra, residual variance and contact sheets show the numbers of the estimators."""

import numpy as np
import pytest

import unbend
from tests.plot.drawn import marks, same_points

ROLL = unbend.datasets.swiss_roll(200, random_state=0)


def legend_of(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps", "ClassicalMDS", "DiffusionMaps"])
def test_the_spectrum_of_a_fit_is_drawn_with_the_next_value_and_its_number(name):
    model = getattr(unbend, name)(n_components=3).fit(ROLL.points)
    figure = unbend.plot.spectrum(model)
    values, beyond, mark = figure.axes[0].lines
    assert np.array_equal(values.get_ydata(), model.eigenvalues_)
    assert values.get_xdata().tolist() == [1, 2, 3]
    assert beyond.get_ydata() == [model.next_eigenvalue_]
    assert set(mark.get_xdata()) == {3}


def test_the_widest_gap_and_the_chosen_number_are_marked():
    figure = unbend.plot.spectrum([9.0, 8.0, 0.5, 0.4], d=3)
    names = legend_of(figure)
    assert "widest gap, after 2 (× 16)" in names
    assert "d = 3 (× 1.25)" in names
    band = figure.axes[0].patches[0].get_bbox() if figure.axes[0].patches else None
    assert (band.x0, band.x1) == (2, 3)


def test_the_spectrum_of_principal_components_is_their_variance():
    model = unbend.PCA(n_components=2).fit(ROLL.points)
    figure = unbend.plot.spectrum(model)
    values, beyond, _ = figure.axes[0].lines
    assert np.array_equal(values.get_ydata(), model.explained_variance_)
    assert beyond.get_ydata() == [model.noise_variance_]
    assert figure.axes[0].get_ylabel() == "variance"


@pytest.mark.parametrize(("values", "scale"), [([1e3, 1.0], "log"), ([3.0, 1.0], "linear")])
def test_values_of_different_sizes_are_drawn_on_a_logarithmic_axis(values, scale):
    assert unbend.plot.spectrum(values).axes[0].get_yscale() == scale


def test_values_that_are_not_positive_can_be_drawn():
    unbend.plot.spectrum([2.0, 0.0, -1.0]).canvas.draw()


def test_the_residual_variance_of_isomap_is_its_own():
    model = unbend.Isomap(n_neighbors=8).fit(ROLL.points)
    curve, mark = unbend.plot.residual_variance(model).axes[0].lines
    assert np.array_equal(curve.get_ydata(), model.residual_variance_)
    assert set(mark.get_xdata()) == {2}


def test_curves_of_several_embeddings_are_those_of_the_measure():
    embeddings = {"chart": ROLL.chart, "shadow": ROLL.points[:, :2]}
    figure = unbend.plot.residual_variance(embeddings, ROLL.points)
    assert legend_of(figure) == ["chart", "shadow"]
    for line, embedding in zip(figure.axes[0].lines, embeddings.values(), strict=True):
        expected = unbend.quality.residual_variance(ROLL.points, embedding)
        assert np.array_equal(line.get_ydata(), expected)


def test_a_contact_sheet_has_every_embedding_in_its_panel():
    model = unbend.Isomap(n_neighbors=8).fit(ROLL.points)
    embeddings = {"Isomap": model, "chart": ROLL.chart, "space": ROLL, "line": ROLL.chart[:, :1]}
    figure = unbend.plot.contact_sheet(embeddings, ROLL.chart[:, 0])
    panels = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert list(panels) == list(embeddings)
    assert same_points(marks(panels["Isomap"]).points, model.embedding_)
    assert same_points(marks(panels["chart"]).points, ROLL.chart)
    assert same_points(marks(panels["space"]).points, ROLL.points)
    drawn = marks(panels["line"]).points[:, 0]
    assert np.array_equal(np.sort(drawn), np.sort(ROLL.chart[:, 0]))
    assert (panels["Isomap"].get_aspect(), panels["chart"].get_aspect()) == (1.0, "auto")


@pytest.mark.parametrize(("count", "columns", "shape"), [(5, None, (2, 3)), (4, 1, (4, 1))])
def test_panels_fill_rows_of_the_asked_length(count, columns, shape):
    embeddings = {str(number): ROLL.chart for number in range(count)}
    figure = unbend.plot.contact_sheet(embeddings, columns=columns)
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == shape

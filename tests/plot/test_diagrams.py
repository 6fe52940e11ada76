"""Diagrams of distances, ranks and dimensions draw the numbers of the library."""

import numpy as np
import pytest

import unbend

ROLL = unbend.datasets.swiss_roll(150, random_state=0)
FLAT = unbend.PCA().fit_transform(ROLL.points)


def test_a_shepard_diagram_has_a_mark_for_every_pair():
    figure = unbend.plot.shepard(ROLL.points, FLAT)
    found = unbend.quality.shepard(ROLL.points, FLAT)
    marks = figure.axes[0].collections[0].get_offsets()
    assert np.array_equal(marks, np.column_stack([found.data, found.embedded]))
    title = figure.axes[0].get_title(loc="left")
    assert title == f"Pearson {found.pearson:.3f}, Spearman {found.spearman:.3f}"


def test_the_line_of_a_shepard_diagram_is_the_factor_of_a_scaled_copy():
    figure = unbend.plot.shepard(ROLL.points, 3 * ROLL.points)
    (_, far), (_, up) = (line for line in figure.axes[0].lines[0].get_data())
    assert up == pytest.approx(3 * far, rel=1e-12)


def test_of_many_pairs_a_fair_share_is_drawn_and_kept_as_a_picture():
    points = np.random.default_rng(0).normal(size=(1500, 3))
    (marks,) = unbend.plot.shepard(points, points[:, :2]).axes[0].collections
    assert len(marks.get_offsets()) == 50_000
    assert marks.get_rasterized()


def test_geodesics_can_be_given_in_place_of_points():
    model = unbend.Isomap(n_neighbors=8).fit(ROLL.points)
    figure = unbend.plot.shepard(model.geodesics_, model, metric="precomputed")
    found = unbend.quality.shepard(model.geodesics_, model.embedding_, metric="precomputed")
    drawn = figure.axes[0].collections[0].get_offsets()[:, 0]
    assert np.array_equal(drawn, found.data)


def test_the_picture_of_a_co_ranking_matrix_is_the_matrix():
    figure = unbend.plot.coranking_matrix(ROLL.points, FLAT)
    drawn = figure.axes[0].images[0].get_array()
    expected = unbend.quality.coranking_matrix(ROLL.points, FLAT)
    assert np.array_equal(drawn.filled(0), expected)


def test_many_ranks_are_put_together_and_none_is_lost():
    points = np.random.default_rng(0).normal(size=(900, 3))
    drawn = unbend.plot.coranking_matrix(points, points[:, :2]).axes[0].images[0].get_array()
    assert drawn.shape == (300, 300)
    assert drawn.sum() == 900 * 899
    part = unbend.plot.coranking_matrix(points, points[:, :2], max_rows=100)
    assert part.axes[0].images[0].get_array().sum() == 100 * 99


@pytest.mark.parametrize("kind", ["r_nx", "q_nx", "lcmc"])
def test_curves_of_ranks_are_those_of_the_library(kind):
    both = {"flat": FLAT, "true": ROLL.chart}
    figure = unbend.plot.quality_curves(ROLL.points, both, kind=kind)
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    for line, (name, embedding), said in zip(
        figure.axes[0].lines, both.items(), legend, strict=True
    ):
        found = unbend.quality.coranking(ROLL.points, embedding)
        assert np.array_equal(line.get_ydata(), getattr(found, kind))
        assert line.get_xdata()[0] == 1
        assert said == f"{name} ({getattr(found, f'{kind}_auc'):.3f})"


def test_a_sample_of_rows_has_a_band():
    model = unbend.PCA().fit(ROLL.points)
    whole = unbend.plot.quality_curves(ROLL.points, model)
    part = unbend.plot.quality_curves(ROLL.points, model, max_rows=50)
    assert (len(whole.axes[0].collections), len(part.axes[0].collections)) == (0, 1)
    assert whole.axes[0].get_legend().get_texts()[0].get_text().startswith("PCA (")


def test_fits_of_the_dimension_show_curve_line_and_range():
    found = [
        unbend.dimension.mle(ROLL.points),
        unbend.dimension.correlation(ROLL.points),
        unbend.dimension.multiscale_svd(ROLL.points),
        unbend.dimension.pca(ROLL.points),
    ]
    figure = unbend.plot.dimension_fits(found, title="A roll")
    assert len(figure.axes) == 4
    for axes, value in zip(figure.axes, found, strict=True):
        curves = np.reshape(value.curve.y, (len(value.curve.x), -1)).T
        expected = [*curves, *([] if value.curve.line is None else [value.curve.line])]
        assert len(axes.lines) == len(expected)
        for line, y in zip(axes.lines, expected, strict=True):
            assert np.array_equal(line.get_xdata(), value.curve.x)
            assert np.array_equal(line.get_ydata(), y, equal_nan=True)
        band = axes.patches[0].get_bbox()
        assert (band.x0, band.x1) == pytest.approx(value.curve.fitted)
        assert axes.get_title(loc="left") == str(value)


def test_labels_of_quality_curves_fit_and_the_legend_of_many_hides_none():
    noise = np.random.default_rng(0).normal(size=(8, *ROLL.chart.shape))
    curves = {f"HessianLLE n_neighbors={i}": ROLL.chart + i * part for i, part in enumerate(noise)}
    figure = unbend.plot.quality_curves(ROLL.points, curves)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    for label in (axes.xaxis.label, axes.yaxis.label):
        box = label.get_window_extent()
        assert min(box.x0, box.y0) >= 0
        assert np.all(box.max <= figure.bbox.max)
    legend = axes.get_legend().get_window_extent()
    assert legend.x0 >= axes.bbox.x1
    assert legend.x1 <= figure.bbox.x1


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"kind=.* must be one of"):
        unbend.plot.quality_curves(ROLL.points, FLAT, kind="auc")
    with pytest.raises(ValueError, match="nothing to draw"):
        unbend.plot.quality_curves(ROLL.points, {})
    with pytest.raises(ValueError, match=r"unbend\.dimension"):
        unbend.plot.dimension_fits([2.0])

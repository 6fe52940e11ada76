"""The picture of a data graph's consistency shows the numbers of its report."""

import numpy as np
import pytest

import unbend
from unbend.graphs import consistency
from unbend.neighbors import PointSpace


def test_shares_radii_and_sizes_are_drawn_as_they_are():
    X = unbend.datasets.swiss_roll(3000, noise=0.2, random_state=0).points
    report = consistency(X, 2, 10)
    figure = unbend.plot.consistency(report)
    shares, sizes = figure.axes
    drawn = shares.collections[0].get_offsets()
    assert np.array_equal(drawn, np.column_stack([report.radius, report.outside]))
    curve, here, *_ = sizes.lines
    assert np.array_equal(
        curve.get_xydata(), np.column_stack([report.tried, report.hidden_by_size])
    )
    assert here.get_xydata().tolist() == [[10, report.hidden]]
    names = [text.get_text() for text in sizes.get_legend().get_texts()]
    assert f"suggested: {report.suggested}" in names
    assert "noise rules" in shares.get_title(loc="left").replace("\n", " ")


def test_neighbourhoods_of_too_few_directions_are_marked():
    line = np.column_stack([np.arange(40.0), np.zeros(40)])
    figure = unbend.plot.consistency(consistency(line, 2, 4))
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert names == ["fewer than 2 directions"]


def test_a_bare_graph_has_nothing_to_draw():
    bare = consistency(PointSpace(np.arange(6.0)[:, None]).nearest(1), 1)
    for given in (bare, None):
        with pytest.raises(ValueError, match="no neighbourhoods to draw"):
            unbend.plot.consistency(given)

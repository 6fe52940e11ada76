"""Scatter plots: what is drawn is what was given, in colours that mean what they say."""

import subprocess
import sys

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import unbend
from tests.plot.drawn import edges_drawn, marks, order_of, same_points
from unbend.plot.colors import GREY, MOST_CLASSES, PALETTE, bivariate

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(60, 2))


def legend_names(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("color", ["none", "label", "value", "chart"])
def test_every_row_is_drawn_where_it_was_given(width, color):
    points = RNG.normal(size=(80, width))
    given = {"none": None, "label": ["a", "b"] * 40, "value": points[:, 0], "chart": points[:, :2]}
    figure = unbend.plot.scatter(points, given[color])
    assert same_points(marks(figure.axes[0]).points, points)


def test_labels_have_the_palette_in_their_order_and_a_legend():
    labels = np.array(["oak", "ash", "elm"])[RNG.integers(0, 3, 60)]
    figure = unbend.plot.scatter(PLANE, labels)
    drawn = marks(figure.axes[0])
    expected = {"ash": PALETTE[0], "elm": PALETTE[1], "oak": PALETTE[2]}
    wanted = np.array([expected[label] for label in labels])[order_of(PLANE)]
    assert np.array_equal(drawn.colors[order_of(drawn.points)], wanted)
    assert legend_names(figure) == ["ash", "elm", "oak"]


def test_values_are_mapped_as_they_are_and_have_a_colour_bar():
    values = RNG.normal(size=60)
    figure = unbend.plot.scatter(PLANE, pandas.Series(values, name="height"))
    drawn = marks(figure.axes[0])
    assert np.array_equal(drawn.values[order_of(drawn.points)], values[order_of(PLANE)])
    assert figure.axes[1].get_ylabel() == "height"
    assert not figure.legends


def test_the_colours_of_a_chart_have_its_corners_and_a_key():
    corners = np.array([[0.0, 0.0], [0.0, 5.0], [2.0, 0.0], [2.0, 5.0]])
    figure = unbend.plot.scatter(corners, corners)
    drawn = marks(figure.axes[0])
    wanted = bivariate(corners / [2.0, 5.0])
    for place, color in zip(order_of(drawn.points), wanted[order_of(corners)], strict=True):
        assert drawn.colors[place] == "#" + "".join(f"{round(255 * part):02X}" for part in color)
    assert figure.axes[1].get_xlabel() == "chart 1 →"


@pytest.mark.parametrize(
    ("color", "labels"),
    [
        (np.arange(60) % 3, True),
        (np.arange(60) % 3 * 1.0, True),
        (np.arange(60) % 2 == 0, True),
        (np.arange(60), False),
        (np.linspace(0, 1, 60), False),
        ([1.5, None] * 30, False),
        (pandas.Categorical(["x", "y", "z"] * 20), True),
    ],
)
def test_few_integers_booleans_and_strings_are_labels(color, labels):
    assert bool(unbend.plot.scatter(PLANE, color).legends) == labels


@pytest.mark.parametrize("lack", [None, np.nan, pandas.NA])
def test_rows_without_a_label_are_grey_and_say_so(lack):
    labels = np.array(["a", "b", lack] * 20, dtype=object)
    figure = unbend.plot.scatter(PLANE, labels)
    assert legend_names(figure) == ["a", "b", "missing"]
    drawn = marks(figure.axes[0])
    grey = drawn.points[drawn.colors == GREY]
    assert same_points(grey, PLANE[2::3])


def test_rows_without_a_value_are_grey():
    values = np.where(np.arange(60) < 10, np.nan, np.linspace(0, 1, 60))
    figure = unbend.plot.scatter(PLANE, values)
    drawn = marks(figure.axes[0])
    assert same_points(drawn.points[drawn.colors == GREY], PLANE[:10])
    assert "missing" in figure.axes[1].get_ylabel()


def test_numbers_within_words_are_sorted_as_numbers():
    labels = [f"day {number}" for number in (10, 9, 2, 1)] * 15
    assert legend_names(unbend.plot.scatter(PLANE, labels)) == ["day 1", "day 2", "day 9", "day 10"]


@pytest.mark.parametrize("classes", [8, 10, 25, 40])
def test_every_class_has_a_look_of_its_own(classes):
    from unbend.plot.colors import coloring

    groups = coloring([f"c{number}" for number in range(classes)] * 2, 2 * classes).groups()
    assert len({(group.color, group.markers) for group in groups}) == classes


def test_of_very_many_classes_the_smallest_share_one_entry_and_no_row_is_lost():
    sizes = np.arange(1, 101)
    labels = np.repeat([f"class {number}" for number in range(100)], sizes)
    points = RNG.normal(size=(len(labels), 2))
    figure = unbend.plot.scatter(points, labels)
    names = legend_names(figure)
    assert len(names) == MOST_CLASSES
    assert names[-1] == "61 other classes"
    drawn = marks(figure.axes[0])
    assert same_points(drawn.points, points)
    small = np.isin(labels, [f"class {number}" for number in range(61)])
    assert same_points(drawn.points[drawn.colors == GREY], points[small])


@pytest.mark.parametrize("name", ["pca", "Isomap", "lle", "LaplacianEigenmaps"])
def test_one_scale_on_both_axes_where_the_method_keeps_lengths(name):
    figure = unbend.plot.scatter(PLANE, method=name)
    entry = next(e for e in unbend.registry.METHODS if name in (e.name, e.class_name))
    assert (figure.axes[0].get_aspect() == 1.0) == entry.load().isometric
    assert figure.axes[0].get_xlabel() == f"{entry.class_name} 1"


def test_in_space_one_scale_means_sides_as_long_as_the_data():
    box = RNG.uniform(size=(50, 3)) * [4.0, 2.0, 1.0]
    axes = unbend.plot.scatter(box, method="pca").axes[0]
    limits = np.array(
        [np.ptp(get()) for get in (axes.get_xlim3d, axes.get_ylim3d, axes.get_zlim3d)]
    )
    assert np.ptp(axes._box_aspect / limits) < 1e-9


def test_a_fitted_estimator_brings_its_coordinates_names_scale_and_graph():
    points = unbend.datasets.s_curve(150, random_state=0).points
    model = unbend.Isomap(n_neighbors=6).fit(points)
    figure = unbend.plot.scatter(model, graph=model)
    axes = figure.axes[0]
    assert same_points(marks(axes).points, model.embedding_)
    assert (axes.get_xlabel(), axes.get_aspect()) == ("Isomap 1", 1.0)
    either = model.graph_ + model.graph_.T
    assert edges_drawn(axes) == either.nnz // 2


def test_edges_join_the_points_of_the_graph_once_and_lie_below():
    graph = csr_array(([1.0, 1.0, 0.0, 5.0], ([0, 1, 2, 4], [1, 0, 3, 4])), shape=(60, 60))
    axes = unbend.plot.scatter(PLANE, graph=graph).axes[0]
    lines = next(drawn for drawn in axes.collections if hasattr(drawn, "get_segments"))
    ends = sorted(map(np.ndarray.tolist, lines.get_segments()))
    assert ends == sorted([PLANE[[0, 1]].tolist(), PLANE[[2, 3]].tolist()])
    assert all(lines.zorder < drawn.zorder for drawn in axes.collections if drawn is not lines)


def test_surfaces_tables_and_frames_bring_what_they_know():
    roll = unbend.datasets.swiss_roll(60, random_state=0)
    assert same_points(marks(unbend.plot.scatter(roll).axes[0]).points, roll.points)
    frame = pandas.DataFrame({"u": PLANE[:, 0], "kind": ["a", "b"] * 30, "v": PLANE[:, 1]})
    figure = unbend.plot.scatter(unbend.io.read(frame, label="kind"))
    assert figure.axes[0].get_ylabel() == "v"
    assert figure.legends[0].get_title().get_text() == "kind"
    figure = unbend.plot.scatter(frame, "kind")
    assert same_points(marks(figure.axes[0]).points, PLANE)
    assert legend_names(figure) == ["a", "b"]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("u", "v")


def test_one_column_is_drawn_along_a_line_with_a_lane_for_each_class():
    labels = np.array(["a", "b", "c"] * 20)
    axes = unbend.plot.scatter(PLANE[:, 0], labels).axes[0]
    drawn = marks(axes)
    assert np.array_equal(np.sort(drawn.points[:, 0]), np.sort(PLANE[:, 0]))
    lanes = [label.get_text() for label in axes.get_yticklabels()]
    for lane, name in enumerate(lanes):
        inside = drawn.points[np.rint(drawn.points[:, 1]) == lane][:, 0]
        assert np.array_equal(np.sort(inside), np.sort(PLANE[labels == name, 0]))


def test_four_columns_are_drawn_as_all_pairs():
    points = RNG.normal(size=(50, 4))
    figure = unbend.plot.scatter(points)
    pairs = [(column, row) for row in range(1, 4) for column in range(row)]
    for axes, pair in zip(figure.axes, pairs, strict=True):
        assert same_points(marks(axes).points, points[:, pair])


def test_axes_of_the_user_are_drawn_on_and_the_figure_is_theirs():
    figure = Figure()
    axes = figure.add_subplot()
    assert unbend.plot.scatter(PLANE, ["a", "b"] * 30, ax=axes) is figure
    assert axes.get_legend() is not None


def test_nothing_is_shown_and_no_global_state_is_touched():
    code = (
        "import sys, unbend; unbend.plot.scatter([[0, 1], [2, 3]]);"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

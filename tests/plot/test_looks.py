"""Pictures that can be read: no text over another or cut off, points that suit their number."""

import time

import numpy as np
import pandas
import pytest

import unbend
from tests.loops import each
from tests.plot.drawn import overlapping
from unbend.plot.style import DPI, VECTOR_MARKS, point_alpha, point_size

RNG = np.random.default_rng(0)
ROLL = unbend.datasets.swiss_roll(200, random_state=0)
MODEL = unbend.Isomap(n_neighbors=8, n_components=3).fit(ROLL.points)
NAMES = [f"row {number}" for number in range(200)]
LABELS = np.array(["one", "two", "three"])[RNG.integers(0, 3, 200)]
MANY = [f"class number {number}" for number in RNG.integers(0, 60, 200)]
LONG = "A title that goes on and on about what was embedded, how, with which neighbours and why"

PICTURES = {
    "plain": lambda: unbend.plot.scatter(MODEL.embedding_[:, :2]),
    "labels": lambda: unbend.plot.scatter(MODEL.embedding_[:, :2], LABELS, title=LONG),
    "many classes": lambda: unbend.plot.scatter(MODEL.embedding_[:, :2], MANY, title=LONG),
    "values and names": lambda: unbend.plot.scatter(
        MODEL.embedding_[:, :2], ROLL.chart[:, 0], names=NAMES, method="isomap", title=LONG
    ),
    "chart": lambda: unbend.plot.scatter(MODEL.embedding_[:, :2], ROLL, title=LONG),
    "space": lambda: unbend.plot.scatter(ROLL, LABELS, names=NAMES, title=LONG),
    "space of a method": lambda: unbend.plot.scatter(MODEL, ROLL.chart[:, 0], graph=MODEL),
    "cube": lambda: unbend.plot.scatter(1e4 * ROLL.points, ROLL.chart, method="lle"),
    "line": lambda: unbend.plot.scatter(MODEL.embedding_[:, 0], LABELS, title=LONG),
    "line of many": lambda: unbend.plot.scatter(MODEL.embedding_[:, 0], MANY, names=NAMES),
    "line of values": lambda: unbend.plot.scatter(MODEL.embedding_[:, 0], ROLL.chart[:, 0]),
    "pairs": lambda: unbend.plot.scatter(
        np.hstack((ROLL.points, ROLL.chart)), LABELS, method="pca", title="Pairs"
    ),
    "spectrum": lambda: unbend.plot.spectrum(MODEL, d=2),
    "residual variance": lambda: unbend.plot.residual_variance(MODEL),
    "sheet": lambda: unbend.plot.contact_sheet(
        {"Isomap": MODEL, "in space": ROLL, "a line": ROLL.chart[:, :1]}, LABELS, title="Sheet"
    ),
    "sheet of values": lambda: unbend.plot.contact_sheet(
        {str(number): ROLL.chart for number in range(7)}, ROLL.chart[:, 0]
    ),
    "sheet of a chart": lambda: unbend.plot.contact_sheet({"chart": ROLL.chart}, ROLL.chart),
    "sheet of many": lambda: unbend.plot.contact_sheet({"a": ROLL.chart, "b": ROLL.chart}, MANY),
}


@each("name", PICTURES)
def test_no_text_covers_another_or_leaves_the_picture(name):
    pairs, outside = overlapping(PICTURES[name]())
    assert pairs == []
    assert outside == []


def test_names_are_written_beside_their_points_as_far_as_there_is_room():
    few = unbend.plot.scatter([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]], names=["a", "b", "c"])
    written = {text.get_text(): text.xy for text in few.axes[0].texts}
    assert written == {"a": (0.0, 0.0), "b": (1.0, 1.0), "c": (2.0, 0.5)}
    crowd = unbend.plot.scatter(RNG.normal(size=(1000, 2)), names=np.arange(1000))
    assert len(crowd.axes[0].texts) < 300


@pytest.mark.parametrize(("n", "written"), [(10, True), (100, False)])
def test_the_ids_of_a_small_table_are_written_without_asking(n, written):
    frame = {"u": np.arange(n) * 1.0, "v": np.arange(n) ** 0.5, "id": [f"n{i}" for i in range(n)]}
    table = unbend.io.read(pandas.DataFrame(frame), id="id")
    assert bool(unbend.plot.scatter(table).axes[0].texts) == written


def test_a_dollar_sign_and_an_underscore_are_letters():
    labels = ["$5 to $10", "_hidden", "a_b^c"] * 10
    figure = unbend.plot.scatter(RNG.normal(size=(30, 2)), labels, names=labels, title="$x and $y")
    shown = [text.get_text().replace("\\", "") for text in figure.legends[0].get_texts()]
    assert shown == ["$5 to $10", "_hidden", "a_b^c"]
    figure.canvas.draw()


def test_more_points_are_smaller_and_more_transparent():
    counts = [10, 100, 1000, 10_000, 100_000, 1_000_000]
    sizes, alphas = [[of(n) for n in counts] for of in (point_size, point_alpha)]
    assert sizes == sorted(sizes, reverse=True)
    assert alphas == sorted(alphas, reverse=True)
    # A point stays at least half a pixel across.
    assert np.sqrt(min(sizes)) * DPI / 72 > 0.5


def test_many_points_are_a_picture_in_vector_formats_and_few_are_not():
    for n in (100, VECTOR_MARKS + 1):
        figure = unbend.plot.scatter(RNG.normal(size=(n, 2)))
        drawn = figure.axes[0].collections[0]
        assert bool(drawn.get_rasterized()) == (n > VECTOR_MARKS)


def test_a_notebook_is_given_a_png():
    figure = unbend.plot.scatter(ROLL)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert figure.canvas.manager is None


@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 3])
def test_a_million_points_are_rendered_in_seconds(width):
    points = RNG.normal(size=(1_000_000, width))
    for color in (None, points[:, 0], points[:, :2], RNG.integers(0, 10, 1_000_000)):
        start = time.process_time()
        unbend.plot.scatter(points, color)._repr_png_()
        assert time.process_time() - start < 30

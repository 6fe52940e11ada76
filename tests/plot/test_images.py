"""Thumbnails never overlap, features of pixels become images, ellipses hold what they say."""

import time
from itertools import combinations

import numpy as np
import pytest

import unbend
from tests.loops import each
from tests.plot.drawn import same_points
from unbend.plot.image_plots import non_overlapping
from unbend.plot.style import drawing_order

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(300, 2)) * [5, 1]
GREY = RNG.integers(0, 255, size=(300, 8, 8))


def extents(figure):
    return [np.reshape(image.get_extent(), (2, 2)) for image in figure.axes[0].images]


def overlap(first, second):
    shared = np.minimum(first[:, 1], second[:, 1]) - np.maximum(first[:, 0], second[:, 0])
    return bool((shared > 0).all())


@pytest.mark.parametrize("side", [0.03, 0.1])
@pytest.mark.parametrize("method", [None, "isomap"])
@pytest.mark.parametrize("shape", [(8, 8), (4, 8, 3)])
def test_thumbnails_stand_on_their_points_and_do_not_overlap(side, method, shape):
    images = RNG.random(size=(300, *shape))
    figure = unbend.plot.thumbnails(POINTS, images, side=side, method=method)
    boxes = extents(figure)
    assert len(boxes) > 5
    assert not any(overlap(*pair) for pair in combinations(boxes, 2))
    centres = np.array([box.mean(axis=1) for box in boxes])
    nearest = np.abs(POINTS[None] - centres[:, None]).max(axis=2)
    rows = nearest.argmin(axis=1)
    assert nearest.min(axis=1).max() < 1e-9
    for row, image in zip(rows, figure.axes[0].images, strict=True):
        assert np.array_equal(image.get_array(), images[row])


def test_no_further_thumbnail_would_have_room():
    figure = unbend.plot.thumbnails(POINTS, GREY)
    boxes = extents(figure)
    half = np.ptp(boxes[0], axis=1) / 2
    for point in POINTS:
        assert any(overlap(np.column_stack([point - half, point + half]), box) for box in boxes)


def test_thumbnails_keep_the_proportions_of_their_images_on_the_screen():
    figure = unbend.plot.thumbnails(POINTS, np.zeros((300, 4, 8)))
    (left, right), (low, high) = extents(figure)[0]
    figure.canvas.draw()
    corners = figure.axes[0].transData.transform([(left, low), (right, high)])
    width, height = corners[1] - corners[0]
    assert width / height == pytest.approx(2, rel=0.02)


def test_images_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="299 images and 300 points"):
        unbend.plot.thumbnails(POINTS, GREY[:-1])
    with pytest.raises(ValueError, match="image 0 has the shape"):
        unbend.plot.thumbnails(POINTS, np.zeros((300, 64)))
    with pytest.raises(ValueError, match="dimension 2"):
        unbend.plot.thumbnails(RNG.normal(size=(300, 3)), GREY)


def test_coordinates_of_pixels_become_images_again():
    cube = RNG.normal(size=(5, 7, 4))
    found = unbend.PCA(n_components=3).fit(cube.reshape(-1, 4))
    figure = unbend.plot.feature_images(found, (5, 7))
    for number, axes in enumerate(figure.axes):
        drawn = axes.images[0].get_array()
        assert np.array_equal(drawn, found.embedding_[:, number].reshape(5, 7))


def test_pixels_outside_a_mask_are_blank():
    mask = RNG.random((5, 7)) < 0.6
    values = RNG.normal(size=(mask.sum(), 2))
    figure = unbend.plot.feature_images(values, (5, 7), mask=mask, names=["one", "two"])
    drawn = figure.axes[1].images[0].get_array()
    assert np.array_equal(np.asarray(drawn)[mask], values[:, 1])
    assert np.isnan(drawn.filled(np.nan)[~mask]).all()
    assert figure.axes[0].get_title() == "one"
    with pytest.raises(ValueError, match="pixels and the embedding"):
        unbend.plot.feature_images(values, (5, 7))


def test_points_are_coloured_by_their_own_quality_and_grey_where_not_measured():
    X = np.column_stack([POINTS, RNG.normal(size=300)])
    trust = unbend.quality.trustworthiness(X, POINTS, max_rows=200)
    figure = unbend.plot.point_quality(POINTS, trust, name="trust")
    grey, known = figure.axes[0].collections[:2]
    if len(grey.get_offsets()) != 100:
        grey, known = known, grey
    assert len(grey.get_offsets()) == 100
    drawn = np.column_stack([known.get_offsets(), known.get_array()])
    assert same_points(drawn, np.column_stack([POINTS[trust.rows], trust.local]))
    with pytest.raises(ValueError, match="other rows"):
        unbend.plot.point_quality(POINTS[:50], trust)


def test_ellipses_are_those_of_the_normal_distribution():
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    drawn = RNG.multivariate_normal([0, 0], covariance, size=4000)
    places = np.stack([POINTS[:3] + one for one in drawn])
    figure = unbend.plot.stability_ellipses(POINTS[:3], places, level=0.9)
    collection = figure.axes[0].collections[-1]
    assert np.allclose(collection.get_offsets(), POINTS[:3] + drawn.mean(axis=0), atol=0.1)
    values = np.linalg.eigvalsh(covariance)[::-1]
    reach = 2 * np.sqrt(-2 * np.log(0.1))
    assert np.allclose(collection.get_widths(), reach * np.sqrt(values[0]), rtol=0.05)
    assert np.allclose(collection.get_heights(), reach * np.sqrt(values[1]), rtol=0.05)
    # Nine tenths of what is drawn from the distribution lie inside.
    angle = np.radians(collection.get_angles()[0])
    turned = (drawn - drawn.mean(axis=0)) @ np.array(
        [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    )
    sides = collection.get_widths()[0] / 2, collection.get_heights()[0] / 2
    assert np.mean(((turned / sides) ** 2).sum(axis=1) < 1) == pytest.approx(0.9, abs=0.02)


def test_ellipses_of_parts_are_as_wide_as_those_of_samples():
    # The mean of a sample varies by S / n, and the places around it with it; a place is known only
    # where its own row was drawn, so S is the covariance of the other rows.
    n, parts = 50, 4000
    X = RNG.normal(size=(n, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]])
    for share in (0.5, 0.8):
        places = np.full((parts, n, 2), np.nan)
        for part in places:
            rows = RNG.choice(n, int(share * n), replace=False)
            part[rows] = X[rows] - X[rows].mean(axis=0)
        figure = unbend.plot.stability_ellipses(X, places, level=1 - np.exp(-0.5))
        drawn = figure.axes[0].collections[-1]
        others = [np.cov(np.delete(X, row, axis=0).T) / n for row in range(n)]
        heights, widths = 2 * np.sqrt(np.linalg.eigvalsh(others)).T
        assert np.allclose(drawn.get_widths(), widths, rtol=0.1)
        assert np.allclose(drawn.get_heights(), heights, rtol=0.1)


def test_colours_of_the_reader_are_those_of_the_thumbnails():
    pixels = RNG.integers(0, 256, size=(200, 4, 5, 3)).astype(np.uint8)
    read = unbend.io.read_images(pixels).pictures
    as_read, as_given = (
        unbend.plot.thumbnails(POINTS[:200], pictures).axes[0].images for pictures in (read, pixels)
    )
    for one, other in zip(as_read, as_given, strict=True):
        assert np.allclose(one.get_array(), other.get_array() / 255)


def test_resampled_places_are_what_stability_sums_up():
    X = RNG.normal(size=(60, 4)) * [4, 2, 1, 0.5]
    places = unbend.selection.resample(unbend.PCA(), X, n_resamples=6)
    whole = unbend.PCA().fit_transform(X)
    squares = np.nansum((places - whole) ** 2)
    times = np.isfinite(places[..., 0]).sum()
    radius = np.sqrt(np.mean(np.sum((whole - whole.mean(axis=0)) ** 2, axis=1)))
    expected = unbend.stability(unbend.PCA(), X, n_resamples=6)
    assert np.sqrt(squares / times) / radius == pytest.approx(expected, rel=1e-9)


def test_before_and_after_stand_side_by_side_in_the_same_colours():
    X = RNG.normal(size=(50, 5))
    figure = unbend.plot.before_after(X, {"PCA": unbend.PCA().fit(X)}, X[:, 0], title="Both")
    before, after = figure.axes[:2]
    assert before.get_title() == "before: principal components"
    first, second = before.collections[0], after.collections[0]
    assert np.array_equal(first.get_array(), second.get_array())
    flat = unbend.PCA().fit_transform(X)
    assert same_points(second.get_offsets(), flat)
    with pytest.raises(ValueError, match="the same rows"):
        unbend.plot.before_after(X, flat[:-1])


def test_thumbnails_of_a_million_points_are_laid_out_in_seconds():
    """A ratio in one run, not a time: laying out costs little more than drawing the points."""
    points = RNG.normal(size=(1_000_000, 2))
    start = time.perf_counter()
    unbend.plot.scatter(points).canvas.draw()
    drawn = time.perf_counter() - start
    start = time.perf_counter()
    chosen = non_overlapping(points, np.array([0.5, 0.5]))
    assert time.perf_counter() - start < 5 * drawn
    assert 50 < len(chosen) < 1000


def one_by_one(points, box):
    """Take rows in their order, and leave out what each of them covers."""
    left, chosen = drawing_order(len(points)), []
    while len(left):
        chosen.append(left[0])
        left = left[(np.abs(points[left] - points[left[0]]) > box * (1 + 1e-9)).any(axis=1)]
    return np.sort(chosen)


@each("side", [1e-4, 0.02, 0.3, 9.0])
@each("draw", ["normal", "standard_cauchy", "whole"])
def test_the_cells_of_a_grid_leave_out_what_overlaps_and_nothing_else(side, draw):
    rng = np.random.default_rng(0)
    for n in (1, 2, 4000):
        points = getattr(rng, "normal" if draw == "whole" else draw)(size=(n, 2))
        points = np.round(4 * points) if draw == "whole" else points
        box = np.array([side, 1.7 * side])
        assert np.array_equal(non_overlapping(points, box), one_by_one(points, box))


def test_four_times_as_many_small_thumbnails_take_four_times_as_long():
    """A ratio in one run: comparing every pair would take sixteen times as long."""

    def taken(n):
        points, times = np.random.default_rng(0).random((n, 2)), []
        for _ in range(3):
            start = time.perf_counter()
            non_overlapping(points, np.full(2, 1 / n))
            times.append(time.perf_counter() - start)
        return min(times)

    taken(1000)
    assert taken(80_000) < 9 * taken(20_000)

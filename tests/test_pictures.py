"""Pictures: the renderer obeys geometry and Lambert's law."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest

from tests.loops import each, sampled
from unbend.datasets import (
    PICTURES,
    SURFACES,
    rotated_pictures,
    shifted_pictures,
    turning_circle,
    turning_object,
)
from unbend.datasets._render import AMBIENT, DIFFUSE, FIGURES, REACH, Ellipsoid, _cast, render
from unbend.datasets.image_sets import directions, rotations

SEEDS = range(3)
FRONT = np.array([[0.0, 0.0, 1.0]])
UPRIGHT = np.eye(3)[None]


def view(shape="head", turn=0.0, nod=0.0, light=0.0):
    angles = ((turn, turn), (nod, nod))
    return turning_object(1, shape=shape, angles=angles, light=(light, light)).images[0]


def pixel_centres(size):
    return REACH * ((2 * np.arange(size) + 1) / size - 1)


@pytest.mark.parametrize("name", PICTURES)
def test_every_set_in_the_registry_has_its_name_and_the_number_of_pictures_asked_for(name):
    for n, size in ((1, 1), (2, 9), (7, 16)):
        pictures = PICTURES[name](n, size=size, random_state=0)
        assert pictures.name == name
        assert pictures.images.shape == (n, size, size)
        assert pictures.chart.shape == (n, len(pictures.labels))
        assert pictures.images.dtype == pictures.chart.dtype == np.float64
        assert not pictures.isometric


def test_pictures_are_not_among_the_surfaces():
    assert not set(PICTURES) & set(SURFACES)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_without_noise_lie_between_black_and_white_and_use_most_of_the_range(name):
    images = PICTURES[name](50, random_state=0).images
    assert images.min() == pytest.approx(0, abs=1e-3)
    assert images.min() >= 0
    assert 0.8 < images.max() <= 1


@pytest.mark.parametrize("name", PICTURES)
def test_the_points_are_the_rows_of_each_picture_one_after_another(name):
    pictures = PICTURES[name](3, size=8, random_state=0)
    expected = [[value for row in image for value in row] for image in pictures.images]
    assert pictures.points.tolist() == expected


# The renderer


@sampled("seed", SEEDS)
def test_a_ray_meets_an_ellipsoid_on_its_surface_nearest_the_viewer(seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(3, 3))
    form = factor @ factor.T + 0.1 * np.eye(3)
    light = directions(np.array([40.0]))[0]
    x, y = np.linspace(-0.2, 0.2, 5)[None], np.linspace(-0.2, 0.2, 5)[:, None]
    cover, depth, cosine = _cast(form, x, y, light, 1e-3)
    met = cover == 1
    assert met.any()
    points = np.stack(np.broadcast_arrays(x, y, depth), axis=-1)[met]
    assert np.allclose(np.einsum("pi,ij,pj->p", points, form, points), 1)
    nearer = points + np.array([0, 0, 1e-3])
    assert np.all(np.einsum("pi,ij,pj->p", nearer, form, nearer) > 1)
    normal = points @ form
    assert np.allclose(normal @ light / np.linalg.norm(normal, axis=1), cosine[met])


def test_a_sphere_is_shaded_by_the_law_of_lambert():
    radius, albedo, size = 0.8, 0.7, 64
    light = directions(np.array([50.0]))
    image = render(
        (Ellipsoid((0, 0, 0), (radius,) * 3, albedo),), UPRIGHT, light, (size, size), color=False
    )[0]
    x, y = pixel_centres(size)[None], -pixel_centres(size)[:, None]
    z = np.sqrt(np.maximum(radius**2 - x**2 - y**2, 0))
    cosine = (light[0, 0] * x + light[0, 1] * y + light[0, 2] * z) / radius
    expected = albedo * (AMBIENT + DIFFUSE * np.maximum(cosine, 0))
    inner = np.hypot(x, y) < 0.85 * radius
    assert np.abs(image - expected)[inner].max() < 0.005
    assert np.all(image[np.hypot(x, y) > radius + 2 * REACH / size] == 0)


@pytest.mark.parametrize("tilt", [0, 20, 65])
def test_an_ellipsoid_covers_the_area_of_its_outline(tilt):
    part = Ellipsoid((0.1, -0.2, 0.3), (0.7, 0.3, 0.5), 1.0, tilt)
    turn = rotations(np.array([30.0]), np.array([-20.0]))
    # Without light the brightness is the same everywhere: it measures the area.
    image = render((part,), turn, -FRONT, (64, 64))[0]
    axes = turn[0] @ part.squared_axes() @ turn[0].T
    area = np.pi * np.sqrt(np.linalg.det(axes[:2, :2]))
    assert image.sum() * (2 * REACH / 64) ** 2 / AMBIENT == pytest.approx(area, rel=0.005)


def test_what_is_in_front_hides_what_is_behind_in_any_order():
    near = Ellipsoid((0.1, 0, 0.5), (0.3, 0.3, 0.3), 0.2)
    far = Ellipsoid((0, 0, -0.5), (0.6, 0.6, 0.3), 1.0)
    first, second = (
        render(order, UPRIGHT, FRONT, (64, 64))[0] for order in ((near, far), (far, near))
    )
    apart = np.hypot(pixel_centres(64)[None] - 0.1, pixel_centres(64)[:, None])
    assert np.allclose(first, second, atol=1e-12)
    alone = render((near,), UPRIGHT, FRONT, (64, 64))[0]
    hidden = apart < 0.3 - 2 * REACH / 64
    assert np.allclose(second[hidden], alone[hidden], atol=1e-12)


@pytest.mark.parametrize("turn", [-50, 0, 35])
@pytest.mark.parametrize("nod", [-30, 0, 25])
def test_a_spot_moves_to_the_place_that_the_angles_say(turn, nod):
    ball = Ellipsoid((0, 0, 0), (0.8, 0.8, 0.8), 0.1)
    spot = Ellipsoid((0, 0, 0.8), (0.06, 0.06, 0.06), 1.0)
    views = rotations(np.array([float(turn)]), np.array([float(nod)]))
    with_spot, without = (
        render(parts, views, FRONT, (64, 64))[0] for parts in ((ball, spot), (ball,))
    )
    added = with_spot - without
    x, y = pixel_centres(64), -pixel_centres(64)
    found = np.array([added.sum(axis=0) @ x, added.sum(axis=1) @ y]) / added.sum()
    turn, nod = np.radians([turn, nod])
    # Looking right moves it right; looking up moves it up, less so the further it has turned away.
    expected = 0.8 * np.array([np.sin(turn), np.cos(turn) * np.sin(nod)])
    assert np.abs(found - expected).max() < 0.03


@pytest.mark.parametrize("shape", FIGURES)
@pytest.mark.parametrize(("turn", "nod", "light"), [(30, 0, 0), (40, -20, 0), (25, 15, 60)])
def test_the_mirrored_turn_under_the_mirrored_light_gives_the_mirrored_picture(
    shape, turn, nod, light
):
    picture, mirrored = view(shape, turn, nod, light), view(shape, -turn, nod, -light)
    # The order of the parts tells only where the rims of three of them meet within a pixel.
    assert np.allclose(picture, mirrored[:, ::-1], atol=1e-12 if shape == "head" else 0.01)
    assert np.abs(picture - mirrored).max() > 0.3


@pytest.mark.parametrize("shape", FIGURES)
def test_a_light_from_one_side_brightens_that_side(shape):
    excess = []
    for light in (-70, -35, 0, 35, 70):
        picture = view(shape, light=light)
        excess.append(picture[:, 32:].sum() - picture[:, :32].sum())
    assert np.all(np.diff(excess) > 0)
    assert excess[0] < 0 < excess[-1]
    assert excess[2] == pytest.approx(0, abs=1e-9)


@each("shape", FIGURES)
@each("base", [(0, 0, 0), (20, -10, 30), (-40, 25, -60)])
@each("parameter", range(3))
def test_the_distance_between_pictures_grows_in_proportion_to_a_small_angle(shape, base, parameter):
    def speed(step):
        moved = np.array(base, dtype=float)
        moved[parameter] += step
        return np.linalg.norm(view(shape, *moved) - view(shape, *base)) / step

    speeds = [speed(step) for step in (0.25, 0.5, 1.0)]
    assert max(speeds) < 1.5 * min(speeds)
    # Pictures that jumped from pixel to pixel would move by the root of the angle: 16 times faster.
    assert speed(0.001) < 2.5 * speeds[0]


def test_a_larger_picture_shows_the_same_in_more_detail():
    large, small = (turning_object(5, size=size, random_state=0).images for size in (64, 32))
    assert np.abs(large.reshape(5, 32, 2, 32, 2).mean(axis=(2, 4)) - small).mean() < 0.003


# The sets


def test_the_parameters_of_the_turning_object_fill_their_ranges_evenly():
    ranges = np.array([(-10, 80), (5, 6), (-30, 0)])
    chart = turning_object(
        1000, size=1, angles=((-10, 80), (5, 6)), light=(-30, 0), random_state=0
    ).chart
    assert np.all((ranges[:, 0] <= chart.min(axis=0)) & (chart.max(axis=0) <= ranges[:, 1]))
    for column, (low, high) in zip(chart.T, ranges, strict=True):
        assert kstest((column - low) / (high - low), "uniform").pvalue > 1e-4


def test_a_light_that_does_not_move_stays_in_front_and_leaves_the_chart():
    fixed = turning_object(4, size=16, light=False, sampling="grid")
    chosen = turning_object(4, size=16, light=(0, 0), sampling="grid")
    assert fixed.labels == ("left–right", "up–down")
    assert np.array_equal(fixed.images, chosen.images)
    assert np.array_equal(fixed.chart, chosen.chart[:, :2])
    assert chosen.labels == ("left–right", "up–down", "light")


@pytest.mark.parametrize("shape", FIGURES)
def test_the_nearest_pictures_on_the_circle_are_those_of_the_adjacent_angles(shape):
    n = 72
    points = turning_circle(n, shape=shape, sampling="grid").points
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :2]
    steps = (nearest - np.arange(n)[:, None]) % n
    assert np.all(np.sort(steps, axis=1) == [1, n - 1])


def test_the_circle_begins_with_the_front_and_turns_to_the_right():
    circle = turning_circle(4, sampling="grid")
    assert circle.chart[:, 0].tolist() == [0, 90, 180, 270]
    assert np.allclose(circle.images[0], view())
    assert np.allclose(circle.images[1], view(turn=90))


def test_a_shift_by_whole_pixels_moves_every_pixel_by_as_many():
    letters = shifted_pictures(25, size=32, reach=0.125, sampling="grid")
    center = letters.images[12]
    assert letters.chart[12].tolist() == [0, 0]
    for image, (right, down) in zip(letters.images, letters.chart.astype(int), strict=True):
        assert np.allclose(image, np.roll(center, (down, right), (0, 1)), atol=1e-3)


def test_a_shift_by_part_of_a_pixel_moves_the_centre_of_brightness_by_that_part():
    letters = shifted_pictures(50, reach=0.2, random_state=0)
    places = np.arange(32)
    total = letters.images.sum(axis=(1, 2))
    right = letters.images.sum(axis=1) @ places / total
    down = letters.images.sum(axis=2) @ places / total
    moved = np.column_stack([right, down]) - letters.chart
    assert np.ptp(moved, axis=0).max() < 0.02


def test_a_quarter_turn_of_the_letter_is_a_quarter_turn_of_the_picture():
    upright, *turned = rotated_pictures(4, sampling="grid").images
    for quarters, image in enumerate(turned, start=1):
        assert np.allclose(image, np.rot90(upright, quarters), atol=1e-12)
    assert np.abs(upright - turned[1]).max() > 0.5


@pytest.mark.parametrize("name", PICTURES)
def test_the_shuffled_grid_is_the_grid_in_another_order(name):
    n = 64
    ordered, shuffled = (
        PICTURES[name](n, size=8, sampling=sampling, random_state=0)
        for sampling in ("grid", "shuffled")
    )
    order = np.lexsort(shuffled.chart.T[::-1])
    assert np.array_equal(shuffled.chart[order], ordered.chart)
    assert np.array_equal(shuffled.images[order], ordered.images)
    assert not np.array_equal(shuffled.chart, ordered.chart)


def test_the_grid_holds_every_combination_with_the_ends_of_the_ranges():
    chart = turning_object(
        27, size=2, angles=((-20, 20), (0, 10)), light=(-60, 0), sampling="grid"
    ).chart
    assert chart.tolist() == [list(row) for row in product((-20, 0, 20), (0, 5, 10), (-60, -30, 0))]


@pytest.mark.parametrize("name", PICTURES)
def test_the_same_seed_gives_the_same_bits(name):
    first, second = (PICTURES[name](20, size=8, noise=0.1, random_state=7) for _ in range(2))
    other = PICTURES[name](20, size=8, noise=0.1, random_state=8)
    assert first.images.tobytes() == second.images.tobytes()
    assert first.chart.tobytes() == second.chart.tobytes()
    assert first.images.tobytes() != other.images.tobytes()


@pytest.mark.parametrize("name", PICTURES)
def test_a_generator_is_used_and_moved_on(name):
    generator = np.random.default_rng(3)
    first, second = (PICTURES[name](20, size=4, random_state=generator) for _ in range(2))
    again = PICTURES[name](20, size=4, random_state=np.random.default_rng(3))
    assert np.array_equal(first.images, again.images)
    assert not np.array_equal(first.images, second.images)


@pytest.mark.parametrize("name", PICTURES)
def test_noise_is_gaussian_of_the_stated_size_and_leaves_the_chart_alone(name):
    clean = PICTURES[name](20, random_state=0)
    noisy = PICTURES[name](20, noise=0.2, random_state=0)
    assert np.array_equal(noisy.chart, clean.chart)
    assert kstest((noisy.points - clean.points).ravel() / 0.2, "norm").pvalue > 1e-4


@pytest.mark.parametrize("name", PICTURES)
def test_a_grey_picture_is_the_same_in_the_middle_of_an_oblong_one(name):
    options = {"n": 4, "random_state": 0}
    if name == "shifted_pictures":
        options |= {"reach": 1e-9}
    square, wide, high = (
        PICTURES[name](size=size, **options).images for size in (24, (24, 40), (30, 24))
    )
    assert (wide.shape, high.shape) == ((4, 24, 40), (4, 30, 24))
    np.testing.assert_allclose(wide[:, :, 8:-8], square, atol=1e-7)
    np.testing.assert_allclose(high[:, 3:-3], square, atol=1e-7)


@pytest.mark.parametrize("name", PICTURES)
def test_colour_pictures_have_three_channels_that_follow_the_grey_one(name):
    grey, color = (PICTURES[name](5, size=16, color=flag, random_state=0) for flag in (False, True))
    assert color.images.shape == (5, 16, 16, 3)
    assert color.points.shape == (5, 768)
    assert np.array_equal(color.chart, grey.chart)
    assert 0 <= color.images.min() <= color.images.max() <= 1
    red, green, blue = (color.images[..., channel] for channel in range(3))
    assert np.abs(red - blue).max() > 0.2
    assert np.abs(red - green).max() > 0.05
    for channel in (red, green):
        assert np.corrcoef(channel.ravel(), grey.images.ravel())[0, 1] > 0.9


def test_a_grid_may_have_another_number_of_values_for_each_parameter():
    views = turning_object((51, 25), size=2, light=False, sampling="grid")
    turn, nod = views.chart.reshape(51, 25, 2).transpose(2, 0, 1)
    assert np.array_equal(turn, np.repeat(np.linspace(-45, 45, 51)[:, None], 25, axis=1))
    assert np.array_equal(nod, np.repeat(np.linspace(-35, 35, 25)[None], 51, axis=0))
    shuffled = turning_object((51, 25), size=2, light=False, sampling="shuffled", random_state=0)
    assert sorted(map(tuple, shuffled.chart)) == sorted(map(tuple, views.chart))
    with pytest.raises(ValueError, match="has 2 numbers and 3 parameters vary"):
        turning_object((5, 4), sampling="grid")
    with pytest.raises(ValueError, match="is a grid and sampling is 'random'"):
        turning_object((5, 4), light=False)

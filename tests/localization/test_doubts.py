"""Invalid distances and anchors are reported, and error estimates hold."""

import warnings

import numpy as np
import pytest
from scipy.sparse import block_diag, coo_array, csr_array

import unbend
from tests.localization.networks import network, places, rigid_error
from tests.loops import sampled


@sampled("weights", ["relative", "equal"])
@pytest.mark.parametrize("unit", [1e-150, 1e-80, 1e80, 1e150])
def test_any_unit_gives_the_same_network(unit, weights):
    graph = network(places(60, 0), 14, 0.05)
    one = unbend.localize(graph, weights=weights)
    other = unbend.localize(unit * graph, weights=weights)
    assert rigid_error(one.positions, other.positions / unit) < 1e-8
    assert other.expected_error / unit == pytest.approx(one.expected_error, rel=1e-6)
    size = 1.0 if weights == "relative" else unit
    assert other.noise / size == pytest.approx(one.noise, rel=1e-6)


def test_what_is_masked_was_not_measured():
    points = places(60, 0)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    far = distances > 0.4
    masked = np.ma.masked_array(np.where(far, 100.0, distances), mask=far)
    assert rigid_error(points, unbend.localize(masked).positions) < 1e-6


def test_two_entries_of_a_pair_are_not_added_up():
    graph = coo_array(network(places(30, 0), 12, 0.0))
    rows, columns = graph.coords
    ends = np.concatenate((rows, rows[:1])), np.concatenate((columns, columns[:1]))
    twice = coo_array((np.append(graph.data, graph.data[0]), ends), shape=graph.shape)
    with pytest.raises(ValueError, match=f"several distances from sensor {rows[0]} to"):
        unbend.localize(twice)


def test_warns_when_missing_distances_are_zeros():
    points = places(40, 0)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    distances[distances > 0.4] = 0.0
    with pytest.warns(UserWarning, match="39 sensors are at distance zero .* NaN, not 0"):
        unbend.localize(distances)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_sensors_in_space_tell_nothing_of_noise():
    found = unbend.localize(np.array([[0.0, 2.0], [2.0, 0.0]]), dim=3)
    assert np.isnan([found.noise, found.expected_error]).all()


def test_all_distances_give_the_classical_solution():
    points = places(50, 0)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    classical = unbend.ClassicalMDS(metric="precomputed").fit_transform(distances)
    assert rigid_error(classical, unbend.localize(distances).positions) < 1e-9


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("count", [1, 2])
def test_anchors_that_do_not_fix_do_not_change_what_is_expected(count):
    points = places(80, 0)
    graph = network(points, 14, 0.05)
    found = unbend.localize(graph, {i: points[i] for i in range(count)})
    assert np.array_equal(found.errors, unbend.localize(graph).errors)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("across", [0.0, 1e-4, 3e-3])
def test_anchors_on_a_line_up_to_their_errors_do_not_say_which_side_is_which(across):
    points = places(80, 0)
    points[:4] = [[0.1, 0.5], [0.3, 0.5], [0.6, 0.5], [0.9, 0.5]]
    points[:4, 1] += across * np.array([1.0, -1.0, 1.0, -1.0])
    anchors = {i: points[i] for i in range(4)}
    for seed in range(3):
        graph = network(points, 14, 0.05, seed)
        found = unbend.localize(graph, anchors, start="isomap")
        assert not found.absolute.any()


def test_warns_when_anchors_are_in_another_unit():
    points = places(60, 0)
    with pytest.warns(UserWarning, match="Check the anchors and the units"):
        unbend.localize(network(points, 14, 0.05), {i: 100.0 * points[i] for i in range(5)})


def test_anchors_that_agree_are_not_doubted():
    for seed in range(5):
        points = places(80, seed)
        graph = network(points, 18, 0.05, seed)
        with warnings.catch_warnings(record=True) as output:
            warnings.simplefilter("always")
            unbend.localize(graph, {i: points[i] for i in range(0, 80, 9)})
        assert not [str(one.message) for one in output if "Check the anchors" in str(one.message)]


def test_a_pair_of_anchors_apart_from_the_others_stays_where_it_is():
    points = places(40, 0)
    graph = csr_array(block_diag((network(points, 12, 0.0), np.array([[0.0, 1.0], [1.0, 0.0]]))))
    anchors = {**{i: points[i] for i in range(4)}, 40: [5.0, 5.0], 41: [6.0, 5.0]}
    with pytest.warns(UserWarning, match="2 components"):
        found = unbend.localize(graph, anchors)
    assert np.array_equal(found.positions[40:], [[5.0, 5.0], [6.0, 5.0]])
    assert found.absolute.all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_errors_of_absolute_positions_are_as_expected():
    """Half of the errors of a Gaussian in the plane lie below √(ln 2) of their root mean square."""
    ratios = []
    for seed in range(8):
        points = places(120, seed)
        graph = network(points, 16, 0.05, seed)
        found = unbend.localize(graph, {i: points[i] for i in range(0, 120, 24)}, start="isomap")
        free = found.determined & found.absolute & (np.arange(120) % 24 > 0)
        errors = np.linalg.norm(found.positions - points, axis=1)[free]
        ratios.append(np.median(errors / found.errors[free]))
    assert np.mean(ratios) == pytest.approx(np.sqrt(np.log(2.0)), rel=0.15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": np.ones(3)}, "weights=.* must be one of"),
        ({"start": 3}, "start=3 .* must be one of"),
        ({"random_state": "x"}, "integer of at least 0"),
        ({"random_state": -1}, "integer of at least 0"),
        ({"anchors": {0: "abc"}}, "anchor 0 must be an array of real numbers"),
        ({"anchors": "abc"}, "anchors must be an array of real numbers"),
    ],
)
def test_invalid_options_raise_a_clear_error(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        unbend.localize(network(places(20, 0), 8, 0.0), **options)

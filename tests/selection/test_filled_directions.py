"""Rows that fill directions: bodies of as many dimensions, or surfaces of one less."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import unbend
from tests.loops import sampled
from unbend.neighbors import PointSpace
from unbend.selection.filled_directions import count_filled, is_layered
from unbend.shown_dimension import shown_dimension


def turned(points, columns, noise, rng):
    """Points turned into more columns, with noise in all of them."""
    axes = np.linalg.qr(rng.normal(size=(columns, points.shape[1])))[0]
    return points @ axes.T + noise * rng.normal(size=(len(points), columns))


def sparse_roll(d, n, rng):
    """Roll of d dimensions whose rows are about as far apart as its sheets."""
    angle = rng.uniform(1.3 * np.pi, 4.0 * np.pi, size=n)
    sides = rng.uniform(0, 30, size=(n, d - 1))
    return np.column_stack((angle * np.cos(angle), angle * np.sin(angle), sides))


@sampled("seed", range(4))
@pytest.mark.parametrize("columns", [4, 10])
def test_sheets_of_a_sparse_roll_are_not_taken_for_a_body(columns, seed):
    rng = np.random.default_rng([seed, columns])
    rows = turned(sparse_roll(3, 1200, rng), columns, 0.2, rng)
    assert is_layered(rows, 4)
    assert unbend.choose_dimension(rows, scale="none").verdict == "3"


@pytest.mark.parametrize("seed", [0, 1, 5, 7])
def test_sheets_are_found_where_no_neighbourhood_shows_a_dimension(seed):
    rng = np.random.default_rng(seed)
    rows = sparse_roll(3, 450, rng)
    rows += 0.8 * rng.normal(size=rows.shape)
    assert shown_dimension(PointSpace(rows)) is None
    assert unbend.choose_dimension(rows, scale="none").verdict == "3"


def bodies(rng, n=1200):
    """Rows that have as many dimensions as they span."""
    yield rng.uniform(size=(n, 4)) * [4, 2, 1, 1]
    yield rng.normal(size=(n, 4)) * [3, 2, 2, 1]
    yield rng.normal(size=(n, 4)) + 6 * rng.integers(2, size=(n, 1))
    ball = rng.normal(size=(n, 4))
    yield ball / np.linalg.norm(ball, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.25


@sampled("seed", range(4))
def test_bodies_have_no_sheets(seed):
    for rows in bodies(np.random.default_rng(seed)):
        assert not is_layered(rows, 4)


def test_rows_that_leave_the_span_are_not_judged():
    rng = np.random.default_rng(0)
    assert not is_layered(sparse_roll(3, 1200, rng), 3)


@sampled("seed", range(4))
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_a_flat_body_and_a_bent_surface_filled_with_noise_are_told_apart(tails, seed):
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, size=(1500, 3))
    bent = np.column_stack((u[:, :2], 0.8 * np.square(u[:, :2]).sum(axis=1)))
    scale = np.sqrt(2 / rng.chisquare(2, size=(1500, 1))) if tails == "heavy" else 1.0
    noise = 0.2 * scale
    assert count_filled(turned(u, 12, noise, rng)) == 3
    assert count_filled(turned(bent, 12, noise, rng)) == 2


@sampled("seed", range(4))
def test_directions_far_wider_than_the_noise_are_filled_unless_they_hold_sheets(seed):
    rng = np.random.default_rng(seed)
    assert count_filled(turned(rng.uniform(-1, 1, size=(900, 3)) * [2, 1.5, 1], 12, 0.06, rng)) == 3
    sheets = rng.uniform(-1, 1, size=(1500, 3))
    sheets[:, 2] = rng.integers(3, size=1500) - 1
    assert count_filled(turned(sheets, 12, 0.02, rng)) != 3


@sampled("seed", range(4))
def test_a_faint_bend_is_one(seed):
    rng = np.random.default_rng(seed)
    angle, sides = rng.uniform(0, 1.3 * np.pi, size=1000), rng.uniform(-1, 1, size=(1000, 2))
    arc = np.column_stack((np.cos(angle), np.sin(angle), sides))
    assert count_filled(turned(arc, 12, 0.3, rng)) == 3


def test_columns_with_equal_noise_are_of_one_unit():
    rng = np.random.default_rng(0)
    curve = np.column_stack((np.linspace(-6, 6, 900), np.sin(np.linspace(-6, 6, 900))))
    rows = turned(curve, 10, 0.02, rng)
    # The deviations of the turned columns differ by more than the bound for standardising.
    rows = rows[:, np.argsort(rows.std(axis=0))]
    frame = np.eye(10)
    frame[:2, :2] = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert unbend.choose_dimension(rows @ frame).verdict == "1"
    units = rows * np.logspace(0, 4, 10)
    assert "tandardised" in unbend.choose_dimension(units).scaling


def test_constant_columns_do_not_change_the_dimension():
    """They are directions without noise, and not noise that rows stand out of."""
    rows = load_digits().data
    constant = np.ptp(rows, axis=0) == 0
    assert constant.any()
    verdict = unbend.choose_dimension(rows[:, ~constant], scale="none").verdict
    assert unbend.choose_dimension(rows, scale="none").verdict == verdict


@sampled("seed", range(4))
def test_directions_without_variance_do_not_change_the_dimension(seed):
    """Constant and repeated columns, and columns that are turned into more."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, size=(900, 2))
    saddle = np.column_stack((u, u[:, 0] * u[:, 1], np.zeros((900, 2))))
    saddle += 0.1 * rng.normal(size=saddle.shape)
    angle = rng.uniform(0, 6, size=600)
    arc = np.column_stack((np.cos(angle), np.sin(angle))) + 0.1 * rng.normal(size=(600, 2))
    for rows, verdict in ((saddle, "2"), (arc, "1")):
        constant = np.column_stack((np.zeros(len(rows)), rows, np.ones(len(rows))))
        repeated = np.column_stack((rows, rows[:, 0]))
        for same in (rows, constant, repeated, turned(rows, rows.shape[1] + 3, 0.0, rng)):
            assert unbend.choose_dimension(same, scale="none").verdict == verdict
            found = unbend.suggest(same, for_="chart", scale="none").findings
            assert found.verdict == verdict


def test_an_outlier_far_away_leaves_the_other_directions():
    roll = unbend.datasets.swiss_roll(600, random_state=0).points
    rows = np.concatenate((roll, [[1e9, 0.0, 0.0]]))
    assert unbend.choose_dimension(rows, scale="none").verdict == "2"


def test_rows_that_fill_a_plane_of_three_dimensions_have_three():
    rng = np.random.default_rng(0)
    rows = turned(rng.normal(size=(500, 3)), 6, 0.0, rng)
    assert unbend.choose_dimension(rows, scale="none").verdict == "3"

"""Bent surfaces that noise with any tails fills, and rows with equal tails in all directions."""

import numpy as np
import pytest

import unbend
from tests.loops import each, sampled
from unbend.selection.bounded_directions import bounded_directions
from unbend.selection.noise_directions import directions_along


def noisy_bowl(d, columns, heavy, rng, n=1000, noise=0.2):
    """Rows about a paraboloid over a disc, turned into some columns."""
    u = rng.normal(size=(n, d))
    u *= rng.uniform(size=(n, 1)) ** (1 / d) / np.linalg.norm(u, axis=1, keepdims=True)
    bowl = np.column_stack((u, np.square(u).sum(axis=1) / 2))
    frame = np.linalg.qr(rng.normal(size=(columns, d + 1)))[0].T
    scale = np.sqrt(2 / rng.chisquare(2, size=(n, 1))) if heavy else 1.2
    return bowl @ frame + noise * scale * rng.normal(size=(n, columns))


def bodies(rng, n=1000):
    """Rows with equal tails in all directions."""
    radius = np.sqrt(3 / rng.chisquare(3, size=(n, 1)))
    normal, ball = rng.normal(size=(2, n, 4))
    yield normal * [3, 2, 1, 1]
    yield radius * normal * [3, 3, 1, 1]
    yield rng.uniform(size=(n, 4)) * [3, 3, 1, 1]
    yield ball / np.linalg.norm(ball, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.25
    yield rng.exponential(size=(n, 3)) * [3, 1, 1]
    for count in (2, 3):
        yield 4 * rng.normal(size=(count, 4))[rng.integers(count, size=n)] + normal


@each(
    ("d", "columns", "heavy"),
    [(1, 3, True), (2, 3, True), (2, 4, True), (3, 5, True), (2, 4, False)],
)
def test_bowls_filled_with_noise_have_their_dimension(d, columns, heavy):
    """Most of them, and hardly ever another: noise hides the edges of the rest."""
    rngs = [np.random.default_rng([seed, d, columns]) for seed in range(12)]
    found = [bounded_directions(noisy_bowl(d, columns, heavy, rng)) for rng in rngs]
    assert found.count(d) >= 8
    assert found.count(d) + found.count(None) >= 11


@sampled("seed", range(4))
@each(("d", "columns"), [(1, 3), (2, 3), (2, 4), (3, 5)])
def test_the_dimension_of_bowls_with_heavy_noise_is_stated(d, columns, seed):
    rows = noisy_bowl(d, columns, True, np.random.default_rng([seed, d, columns]))
    assert directions_along(rows) is None
    assert unbend.choose_dimension(rows, scale="none").verdict == str(d)


@sampled("seed", range(6))
def test_equal_tails_show_no_surface(seed):
    for rows in bodies(np.random.default_rng(seed)):
        assert bounded_directions(rows) is None


@sampled("seed", range(6))
def test_every_direction_along_a_surface_ends_at_its_edges(seed):
    """One of two does, and the mean of both is below that of the noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(1000, 4)) * [1, 2.5, 1, 1]
    rows[:, 0] = rng.uniform(-5, 5, size=1000)
    assert bounded_directions(rows) is None


def test_turns_scales_and_the_order_of_rows_change_nothing():
    rng = np.random.default_rng(7)
    rows = noisy_bowl(2, 5, True, rng)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for same in (rows @ turn, 1e-6 * rows + 3.0, rows[rng.permutation(len(rows))]):
        assert bounded_directions(same) == 2


@pytest.mark.parametrize("rows", [np.zeros((500, 3)), np.ones((500, 1)), np.eye(400)])
def test_constant_rows_and_few_give_no_answer(rows):
    assert bounded_directions(rows) is None
    assert bounded_directions(np.random.default_rng(0).uniform(size=(100, 3))) is None

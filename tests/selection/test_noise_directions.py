"""Directions that are more than normal noise, where noise fills every neighbourhood."""

import numpy as np
import pytest

import unbend
from tests.loops import sampled
from unbend.selection.noise_directions import directions_along


def noisy_cap(d, columns, rng, n=1500, opening=0.9, noise=0.2):
    """Part of a sphere around its pole, turned into some columns, with noise."""
    u = rng.normal(size=(n, d))
    u *= opening * rng.uniform(size=(n, 1)) ** (1 / d) / np.linalg.norm(u, axis=1, keepdims=True)
    r = np.linalg.norm(u, axis=1, keepdims=True)
    cap = np.column_stack((np.sinc(r / np.pi) * u, np.cos(r)))
    frame = np.linalg.qr(rng.normal(size=(columns, d + 1)))[0].T
    return cap @ frame + rng.normal(scale=noise, size=(n, columns))


@sampled("seed", range(3))
@pytest.mark.parametrize(("d", "columns"), [(1, 3), (2, 3), (2, 10), (3, 5)])
def test_caps_filled_with_noise_have_their_dimension(d, columns, seed):
    rows = noisy_cap(d, columns, np.random.default_rng([seed, d, columns]))
    assert directions_along(rows) == d
    assert unbend.choose_dimension(rows, scale="none").verdict == str(d)


def bodies(rng, n=1000):
    """Rows without a surface: bodies, normal rows, clusters and heavy tails."""
    yield rng.uniform(size=(n, 4)) * [3, 3, 1, 1]
    yield rng.normal(size=(n, 6)) * [4, 3, 2, 1, 1, 1]
    yield rng.standard_t(3, size=(n, 5)) * [3, 3, 1, 1, 1]
    yield rng.exponential(size=(n, 4)) * [3, 1, 1, 1]
    for count in (2, 3, 6):
        centers = 3 * rng.normal(size=(count, 10))
        yield centers[rng.integers(count, size=n)] + rng.normal(size=(n, 10))


@sampled("seed", range(3))
def test_bodies_and_clusters_have_no_directions_along_a_surface(seed):
    for rows in bodies(np.random.default_rng(seed)):
        assert directions_along(rows) is None


def test_turns_scales_and_the_order_of_rows_change_nothing():
    rng = np.random.default_rng(7)
    rows = noisy_cap(2, 5, rng)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for same in (rows @ turn, 1e-6 * rows + 3.0, rows[rng.permutation(len(rows))]):
        assert directions_along(same) == 2


def test_few_or_constant_rows_give_no_answer():
    assert directions_along(np.zeros((500, 3))) is None
    assert directions_along(np.random.default_rng(0).uniform(size=(100, 3))) is None

"""Principal axes by other ways than a full decomposition: the same axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.embeddings import subspace_angle
from tests.stages.drawn import EPS, LAW, rngs
from unbend.gram.principal import dual_axes, em_axes, sensible_axes

TOL = 1e-8
WAYS = {
    "dual": lambda rows, d, rng: dual_axes(rows, d, rng),
    "em": lambda rows, d, rng: em_axes(rows, d, rng, TOL, 5000),
    "sensible": lambda rows, d, rng: sensible_axes(rows, d, rng, TOL, 5000),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def centred(rng, n, columns, d):
    """Draw centred rows whose d leading directions are twice as long as the next."""
    left = np.linalg.qr(rng.normal(size=(n, min(n - 1, columns)))).Q
    left -= left.mean(axis=0)
    left = np.linalg.qr(left).Q
    right = np.linalg.qr(rng.normal(size=(columns, left.shape[1]))).Q
    sizes = np.concatenate((2.0 + np.arange(d, 0, -1), np.linspace(1, 0.5, left.shape[1] - d)))
    return (left * sizes) @ right.T, sizes, right


@every_way
@LAW
@given(rngs, st.integers(8, 30), st.integers(5, 40), st.integers(1, 3))
def test_every_way_finds_the_axes_and_their_sizes(way, rng, n, columns, d):
    rows, sizes, right = centred(rng, n, columns, d)
    found = way(rows, d, rng)
    assert found.axes.shape == (d, columns)
    np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(d), 0, 8 * columns * EPS)
    # Turning by less than TOL in one step that shrinks the error by (1/3)² leaves less than TOL.
    assert subspace_angle(found.axes.T, right[:, :d]) <= TOL
    np.testing.assert_allclose(found.singular, sizes[:d], rtol=TOL)
    along = np.abs(np.sum(found.axes.T * right[:, :d], axis=0))
    np.testing.assert_allclose(along, 1.0, 0, 16 * TOL)  # in order, not only their span


@LAW
@given(rngs, st.integers(8, 30), st.integers(5, 40), st.integers(1, 3))
def test_sensible_noise_is_the_mean_variance_of_what_is_left_out(rng, n, columns, d):
    rows, sizes, _ = centred(rng, n, columns, d)
    noise = sensible_axes(rows, d, rng, TOL, 5000).noise
    # The maximum-likelihood value divides by n.
    expected = np.square(sizes[d:]).sum() / n / (columns - d)
    # An error of the axes shows by its square.
    np.testing.assert_allclose(noise, expected, rtol=TOL)


@every_way
@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:The principal axes did not converge")
def test_rows_of_lower_rank_give_orthonormal_axes_and_zero_sizes(way, rank):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, rank)) @ rng.normal(size=(rank, 20))
    rows -= rows.mean(axis=0)
    found = way(rows, 3, rng)
    assert np.isfinite(found.axes).all()
    np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(3), 0, 8 * 20 * EPS)
    exact = np.linalg.svd(rows, compute_uv=False)[:3]
    # A Gram matrix holds squares, so its singular values are good to √ε of the largest.
    slack = 8 * np.sqrt(20 * EPS) * exact[0]
    np.testing.assert_allclose(found.singular, exact, 0, slack)

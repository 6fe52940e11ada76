"""Projection onto patches: against a plain least-squares fit, and the laws it keeps."""

import numpy as np
import pytest

import unbend
from unbend.denoising import Sample, measure_noise
from unbend.denoising.patches import fit_patches, project
from unbend.neighbors import PointSpace


def arc(n, sigma, seed=0, columns=2):
    """Noisy rows about an arc of radius one, and their angles."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 4, n)
    rows = np.zeros((n, columns))
    rows[:, 0], rows[:, 1] = np.cos(angle), np.sin(angle)
    return rows + rng.normal(scale=sigma, size=rows.shape), angle


def half_pipe(n, sigma, seed=0, columns=3):
    """Noisy rows about half a cylinder of radius one and width three."""
    rng = np.random.default_rng(seed)
    angle, height = rng.uniform(0, np.pi, n), rng.uniform(0, 3, n)
    rows = np.zeros((n, columns))
    rows[:, :3] = np.column_stack((np.cos(angle), np.sin(angle), height))
    return rows + rng.normal(scale=sigma, size=rows.shape)


def plain_fit(rows, point, size, d):
    """Project one point, by weighted least squares on monomials."""
    far = np.linalg.norm(rows - point, axis=1)
    near = np.argsort(far, kind="stable")[:size]
    patch = np.vstack((point, rows[near])) - point
    tangent = np.linalg.svd(patch - patch.mean(axis=0), full_matrices=False)[2][:d].T
    t, reach = patch @ tangent, far[near[-1]]
    root = np.maximum(1 - (np.linalg.norm(t, axis=1) / reach) ** 2, 0)[:, None]
    affine = np.column_stack((np.ones(len(t)), t))
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    whole = np.column_stack((affine, *(t[:, a] * t[:, b] for a, b in pairs)))
    flat = np.linalg.lstsq(root * affine, root * patch, rcond=None)[0]
    bent = np.linalg.lstsq(root * whole, root * patch, rcond=None)[0]
    rest = [np.sum((root * (patch - A @ c)) ** 2) for A, c in ((affine, flat), (whole, bent))]
    one, total = np.sum(root**4) / np.sum(root**2), np.sum(root**2)
    free = total - whole.shape[1] * one
    kept = max(0.0, 1 - len(pairs) * one * rest[1] / free / (rest[0] - rest[1]))
    inside = np.flatnonzero(root[1:, 0] > 0) + 1
    across = np.sort(np.sum((patch - whole @ bent)[inside] ** 2, axis=1))
    normals = rows.shape[1] - d
    usual = normals * (1 - 2 / (9 * normals)) ** 3
    variance = across[(len(across) - 1) // 2] / usual * total / free
    curved = sum(bent[1 + d + place] for place, (a, b) in enumerate(pairs) if a == b)
    return point + (1 - kept) * flat[0] + kept * (bent[0] - variance * curved)


@pytest.mark.parametrize(
    ("columns", "d", "size"), [(3, 1, 30), (3, 2, 40), (5, 3, 60), (40, 2, 60)]
)
def test_projections_are_those_of_plain_least_squares(columns, d, size):
    rows = half_pipe(600, 0.02, columns=columns)
    found = fit_patches(PointSpace(rows), rows[:20], size, d)
    expected = np.stack([plain_fit(rows, row, size, d) for row in rows[:20]])
    # Block iteration, for many columns, has the angle to a few digits of the distances moved.
    np.testing.assert_allclose(found.points, expected, atol=1e-10 if columns < 20 else 1e-3)


def test_few_rows_get_a_plane():
    rows = half_pipe(600, 0.02)
    found = fit_patches(PointSpace(rows), rows[:5], 6, 2)
    assert np.all(found.curvature == 0)
    assert np.all(np.isfinite(found.points))


def test_rows_of_a_plane_do_not_move():
    rows = np.random.default_rng(0).normal(size=(500, 2)) @ np.random.default_rng(1).normal(
        size=(2, 6)
    )
    found = unbend.denoise(rows, 2)
    # The ridge of the equations, 1e-12, is all that moves them.
    assert found.displacement.max() < 1e-9 * np.abs(rows).max()


def test_projection_commutes_with_rigid_motions_and_scale():
    rows = half_pipe(800, 0.05)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    there = unbend.denoise(3.0 * rows @ turn + 7.0, 2, patch_size=60)
    here = unbend.denoise(rows, 2, patch_size=60)
    np.testing.assert_allclose(there.points, 3.0 * here.points @ turn + 7.0, atol=1e-9)


def test_the_order_of_rows_changes_no_bit():
    rows = half_pipe(1000, 0.1)
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(
        unbend.denoise(rows[order], 2).points, unbend.denoise(rows, 2).points[order]
    )


def test_duplicate_rows_count_once():
    rows, _ = arc(400, 0.1)
    alone, repeated = unbend.denoise(rows, 1), unbend.denoise(np.tile(rows, (20, 1)), 1)
    assert repeated.patch_size == alone.patch_size
    assert np.array_equal(repeated.points[:400], alone.points)


@pytest.mark.parametrize("seed", [0, 1])
def test_normal_error_edges_and_inward_shift(seed):
    sigma, n = 0.05, 3000
    rows, _ = arc(n, sigma, seed)
    points = unbend.denoise(rows, 1).points
    angle = np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi)
    error = np.linalg.norm(points, axis=1) - 1
    # The foot points of rows beyond the ends are the ends: rows between are compared.
    foot = np.arctan2(rows[:, 1], rows[:, 0]) % (2 * np.pi)
    inside = (foot > 0.02) & (foot < 3.98)
    edge = inside & ((foot < 0.3) | (foot > 3.7))
    inner = inside & ~edge
    assert np.sqrt(np.mean(error[inner] ** 2)) < 0.2 * sigma
    assert np.sqrt(np.mean(error[edge] ** 2)) <= 1.5 * np.sqrt(np.mean(error[inner] ** 2))
    inward = np.where(foot < 2, angle - foot, foot - angle)[edge]
    assert abs(np.mean(inward)) <= 0.1 * sigma


@pytest.mark.parametrize(("sigma", "columns"), [(0.02, 3), (0.1, 3), (0.05, 20)])
def test_the_noise_is_measured(sigma, columns):
    found = measure_noise(Sample.of(PointSpace(half_pipe(6000, sigma, columns=columns)), 2), 2)
    assert found.sigma == pytest.approx(sigma, rel=0.1)


def test_heavy_tails_hardly_change_the_measurement():
    rng = np.random.default_rng(0)
    rows = half_pipe(6000, 0.0)
    rows += 0.05 * rng.standard_t(3, size=rows.shape)
    found = measure_noise(Sample.of(PointSpace(rows), 2), 2)
    assert found.sigma == pytest.approx(0.05, rel=0.25)


def test_more_rows_leave_less_noise():
    errors = []
    for n in (1000, 16_000):
        sample = Sample.of(PointSpace(arc(n, 0.1, seed=1)[0]), 1)
        size = measure_noise(sample, 1).patch_size
        space, count = sample.part(size, 1000)
        points = project(space, sample.space.points[-200:], count, 1, 3).points
        errors.append(np.sqrt(np.mean((np.linalg.norm(points, axis=1) - 1) ** 2)))
    assert errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize("columns", [3, 10])
def test_clusters_show_no_surface(columns):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, columns)) + 12.0 * rng.integers(0, 3, size=(900, 1))
    with pytest.raises(ValueError, match="show a surface of dimension 2"):
        unbend.denoise(rows, 2)


def test_mistakes_are_refused():
    rows, _ = arc(100, 0.1)
    with pytest.raises(ValueError, match=r"n_components=2 is not allowed: it must be at most 1"):
        unbend.denoise(rows, 2)
    with pytest.raises(
        ValueError, match="patch_size=2 is not allowed: it must be an integer of at least 3"
    ):
        unbend.denoise(rows, 1, patch_size=2)
    with pytest.raises(ValueError, match="it must be at most 100 distinct rows"):
        unbend.denoise(rows, 1, patch_size=101)
    with pytest.raises(TypeError, match="patch_size"):
        unbend.denoise(rows, 1, patch_size="large")


def test_clusters_are_named():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(900, 2)) + 40.0 * rng.integers(0, 3, size=(900, 1))
    with pytest.raises(ValueError, match="the rows are clusters"):
        unbend.denoise(rows, 1)


def test_digits_that_rounding_took_are_warned_of():
    rows, _ = arc(500, 0.1)
    with pytest.warns(unbend.PrecisionWarning, match="digits are lost"):
        unbend.denoise(rows + 1e13, 1)


def test_patches_suit_the_place_that_bends_most():
    """A sheet whose end is bent to a half circle: patches as wide as that would cut it off."""
    rng = np.random.default_rng(0)
    flat, radius, n = 8.0, 0.5, 1000
    s = rng.uniform(0, flat + np.pi * radius, n)
    turn = np.maximum(s - flat, 0) / radius
    along = np.minimum(s, flat) + radius * np.sin(turn)
    rows = np.column_stack((along, radius * (1 - np.cos(turn)), rng.uniform(0, 3, size=(n, 2))))
    rows += rng.normal(scale=0.04, size=rows.shape)
    moved = unbend.denoise(rows, 3).displacement
    spread = [np.sqrt(np.mean(moved[some] ** 2)) for some in (s > flat, s < flat)]
    assert spread[0] < 3 * spread[1]

"""What made denoised fits go wrong in trials, each with a case that shows it."""

import warnings

import numpy as np
import pytest

import unbend
from unbend.datasets import s_curve, swiss_roll
from unbend.denoising import Sample, measure_noise, project_landmarks
from unbend.denoising.reduction import reduce_columns
from unbend.estimators.denoising import DenoiseOptions, DenoisingStage
from unbend.neighbors import PointSpace


def loss(truth, coordinates):
    """Share of the worse coordinate of the truth that is no affine function of coordinates."""
    functions = np.column_stack((np.ones(len(truth)), coordinates))
    rest = truth - functions @ np.linalg.lstsq(functions, truth, rcond=None)[0]
    return float(np.max(np.var(rest, axis=0) / np.var(truth, axis=0)))


def turned(points, columns, seed=0):
    """Turn points into so many columns."""
    square = np.random.default_rng(seed).normal(size=(columns, points.shape[1]))
    return points @ np.linalg.qr(square)[0].T


@pytest.mark.parametrize("method", [unbend.LTSA, unbend.DiffusionMaps])
def test_duplicate_rows_count_once(method):
    rows = s_curve(600, noise=0.1, random_state=0).points
    alone = method(denoise=True).fit(rows)
    repeated = method(denoise=True).fit(np.tile(rows, (3, 1)))
    facts = [model.report_.stage("denoise").facts for model in (alone, repeated)]
    assert facts[0] == facts[1]
    np.testing.assert_allclose(repeated.embedding_[-600:], alone.embedding_, rtol=0, atol=1e-12)


def test_a_hundred_copies_of_each_row_move_as_one_does():
    """Patches of duplicate rows would show no direction, and nothing would move."""
    curve = s_curve(300, noise=0.2, random_state=0)
    copies = np.repeat(curve.points, 100, axis=0)
    some, all_of_them = curve.points[:100], copies[:10_000]
    alone, found = (unbend.denoise(rows, 2, patch_size=30) for rows in (some, all_of_them))
    assert np.median(alone.displacement) > 0.05
    np.testing.assert_allclose(found.points[::100], alone.points, rtol=0, atol=1e-9)
    # More rows than are tried as they are, but no more distinct ones.
    models = [unbend.LTSA(denoise="auto").fit(rows) for rows in (curve.points, copies)]
    facts = [model.report_.stage("denoise").facts for model in models]
    assert facts[0] == facts[1]
    assert "landmarks" in facts[0]
    embedding = models[1].embedding_
    np.testing.assert_allclose(embedding[::100], models[0].embedding_, rtol=0, atol=1e-9)
    assert np.array_equal(embedding[::100], embedding[99::100])


def test_the_sample_is_not_drawn_from_the_global_generator():
    rows = s_curve(600, noise=0.1, random_state=0).points
    first = unbend.LTSA(denoise=True).fit_transform(rows)
    np.random.random(100)  # noqa: NPY002 - the legacy generator is the global one
    assert np.array_equal(first, unbend.LTSA(denoise=True).fit_transform(rows))


@pytest.mark.parametrize(
    ("method", "most"), [(unbend.LTSA, 2500), (unbend.Isomap, 2000), (unbend.MVU, 1000)]
)
def test_methods_have_their_own_limits_of_landmarks(method, most):
    space = PointSpace(swiss_roll(12_000, noise=0.1, random_state=0).points)
    stage = DenoisingStage(DenoiseOptions(always=True), 2, 10, 4, method.most_landmarks)
    assert 0.95 * most < len(stage.run(space, None).landmarks.points) <= most


def test_columns_in_other_units_are_warned_of():
    rows = s_curve(400, noise=0.1, random_state=0).points * [1.0, 1e4, 1.0]
    with pytest.warns(unbend.ScaleWarning, match="Column 1"):
        unbend.LTSA(denoise="auto").fit(rows)
    with pytest.warns(unbend.ScaleWarning, match="Column 1 holds nearly all"):
        unbend.denoise(rows, 2, patch_size=60)


def test_landmarks_are_no_outliers():
    """Farthest-first landmarks would hold all of them, and rows at random one in a hundred."""
    curve = s_curve(4000, noise=0.1, random_state=0).points
    outliers = np.random.default_rng(1).uniform(-2, 5, size=(40, 3))
    rows = np.concatenate((curve[40:], outliers))
    sample = Sample.of(PointSpace(rows), 2)
    found = project_landmarks(sample, 80, 1500, 2).points
    clean = PointSpace(s_curve(20_000, random_state=1).points)
    assert clean.nearest_of(found, 1)[1].max() < 0.3


def test_outliers_without_noise_are_left_out():
    curve = s_curve(2500, random_state=0)
    rows = turned(curve.points, 10)
    rng = np.random.default_rng(1)
    outliers = rng.choice(2500, 25, replace=False)
    rows[outliers] = rng.uniform(rows.min(axis=0), rows.max(axis=0), size=(25, 10))
    kept = np.setdiff1d(np.arange(2500), outliers)
    model = unbend.LTSA(denoise="auto").fit(rows)
    assert "landmarks" in model.report_.stage("denoise").facts
    assert loss(curve.chart[kept], model.embedding_[kept]) < 1e-3
    assert loss(curve.chart[kept], unbend.LTSA().fit_transform(rows)[kept]) > 0.01


def test_rows_beyond_those_used_still_lower_the_noise_of_landmarks(monkeypatch):
    """Rows used are limited, and so was the noise that patches of a limited number leave."""
    monkeypatch.setattr("unbend.denoising.measurement.MOST_ROWS", 5000)
    heights = []
    for n in (5000, 20_000):
        rng = np.random.default_rng(0)
        rows = np.column_stack((rng.uniform(0, 6, (n, 2)), rng.normal(scale=0.3, size=n)))
        sample = Sample.of(PointSpace(rows), 2)
        assert (sample.n, sample.distinct) == (5000, n)
        heights.append(np.std(project_landmarks(sample, 4000, 400, 2).points[:, 2]))
    assert heights[1] < 0.75 * heights[0]


@pytest.mark.parametrize("seed", range(3))
def test_larger_patches_leave_less_noise(seed):
    """Rows of a patch are limited while landmarks are chosen, but not in their last projection."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack((rng.uniform(0, 6, (20_000, 2)), rng.normal(scale=0.3, size=20_000)))
    sample = Sample.of(PointSpace(rows), 2)
    heights = [np.std(project_landmarks(sample, q, 300, 2).points[:, 2]) for q in (250, 1000)]
    assert heights[1] < 0.65 * heights[0]


def test_sparse_ends_keep_their_landmarks():
    """Few of the rows are there, and where those least dense were left out 0.9 was lost of four."""
    lost = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        angle = 4 * (1 - np.log(20 - 19 * rng.uniform(size=1100)) / np.log(20))
        clean = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
        sample = Sample.of(PointSpace(clean + rng.normal(scale=0.1, size=clean.shape)), 1)
        points = project_landmarks(sample, 150, 90, 1).points
        found = np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi)
        lost.append(4 - found[found < 5].max())
    assert np.mean(lost) < 0.45


def test_outliers_of_a_curve_do_not_hide_each_other():
    """Another outlier among the neighbours of one made the spacing around it seem wide."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 4, 2500)
        rows = turned(np.column_stack((np.cos(angle), np.sin(angle))), 10, seed)
        assert Sample.of(PointSpace(rows), 1).outlier_share() < 0.005
        outliers = rng.choice(2500, 25, replace=False)
        rows[outliers] = rng.uniform(rows.min(axis=0), rows.max(axis=0), size=(25, 10))
        shares.append(Sample.of(PointSpace(rows), 1).outlier_share())
        kept = np.setdiff1d(np.arange(2500), outliers)
        chart = unbend.LTSA(1, denoise=True).fit_transform(rows)
        assert loss(angle[kept, None], chart[kept]) < 0.01
    assert np.mean(shares) > 0.005


@pytest.mark.parametrize("columns", [5, 10])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_no_surface(columns, d, seed):
    """Patches larger than a cluster show the plane through the centres of some."""
    rng = np.random.default_rng([seed, columns, d])
    centers = rng.normal(size=(5, columns)) * 15 / np.sqrt(2 * columns)
    rows = rng.normal(size=(1500, columns)) + centers[rng.integers(5, size=1500)]
    assert measure_noise(Sample.of(PointSpace(rows), d), d).patch_size is None
    model = unbend.LTSA(d, denoise="auto").fit(rows)
    assert "landmarks" not in model.report_.stage("denoise").facts


@pytest.mark.parametrize("seed", range(3))
def test_noise_nearly_as_wide_as_the_surface(seed):
    """No patch of a third of the rows shows a disc of radius one under noise of 0.45."""
    rng = np.random.default_rng(seed)
    chart = rng.normal(size=(1200, 2))
    chart *= np.sqrt(rng.uniform(size=(1200, 1))) / np.linalg.norm(chart, axis=1, keepdims=True)
    rows = np.column_stack((chart, 0 * chart[:, 0])) + rng.normal(scale=0.45, size=(1200, 3))
    measured = measure_noise(Sample.of(PointSpace(rows), 2), 2)
    assert measured.patch_size == 600
    model = unbend.LTSA(denoise="auto").fit(rows)
    assert "landmarks" in model.report_.stage("denoise").facts
    # The rows' own positions along the surface: noise there cannot be told from the chart.
    assert loss(rows[:, :2], model.embedding_) < 0.03
    solid = rng.normal(size=(1200, 3))
    assert measure_noise(Sample.of(PointSpace(solid), 2), 2).patch_size is None


def test_few_rows_are_hardly_trimmed():
    sample = Sample.of(PointSpace(s_curve(500, noise=0.05, random_state=0).points), 2)
    assert len(project_landmarks(sample, 40, 500, 2).points) >= 0.93 * 500
    plenty = Sample.of(PointSpace(s_curve(5000, noise=0.05, random_state=0).points), 2)
    assert len(project_landmarks(plenty, 40, 500, 2).points) == 500


def test_bending_is_not_noise():
    """A roll of few rows bends within the smallest patches, and is fitted as it is."""
    for seed in range(3):
        sample = Sample.of(PointSpace(swiss_roll(500, random_state=seed).points), 2)
        assert measure_noise(sample, 2).hides(500) < 1
    noisy = Sample.of(PointSpace(s_curve(2000, noise=0.2, random_state=0).points), 2)
    measured = measure_noise(noisy, 2)
    # Noise wider than patches grows with them, but not as bending does.
    assert measured._noise_at_first() > 0.7
    assert measured.hides(2000) > 1


@pytest.mark.parametrize("columns", [2, 10])
def test_noise_of_a_curve_is_not_bending(columns):
    """The smallest patches of a curve have six rows, which a quadratic nearly interpolates."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 4, 1500)
        arc = turned(np.column_stack((np.cos(angle), np.sin(angle))), columns)
        sample = Sample.of(PointSpace(arc + rng.normal(scale=0.05, size=arc.shape)), 1)
        assert measure_noise(sample, 1).hides(1500) > 100
        assert measure_noise(Sample.of(PointSpace(arc), 1), 1).hides(1500) < 1


def test_few_rows_of_strong_noise_in_four_dimensions():
    rng = np.random.default_rng(3)
    chart = rng.uniform(0, 6, size=(600, 4))
    rows = np.column_stack((chart, np.sin(chart[:, 0]))) + rng.normal(scale=0.5, size=(600, 5))
    model = unbend.LTSA(4, denoise="auto").fit(rows)
    assert "landmarks" in model.report_.stage("denoise").facts
    assert loss(chart, model.embedding_) < loss(chart, unbend.LTSA(4).fit_transform(rows))


class TestReduction:
    """Directions that are noise only are left out, and no others."""

    @pytest.mark.parametrize("tail", ["normal", "heavy"])
    def test_the_span_of_the_surface_stays(self, tail):
        clean = turned(swiss_roll(3000, random_state=0).points, 40)
        rng = np.random.default_rng(1)
        noise = rng.normal(scale=0.5, size=clean.shape)
        if tail == "heavy":
            noise *= np.sqrt(2 / rng.chisquare(2, size=(3000, 1)))
        found = reduce_columns(clean + noise, 2)
        assert 3 <= found.axes.shape[1] <= 5
        centered = clean - clean.mean(axis=0)
        kept = found.lift(found.narrow(centered + found.center)) - found.center
        assert np.square(centered - kept).sum() < 0.01 * np.square(centered).sum()

    def test_decaying_spectra_and_few_rows_are_left_alone(self):
        rng = np.random.default_rng(0)
        assert reduce_columns(rng.normal(size=(2000, 30)) / np.arange(1, 31), 2) is None
        assert reduce_columns(turned(rng.normal(size=(50, 3)), 30), 2) is None

    def test_noise_of_many_columns_does_not_hide_a_roll(self):
        roll = swiss_roll(2500, random_state=0)
        rows = turned(roll.points, 60) + np.random.default_rng(1).normal(scale=0.5, size=(2500, 60))
        model = unbend.LTSA(denoise="auto").fit(rows)
        assert loss(roll.chart, model.embedding_) < 0.03
        # Landmarks have no noise: rows must not count as far outside because they have.
        with warnings.catch_warnings():
            warnings.simplefilter("error", unbend.OutOfDistributionWarning)
            assert np.array_equal(model.transform(rows), model.embedding_)
        assert np.median(model.outlyingness(rows)) == pytest.approx(1, abs=0.3)
        with pytest.warns(unbend.OutOfDistributionWarning):
            model.transform(rows[:3] + 20.0)


def test_directions_without_variance_are_no_normals():
    """Columns that repeat what is known change neither the noise nor the landmarks."""
    rows = swiss_roll(1500, noise=0.4, random_state=3).points
    known = unbend.denoise(rows, 2)
    more = {
        "constant": np.column_stack((rows, np.full(1500, 7.0))),
        "repeated": np.column_stack((rows, np.zeros((1500, 4)))),
        "turned": turned(rows, 5) + 3.0,
        "wide": turned(rows, 20) + 3.0,
    }
    for name, wider in more.items():
        found = unbend.denoise(wider, 2)
        assert found.points.shape == wider.shape, name
        assert found.sigma == pytest.approx(known.sigma, rel=0.15), name
        off = found.points - wider.mean(axis=0)
        inside = np.linalg.svd(wider - wider.mean(axis=0), full_matrices=False)[2][:3]
        np.testing.assert_allclose(off - off @ inside.T @ inside, 0, atol=1e-9, err_msg=name)


def test_one_column_is_refused_with_what_to_pass():
    with pytest.raises(ValueError, match="1 column, which leaves no direction across a surface"):
        unbend.denoise(np.arange(50.0)[:, None], 1)

"""Whether charts are even, landmarks spread, and the fit of the rows taken where it is better."""

import warnings

import numpy as np
import pytest
from benchmarks.noise.cases import make_cases
from benchmarks.noise.run import worst_error

import unbend
from unbend.datasets import s_curve, swiss_roll
from unbend.denoising import Sample, chart_evenness, landmarks, project_landmarks
from unbend.neighbors import PointSpace


def sparse_arc(n, seed, sigma=0.02):
    """Rows about an arc whose density falls by twenty to one, and their angles."""
    rng = np.random.default_rng(seed)
    angle = 4 * (1 - np.log(20 - 19 * rng.uniform(size=n)) / np.log(20))
    clean = np.column_stack((np.cos(angle), np.sin(angle)))
    return clean + rng.normal(scale=sigma, size=clean.shape), angle


def test_an_affine_map_of_an_isometric_chart_is_even():
    roll = swiss_roll(1500, random_state=0)
    even = chart_evenness(roll.points, roll.chart, 2)
    assert even > 0.95
    turned = roll.chart @ np.array([[3.0, 1.0], [0.5, 0.2]]) + 7
    assert chart_evenness(roll.points, turned, 2) == pytest.approx(even, abs=1e-6)


@pytest.mark.parametrize("fault", ["torn", "folded", "repeated", "collapsed"])
def test_faults_make_a_chart_uneven(fault):
    roll = swiss_roll(1500, random_state=0)
    length, height = (roll.chart - roll.chart.mean(axis=0)).T
    charts = {
        # All of the length in a step, as where neighbourhoods hardly overlap.
        "torn": (np.tanh(length), height),
        "folded": (length**2, height),
        "repeated": (length, np.cos(length / 20)),
        "collapsed": (np.maximum(length, np.quantile(length, 0.2)), height),
    }
    assert chart_evenness(roll.points, np.column_stack(charts[fault]), 2) < 0.3


def test_a_constant_chart_has_no_evenness():
    plane = np.random.default_rng(0).uniform(size=(50, 2))
    assert chart_evenness(plane, np.ones((50, 2)), 2) == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_landmarks_are_spread_where_rows_are_sparse(seed):
    """Random landmarks have gaps that tear curves, and few at a sparse end."""
    rows, _ = sparse_arc(2000, seed)
    sample = Sample.of(PointSpace(rows), 1)
    uneven = []
    for spread in (False, True):
        points = project_landmarks(sample, 60, 150, 1, spread).points
        assert len(points) == 150
        gaps = np.diff(np.sort(np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi)))
        uneven.append(gaps.std() / gaps.mean())
    assert uneven[1] < uneven[0]


def test_many_landmarks_have_few_more_candidates(monkeypatch):
    """Projections are most of the time of a fit, and gaps between many landmarks are small."""
    projected = []
    whole = landmarks.fit_patches
    monkeypatch.setattr(
        landmarks,
        "fit_patches",
        lambda space, points, *rest: projected.append(len(points)) or whole(space, points, *rest),
    )
    sample = Sample.of(PointSpace(s_curve(12_000, noise=0.1, random_state=0).points), 2)
    for count, least, most in ((200, 400, 640), (2500, 3250, 5200), (3500, 3500, 5600)):
        projected.clear()
        assert len(project_landmarks(sample, 30, count, 2).points) == count
        assert least < projected[0] < most


@pytest.mark.parametrize("seed", range(4))
def test_curves_of_uneven_density_are_laid_out(seed):
    rows, angle = sparse_arc(1500, seed)
    model = unbend.LTSA(1, denoise="auto").fit(rows)
    error = worst_error(angle[:, None], model.embedding_)
    assert "landmarks" in model.report_.stage("denoise").facts
    assert error < 0.1
    assert error < 0.5 * worst_error(angle[:, None], unbend.LTSA(1).fit_transform(rows))


@pytest.mark.parametrize(("half", "number"), [("seen", 81), ("folded", 197), ("folded", 96)])
def test_the_fit_of_the_rows_is_taken_where_landmarks_give_no_chart(half, number):
    """Cases for calibration with errors of landmarks twice those of the rows, and more."""
    case = make_cases(half, number + 1)[number]
    rows = case.draw(1, most_feet=1).rows
    auto = unbend.LTSA(case.d, denoise="auto").fit(rows)
    plain = unbend.LTSA(case.d).fit(rows)
    facts = auto.report_.stage("denoise").facts
    assert "more even than that of landmarks" in facts["declined"]
    assert facts["evenness"] < 0.8
    assert not {"landmarks", "patch_size", "displacement"} & set(facts)
    assert np.array_equal(auto.embedding_, plain.embedding_)
    assert np.array_equal(auto.transform(rows[:20] + 0.01), plain.transform(rows[:20] + 0.01))
    names = [stage.name for stage in auto.report_.stages]
    assert names == ["denoise", *(stage.name for stage in plain.report_.stages)]


@pytest.mark.parametrize(
    ("half", "number", "method"),
    [("fresh", 1026, unbend.HessianLLE), ("folded", 34, unbend.LTSA)],
)
def test_landmarks_that_are_hardly_more_even_are_not_taken(half, number, method):
    """Cases for calibration whose charts are poor with landmarks and without."""
    case = make_cases(half, number + 1)[number]
    rows = case.draw(1, most_feet=1).rows
    auto = method(case.d, n_neighbors=10, denoise="auto").fit(rows)
    plain = method(case.d, n_neighbors=10).fit(rows)
    assert np.array_equal(auto.embedding_, plain.embedding_)


def test_many_rows_are_tried_by_patches_half_way_to_the_smallest(monkeypatch):
    """Beyond the rows that are fitted as they are landmarks are still compared with each other."""
    rows = s_curve(1200, noise=0.1, random_state=0).points
    monkeypatch.setattr("unbend.estimators.denoising.TRIED_ROWS", 1000)
    measured = unbend.LTSA(denoise="auto").fit(rows).report_.stage("denoise").facts["patch_size"]
    fitted = []
    whole = unbend.LTSA._fit_space

    def fit(self, space, y, graph, landmarks):
        fitted.append(landmarks.patch_size if landmarks.neighbors == 1 else "few")
        return whole(self, space, y, graph, landmarks)

    monkeypatch.setattr(unbend.LTSA, "_fit_space", fit)
    half = round(np.sqrt(12 * measured))
    for evenness, taken in (((0.4, 0.7, 0.6), half), ((0.1, 0.2, 0.05), measured)):
        values = iter(evenness)
        monkeypatch.setattr(
            "unbend.estimators.denoising_trials.chart_evenness",
            lambda *_, values=values: next(values),
        )
        fitted.clear()
        model = unbend.LTSA(denoise="auto").fit(rows)
        assert fitted == [measured, half, "few"]
        assert model.report_.stage("denoise").facts["patch_size"] == taken
    monkeypatch.setattr("unbend.estimators.denoising_trials.chart_evenness", lambda *_: 0.6)
    fitted.clear()
    unbend.LTSA(denoise="auto").fit(rows)
    assert fitted == [measured]


def test_even_charts_are_not_tried_again(monkeypatch):
    rows = s_curve(1200, noise=0.1, random_state=0).points
    fitted = []
    whole = unbend.LTSA._fit_space
    monkeypatch.setattr(
        unbend.LTSA,
        "_fit_space",
        lambda self, space, y, graph, landmarks: (
            fitted.append(landmarks is None) or whole(self, space, y, graph, landmarks)
        ),
    )
    model = unbend.LTSA(denoise="auto").fit(rows)
    assert fitted == [False]
    assert model.report_.stage("denoise").facts["evenness"] > 0.8
    # What is asked for is not chosen again.
    unbend.LTSA(denoise=True).fit(rows)
    assert fitted == [False, False]


def test_only_the_warnings_of_the_fit_that_is_taken_are_issued(monkeypatch):
    rows = s_curve(1200, noise=0.1, random_state=0).points
    whole = unbend.LTSA._fit_space

    def fit(self, space, y, graph, landmarks):
        of = "rows"
        if landmarks is not None:
            patches = "smallest" if landmarks.patch_size == 12 else "measured"
            of = f"{len(landmarks.points) // 100} hundred landmarks by {patches} patches"
        unbend.report.warn(f"of {of}", FutureWarning)
        return whole(self, space, y, graph, landmarks)

    monkeypatch.setattr(unbend.LTSA, "_fit_space", fit)
    monkeypatch.setattr("unbend.estimators.denoising_trials.EVEN", 2.0)
    # Evenness of the landmarks, of those by the smallest patches, of the first 150, and of the
    # rows; and whose warnings are issued.
    for evenness, message in (
        ((0.5, 0.3, 0.2, 0.1), "of 6 hundred landmarks by measured patches"),
        ((0.5, 0.7, 0.6, 0.1), "of 6 hundred landmarks by smallest patches"),
        ((0.5, 0.4, 0.7, 0.6), "of 1 hundred landmarks by measured patches"),
        ((0.5, 0.7, 0.6, 0.9), "of rows"),
        # Torn; just not; hardly more even than the rows.
        ((0.24, 0.05, 0.05, 0.0), "of rows"),
        ((0.26, 0.05, 0.05, 0.0), "of 6 hundred landmarks by measured patches"),
        ((0.5, 0.4, 0.3, 0.46), "of rows"),
    ):
        values = iter(evenness)
        monkeypatch.setattr(
            "unbend.estimators.denoising_trials.chart_evenness",
            lambda *_, values=values: next(values),
        )
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            model = unbend.LTSA(denoise="auto").fit(rows)
        messages = [str(one.message) for one in issued if one.category is FutureWarning]
        assert messages == [message]
        assert message in model.report_.warnings
        assert len(model.report_.warnings) == len(issued)
        facts = model.report_.stage("denoise").facts
        assert ("declined" in facts) == (message == "of rows")
        assert facts["evenness"] == evenness[0]


def test_landmarks_are_kept_where_the_rows_cannot_be_fitted(monkeypatch):
    rows = s_curve(1200, noise=0.1, random_state=0).points
    whole = unbend.LTSA._fit_space

    def fit(self, space, y, graph, landmarks):
        if landmarks is None:
            raise ValueError("too few")
        return whole(self, space, y, graph, landmarks)

    monkeypatch.setattr(unbend.LTSA, "_fit_space", fit)
    monkeypatch.setattr("unbend.estimators.denoising_trials.EVEN", 2.0)
    model = unbend.LTSA(denoise="auto").fit(rows)
    assert "landmarks" in model.report_.stage("denoise").facts


def test_auto_leaves_curves_to_hessian_lle_as_they_are():
    """One condition for each row is as few as there are unknowns: landmarks make it worse."""
    rows, _ = sparse_arc(800, 0, sigma=0.05)
    auto = unbend.HessianLLE(1, denoise="auto").fit(rows)
    assert "use LTSA" in auto.report_.stage("denoise").facts["declined"]
    assert np.array_equal(auto.embedding_, unbend.HessianLLE(1).fit_transform(rows))
    asked = unbend.HessianLLE(1, denoise=True).fit(rows)
    assert "landmarks" in asked.report_.stage("denoise").facts


def fit_case(half, number, method=unbend.LTSA):
    """Fit a calibration case with 'auto' and as it is: the facts and both errors."""
    case = make_cases(half, number + 1)[number]
    draw = case.draw(1, most_feet=400)
    some, facts, errors = draw.regular, {}, []
    for denoise in ("auto", False):
        model = method(case.d, denoise=denoise).fit(draw.rows)
        errors.append(worst_error(draw.foot_chart[some], model.transform(draw.rows[some])))
        if denoise == "auto":
            facts = dict(model.report_.stage("denoise").facts)
    return facts, *errors


@pytest.mark.parametrize(("half", "number", "size"), [("seen", 1357, 20), ("folded", 644, 12)])
def test_the_smallest_patches_are_tried_where_measured_ones_span_sheets(half, number, size):
    """Rows of three and two dimensions whose sheets are near each other, and lost without it."""
    facts, auto, plain = fit_case(half, number)
    assert facts["patch_size"] == size
    assert facts["evenness"] < 0.9
    assert auto < 0.1 < plain


@pytest.mark.parametrize("number", [773, 986])
def test_landmarks_take_the_place_of_rows_whose_chart_is_torn(number):
    """Noise is narrow, and the rows come first; but few in three dimensions they are lost."""
    facts, auto, plain = fit_case("folded", number)
    assert "declined" not in facts
    assert facts["landmarks"] >= 150
    assert facts["evenness"] < 0.5
    assert auto < 0.5 * plain


def test_few_landmarks_have_wide_neighborhoods():
    rows = s_curve(1200, noise=0.1, random_state=0).points
    sample = Sample.of(PointSpace(rows), 2)
    few = project_landmarks(sample, 40, 400, 2).first(150, 12)
    model = unbend.LTSA(n_neighbors=8)
    fitted = model._fit_space(PointSpace(rows), None, None, few)
    assert fitted["_neighborhoods"].neighbors.counts.min() >= 12
    assert len(fitted["_neighborhoods"].first) == 150


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", ["normal", "uniform", "clusters"])
def test_rows_without_a_surface_are_left_as_they_are(d, kind):
    """Their chart is torn, but so is each of landmarks."""
    rng = np.random.default_rng(d)
    rows = rng.uniform(size=(600, 7)) if kind == "uniform" else rng.normal(size=(600, 7))
    if kind == "clusters":
        rows += 6 * rng.normal(size=(4, 7))[rng.integers(4, size=600)]
    auto = unbend.LTSA(d, denoise="auto").fit(rows)
    assert "declined" in auto.report_.stage("denoise").facts
    assert np.array_equal(auto.embedding_, unbend.LTSA(d).fit_transform(rows))


@pytest.mark.parametrize("method", [unbend.LTSA, unbend.HessianLLE])
def test_mild_noise_leaves_rows_whose_chart_is_as_even(method):
    """Landmarks of 517 rows had errors 1.13 and 1.15 times those of the rows."""
    facts, auto, plain = fit_case("seen", 1222, method)
    assert "noise is mild" in facts["declined"]
    assert auto == plain

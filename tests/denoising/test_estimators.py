"""`denoise` of the neighbourhood methods: what it fits, when 'auto' declines, and its laws."""

import re
import warnings

import numpy as np
import pytest

import unbend
from unbend.datasets import s_curve, swiss_roll

METHODS = [
    unbend.LTSA,
    unbend.HessianLLE,
    unbend.RigidAlignment,
    unbend.LLE,
    unbend.Isomap,
    unbend.LaplacianEigenmaps,
    unbend.DiffusionMaps,
    unbend.MVU,
]


@pytest.fixture(scope="module")
def noisy():
    return s_curve(1500, noise=0.15, random_state=0)


def loss(truth, coordinates):
    """Share of the worse coordinate of the truth that is no affine function of coordinates."""
    functions = np.column_stack((np.ones(len(truth)), coordinates))
    rest = truth - functions @ np.linalg.lstsq(functions, truth, rcond=None)[0]
    return float(np.max(np.var(rest, axis=0) / np.var(truth, axis=0)))


@pytest.mark.parametrize("method", METHODS)
def test_every_row_has_the_coordinates_of_its_extension(method, noisy, tmp_path):
    options = {"n_landmarks": 150} if method is unbend.MVU else {}
    model = method(denoise={"patch_size": 80, **options}).fit(noisy.points)
    assert model.embedding_.shape == (1500, 2)
    assert np.array_equal(model.transform(noisy.points), model.embedding_)
    facts = model.report_.stage("denoise").facts
    assert facts["patch_size"] == 80
    assert facts["noise"] == pytest.approx(0.15, rel=0.2)
    model.save(tmp_path / "model.unbend")
    loaded = unbend.load(tmp_path / "model.unbend")
    assert np.array_equal(loaded.transform(noisy.points[:50]), model.embedding_[:50])
    assert loaded.get_params()["denoise"] == model.denoise


@pytest.mark.parametrize(
    "method", [unbend.LTSA, unbend.HessianLLE, unbend.RigidAlignment, unbend.Isomap]
)
def test_noise_costs_the_chart_less_than_it_does_without(method):
    curve = s_curve(3000, noise=0.2, random_state=1)
    plain = method().fit_transform(curve.points)
    denoised = method(denoise="auto").fit_transform(curve.points)
    # Noise along the surface leaves 0.03 of the height, whose length is 4.
    assert loss(curve.chart, denoised) < 0.04
    assert loss(curve.chart, denoised) < loss(curve.chart, plain)


def test_noise_does_not_grow_with_the_number_of_rows():
    losses = []
    for n in (3000, 12_000):
        roll = swiss_roll(n, noise=0.5, random_state=0)
        losses.append(loss(roll.chart, unbend.LTSA(denoise="auto").fit_transform(roll.points)))
    assert losses[1] < 1.1 * losses[0] < 0.02


@pytest.mark.parametrize("method", [unbend.LTSA, unbend.DiffusionMaps])
def test_the_order_of_rows_changes_no_bit(method, noisy):
    order = np.random.default_rng(0).permutation(1500)
    first = method(denoise=True).fit(noisy.points).embedding_
    second = method(denoise=True).fit(noisy.points[order]).embedding_
    assert np.array_equal(first[order], second)


def test_outliers_do_not_take_part():
    curve = s_curve(3000, noise=0.1, random_state=0)
    points = curve.points.copy()
    outliers = np.random.default_rng(0).choice(3000, 30, replace=False)
    points[outliers] = np.random.default_rng(1).uniform(-2, 5, size=(30, 3))
    kept = np.setdiff1d(np.arange(3000), outliers)
    embedding = unbend.LTSA(denoise="auto").fit_transform(points)
    assert loss(curve.chart[kept], embedding[kept]) < 0.01


def clusters():
    rng = np.random.default_rng(0)
    return rng.normal(size=(900, 5)) + 10 * rng.integers(0, 3, size=(900, 1))


DECLINED = {
    "rows without noise": (swiss_roll(1200, random_state=0).points, {}, "narrow"),
    "clusters": (clusters(), {}, "show a surface"),
    "few rows": (s_curve(150, noise=0.1, random_state=0).points, {}, "too few"),
    "a plane": (np.random.default_rng(0).normal(size=(500, 2)), {}, "no direction across"),
    "another metric": (
        s_curve(400, noise=0.1, random_state=0).points,
        {"metric": "manhattan"},
        "Eu",
    ),
    "a radius": (s_curve(400, noise=0.1, random_state=0).points, {"radius": 9.0}, "radius"),
}


@pytest.mark.parametrize("case", DECLINED)
def test_auto_declines_and_changes_no_bit(case):
    rows, options, reason = DECLINED[case]
    auto = unbend.Isomap(denoise="auto", **options).fit(rows)
    assert reason in auto.report_.stage("denoise").facts["declined"]
    assert np.array_equal(auto.embedding_, unbend.Isomap(**options).fit_transform(rows))


@pytest.mark.parametrize("case", ["a plane", "another metric", "a radius"])
def test_denoising_that_cannot_be_is_refused(case):
    rows, options, _ = DECLINED[case]
    with pytest.raises(ValueError, match=r"Landmarks cannot be projected.*Use denoise=False"):
        unbend.Isomap(denoise=True, **options).fit(rows)


@pytest.mark.parametrize("columns", [1, 2])
def test_a_surface_as_wide_as_the_rows_gets_a_remedy_that_works(columns):
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    rows = circle[:, :columns] + np.random.default_rng(1).normal(scale=0.05, size=(400, columns))
    with pytest.raises(ValueError, match="Use denoise=False") as refusal:
        unbend.LaplacianEigenmaps(columns, denoise=True).fit(rows)
    noun = "1 column leaves" if columns == 1 else "2 columns leave"
    assert f"{noun} no direction across a surface of dimension {columns}" in str(refusal.value)
    if columns == 2:
        assert "or denoise={'dimension': 1}" in str(refusal.value)
        model = unbend.LaplacianEigenmaps(2, denoise={"dimension": 1}).fit(rows)
        assert model.report_.stage("denoise").facts["landmarks"] > 10
    else:
        assert "dimension'" not in str(refusal.value)


SIZES = {"patch_size": (2, 400), "n_landmarks": (1, 400)}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.filterwarnings("ignore:there are")
def test_sizes_that_the_rows_do_not_allow_are_changed_with_a_warning(name):
    rows = s_curve(300, noise=0.1, random_state=0).points
    fact = {"n_landmarks": "landmarks"}.get(name, name)
    for size in SIZES[name]:
        with pytest.warns(UserWarning, match=rf"denoise\['{name}'\]={size} was") as issued:
            model = unbend.Isomap(denoise={name: size}).fit(rows)
        taken = model.report_.stage("denoise").facts[fact]
        way = "raised" if taken > size else "lowered"
        assert any(f"{way} to {taken}" in str(one.message) for one in issued)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # With 60 landmarks an end of the S is next to its middle.
        warnings.filterwarnings("ignore", ".* between sheets")
        unbend.Isomap(denoise={name: 60}).fit(rows)


def test_options_override_what_is_chosen(noisy):
    options = {"patch_size": 60, "n_landmarks": 300, "dimension": 2}
    model = unbend.LaplacianEigenmaps(3, denoise=options).fit(noisy.points)
    facts = model.report_.stage("denoise").facts
    assert facts["patch_size"] == 60
    assert abs(facts["landmarks"] - 300) <= 2
    assert model.graph_.shape == (facts["landmarks"], facts["landmarks"])


def test_mistakes_in_options_are_explained(noisy):
    with pytest.raises(ValueError, match="denoise has no 'patch': use patch_size"):
        unbend.LTSA(denoise={"patch": 3}).fit(noisy.points)
    with pytest.raises(TypeError, match=r"denoise\['n_landmarks'\]='many' is not allowed"):
        unbend.LTSA(denoise={"n_landmarks": "many"}).fit(noisy.points)
    with pytest.raises(ValueError, match="denoise='yes' is not allowed"):
        unbend.LTSA(denoise="yes").fit(noisy.points)


@pytest.mark.parametrize("seed", range(3))
def test_masses_restore_the_density_of_the_rows(seed):
    """Sparse landmarks and their masses have the spectrum of all rows, which are three to one.

    The first eigenvalue is that of the exchange between both halves, which hangs on the landmarks
    of the sparse half: where those least dense were left out it was down to 0.69 of that of the
    rows.
    """
    rng = np.random.default_rng(seed)
    angle = np.concatenate((rng.uniform(0, 2, 1500), rng.uniform(2, 4, 500)))
    rows = np.column_stack((np.cos(angle), np.sin(angle))) + rng.normal(scale=0.03, size=(2000, 2))
    options = {"kind": "graph_laplacian", "bandwidth": 0.05, "n_components": 2}
    whole = unbend.DiffusionMaps(n_neighbors=800, **options).fit(rows)
    fitted = unbend.DiffusionMaps(
        n_neighbors=150, denoise={"n_landmarks": 400, "dimension": 1}, **options
    ).fit(rows)
    decay = -np.log(whole.eigenvalues_), -np.log(fitted.eigenvalues_)
    np.testing.assert_allclose(decay[1], decay[0], rtol=0.1)
    assert abs(np.corrcoef(whole.embedding_[:, 0], fitted.embedding_[:, 0])[0, 1]) > 0.99


def test_diffusion_times_follow_from_the_rows(noisy):
    model = unbend.DiffusionMaps(denoise={"patch_size": 80}, diffusion_time=2).fit(noisy.points)
    later = model.at_time(4)
    np.testing.assert_allclose(later, model.embedding_ * model.eigenvalues_**2, rtol=1e-9)
    distances = model.diffusion_distances([0, 1], time=2)
    gap = np.linalg.norm(model.embedding_[0] - model.embedding_[1])
    assert distances[0, 1] == pytest.approx(gap)
    with pytest.raises(ValueError, match="level compares the densities"):
        model.diffusion_distances(level=1)


@pytest.mark.parametrize("method", ["LTSA", "HessianLLE"])
def test_a_coordinate_that_noise_hides_names_denoising_where_it_is_possible(method):
    roll = swiss_roll(1500, noise=0.4, random_state=0)
    plain = getattr(unbend, method)()
    with pytest.warns(UserWarning, match="is a function of earlier ones.*set denoise='auto'"):
        lost = plain.fit(roll.points)
    kept = getattr(unbend, method)(denoise="auto").fit(roll.points)
    assert loss(roll.chart, kept.embedding_) < 0.05 < loss(roll.chart, lost.embedding_)
    distances = np.linalg.norm(roll.points[:, None] - roll.points, axis=2)
    with pytest.warns(UserWarning, match="is a function of earlier ones") as issued:
        plain.set_params(metric="precomputed").fit(distances)
    assert not any("denoise" in str(one.message) for one in issued)


@pytest.mark.parametrize("connect", ["bridge", "components", "largest", "enlarge", "error"])
def test_components_of_landmarks_are_not_called_rows(connect):
    sheet = s_curve(300, noise=0.1, random_state=0).points
    model = unbend.Isomap(denoise=True, connect=connect)
    rows = np.vstack((sheet, sheet + 40))
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            messages = [*model.fit(rows).report_.warnings]
        except ValueError as refusal:
            messages = [str(refusal)]
    assert {str(one.message) for one in issued} <= set(messages)
    largest = re.search(r"2 components \(the largest holds (\d+) landmarks\)", messages[0])
    assert largest
    assert int(largest[1]) < 300
    if connect == "enlarge":
        assert re.search(r"\d+ landmarks got more neighbours", messages[0])
    plain = unbend.Isomap(connect=connect)
    if connect == "error":
        with pytest.raises(ValueError, match="the largest holds 300 rows"):
            plain.fit(rows)
    else:
        with pytest.warns(UserWarning, match="the largest holds 300 rows"):
            plain.fit(rows)


def test_neighbours_of_few_landmarks_are_lowered_with_their_number():
    rows = s_curve(300, noise=0.1, random_state=0).points
    with pytest.warns(UserWarning, match="there are 8 landmarks: n_neighbors was lowered to 7"):
        unbend.Isomap(denoise={"n_landmarks": 8}).fit(rows)


@pytest.mark.filterwarnings("ignore")  # samples so far outside are warned of
def test_samples_so_far_that_affinities_underflow_have_coordinates():
    roll = unbend.datasets.swiss_roll(600, noise=0.3, random_state=0)
    model = unbend.DiffusionMaps(2, denoise=True, bandwidth=1.0).fit(roll.points)
    # exp(-r²) is subnormal about r = 27, where its product with the mass of a landmark may vanish.
    directions = np.random.default_rng(0).normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    away = np.linspace(20, 70, 500)[:, None, None] * directions
    assert np.isfinite(model.transform(roll.points.mean(axis=0) + away.reshape(-1, 3))).all()

"""Kernels in the span of landmarks: what they recover, what is proved, what the span may be."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each, sampled
from tests.mvu.graphs import cycle, lengths, of_points, path
from unbend.datasets import s_curve, swiss_roll
from unbend.methods.landmark_mvu import smoothest, written_by
from unbend.methods.lle import reconstruction_weights
from unbend.mvu import unfold, unfold_in_span
from unbend.mvu.burer_monteiro import MAX_STEPS
from unbend.mvu.certificate import least_eigenvalue
from unbend.mvu.curvature import CHUNK, DenseCurvature
from unbend.mvu.edges import SubspaceEdges
from unbend.neighbors import PointSpace


@pytest.mark.parametrize("constraint", ["inequality", "soft", "equality"])
@pytest.mark.parametrize("edges", [path(12), cycle(9)], ids=["path", "cycle"])
def test_the_span_of_all_rows_gives_the_unfolding_itself(edges, constraint):
    whole = unfold(edges, constraint, slack=0.01)
    found = unfold_in_span(edges, np.eye(edges.n), constraint, slack=0.01)
    assert found.certificate.lower == pytest.approx(whole.certificate.lower, rel=1e-5)
    assert found.certificate.gap < 1e-6


@pytest.mark.parametrize("constraint", ["inequality", "soft"])
def test_less_of_a_span_never_has_more_variance(constraint):
    edges = of_points(s_curve(150, random_state=0).points, 6)
    columns = smoothest(edges, 20)
    bounds = [
        unfold_in_span(edges, columns[:, :count], constraint).certificate.lower
        for count in (5, 10, 20)
    ]
    best = unfold(edges, constraint).certificate.upper
    assert bounds[0] <= bounds[1] * (1 + 1e-6) <= bounds[2] * (1 + 2e-6)
    if constraint == "inequality":
        assert bounds[2] <= best


def test_bounds_hold_for_every_edge():
    edges = of_points(swiss_roll(400, random_state=0).points, 6)
    found = unfold_in_span(edges, smoothest(edges, 15), "inequality")
    assert edges.stretch(found.factor).max() <= 1e-12
    assert found.residual == 0.0


def test_rows_are_written_by_landmarks_with_weights_that_sum_to_one():
    points = PointSpace(np.random.default_rng(0).random((200, 2)))
    weights = reconstruction_weights(points, points.nearest(8), 1e-9)
    landmarks = np.arange(0, 200, 20)
    columns = written_by(weights, landmarks, weights)
    assert np.allclose(columns.sum(axis=1), 1.0, atol=1e-6)
    assert np.array_equal(columns[landmarks], np.eye(10))
    # Flat points are reconstructed exactly: landmarks write every other row.
    assert np.allclose(columns @ points.points[landmarks], points.points, atol=1e-4)


def test_rows_that_write_only_each_other_lie_among_their_neighbours_in_the_graph():
    # Rows 3 to 5 are written by each other, and the landmarks 0 and 2 are none of them.
    weights = np.zeros((6, 6))
    weights[1, [0, 2]] = 0.5
    weights[3, 4] = weights[4, 3] = weights[5, 4] = 1.0
    graph = csr_array(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    columns = written_by(csr_array(weights), np.array([0, 2]), graph)
    np.testing.assert_allclose(columns.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(columns[3:], np.tile([0.0, 1.0], (3, 1)), atol=1e-6)


@sampled("seed", range(3))
def test_the_books_roll_of_2000_points_and_61_landmarks_is_unrolled(seed):
    roll = swiss_roll(2000, random_state=seed)
    mvu = unbend.LandmarkMVU(
        n_landmarks=61, landmarks="random", n_neighbors=3, random_state=seed
    ).fit(roll.points)
    assert mvu.status_ == "certified"
    assert unbend.quality.procrustes(roll.chart, mvu.embedding_) < 1e-3
    assert len(np.unique(mvu.landmarks_)) == 61


def test_a_bare_graph_is_unfolded_in_the_span_of_its_smoothest_vectors():
    roll = swiss_roll(1000, random_state=0)
    graph = lengths(of_points(roll.points, 8))
    mvu = unbend.LandmarkMVU(metric="precomputed").fit(graph)
    assert mvu.report_.stage("kernel").facts["basis"] == "laplacian"
    assert unbend.quality.procrustes(roll.chart, mvu.embedding_) < 0.05
    points = unbend.LandmarkMVU(n_neighbors=8, basis="laplacian").fit(roll.points)
    assert unbend.quality.procrustes(points.embedding_, mvu.embedding_) < 1e-9


def test_new_samples_are_embedded_by_the_same_weights():
    roll = swiss_roll(2500, random_state=0)
    mvu = unbend.LandmarkMVU(n_landmarks=30).fit(roll.points[:2000])
    whole = np.concatenate((mvu.embedding_, mvu.transform(roll.points[2000:])))
    assert unbend.quality.procrustes(roll.chart, whole) < 1e-3


def test_too_few_landmarks_are_refused():
    with pytest.raises(ValueError, match="too few for n_components=2"):
        unbend.LandmarkMVU(n_landmarks=3).fit(s_curve(60, random_state=0).points)


@sampled("seed", range(3))
@pytest.mark.parametrize("basis", ["weights", "laplacian"])
def test_no_kernel_of_the_span_that_keeps_the_bounds_has_more_variance(basis, seed):
    edges = of_points(s_curve(120, random_state=seed).points, 6)
    rng = np.random.default_rng(seed)
    columns = smoothest(edges, 12) if basis == "laplacian" else rng.standard_normal((120, 12))
    found = unfold_in_span(edges, columns, "inequality")
    centered = columns - columns.mean(axis=0)
    best = 0.0
    for rank in range(1, 13):
        for near in (rng.standard_normal((12, rank)), np.linalg.pinv(centered) @ found.factor):
            tried = centered @ (near + 0.01 * np.abs(near).max() * rng.standard_normal(near.shape))
            tried /= np.sqrt(1.0 + edges.stretch(tried).max())
            best = max(best, float(np.square(tried).sum()))
    assert 0.5 * found.certificate.lower < best <= found.certificate.upper


@pytest.mark.parametrize("method", ["MVU", "LandmarkMVU"])
@pytest.mark.parametrize(
    "solver",
    [unbend.Fat("gat"), unbend.Fat("irat"), unbend.Fat("prat"), unbend.Nystrom()],
    ids=repr,
)
@pytest.mark.filterwarnings("error::UserWarning")
def test_approximate_eigensolvers_find_the_coordinates_to_what_they_state(method, solver):
    """The kernels have a rank below the vectors that wrap them, so nothing is lost."""
    points = s_curve(150, random_state=0).points
    fit = getattr(unbend, method)
    exact = fit(n_neighbors=5).fit(points)
    found = fit(n_neighbors=5, eigen_solver=solver).fit(points)
    assert found.report_.stage("spectrum").facts["deviation_bound"] < 1e-8
    assert unbend.quality.procrustes(exact.embedding_, found.embedding_) < 1e-12
    assert found.eigenvalues_ == pytest.approx(exact.eigenvalues_, rel=1e-9)


def test_warns_when_a_span_cannot_keep_lengths():
    points = swiss_roll(400, random_state=0).points
    with pytest.warns(UserWarning, match="4 landmarks keep the lengths so badly"):
        mvu = unbend.LandmarkMVU(n_landmarks=4).fit(points)
    assert mvu.lower_bound_ < 0


def sensor_graph(seed, noise, n=400):
    """Sensors in a square, and the noisy lengths of edges up to a radius of 20 neighbours."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(size=(n, 2))
    distances = cdist(places, places)
    near = np.triu(distances < np.sqrt(20 / (np.pi * n)), 1)
    lengths = np.where(near, distances * np.abs(rng.normal(1, noise, distances.shape)), 0.0)
    return places, csr_array(lengths + lengths.T)


@each("count", [10, 20])
@each("noise", [0.0, 0.1])
def test_the_slack_of_eigenvectors_fits_what_they_can_keep(noise, count):
    for seed in range(3):
        places, graph = sensor_graph(seed, noise)
        options = {"n_landmarks": count, "metric": "precomputed"}
        with pytest.warns(UserWarning, match="keep the shape but not the lengths: half of the edg"):
            chosen = unbend.LandmarkMVU(**options).fit(graph)
        with pytest.warns(UserWarning, match="A larger slack lets them go"):
            stiff = unbend.LandmarkMVU(slack=0.01, **options).fit(graph)
        errors = [unbend.quality.procrustes(places, m.embedding_) for m in (chosen, stiff)]
        assert errors[0] < min(0.05, 0.7 * errors[1])
        assert chosen.lower_bound_ > 0 > stiff.lower_bound_
        assert chosen.report_.stage("kernel").facts["slack"] > 0.1


def oblong_network(seed, n=350):
    """Sensors in an oblong, lengths with 5 % noise: a family that the rule was not chosen on."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(size=(n, 2)) * [3.0, 1.0]
    distances = cdist(places, places)
    near = np.triu(distances < np.sqrt(20 * 3 / (np.pi * n)), 1)
    lengths = np.where(near, distances * np.abs(rng.normal(1, 0.05, distances.shape)), 0.0)
    return places, csr_array(lengths + lengths.T), {"metric": "precomputed"}


def curve_graph(seed):
    curve = s_curve(500, random_state=seed)
    return curve.chart, curve.points, {"n_neighbors": 8, "basis": "laplacian"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@each("family", [oblong_network, curve_graph])
def test_the_slack_serves_families_that_it_was_not_chosen_on(family):
    errors = {"auto": [], 0.01: [], 10.0: []}
    for seed in range(500, 503):
        truth, data, options = family(seed)
        for slack, found in errors.items():
            model = unbend.LandmarkMVU(n_landmarks=10, slack=slack, **options).fit(data)
            found.append(np.log(unbend.quality.procrustes(truth, model.embedding_)))
    chosen, stiff, loose = (np.mean(found) for found in errors.values())
    assert chosen < min(stiff, loose) - 0.2
    assert chosen < np.log(0.06)


def test_eigenvectors_show_the_shape_of_a_roll():
    for seed in range(3):
        roll = swiss_roll(600, random_state=seed)
        with pytest.warns(UserWarning, match="keep the shape but not the lengths"):
            mvu = unbend.LandmarkMVU(n_neighbors=8, basis="laplacian").fit(roll.points)
        assert unbend.quality.procrustes(roll.chart, mvu.embedding_) < 0.04
        assert mvu.lower_bound_ > 0


def test_many_landmarks_ask_for_their_memory_first():
    points = s_curve(600, random_state=0).points
    with unbend.memory_limit(20_000_000), pytest.raises(MemoryError, match="use fewer landmarks"):
        unbend.LandmarkMVU(n_landmarks=300).fit(points)


def test_rows_at_distance_zero_are_one_landmark():
    """Rows of a given graph are not merged before landmarks are chosen."""
    points = np.repeat(np.random.default_rng(0).random((12, 3)), 3, axis=0)
    graph = unbend.Isomap(n_neighbors=5).fit(np.arange(36.0)[:, None] ** 1.1).graph_
    mvu = unbend.LandmarkMVU(n_landmarks=30, constraint="inequality").fit(points, graph=graph)
    assert len(np.unique(mvu.landmarks_)) == len(mvu.landmarks_)
    assert mvu.status_ == "certified"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("reg", [1e-30, 1e-300])
def test_a_ridge_below_rounding_is_no_singular_matrix(reg):
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    mvu = unbend.LandmarkMVU(n_landmarks=8, n_neighbors=8, reg=reg).fit(grid)
    assert unbend.quality.procrustes(grid, mvu.embedding_) < 1e-3


SPACINGS = {
    "uniform": np.random.default_rng(653).uniform(size=119),
    "dense at one end": np.arange(119.0) ** 3.5,
    "dense at the other": np.arange(119.0) ** 0.3,
    "two clusters": np.r_[np.random.default_rng(0).normal(size=60), np.arange(59.0) + 100],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@each("spacing", SPACINGS)
@each(
    "options",
    [
        {"n_landmarks": 60, "n_neighbors": 2, "n_components": 3, "basis": "laplacian"},
        {"n_landmarks": 10, "n_neighbors": 20, "basis": "laplacian"},
        {"n_landmarks": 30, "n_neighbors": 3},
    ],
)
def test_equal_lengths_on_a_line_are_found_or_given_up_in_a_bounded_number_of_steps(
    spacing, options
):
    """Stiff springs on one column fight each other: rounds of rising rank did not help and cost."""
    mvu = unbend.LandmarkMVU(constraint="equality", **options).fit(SPACINGS[spacing][:, None])
    facts = mvu.report_.stage("kernel").facts
    assert facts["steps"] <= MAX_STEPS
    assert facts["converged"] == (mvu.status_ == "certified") == (mvu.gap_ <= mvu.tol)
    assert facts["converged"] or any("not certified" in text for text in mvu.report_.warnings)
    assert np.all(np.isfinite(mvu.embedding_))


def test_a_line_whose_neighbours_are_kept_comes_back():
    # With all pairs among few rows nothing can fold: lengths determine the line.
    places = np.random.default_rng(1).uniform(size=40)
    mvu = unbend.LandmarkMVU(
        n_components=1, n_neighbors=39, n_landmarks=40, constraint="equality"
    ).fit(places[:, None])
    assert mvu.status_ == "certified"
    assert unbend.quality.procrustes(places[:, None], mvu.embedding_) < 1e-6


@pytest.mark.parametrize("n", [10, 400])
def test_no_tension_at_all_has_the_least_eigenvalue_zero(n):
    assert least_eigenvalue(csr_array((n, n)), np.eye(n, 2)) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("threads", [1, 2])
def test_newton_matrix_keeps_few_parts_at_a_time(threads):
    rng = np.random.default_rng(0)
    edges = SubspaceEdges(rng.normal(size=(12_000, 200)), rng.uniform(1, 2, 12_000), threads)
    size, curvature = 8 * (200 * 5) ** 2, DenseCurvature(edges)
    ones, differences = np.ones(12_000), rng.normal(size=(12_000, 5))
    tracemalloc.start()
    try:
        curvature.factor(ones, ones, differences, 1e3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # What the threads multiply at once, besides matrices of the size of the result.
    assert peak < threads * 3 * CHUNK + (threads + 6) * size

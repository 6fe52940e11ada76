"""Single estimators: against plain oracles, on known manifolds, under noise, near each row."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist

from tests.dimension import manifolds
from tests.loops import each
from unbend import dimension
from unbend._kernels import kernels
from unbend.datasets import SURFACES, swiss_roll
from unbend.dimension._rows import distinct_rows
from unbend.dimension.likelihood import _spread_of_line
from unbend.dimension.packing import _packing
from unbend.neighbors import GraphSpace, PointSpace


def sorted_distances(points):
    return np.sort(cdist(points, points), axis=1)[:, 1:]


def test_maximum_likelihood_is_its_formula():
    points, k = manifolds.affine(200, 3, 4, 0), 7
    total = 0.0
    for row in sorted_distances(points):
        total += sum(np.log(row[k - 1] / row[j]) for j in range(k - 1)) / (k - 1)
    found = dimension.mle(points, n_neighbors=k)
    assert found.dimension == pytest.approx(200 / total)
    assert found.curve.y[k - 3] == pytest.approx(found.dimension)


def test_inverses_are_averaged_since_the_mean_of_estimates_is_too_large():
    points = np.random.default_rng(0).normal(size=(3000, 2))
    rows = sorted_distances(points)[:, :4]
    single = 1 / np.mean(np.log(rows[:, 3:] / rows[:, :3]), axis=1)
    assert abs(dimension.mle(points, n_neighbors=4).dimension - 2) < 0.1
    assert single.mean() > 2.5


@pytest.mark.parametrize("discard", [0.0, 0.1, 0.4])
def test_two_neighbours_are_a_line_through_the_origin(discard):
    points = manifolds.affine(300, 2, 3, 1)
    rows = sorted_distances(points)
    logs = np.sort(np.log(rows[:, 1] / rows[:, 0]))
    # Of the largest ratio 1 - F is zero.
    kept = min(299, 300 - int(discard * 300))
    y = [-np.log(1 - (i + 1) / 300) for i in range(kept)]
    slope = np.linalg.lstsq(logs[:kept, None], y)[0][0]
    assert dimension.two_nn(points, discard=discard).dimension == pytest.approx(slope)


def test_what_the_discarded_ratios_are_does_not_matter():
    points = manifolds.affine(2000, 4, 4, 2)
    cut = dimension.two_nn(points, discard=0.3).dimension
    assert cut == pytest.approx(dimension.two_nn(points, discard=0.0).dimension, rel=0.1)


@pytest.mark.parametrize("discard", [0.0, 0.1, 0.4])
def test_the_error_of_the_line_is_that_of_exponential_samples(discard):
    """Ratios of a true law, without the help of points."""
    n, rng = 400, np.random.default_rng(0)
    kept = min(n - 1, n - int(discard * n))
    y = -np.log1p(-np.arange(1, n) / n)[:kept]
    logs = np.sort(rng.exponential(size=(4000, n)), axis=1)[:, :kept]
    slopes = logs @ y / np.sum(logs**2, axis=1)
    assert _spread_of_line(y[-1]) == pytest.approx(slopes.std() * np.sqrt(n), rel=0.06)


def test_the_correlation_sum_is_that_of_all_pairs():
    points = manifolds.affine(300, 2, 3, 3)
    curve = dimension.correlation(points).curve
    pairs = pdist(points)
    # A pair at exactly the radius may fall on either side by rounding.
    counted = np.array([np.mean(pairs < radius) for radius in np.exp(curve.x)])
    np.testing.assert_allclose(np.exp(curve.y), counted, atol=1.5 / len(pairs))


def test_the_fitted_range_stops_where_data_bend():
    """A thin long strip is a plane below its width and a line above: no range may span both."""
    rng = np.random.default_rng(0)
    strip = np.column_stack([rng.uniform(0, 60, 4000), rng.uniform(0, 1, 4000)])
    curve = dimension.correlation(strip).curve
    inside = (curve.x >= curve.fitted[0]) & (curve.x <= curve.fitted[1])
    slopes = np.diff(curve.y[inside]) / np.diff(curve.x[inside])
    assert slopes.max() - slopes.min() < 0.5
    assert np.abs(curve.y - curve.line)[inside].max() < 0.05


def test_packings_keep_their_distance_and_cover_the_rest():
    rows = distinct_rows(manifolds.affine(300, 2, 2, 4))
    chosen, radii = _packing(rows, 40, 7)
    assert np.all(np.diff(radii) <= 0)
    points = rows.space.points
    for number, radius in enumerate(radii, 1):
        away = cdist(points, points[chosen[:number]]).min(axis=1)
        assert away.max() == pytest.approx(radius)
        assert away[chosen[number]] == pytest.approx(radius)
    assert pdist(points[chosen]).min() == pytest.approx(radii[-1])


def test_the_capacity_is_the_slope_of_the_packing_numbers():
    """−d log N / d log r, with packings counted here by brute force."""
    points = manifolds.affine(1500, 2, 4, 6)
    curve = dimension.capacity(points).curve
    inside = (curve.x >= curve.fitted[0]) & (curve.x <= curve.fitted[1])
    between = cdist(points, points)
    counted = []
    for radius in np.exp(-curve.x[inside]):
        left, number = np.ones(len(points), dtype=bool), 0
        while left.any():
            left &= between[np.argmax(left)] >= radius
            number += 1
        counted.append(np.log(number))
    # Other packings of the same radii: their numbers differ by a factor, the slope does not.
    slope = np.polyfit(curve.x[inside], counted, 1)[0]
    assert dimension.capacity(points).dimension == pytest.approx(slope, rel=0.1)


def test_the_u_statistic_is_its_formula():
    """U = 2/m(m − 1) Σ h^−l (1 − d²/h²)₊, at bandwidths (log m / m)^(1/l) of its samples."""
    points, n = manifolds.affine(400, 3, 5, 2), 400
    squares = np.square(pdist(points))
    unit = np.median(sorted_distances(points)[:, 0])
    parts = np.arange(1, 6)
    slopes = []
    for order in range(1, 6):
        widths, values = [], []
        for part in parts:
            m = n / part
            h = unit * ((np.log(m) / m) / (np.log(n) / n)) ** (1 / order)
            kernel = np.maximum(1 - squares / h**2, 0.0)
            widths.append(np.log(h))
            values.append(np.log(2 / (n * (n - 1)) * np.sum(h**-order * kernel)))
        line = np.polyfit(widths, values, 1, w=1 / np.sqrt(parts))
        slopes.append(line[0])
    found = dimension.u_statistic(points)
    np.testing.assert_allclose(found.curve.y, slopes, rtol=1e-8, atol=1e-8)
    assert found.dimension == 1 + np.argmin(np.abs(slopes)) == 3


def test_the_entropic_graph_has_the_exponent_of_spanning_trees():
    """The tree of all rows by SciPy, and d = 1/(1 − a) of its growth."""
    points = manifolds.affine(500, 2, 3, 7)
    found = dimension.entropic_graph(points)
    whole = minimum_spanning_tree(cdist(points, points)).sum()
    assert np.exp(found.curve.y[-1]) == pytest.approx(whole, rel=500 / 499 - 1 + 1e-9)
    growth = np.diff(found.curve.line) / np.diff(found.curve.x)
    np.testing.assert_allclose(1 / (1 - growth), found.dimension, rtol=1e-9)
    misfit = np.abs(found.curve.line - found.curve.y)
    assert misfit.max() < 0.02


@pytest.mark.parametrize("threshold", [0.02, 0.3])
def test_local_pca_counts_the_directions_of_each_neighbourhood(threshold):
    points = swiss_roll(300, random_state=3).points
    near = np.argsort(cdist(points, points), axis=1)[:, :13]
    counted = []
    for block in points[near]:
        variances = np.linalg.svd(block - block.mean(axis=0), compute_uv=False) ** 2
        counted.append(np.sum(variances > threshold * variances[0]))
    found = dimension.local_pca(points, n_neighbors=12, threshold=threshold)
    assert found.local.tolist() == counted
    assert found.dimension == np.median(counted)
    assert len(set(counted)) > 1


def test_trees_have_the_length_that_networkx_finds():
    points = manifolds.affine(150, 2, 2, 5)
    neighbors = PointSpace(points).nearest(20)
    indices, distances = neighbors.indices.reshape(150, 20), neighbors.distances.reshape(150, 20)
    some = np.arange(0, 150, 2)
    graph = nx.Graph()
    for i in some:
        near = [(j, d) for j, d in zip(indices[i], distances[i], strict=True) if j in some]
        graph.add_weighted_edges_from((i, j, d) for j, d in near)
    lengths = [w for _, _, w in nx.minimum_spanning_tree(graph).edges(data="weight")]
    inside = np.zeros((1, 150), dtype=bool)
    inside[0, some] = True
    count, total = np.empty(1, dtype=np.int64), np.empty(1)
    width = np.array([indices.shape[1]])
    kernels.spanning_trees(indices, distances, inside, width, count, total)
    assert count[0] == len(lengths)
    assert total[0] == pytest.approx(np.sum(lengths))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_lattices_have_their_dimension_exactly(d):
    side = {1: 400, 2: 24, 3: 10}[d]
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d) * 1.0
    lattice = manifolds.placed(lattice, d + 2, 0)
    for name in ("pca", "local_pca", "multiscale_svd"):
        assert getattr(dimension, name)(lattice).dimension == d
    assert dimension.correlation(lattice).dimension == pytest.approx(d, rel=0.15)
    assert dimension.capacity(lattice).dimension == pytest.approx(d, rel=0.3)


CURVED = {
    "helix": (manifolds.helix(2000, 0), 1),
    "roll": (swiss_roll(2000, random_state=0).points, 2),
    "moebius": (manifolds.moebius(2000, 0), 2),
    "sphere 2": (manifolds.sphere(2000, 2, 5, 0), 2),
    "sphere 5": (manifolds.sphere(2000, 5, 10, 0), 5),
    "paraboloid": (manifolds.paraboloid(2000, 3, 12, 0), 3),
    "waves": (manifolds.waves(2000, 4, 72, 0), 4),
}


@each("surface", CURVED)
@each("name", ["mle", "two_nn", "u_statistic", "entropic_graph", "correlation"])
def test_curved_manifolds_have_their_dimension(surface, name):
    points, d = CURVED[surface]
    found = getattr(dimension, name)(points)
    assert found.dimension == (d if name == "u_statistic" else pytest.approx(d, rel=0.15))


@pytest.mark.parametrize("surface", CURVED)
def test_growth_separates_curvature_from_tangents(surface):
    points, d = CURVED[surface]
    found = dimension.multiscale_svd(points)
    assert found.dimension == d
    assert np.mean(found.local == d) > 0.8
    assert dimension.pca(points, threshold=0.001).dimension > d


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_multiscale_singular_values_see_through_noise(d, noise):
    """Noise that fills fifty columns is longer than the distance to the nearest neighbours."""
    points = manifolds.sphere(2000, d, 50, d)
    points = points + noise * np.random.default_rng(9).normal(size=points.shape)
    assert dimension.multiscale_svd(points).dimension == d
    assert dimension.two_nn(points).dimension > d + 1


@pytest.mark.parametrize("name", ["local_pca", "mle", "multiscale_svd", "two_nn"])
def test_local_estimates_tell_a_line_from_a_cube(name):
    line = np.zeros((800, 3))
    line[:, 0] = np.random.default_rng(0).uniform(0, 10, 800)
    cube = np.random.default_rng(1).uniform(size=(1200, 3)) + np.array([20.0, 0, 0])
    options = {"n_neighbors": 20} if name in ("mle", "two_nn", "local_pca") else {}
    local = getattr(dimension, name)(np.vstack([line, cube]), **options).local
    assert np.median(local[:800]) == pytest.approx(1, rel=0.15)
    assert np.median(local[800:]) == pytest.approx(3, rel=0.15)


def test_a_graph_of_some_distances_is_refused_with_advice():
    graph = GraphSpace(csr_array(PointSpace(manifolds.affine(50, 2, 2, 0)).nearest(4).graph()))
    with pytest.raises(TypeError, match="geodesics"):
        dimension.mle(graph)
    with pytest.raises(TypeError, match="dense"):
        dimension.mle(graph.edges)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("mle", {"n_neighbors": 2}, "n_neighbors=2 .* integer of at least 3"),
        ("two_nn", {"discard": 1.0}, "discard=1.0 .* at least 0 and below 1"),
        ("pca", {"threshold": -0.1}, "threshold=-0.1 .* at least 0"),
        ("capacity", {"repeats": 0}, "repeats=0 .* integer of at least 2"),
        ("u_statistic", {"max_dimension": 0}, "max_dimension=0 .* integer of at least 1"),
    ],
)
def test_impossible_parameters_are_refused(name, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(dimension, name)(manifolds.affine(100, 2, 2, 0), **options)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.9617, 0.0219, "1.962 ± 0.022"),
        (4.94, 0.123, "4.94 ± 0.12"),
        (12.4, 3.21, "12.4 ± 3.2"),
        (40.0, 25.0, "40 ± 25"),
        (3.0, 3e-8, "3.0000 ± <0.0001"),
        (2.0, 0.0, "2.0000 ± <0.0001"),
    ],
)
def test_an_estimate_is_printed_to_two_digits_of_its_error(value, error, text):
    curve = dimension.pca(np.random.default_rng(0).normal(size=(20, 3))).curve
    assert str(dimension.Dimension("name", value, error, None, curve)) == f"name: {text}"


@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve", "punched_sphere"])
@pytest.mark.parametrize("n", [200, 500, 800, 1000, 1500])
def test_the_default_neighbourhoods_of_local_pca_are_flat(surface, n):
    for seed in range(3):
        points = SURFACES[surface](n, random_state=seed).points
        assert dimension.local_pca(points).dimension == 2


@pytest.mark.parametrize("d", [4, 10, 20])
def test_the_default_neighbourhoods_of_local_pca_hold_many_dimensions(d):
    solid = np.random.default_rng(0).normal(size=(600, d))
    assert dimension.local_pca(solid).dimension == d


def test_the_linear_dimension_is_no_bound_with_its_default_threshold():
    rng = np.random.default_rng(0)
    box = rng.uniform(size=(800, 3)) * [10, 10, 1]
    assert dimension.pca(box).dimension == 2
    assert dimension.pca(box, threshold=1e-9).dimension == 3
    ellipsoid = rng.normal(size=(500, 6)) * [10, 5, 3, 2, 1, 0.5]
    turned = ellipsoid @ np.linalg.qr(rng.normal(size=(20, 6)))[0].T
    assert dimension.pca(turned).dimension == 3
    assert dimension.pca(turned, threshold=1e-9).dimension == 6

"""Degrees, volumes, spectra, diameters and contractions against networkx, loops and theorems."""

import networkx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles.neighbors import components
from tests.stages.drawn import EPS, LAW, rngs, sparse
from unbend.graphs import (
    boundary_volume,
    contract,
    degree_counts,
    diameter,
    eigenvalue_bounds,
    graph_eigenvalue,
    laplacian,
    rayleigh_quotient,
    spectrum,
    symmetrize,
    volume,
    volumes,
)

sizes = st.integers(2, 12)
densities = st.sampled_from([0.15, 0.3, 0.6, 1.0])


def drawn(rng, n, density, unit=False, directed=False):
    present = rng.random((n, n)) < density
    weights = present * (1.0 if unit else rng.uniform(0.1, 3, (n, n)))
    np.fill_diagonal(weights, 0.0)
    return weights if directed else np.triu(weights) + np.triu(weights).T


def connected(weights):
    return components(weights).max() == 0


@LAW
@given(rngs, sizes, densities)
def test_degrees_and_volumes_of_vertices_are_those_of_networkx(rng, n, density):
    weights = drawn(rng, n, density, directed=True)
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    own = csr_array(weights)
    for direction, counted in (("out", graph.out_degree), ("in", graph.in_degree)):
        assert degree_counts(own, direction).tolist() == [counted[v] for v in range(n)]
        expected = [d for _, d in counted(weight="weight")]
        np.testing.assert_allclose(volumes(own, direction), expected, n * EPS)
    assert degree_counts(own, "both").tolist() == [graph.degree[v] for v in range(n)]


@LAW
@given(rngs, sizes, densities)
def test_volumes_of_clusters_follow_their_definition(rng, n, density):
    weights = drawn(rng, n, density, directed=True)
    own, inside = csr_array(weights), rng.random(n) < 0.5
    members = np.flatnonzero(inside)
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    leaving_edges = networkx.edge_boundary(graph, members.tolist(), data="weight")
    expected = sum(weight for _, _, weight in leaving_edges)
    leaving = boundary_volume(own, members)
    assert leaving == boundary_volume(own, inside)
    np.testing.assert_allclose(leaving, weights[np.ix_(inside, ~inside)].sum(), n * n * EPS)
    reaching = boundary_volume(own, members, "in")
    np.testing.assert_allclose(reaching, weights[np.ix_(~inside, inside)].sum(), n * n * EPS)
    np.testing.assert_allclose(leaving, expected, n * n * EPS)
    np.testing.assert_allclose(volume(own, inside), weights[inside].sum(), n * n * EPS)
    np.testing.assert_allclose(volume(own, inside, "in"), weights[:, inside].sum(), n * n * EPS)
    # What leaves a cluster reaches the rest, and each volume is inner and boundary together.
    np.testing.assert_allclose(leaving, boundary_volume(own, ~inside, "in"), n * n * EPS)
    inner = weights[np.ix_(inside, inside)].sum()
    np.testing.assert_allclose(volume(own, inside), inner + leaving, n * n * EPS)


@pytest.mark.parametrize("how", ["max", "min", "mean"])
@LAW
@given(rngs, sizes, densities)
def test_a_directed_graph_has_the_laplacian_of_its_symmetrisation(how, rng, n, density):
    weights = csr_array(drawn(rng, n, density, directed=True))
    for kind in ("plain", "symmetric", "random_walk"):
        found = laplacian(weights, kind, symmetrization=how).toarray()
        expected = laplacian(symmetrize(weights, how), kind).toarray()
        np.testing.assert_array_equal(found, expected)
    undirected = symmetrize(weights, how)
    graph = networkx.from_scipy_sparse_array(undirected)
    expected = networkx.laplacian_matrix(graph, nodelist=range(n)).toarray()
    found = laplacian(weights, symmetrization=how).toarray()
    np.testing.assert_allclose(found, expected, 0, 8 * n * EPS)


@LAW
@given(rngs, sizes, densities)
def test_the_spectrum_is_that_of_networkx_whole_or_in_part(rng, n, density):
    weights = drawn(rng, n, density)
    expected = networkx.normalized_laplacian_spectrum(networkx.from_numpy_array(weights))
    whole = spectrum(csr_array(weights))
    np.testing.assert_allclose(whole, np.sort(expected), 0, 1e-12)
    count = int(rng.integers(1, n + 1))
    np.testing.assert_allclose(spectrum(csr_array(weights), count), whole[:count], 0, 1e-9)


@LAW
@given(rngs, sizes, densities)
def test_zero_eigenvalues_are_as_many_as_components(rng, n, density):
    weights = drawn(rng, n, density, unit=True)
    values = spectrum(csr_array(weights))
    # Of a connected part λ ≥ 1/(diameter · volume) > 1/n³.
    assert np.sum(values < 0.5 / n**3) == components(weights).max() + 1


@LAW
@given(rngs, sizes, densities, st.booleans())
def test_lemma_3_1_bounds_the_spectrum(rng, n, density, unit):
    weights = drawn(rng, n, density, unit)
    values, slack = spectrum(csr_array(weights)), 1e-12
    alone = np.any(weights.sum(axis=1) == 0)
    assert values.sum() <= n + slack
    assert np.isclose(values.sum(), n) == (not alone)
    assert alone or values[-1] >= n / (n - 1) - slack
    assert values[-1] <= 2 + slack
    bounds = eigenvalue_bounds(csr_array(weights))
    assert values[1] <= bounds.upper + slack
    complete = np.all(weights + np.eye(n) > 0)
    assert bounds.upper == (n / (n - 1) if complete else 1.0)
    assert (values[1] > 1e-9) == connected(weights)
    if complete and unit:
        np.testing.assert_allclose(values[1], n / (n - 1), 1e-12)


@LAW
@given(rngs, sizes, densities, st.booleans())
def test_lemma_3_2_bounds_the_graph_eigenvalue_from_below(rng, n, density, unit):
    weights = drawn(rng, n, density, unit)
    bounds = eigenvalue_bounds(csr_array(weights))
    assert bounds.lower <= graph_eigenvalue(csr_array(weights)) + 1e-12
    assert (bounds.lower > 0) == connected(weights)
    np.testing.assert_allclose(bounds.volume, weights.sum())
    if connected(weights):
        graph = networkx.from_numpy_array(weights)
        resistance = {edge: 1 / weights[edge] for edge in graph.edges}
        networkx.set_edge_attributes(graph, resistance, "resistance")
        expected = networkx.diameter(graph, weight=None if unit else "resistance")
        np.testing.assert_allclose(bounds.resistance, expected, 1e-12)
        np.testing.assert_allclose(bounds.lower, 1 / (expected * weights.sum()), 1e-12)


@LAW
@given(rngs, sizes, densities)
def test_no_function_has_a_lower_quotient_than_the_graph_eigenvalue(rng, n, density):
    weights = drawn(rng, n, density)
    degree = weights.sum(axis=1)
    assume(connected(weights))
    f = rng.normal(size=n)
    f -= np.sum(f * degree) / degree.sum()
    quotient = rayleigh_quotient(csr_array(weights), f)
    assert quotient >= graph_eigenvalue(csr_array(weights)) - 1e-12
    g, normalized = np.sqrt(degree) * f, laplacian(csr_array(weights), "symmetric").toarray()
    np.testing.assert_allclose(quotient, g @ normalized @ g / (g @ g), 1e-9)
    values, vectors = np.linalg.eigh(normalized)
    for value, vector in zip(values, vectors.T, strict=True):
        found = rayleigh_quotient(csr_array(weights), vector / np.sqrt(degree))
        np.testing.assert_allclose(found, value, 0, 1e-12)


@LAW
@given(rngs, st.integers(3, 12), densities, st.data())
def test_theorem_3_2_contraction_does_not_lower_the_graph_eigenvalue(rng, n, density, data):
    weights = drawn(rng, n, density)
    count = data.draw(st.integers(2, n))
    groups = rng.permutation(np.concatenate((np.arange(count), rng.integers(0, count, n - count))))
    merged = contract(csr_array(weights), groups)
    assert graph_eigenvalue(merged) >= graph_eigenvalue(csr_array(weights)) - 1e-9
    np.testing.assert_allclose(volume(merged), weights.sum(), n * n * EPS)


@LAW
@given(rngs, st.integers(3, 10), densities)
def test_one_step_of_contraction_is_that_of_the_book(rng, n, density):
    weights = drawn(rng, n, density)
    weights[np.diag_indices(n)] = rng.random(n)
    groups = np.r_[0, 0, np.arange(1, n - 1)]
    merged = contract(csr_array(weights), groups).toarray()
    np.testing.assert_allclose(merged[0, 1:], weights[0, 2:] + weights[1, 2:], n * EPS)
    loop = weights[0, 0] + weights[1, 1] + 2 * weights[0, 1]
    np.testing.assert_allclose(merged[0, 0], loop, n * EPS)
    np.testing.assert_array_equal(merged[1:, 1:], weights[2:, 2:])


@LAW
@given(rngs, st.integers(1, 40), st.integers(0, 4), st.booleans())
def test_the_diameter_is_the_longest_of_all_shortest_paths(rng, n, edges, unit):
    lengths = np.full((n, n), np.inf)
    ends = rng.integers(0, n, (2, edges * n))
    lengths[ends[0], ends[1]] = 1.0 if unit else rng.random(edges * n) * (rng.random() < 0.9)
    lengths = np.minimum(lengths, lengths.T)
    np.fill_diagonal(lengths, np.inf)
    graph = networkx.from_scipy_sparse_array(sparse(lengths))
    expected = np.inf
    if networkx.is_connected(graph):
        expected = networkx.diameter(graph, weight="weight")
    np.testing.assert_allclose(diameter(sparse(lengths)), expected, 1e-11)


def test_directed_weights_are_refused_where_only_undirected_ones_have_an_answer():
    arrows = csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    for quantity in (spectrum, graph_eigenvalue, diameter, eigenvalue_bounds):
        with pytest.raises(ValueError, match="symmetrize"):
            quantity(arrows)
    with pytest.raises(ValueError, match="symmetrize"):
        rayleigh_quotient(arrows, [1.0, -1.0])


def test_questions_about_a_graph_leave_it_as_it_was():
    weights = csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    before = weights.copy()
    (
        spectrum(weights, 3),
        eigenvalue_bounds(weights),
        diameter(weights),
        contract(weights, [0, 0, 1]),
    )
    assert weights.nnz == before.nnz
    assert (weights.data == before.data).all()

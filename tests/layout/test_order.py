"""The order of rows: layouts do not depend on it, and symmetric graphs have one form."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

import unbend.methods.neighbor_embedding as method
from unbend import NeighborEmbedding
from unbend.layout.order import canonical_form, canonical_order, sample_rows

DIGITS = load_digits().data
SHUFFLE = np.random.default_rng(7).permutation(len(DIGITS))


def ring(n):
    """Affinities of a ring: all vertices are alike."""
    ones = np.ones(n)
    return csr_array(
        diags_array([ones[:1], ones[1:], ones[1:], ones[:1]], offsets=[1 - n, -1, 1, n - 1])
    )


def blocks(n, copies):
    """Repeat a random graph, without edges between the copies."""
    rng = np.random.default_rng(n)
    one = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 1)
    return csr_array(np.kron(np.eye(copies), one + one.T))


@pytest.mark.parametrize("graph", [ring(30), blocks(40, 1), blocks(25, 4)], ids=str)
def test_renumbered_graphs_have_one_form(graph):
    for seed in range(5):
        swap = np.random.default_rng(seed).permutation(graph.shape[0])
        form, order = canonical_form(graph)
        other, _ = canonical_form(csr_array(graph[swap][:, swap]))
        np.testing.assert_array_equal(form.toarray(), other.toarray())
        assert sorted(order) == list(range(graph.shape[0]))


def test_a_graph_without_symmetry_has_one_order():
    graph = blocks(60, 1)
    swap = np.random.default_rng(0).permutation(60)
    swapped = canonical_order(csr_array(graph[swap][:, swap]))
    np.testing.assert_array_equal(swap[swapped], canonical_order(graph))


def test_vertices_without_edges_are_ordered_too():
    assert sorted(canonical_order(csr_array((5, 5)))) == list(range(5))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exaggeration": 4, "perplexity": 10},
        {"n_components": 1},
        {"n_components": 3, "max_iter": 20},
        {"init": "pca"},
        {"exaggeration": 4, "n_neighbors": 15},
    ],
    ids=str,
)
def test_permuting_rows_permutes_the_layout_to_the_bit(options):
    model, other = (
        NeighborEmbedding(**{"max_iter": 60, **options}).fit(rows)
        for rows in (DIGITS, DIGITS[SHUFFLE])
    )
    np.testing.assert_array_equal(model.embedding_[SHUFFLE], other.embedding_)
    assert model.kl_divergence_ == other.kl_divergence_


def test_rotations_and_units_change_no_bit():
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(64, 64)))[0]
    model = NeighborEmbedding(max_iter=30).fit(DIGITS)
    for rows in (DIGITS @ turn, 3.7 * DIGITS):
        np.testing.assert_array_equal(
            NeighborEmbedding(max_iter=30).fit(rows).embedding_, model.embedding_
        )


def test_permuting_duplicate_rows_permutes_the_layout():
    rows = np.concatenate([DIGITS[:700], DIGITS[:200], DIGITS[:50]])
    swap = np.random.default_rng(1).permutation(len(rows))
    model, other = (NeighborEmbedding(max_iter=50).fit(some) for some in (rows, rows[swap]))
    np.testing.assert_array_equal(model.embedding_[swap], other.embedding_)
    np.testing.assert_array_equal(model.embedding_[:200], model.embedding_[700:900])


def test_permuting_equal_clusters_permutes_the_layout():
    rows = np.concatenate([1000.0 * c + DIGITS[:300] for c in range(4)])
    swap = np.random.default_rng(2).permutation(len(rows))
    with pytest.warns(UserWarning, match="4 components"):
        model, other = (
            NeighborEmbedding(perplexity=10, max_iter=50).fit(some) for some in (rows, rows[swap])
        )
    assert model.kl_divergence_ == other.kl_divergence_
    one, two = (np.sort(pairwise_distances(m.embedding_), axis=None) for m in (model, other))
    np.testing.assert_array_equal(one, two)


def test_permuting_distances_permutes_the_layout():
    distances = pairwise_distances(np.random.default_rng(3).normal(size=(1200, 5)))
    swap = np.random.default_rng(4).permutation(1200)
    model, other = (
        NeighborEmbedding(metric="precomputed", max_iter=50).fit(some)
        for some in (distances, distances[swap][:, swap])
    )
    np.testing.assert_array_equal(model.embedding_[swap], other.embedding_)


def test_principal_components_are_those_of_the_same_rows_in_any_order(monkeypatch):
    some = sample_rows(DIGITS, 300)
    np.testing.assert_array_equal(some, sample_rows(DIGITS[SHUFFLE], 300))
    assert len(np.unique(some, axis=0)) == 300
    monkeypatch.setattr(method, "PRINCIPAL_ROWS", 300)
    model, other = (NeighborEmbedding(max_iter=20).fit(rows) for rows in (DIGITS, DIGITS[SHUFFLE]))
    np.testing.assert_array_equal(model.embedding_[SHUFFLE], other.embedding_)


def test_snapshots_are_in_the_order_of_the_data():
    last = []
    model = NeighborEmbedding(max_iter=5).fit(DIGITS[:400], callback=lambda _, y: last.append(y))
    np.testing.assert_array_equal(last[-1], model.embedding_.astype(np.float32))

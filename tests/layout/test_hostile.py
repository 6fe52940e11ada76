"""Input on which layouts could fail: few rows, ties, vertices without edges, interruptions."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

import unbend.sklearn
from unbend import NeighborEmbedding

DIGITS = load_digits().data
FEW = np.random.default_rng(0).normal(size=(60, 4))
# A path of ten vertices, and three vertices without edges.
PATH = np.zeros((13, 13))
PATH[:10, :10] = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)


def fit_quietly(rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NeighborEmbedding(**options).fit(rows)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", range(5, 11))
def test_few_rows_are_laid_out_apart(n, d):
    rows = np.random.default_rng(n).normal(size=(n, 3))
    model = fit_quietly(rows, n_components=d)
    assert len(np.unique(model.embedding_, axis=0)) == n
    assert 0 <= model.kl_divergence_ < np.log(n * (n - 1))  # the entropy that all pairs could have
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-4)


@pytest.mark.parametrize("perplexity", [21.0, 40.0, 58.0])
def test_a_perplexity_above_a_third_of_the_rows_is_met(perplexity):
    p = fit_quietly(FEW, perplexity=perplexity).affinities_
    assert p.nnz == 60 * 59
    assert p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused_by_fit_and_transform(value):
    bad = FEW.copy()
    bad[3, 2] = value
    with pytest.raises(ValueError, match="row 3, column 2"):
        NeighborEmbedding().fit(bad)
    model = fit_quietly(FEW)
    with pytest.raises(ValueError, match="row 3, column 2"):
        model.transform(bad)


def test_constant_columns_change_nothing():
    constant = np.column_stack([np.ones(60), FEW, np.full(60, 7.0)])
    np.testing.assert_array_equal(fit_quietly(constant).embedding_, fit_quietly(FEW).embedding_)


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 3}], ids=str)
def test_vertices_without_edges_get_places_of_their_own(options):
    rows = np.random.default_rng(1).normal(size=(13, 3))
    graph = csr_array(PATH)
    with pytest.warns(UserWarning, match="4 components"):
        model = NeighborEmbedding(**options).fit(rows, graph=graph)
    assert np.all(np.isfinite(model.embedding_))
    with pytest.raises(ValueError, match="no distances to bridge them with"):
        NeighborEmbedding(metric="precomputed").fit(graph)
    apart = fit_quietly(graph, metric="precomputed", connect="components")
    assert len(np.unique(apart.embedding_, axis=0)) == 13


@pytest.mark.parametrize("connect", ["bridge", "enlarge", "largest", "components"])
def test_every_policy_for_disconnected_graphs_lays_all_rows_out(connect):
    rows = np.concatenate([FEW, FEW[:30] + 1000.0])
    model = fit_quietly(rows, perplexity=5, connect=connect)
    assert np.all(np.isfinite(model.embedding_))
    if connect != "largest":  # there the others are placed by an extension
        labels = np.repeat([0, 1], [60, 30])
        assert unbend.quality.neighborhood_hit(model.embedding_, labels) == 1.0


def test_tied_distances_of_a_lattice_give_a_layout():
    lattice = np.stack(np.meshgrid(range(12), range(12)), axis=-1).reshape(-1, 2)
    model = fit_quietly(lattice, perplexity=5)
    assert unbend.quality.trustworthiness(lattice, model.embedding_) > 0.97


def test_single_precision_gives_the_layout_of_its_values():
    single = FEW.astype(np.float32)
    one, two = fit_quietly(single), fit_quietly(single.astype(np.float64))
    assert one.embedding_.dtype == np.float32
    np.testing.assert_allclose(one.embedding_, two.embedding_, rtol=1e-6)
    assert one.transform(single[:5] + 0.1).dtype == np.float32


def test_a_given_start_has_a_row_for_each_row_of_the_data():
    start = np.random.default_rng(2).normal(size=(60, 2))
    double = np.concatenate([FEW, FEW])
    model = fit_quietly(double, init=np.concatenate([start, -start]))
    np.testing.assert_array_equal(model.embedding_[:60], fit_quietly(FEW, init=start).embedding_)
    np.testing.assert_array_equal(model.embedding_[:60], model.embedding_[60:])
    for wrong in (start[:59], np.concatenate([start, start]), start[:, :1]):
        with pytest.raises(ValueError, match=r"init has the shape .*: pass an array \(60, 2\)"):
            NeighborEmbedding(init=wrong).fit(FEW)


def test_a_start_in_one_place_is_spread():
    model = fit_quietly(FEW, init=np.zeros((60, 2)))
    assert len(np.unique(model.embedding_, axis=0)) == 60


def test_an_interrupted_fit_keeps_the_model_before():
    model = NeighborEmbedding(max_iter=10).fit(DIGITS[:300])
    before, placed = model.embedding_.copy(), model.transform(DIGITS[300:320])

    def interrupt(iteration, layout):
        if iteration == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(DIGITS[500:1000], callback=interrupt)
    np.testing.assert_array_equal(model.embedding_, before)
    np.testing.assert_array_equal(model.transform(DIGITS[300:320]), placed)


@pytest.mark.parametrize(
    "options",
    [{"n_components": 1}, {"n_components": 3}, {"exaggeration": 4, "n_neighbors": 12}],
    ids=str,
)
def test_new_samples_are_placed_alone_as_in_bulk_by_any_threads_and_after_loading(
    options, tmp_path
):
    model = NeighborEmbedding(max_iter=20, n_jobs=2, **options).fit(DIGITS[:500])
    new = DIGITS[500:540]
    bulk = model.transform(new)
    alone = np.concatenate([model.transform(row[None]) for row in new])
    np.testing.assert_array_equal(bulk, alone)
    single = NeighborEmbedding(max_iter=20, n_jobs=1, **options).fit(DIGITS[:500])
    np.testing.assert_array_equal(single.transform(new), bulk)
    model.save(tmp_path / "model.unbend")
    np.testing.assert_array_equal(unbend.load(tmp_path / "model.unbend").transform(new), bulk)


@pytest.mark.parametrize("name", ["exaggeration", "early_exaggeration", "perplexity"])
@pytest.mark.parametrize("value", [1e308, 1e200, 1e18, 10**400, np.inf, np.nan, -1.0, 0])
def test_numbers_beyond_all_layouts_are_refused_in_one_sentence(name, value):
    with pytest.raises(ValueError, match=f"^{name}=.* is not allowed: it must be a number above"):
        NeighborEmbedding(**{name: value}).fit(FEW)


@pytest.mark.parametrize("exaggeration", [1e-300, 1e15])
def test_the_largest_and_smallest_exaggerations_give_finite_layouts(exaggeration):
    model = fit_quietly(FEW, exaggeration=exaggeration)
    assert np.all(np.isfinite(model.embedding_))
    assert np.isfinite(model.kl_divergence_)


def test_the_largest_perplexity_is_lowered():
    with pytest.warns(UserWarning, match="60 distinct rows: perplexity was lowered to 19.67"):
        model = NeighborEmbedding(perplexity=1e9, max_iter=10).fit(FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        assert model.affinities_.nnz == 60 * 59


@pytest.mark.parametrize(
    "options", [{"learning_rate": 1e308}, {"learning_rate": 1e20}, {"early_exaggeration": 1e100}]
)
def test_a_diverging_descent_under_scikit_learns_name_is_refused(options):
    with pytest.raises(ValueError, match=r"t-SNE diverged: .* Lower learning_rate"):
        unbend.sklearn.TSNE(random_state=0, **options).fit(FEW)


def test_the_smallest_angle_sums_all_pairs():
    tiny, none = (
        unbend.sklearn.TSNE(random_state=0, angle=angle, max_iter=300).fit_transform(FEW)
        for angle in (1e-300, 0.0)
    )
    np.testing.assert_array_equal(tiny, none)


def test_a_callback_may_copy_the_model_and_write_into_its_layout():
    model = NeighborEmbedding(max_iter=10).fit(DIGITS[:300])
    before, copies = model.embedding_.copy(), []

    def meddle(iteration, layout):
        if iteration == 5:
            copies.extend([pickle.loads(pickle.dumps(model)), copy.deepcopy(model)])
            NeighborEmbedding(max_iter=1).fit(DIGITS[:100])
        layout[:] = np.nan

    model.fit(DIGITS[:400], callback=meddle)
    expected = NeighborEmbedding(max_iter=10).fit(DIGITS[:400])
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    for one in copies:  # the model before, whole
        np.testing.assert_array_equal(one.embedding_, before)
        np.testing.assert_array_equal(one.transform(DIGITS[:5]), before[:5])


def test_a_callback_that_cannot_be_called_is_refused_at_once():
    with pytest.raises(TypeError, match="callback=3 is not allowed: it must be a function or None"):
        NeighborEmbedding().fit(FEW, callback=3)

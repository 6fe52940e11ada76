"""Layouts of affinities that are given instead of rows."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.datasets import load_digits

import unbend
from unbend.layout.descent import divergence

X = load_digits().data
ROWS = X[:300]
OPTIONS = {"perplexity": 10, "max_iter": 50, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return unbend.NeighborEmbedding(**OPTIONS).fit(ROWS)


def given(**options):
    more = {"max_iter": 50, "random_state": 0} | options
    return unbend.NeighborEmbedding(metric="affinity", **more)


@pytest.mark.parametrize("scale", [1.0, 1000.0, 2.0**-30])
def test_the_affinities_of_a_fit_give_its_layout(fitted, scale):
    again = given().fit(fitted.affinities_ * scale)
    np.testing.assert_array_equal(again.embedding_, fitted.embedding_)
    assert again.kl_divergence_ == pytest.approx(fitted.kl_divergence_, abs=1e-6)
    assert abs(again.affinities_ - fitted.affinities_).max() <= 1e-15


def test_dense_affinities_and_their_diagonal_change_nothing(fitted):
    dense = fitted.affinities_.toarray()
    np.fill_diagonal(dense, dense.max())
    np.testing.assert_array_equal(given().fit(dense).embedding_, fitted.embedding_)


def test_the_divergence_is_that_of_the_matrix_given(fitted):
    """Against the definition over all pairs, in double precision."""
    again = given().fit(fitted.affinities_)
    p, y = fitted.affinities_.toarray(), again.embedding_
    w = 1.0 / (1.0 + np.square(y[:, None] - y).sum(axis=2))
    np.fill_diagonal(w, 0.0)
    q, some = w / w.sum(), p > 0
    expected = np.sum(p[some] * np.log(p[some] / q[some]))
    assert again.kl_divergence_ == pytest.approx(expected, rel=1e-5)
    assert divergence(fitted.affinities_, y) == pytest.approx(expected, rel=1e-5)


def test_exaggeration_max_gives_the_eigenmaps_of_the_matrix(fitted):
    waves = given(exaggeration="max").fit(fitted.affinities_)
    theirs = unbend.LaplacianEigenmaps(metric="affinity").fit(fitted.affinities_)
    np.testing.assert_allclose(waves.eigenvalues_, theirs.eigenvalues_, atol=1e-10)
    cosines = np.abs(np.sum(waves.embedding_ * theirs.embedding_, axis=0)) / np.prod(
        [np.linalg.norm(m.embedding_, axis=0) for m in (waves, theirs)], axis=0
    )
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)


def test_a_new_sample_minimises_its_own_divergence(fitted):
    """No displacement of a placed sample lowers ρ Σ p log(1 + d²) + (n / Z) Σ 1 / (1 + d²)."""
    model = given().fit(fitted.affinities_)
    rows = np.asarray(fitted.affinities_.toarray()[:5])
    placed, y = model.transform(rows), model.embedding_
    squares = np.square(y[:, None] - y).sum(axis=2)
    normalizer = np.sum(1.0 / (1.0 + squares)) - len(y)

    def objective(row, place):
        d = 1.0 + np.square(place - y).sum(axis=1)
        return np.sum(row / row.sum() * np.log(d)) + len(y) / normalizer * np.sum(1.0 / d)

    for row, place in zip(rows, placed, strict=True):
        lowest = objective(row, place)
        for angle in np.linspace(0, 2 * np.pi, 12):
            step = 0.3 * np.array([np.cos(angle), np.sin(angle)])
            assert objective(row, place + step) > lowest
    np.testing.assert_array_equal(model.transform(rows[2:3]), placed[2:3])


def test_saved_models_place_new_samples_as_before(fitted, tmp_path):
    model = given().fit(fitted.affinities_)
    model.save(tmp_path / "model.unbend")
    rows = fitted.affinities_.toarray()[:5]
    again = unbend.load(tmp_path / "model.unbend")
    np.testing.assert_array_equal(again.transform(rows), model.transform(rows))


def test_a_disconnected_matrix_is_embedded_whole_or_by_components(fitted):
    both = csr_array(block_diag([fitted.affinities_] * 2))
    with pytest.warns(UserWarning, match="components"):
        whole = given().fit(both)
    assert len(np.unique(whole.embedding_.round(6), axis=0)) > 590
    with pytest.warns(UserWarning, match="embedded on its own"):
        apart = given(connect="components").fit(both)
    first, second = apart.embedding_[:300], apart.embedding_[300:]
    shift = second.mean(axis=0) - first.mean(axis=0)
    np.testing.assert_allclose(second - shift, first, atol=1e-4)


@pytest.mark.parametrize(
    "option", [{"perplexity": 5.0}, {"n_neighbors": 5}, {"radius": 1.0}, {"mutual": True}]
)
def test_neighbourhoods_are_refused_with_affinities(fitted, option):
    with pytest.raises(ValueError, match="has no effect with metric='affinity'"):
        given(**option).fit(fitted.affinities_)


def test_matrices_that_are_no_affinities_are_refused(fitted):
    matrix = fitted.affinities_.toarray()
    with pytest.raises(ValueError, match="not symmetric"):
        given().fit(np.triu(matrix))
    with pytest.raises(ValueError, match="non-negative"):
        given().fit(-matrix)
    matrix[3] = matrix[:, 3] = 0
    with pytest.raises(ValueError, match="no edge of positive weight"):
        given().fit(matrix)

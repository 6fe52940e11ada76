"""The co-ranking matrix and its curves against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unbend
from tests.oracles import quality as oracle
from tests.stages.drawn import LAW, rngs
from unbend.quality import coranking, coranking_matrix, neighborhood_preservation


def drawn(rng, n, columns, coarse):
    return rng.integers(0, 4, (n, columns)) * 1.0 if coarse else rng.normal(size=(n, columns))


@LAW
@given(rngs, st.integers(3, 25), st.booleans())
def test_the_matrix_and_all_curves_are_those_of_the_definitions(rng, n, coarse):
    X, embedding = drawn(rng, n, 4, coarse), drawn(rng, n, 2, coarse)
    Q = oracle.coranking(X, embedding)
    assert (coranking_matrix(X, embedding) == Q).all()
    found = coranking(X, embedding)
    assert np.allclose(found.q_nx, oracle.q_nx(Q), atol=1e-14)
    assert np.allclose(found.lcmc, oracle.lcmc(Q), atol=1e-14)
    assert np.allclose(found.r_nx, oracle.r_nx(Q), atol=1e-12)
    assert found.q_nx_auc == pytest.approx(oracle.auc_ln_k(oracle.q_nx(Q)), abs=1e-12)
    assert found.lcmc_auc == pytest.approx(oracle.auc_ln_k(oracle.lcmc(Q)), abs=1e-12)
    assert found.r_nx_auc == pytest.approx(oracle.auc_ln_k(oracle.r_nx(Q)), abs=1e-12)
    assert found.lcmc_auc.local.mean() == pytest.approx(found.lcmc_auc, abs=1e-12)
    highest = oracle.lcmc(Q).max()
    assert found.k_max == np.argmax(oracle.lcmc(Q) >= highest - 1e-12) + 1
    assert found.q_local == pytest.approx(oracle.q_nx(Q)[: found.k_max].mean())
    assert found.q_global == pytest.approx(oracle.q_nx(Q)[found.k_max - 1 :].mean())


@LAW
@given(rngs, st.integers(4, 25), st.booleans(), st.data())
def test_preservation_is_the_curve_at_one_k(rng, n, coarse, data):
    X, embedding = drawn(rng, n, 4, coarse), drawn(rng, n, 2, coarse)
    k = data.draw(st.integers(1, n - 2))
    found = neighborhood_preservation(X, embedding, n_neighbors=k)
    assert found == pytest.approx(coranking(X, embedding).r_nx[k - 1], abs=1e-12)


def test_rows_and_columns_sum_to_the_number_of_points():
    rng = np.random.default_rng(0)
    Q = coranking_matrix(rng.normal(size=(150, 5)), rng.normal(size=(150, 2)))
    assert (Q.sum(axis=0) == 150).all()
    assert (Q.sum(axis=1) == 150).all()


def test_a_perfect_embedding_has_one_everywhere_and_a_random_one_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    same = coranking(X, 2 * X)
    assert np.allclose(same.q_nx, 1)
    assert np.allclose(same.r_nx, 1)
    assert same.r_nx_auc == pytest.approx(1)
    assert (same.r_nx_error == 0).all()
    other = coranking(X, rng.normal(size=(400, 3)))
    assert abs(other.r_nx_auc) < 0.02
    assert abs(other.lcmc_auc) < 0.02


def test_a_sample_of_rows_errs_by_about_its_standard_error():
    roll = unbend.datasets.swiss_roll(1200, random_state=0)
    squashed = roll.points[:, :2]
    exact = coranking(roll.points, squashed)
    scores, curves = [], []
    for seed in range(30):
        part = coranking(roll.points, squashed, max_rows=100, random_state=seed)
        scores.append((part.r_nx_auc - exact.r_nx_auc) / part.r_nx_auc.error)
        curves.append((part.r_nx[9] - exact.r_nx[9]) / part.r_nx_error[9])
    # The mean square of thirty such ratios lies in this range but for one time in a thousand.
    assert 0.35 < np.mean(np.square(scores)) < 2.2
    assert 0.35 < np.mean(np.square(curves)) < 2.2


def test_the_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    X, embedding = rng.normal(size=(150, 4)), rng.normal(size=(150, 2))
    whole, matrix = coranking(X, embedding), coranking_matrix(X, embedding)
    chunks = [slice(0, 7), slice(7, 64), slice(64, 150)]
    monkeypatch.setattr("unbend.quality.corank.row_chunks", lambda n, size: chunks)
    assert np.allclose(coranking(X, embedding).q_nx, whole.q_nx, atol=1e-15)
    assert coranking(X, embedding).r_nx_auc == pytest.approx(whole.r_nx_auc)
    assert (coranking_matrix(X, embedding) == matrix).all()


def test_too_few_points_and_too_large_matrices_are_refused():
    with pytest.raises(ValueError, match=r"2 sample\(s\)"):
        coranking(np.zeros((2, 1)), np.zeros((2, 1)))
    refused = pytest.raises(MemoryError, match="use coranking, which gives the curves")
    with refused, unbend.memory_limit(1000):
        coranking_matrix(np.zeros((50, 1)), np.zeros((50, 1)))

"""Duplicate objects have equal coordinates, whatever the start, the solver and the loss."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from unbend import Isomap, MetricMDS, NonmetricMDS
from unbend.mds.duplicates import Duplicates, find_duplicates
from unbend.mds.object_pairs import Pairs

RNG = np.random.default_rng(3)
COPY = RNG.permutation(np.r_[np.arange(25), RNG.integers(0, 25, size=15)])
ROWS = RNG.normal(size=(25, 3))[COPY]
FIRST = np.unique(COPY, return_index=True)[1][COPY]
METHODS = [
    *((MetricMDS, {"solver": solver}) for solver in ("lbfgs", "smacof", "sgd")),
    *((MetricMDS, {"loss": loss}) for loss in ("stress1", "sstress", "sammon")),
    *((NonmetricMDS, {"solver": solver}) for solver in ("lbfgs", "smacof")),
    *((NonmetricMDS, {"transformation": kind}) for kind in ("interval", "ratio")),
    (NonmetricMDS, {"loss": "inverse"}),
    (NonmetricMDS, {"ties": "secondary"}),
]
NAMES = [f"{kind.__name__}-{'-'.join(options.values())}" for kind, options in METHODS]


@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("init", ["auto", "random"])
@pytest.mark.parametrize(("kind", "options"), METHODS, ids=NAMES)
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_duplicates_have_equal_coordinates(kind, options, init, precomputed):
    # On a line duplicates that start on two sides of another object stay there on their own.
    method = kind(1, init=init, n_init=2, max_iter=300, random_state=0, **options)
    if precomputed:
        method.set_params(metric="precomputed")
    found = method.fit(squareform(pdist(ROWS)) if precomputed else ROWS).embedding_
    assert np.abs(found - found[FIRST]).max() <= 1e-12 * np.abs(found).max()
    assert np.ptp(found) > 0.1 * np.ptp(ROWS)


def test_joined_smacof_never_raises_the_stress():
    history = MetricMDS(1, solver="smacof", init="random", n_init=1, random_state=1).fit(ROWS)
    assert (np.diff(history.history_) <= 1e-12 * history.history_[0]).all()


def test_the_joined_minimum_is_a_minimum_over_distinct_objects():
    # Weighed pairs of distinct objects are the same problem, by another way.
    _, first, counts = np.unique(ROWS, axis=0, return_index=True, return_counts=True)
    weights = np.outer(counts, counts).astype(float)
    joined = MetricMDS(2).fit(ROWS)
    start = joined.embedding_[first]
    weighed = MetricMDS(2, init=start).fit(ROWS[first], weights=weights)
    assert joined.stress_ == pytest.approx(weighed.stress_, rel=1e-9)


def test_duplicates_are_found_by_all_their_distances():
    assert np.array_equal(find_duplicates(Pairs.from_matrix(squareform(pdist(ROWS)))), FIRST)
    square = squareform(pdist(RNG.normal(size=(8, 2))))
    assert find_duplicates(Pairs.from_matrix(square)) is None
    square[2, 5] = square[5, 2] = 0.0
    assert np.array_equal(find_duplicates(Pairs.from_matrix(square)), np.arange(8))


def test_rows_are_averaged_over_duplicates():
    rows = np.arange(10.0).reshape(5, 2)
    Duplicates(np.array([0, 1, 0, 3, 1])).average(rows)
    assert np.array_equal(rows, [[2, 3], [5, 6], [2, 3], [6, 7], [5, 6]])
    Duplicates(np.arange(5)).average(rows)
    assert np.array_equal(rows[3], [6, 7])


def test_rounding_on_the_diagonal_hides_no_duplicates():
    square = squareform(pdist(ROWS))
    rounded = square + 1e-8 * square.max() * np.eye(len(square))
    plain, found = (
        Isomap(2, n_neighbors=8, metric="precomputed").fit(rows) for rows in (square, rounded)
    )
    assert found.report_.stage("neighbors").facts["distinct"] == 25
    assert np.array_equal(found.embedding_, plain.embedding_)

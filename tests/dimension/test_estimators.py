"""The functions as scikit-learn estimators."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from tests.dimension import manifolds
from unbend import dimension
from unbend.dimension.estimators import ESTIMATORS, LinearDimension, MaximumLikelihood, TwoNN
from unbend.neighbors import PointSpace


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_an_estimator_says_what_its_function_says(Estimator):
    points = manifolds.affine(400, 2, 4, 0)
    model = Estimator().fit(points)
    found = Estimator._function(points)
    assert model.dimension_ == found.dimension
    assert model.uncertainty_ == found.uncertainty
    assert (model.local_ is None) == (found.local is None)
    assert model.n_features_in_ == 4
    assert pickle.loads(pickle.dumps(model)).dimension_ == found.dimension


def test_parameters_are_the_keywords_of_the_function():
    model = clone(MaximumLikelihood(n_neighbors=9))
    assert model.get_params()["n_neighbors"] == 9
    assert model.get_params()["metric"] == "euclidean"
    with pytest.raises(TypeError, match="TwoNN has no parameter 'neighbors'"):
        TwoNN(neighbors=3)


def test_estimators_end_pipelines():
    points = manifolds.affine(400, 2, 4, 0)
    pipeline = make_pipeline(StandardScaler(), LinearDimension()).fit(points)
    scaled = StandardScaler().fit_transform(points)
    assert pipeline[-1].dimension_ == dimension.pca(scaled).dimension


@pytest.mark.parametrize("estimator", [MaximumLikelihood(n_neighbors=3), LinearDimension()])
def test_the_contract_of_scikit_learn(estimator):
    check_estimator(estimator, on_skip=None)


def test_local_estimates_are_found_when_asked_for_from_what_the_rows_were():
    points = manifolds.affine(400, 2, 4, 0)
    expected = dimension.two_nn(points).local
    given = points.copy()
    later = dimension.two_nn(given)
    saved = pickle.loads(pickle.dumps(dimension.two_nn(points)))
    given[:] = 0.0
    np.testing.assert_array_equal(later.local, expected)
    assert later.local is later.local
    np.testing.assert_array_equal(saved.local, expected)
    np.testing.assert_array_equal(TwoNN().fit(points).local_, expected)
    distances = cdist(points, points)
    between = dimension.two_nn(distances, metric="precomputed")
    np.testing.assert_allclose(between.local, expected, rtol=1e-6)
    assert "two_nn" in repr(later)


def test_two_neighbours_are_enough_for_the_estimate(monkeypatch):
    asked = []
    nearest = PointSpace.nearest
    monkeypatch.setattr(
        PointSpace, "nearest", lambda space, k, *rest: asked.append(k) or nearest(space, k, *rest)
    )
    found = dimension.two_nn(manifolds.affine(400, 2, 4, 0), n_neighbors=12)
    assert asked == [2]
    assert len(found.local) == 400
    assert asked == [2, 12]

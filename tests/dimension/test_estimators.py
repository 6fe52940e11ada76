"""The functions as scikit-learn estimators."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.dimension import manifolds
from unbend import dimension
from unbend.dimension.estimators import ESTIMATORS, LinearDimension, MaximumLikelihood, TwoNN


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


@parametrize_with_checks([MaximumLikelihood(n_neighbors=3), LinearDimension()])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)

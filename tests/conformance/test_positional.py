"""The first parameter of every estimator may be given by position, and no other."""

import inspect
import pickle

import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.manifold
import sklearn.random_projection
from sklearn.base import clone

import unbend
import unbend.sklearn as swapped
from tests.loops import each
from unbend.dimension.estimators import ESTIMATORS
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL
from unbend.validation.parameters import parameters

CLASSES = [entry.load() for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL)]
FIRST = {"SpectralClustering": "n_clusters"}
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
BY_NAME = inspect.Parameter.KEYWORD_ONLY


@each("kind", CLASSES)
def test_the_first_parameter_is_given_by_position(kind):
    name = FIRST.get(kind.__name__, "n_components")
    model = kind(3)
    assert getattr(model, name) == 3
    assert model.get_params() == kind(**{name: 3}).get_params()
    assert repr(model) == repr(kind(**{name: 3})) == f"{kind.__name__}({name}=3)"
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    with pytest.raises(TypeError, match=rf"multiple values for argument '{name}'"):
        kind(3, **{name: 3})


@each("kind", [*CLASSES, *ESTIMATORS])
def test_the_signature_says_so(kind):
    first, *rest = inspect.signature(kind).parameters.values()
    assert first.kind is POSITIONAL
    assert {parameter.kind for parameter in rest} == {BY_NAME}
    own = inspect.signature(kind.__init__).parameters
    assert [name for name in own if name != "self"] == [first.name, *(p.name for p in rest)]
    assert kind._get_param_names() == sorted([first.name, *(p.name for p in rest)])
    if kind in CLASSES:
        declared = [(parameter.name, parameter.default) for parameter in parameters(kind)]
        assert declared == [(p.name, p.default) for p in (first, *rest)]


@each("kind", [*CLASSES, *ESTIMATORS])
def test_a_second_one_is_refused_with_the_way_to_write_it(kind):
    first, second = list(inspect.signature(kind).parameters)[:2]
    name = kind.__name__
    words = rf"{name} takes {first} by position .* write {name}\({first}=3, {second}=…\)"
    with pytest.raises(TypeError, match=words):
        kind(3, 4)
    with pytest.raises(TypeError):
        kind(3, no_such_parameter=4)


@each("kind", ESTIMATORS)
def test_dimension_estimators_take_their_first_parameter_too(kind):
    first, *rest = inspect.signature(kind).parameters.values()
    value = "manhattan" if first.name == "metric" else 7
    model = kind(value)
    assert model.get_params() == {p.name: p.default for p in rest} | {first.name: value}
    assert clone(model).get_params() == model.get_params()


def test_embeddings_are_the_same_by_position_and_by_name():
    X = np.random.default_rng(0).standard_normal((60, 5))
    for kind in (unbend.PCA, unbend.KernelPCA, unbend.Isomap, unbend.LTSA):
        by_name = kind(n_components=3).fit_transform(X)
        assert by_name.shape == (60, 3)
        assert kind(3).fit_transform(X).tobytes() == by_name.tobytes()
    labels = unbend.SpectralClustering(4, random_state=0).fit_predict(X)
    assert sorted(set(labels)) == [0, 1, 2, 3]


@each("name", swapped.__all__)
def test_scikit_learns_names_follow_scikit_learns_rule(name):
    modules = (sklearn.decomposition, sklearn.manifold, sklearn.cluster, sklearn.random_projection)
    (theirs,) = (getattr(module, name) for module in modules if hasattr(module, name))
    assert inspect.signature(getattr(swapped, name)) == inspect.signature(theirs)

"""scikit-learn's own estimator checks, over the registry."""

import tomllib
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import check_estimator

from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS

EXCEPTIONS = tomllib.loads((Path(__file__).parent / "sklearn_exceptions.toml").read_text())


@pytest.mark.filterwarnings("ignore:there are .* distinct rows", "ignore:the neighbourhood graph")
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=[pytest.mark.slow] * (entry.class_name == "MVU"))
        for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS)
    ],
    ids=lambda entry: entry.class_name,
)
def test_every_method_keeps_the_estimator_contract(entry):
    expected = EXCEPTIONS["checks"].get(entry.class_name, {})
    check_estimator(entry.load()(), expected_failed_checks=expected, on_skip=None)

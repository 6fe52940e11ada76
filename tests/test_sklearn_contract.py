"""scikit-learn's own estimator checks, over the registry."""

import tomllib
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from unbend.registry import CLUSTERINGS, METHODS

EXCEPTIONS = tomllib.loads((Path(__file__).parent / "sklearn_exceptions.toml").read_text())


def expected_failures(estimator: object) -> dict[str, str]:
    return EXCEPTIONS["checks"].get(type(estimator).__name__, {})


@pytest.mark.filterwarnings("ignore:there are .* distinct rows", "ignore:the neighbourhood graph")
@parametrize_with_checks(
    [entry.load()() for entry in (*METHODS, *CLUSTERINGS)], expected_failed_checks=expected_failures
)
def test_every_method_keeps_the_estimator_contract(estimator, check):
    check(estimator)

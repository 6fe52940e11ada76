"""Measured times to stop a fit of 100 000 rows: every estimator has one, below a second."""

import json
from pathlib import Path

import pytest

from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS

MEASURED = Path(__file__).parent.parent / "benchmarks" / "cancellation.json"
# Several matrices of 100 000 objects take 80 GB each: there is no fit to cancel.
NAMES = sorted(entry.class_name for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS))


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_of_a_hundred_thousand_rows_stops_or_is_refused_within_a_second(name: str) -> None:
    found = json.loads(MEASURED.read_text())[name]
    if found["status"] == "refused":
        assert found["after"] <= 1.0
    else:
        assert found["status"] == "done"
        assert max(found["callback"], found["signal"]) <= 1.0, found

"""A few random fits under laws; `make fuzz SECONDS=600` tries thousands."""

from pathlib import Path

import pytest

from tests.fuzzing import attempt


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(start, marks=pytest.mark.slow) for start in range(8, 1000, 8))]
)
def test_random_fits_keep_the_laws_or_are_refused(start: int, tmp_path: Path) -> None:
    results = [attempt(number, tmp_path) for number in range(start, start + 8)]
    assert set(results) <= {None, "refused"}
    assert None in results


# Duplicates under stochastic and monotone scaling; a sample as near to one center as to another.
@pytest.mark.parametrize("number", [300837, 301626, 503157, 514366])
def test_cases_that_broke_a_law_keep_it(number: int, tmp_path: Path) -> None:
    assert attempt(number, tmp_path) is None

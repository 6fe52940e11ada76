"""Large surfaces: in memory that grows with n, in fresh processes. Slow checks."""

import pytest
from benchmarks.foundation import METHODS, measure_fit


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_twenty_thousand_points_stay_below_a_gigabyte_and_a_half(method):
    measured = measure_fit(method)
    assert measured["peak_gb"] < 1.5
    assert measured["affine_error"] < 0.1

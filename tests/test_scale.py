"""Large surfaces: in memory that grows with n, in fresh processes. Slow checks."""

import pytest
from benchmarks.cases import on_roll
from benchmarks.run import Settings, measure_case

METHODS = ("LLE", "LTSA", "HessianLLE", "RigidAlignment", "LaplacianEigenmaps")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_twenty_thousand_points_stay_below_a_gigabyte_and_a_half(method):
    case = on_roll(method, 20_000, peers=False)
    measured = measure_case(case, Settings(rounds=1), {})["contenders"]["unbend"]
    assert measured["status"] == "ok"
    assert measured["peak_mb"] < 1500
    assert measured["accuracy"]["procrustes"] < 0.1

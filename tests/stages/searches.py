"""What the compiled neighbour searches are tried on, and sorting as their oracle."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.stages.drawn import lattice
from unbend._kernels import reference


def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def kernels(name):
    return native() if name == "native" else reference


every_kernel = pytest.mark.parametrize("name", ["native", "reference"])
every_norm = pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])


def drawn_points(rng, n, columns, kind):
    points = rng.normal(size=(n, columns))
    if kind == "ties":
        return lattice(rng, n, columns)
    if kind == "copies":
        points[: n // 2] = points[0]
    elif kind == "equal":
        points[:] = points[0]
    elif kind == "flat":
        points[:, 1:] = 7.0
    elif kind == "huge":
        points *= 1e150
    elif kind == "tiny":
        points *= 1e-200
    elif kind == "far":
        points += 1e4
    elif kind == "columns":
        points *= 10.0 ** rng.integers(-12, 12, columns)
    return points


kinds = st.sampled_from(
    ["plain", "ties", "copies", "equal", "flat", "huge", "tiny", "far", "columns"]
)


def by_sorting(distances, k, itself):
    """Sort everything by (distance, index)."""
    distances = distances.copy()
    if itself:
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def assert_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])

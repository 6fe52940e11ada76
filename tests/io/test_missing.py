"""Missing values: refused, dropped or replaced."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import unbend

CONTENT = b"a,b,k\n1,2,p\n,4,q\n3,NA,r\n5,9,s\n"


@pytest.mark.parametrize(
    ("policy", "values", "rows"),
    [
        ("drop", [[1, 2], [5, 9]], [0, 3]),
        ("mean", [[1, 2], [3, 4], [3, 5], [5, 9]], [0, 1, 2, 3]),
        ("median", [[1, 2], [3, 4], [3, 4], [5, 9]], [0, 1, 2, 3]),
    ],
)
def test_a_policy_does_what_its_name_means(policy, values, rows, engine):
    table = unbend.io.read(io.BytesIO(CONTENT), label="k", missing=policy)
    assert table.values.tolist() == values
    assert table.rows.tolist() == rows
    assert table.label.tolist() == [["p", "q", "r", "s"][row] for row in rows]


def test_a_table_without_rows_or_centres_is_refused():
    with pytest.raises(ValueError, match="every row of the stream has a missing value"):
        unbend.io.read(io.BytesIO(b"a,b\n1,\n,2\n"), missing="drop")
    for policy in ("mean", "median"):
        with pytest.raises(ValueError, match="column 'b' of the stream has no value at all"):
            unbend.io.read(io.BytesIO(b"a,b\n1,\n2,\n"), missing=policy)
    with pytest.raises(ValueError, match="missing='zero' is not allowed"):
        unbend.io.read(io.BytesIO(CONTENT), missing="zero")
    with pytest.raises(ValueError, match="needs all rows at once"):
        unbend.io.batches(np.eye(2), missing="median")


def test_the_source_is_never_changed():
    given_rows = np.array([[1.0, np.nan], [2.0, 3.0]])
    unbend.io.read(given_rows, missing="mean")
    assert np.isnan(given_rows[0, 1])


HOLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6)),
)


@settings(max_examples=60, deadline=None)
@given(HOLES, st.integers(1, 7), st.sampled_from(["drop", "mean"]))
def test_batches_treat_missing_values_as_the_whole_table_does(matrix, rows, policy):
    try:
        whole = unbend.io.read(matrix, missing=policy)
    except ValueError:
        with pytest.raises(ValueError, match=r"no value at all|none would be left"):
            list(unbend.io.batches(matrix, rows=rows, missing=policy))
        return
    parts = list(unbend.io.batches(matrix, rows=rows, missing=policy))
    together = np.concatenate([part.values for part in parts])
    np.testing.assert_allclose(together, whole.values, rtol=1e-12, atol=1e-9)
    assert np.concatenate([part.rows for part in parts]).tolist() == whole.rows.tolist()

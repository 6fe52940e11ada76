"""Tables of text are read right, and alike with and without pyarrow."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unbend
from unbend.io import delimited

# Bytes, the names and the values they must give.
LAYOUTS = {
    "plain": (b"a,b\n1,2\n3,4.5\n", ("a", "b"), [[1, 2], [3, 4.5]]),
    "no last line end": (b"a,b\n1,2\n3,4.5", ("a", "b"), [[1, 2], [3, 4.5]]),
    "no header": (b"1,2\n3,4.5\n", ("x0", "x1"), [[1, 2], [3, 4.5]]),
    "byte order mark": (b"\xef\xbb\xbfa,b\n1,2\n", ("a", "b"), [[1, 2]]),
    "mark, no header": (b"\xef\xbb\xbf1,2\n3,4\n", ("x0", "x1"), [[1, 2], [3, 4]]),
    "windows": (b"a,b\r\n1,2\r\n3,4\r\n", ("a", "b"), [[1, 2], [3, 4]]),
    "old mac": (b"a,b\r1,2\r3,4\r", ("a", "b"), [[1, 2], [3, 4]]),
    "sixteen bits": ("a,é\n1,2\n".encode("utf-16"), ("a", "é"), [[1, 2]]),
    "tabs": (b"a\tb\n1\t2\n", ("a", "b"), [[1, 2]]),
    "bars": (b"a|b\n1|2\n", ("a", "b"), [[1, 2]]),
    "spaces": (b"1.0 2.0   3\n  4 5 6 \n", ("x0", "x1", "x2"), [[1, 2, 3], [4, 5, 6]]),
    "quoted": (b'"a,b","c ""d"""\n"1",2\n', ("a,b", 'c "d"'), [[1, 2]]),
    "line end in a name": (b'"a\nb",c\n1,2\n', ("a\nb", "c"), [[1, 2]]),
    "decimal commas": (b"a;b\n1,5;2\n3;-4,25e1\n", ("a", "b"), [[1.5, 2], [3, -42.5]]),
    "commas in tabs": (b"1,5\t2\n3\t4,25\n", ("x0", "x1"), [[1.5, 2], [3, 4.25]]),
    "semicolons": (b"a;b\n1.5;2\n", ("a", "b"), [[1.5, 2]]),
    "one column": (b"a\n1\n2\n", ("a",), [[1], [2]]),
    "one column, no header": (b"1\n2\n", ("x0",), [[1], [2]]),
    "one row": (b"1,2\n", ("x0", "x1"), [[1, 2]]),
    "blank lines": (b"\na,b\n\n1,2\n\n\n3,4\n\n", ("a", "b"), [[1, 2], [3, 4]]),
    "white space": (b"a , b\n 1 ,2 \n3, 4\n", ("a", "b"), [[1, 2], [3, 4]]),
    "truth": (b"a,b\ntrue,1\nFalse,2\n", ("a", "b"), [[1, 1], [0, 2]]),
    "signs": (b"a,b\n+1.5,-2\n.5,3.\n", ("a", "b"), [[1.5, -2], [0.5, 3]]),
    "infinite": (b"a,b\ninf,inf\n-Infinity,1\n", ("a", "b"), [[np.inf, np.inf], [-np.inf, 1]]),
    "numbered by pandas": (b"x,0,1\n3,1.5,2.5\n", ("x", "0", "1"), [[3, 1.5, 2.5]]),
    "large": (b"a,b\n9007199254740993,1208925819614629174706176\n", ("a", "b"), [[2**53, 2**80]]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_recognised(name, engine):
    content, names, values = LAYOUTS[name]
    table = unbend.io.read(io.BytesIO(content))
    assert table.columns == names
    np.testing.assert_array_equal(table.values, values)
    assert table.values.dtype == np.float64
    assert table.rows.tolist() == list(range(len(values)))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_text_is_unpacked(pack, engine, tmp_path):
    path = tmp_path / "t.csv.packed"
    path.write_bytes(pack(b"a,b\n1,2\n"))
    assert unbend.io.read(path).values.tolist() == [[1, 2]]


def test_an_index_is_never_a_coordinate(engine):
    pandas = unbend.io.read(io.BytesIO(b",a,b\n7,1,2\n9,3,4\n"))
    assert pandas.columns == ("a", "b")
    assert pandas.ids.tolist() == [7, 9]
    unnamed = unbend.io.read(io.BytesIO(b",0,1\n0,1.5,2\n1,2.5,3\n"))
    assert unnamed.values.tolist() == [[1.5, 2], [2.5, 3]]
    r = unbend.io.read(io.BytesIO(b'"a" "b"\n"p" 1 2\n"q" 3 4\n'))
    assert (r.columns, r.ids.tolist()) == (("a", "b"), ["p", "q"])
    other = unbend.io.read(io.BytesIO(b",a,b\n7,1,2\n9,3,4\n"), id="a")
    assert (other.columns, other.ids.tolist()) == (("b",), [1, 3])


def test_numbers_over_words_are_data_not_a_header(engine):
    iris = b"5.1,3.5,setosa\n4.9,3.0,virginica\n"
    table = unbend.io.read(io.BytesIO(iris), label="x2")
    assert table.values.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert table.label.tolist() == ["setosa", "virginica"]


def test_labels_and_ids_keep_what_they_hold(engine):
    content = b'code,kind,v\n007,"a, b",1\n010,c,2\n'
    table = unbend.io.read(io.BytesIO(content), id="code", label="kind")
    assert table.ids.tolist() == ["007", "010"]
    assert (table.label.tolist(), table.label_name) == (["a, b", "c"], "kind")
    assert table.columns == ("v",)
    whole = unbend.io.read(io.BytesIO(b"v,k\n1,3\n2,-4\n"), label="k").label
    assert (whole.dtype, whole.tolist()) == (np.int64, [3, -4])
    real = unbend.io.read(io.BytesIO(b"v,k\n1,3.5\n2,\n"), label="k").label
    np.testing.assert_array_equal(real, [3.5, np.nan])
    some = unbend.io.read(io.BytesIO(b"v,k\n1,NA\n2,\n3,x\n"), label="k").label
    assert some.tolist() == ["NA", None, "x"]
    essay = "word " * 1000 + "end"
    text_ = unbend.io.read(io.BytesIO(f"v,k\n1,a\n2,{essay}\n".encode()), label="k").label
    assert text_.tolist() == ["a", essay]
    assert text_.nbytes < 100
    long = unbend.io.read(io.BytesIO(b"v,k\n1,12345678901234567890\n"), id="k").ids
    assert long.tolist() == ["12345678901234567890"]


def test_an_unknown_column_is_refused_with_the_names_there_are(engine):
    content = b"a,b,c\n1,2,x\n"
    with pytest.raises(ValueError, match="has no column 'k': its columns are a, b, c"):
        unbend.io.read(io.BytesIO(content), label="k")
    with pytest.raises(ValueError, match="both label and id"):
        unbend.io.read(io.BytesIO(content), label="c", id="c")
    with pytest.raises(ValueError, match="no column of numbers left"):
        unbend.io.read(io.BytesIO(content), label="c", ignore=["a", "b"])
    with pytest.raises(TypeError, match="pass a list of names"):
        unbend.io.read(io.BytesIO(content), ignore="c")
    kept = unbend.io.read(io.BytesIO(content), ignore=["c", "not there"])
    assert kept.columns == ("a", "b")


FIELDS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.floats(width=32, allow_nan=False).map(lambda number: f"{number:+.9g}"),
    st.integers(-(2**70), 2**70).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=5).map(str),
    st.sampled_from(["", "NA", "nan", "?", "1e-400", "5e-324", "1e308", "0.1", "-0.0"]),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=20))
def test_both_ways_of_reading_give_the_same_bits(rows):
    content = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
    opened = unbend.io.open_table(io.BytesIO(content.encode()))
    roles = delimited.Roles(None, None, ())
    plain = delimited._concatenate(list(opened._csv_blocks(roles, 7, 0, text=False)))
    (table,) = opened.tables(roles, None)
    for place, name in enumerate("ab"):
        fields = ["nan" if row[place] in ("", "NA", "?") else row[place] for row in rows]
        expected = list(map(float, fields))
        assert plain[name].tobytes() == np.array(expected).tobytes()
        assert np.array_equal(table.values[:, place], expected, equal_nan=True)
        assert np.array_equal(np.signbit(table.values[:, place]), np.signbit(expected))


@pytest.mark.parametrize("columns", [2, 3, 12])
def test_columns_that_pandas_numbered_are_named_by_their_numbers(columns):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((5, columns)))
    table = unbend.io.read(io.BytesIO(frame.to_csv(index=False).encode()))
    assert table.columns == tuple(map(str, range(columns)))
    assert np.array_equal(table.values, frame.to_numpy())


def test_integers_below_many_numbered_columns_are_data():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 256, (5, 20)))
    table = unbend.io.read(io.BytesIO(frame.to_csv(index=False).encode()))
    assert np.array_equal(table.values, frame.to_numpy())


@pytest.mark.parametrize("rows", [b"0,1,2\n3,4,5\n", b"0,1,2\n5,1,2.5\n7,8,9\n"])
def test_a_first_row_that_happens_to_count_stays_where_others_are_like_it(rows):
    assert len(unbend.io.read(io.BytesIO(rows))) == rows.count(b"\n")


def test_a_long_count_that_goes_on_is_data():
    rows = np.arange(36).reshape(3, 12)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    assert len(unbend.io.read(io.BytesIO(text.encode()))) == 3

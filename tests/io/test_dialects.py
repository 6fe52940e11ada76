"""Separators are found, and tables of every dialect read as they were written."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unbend
from unbend.io import delimited
from unbend.io.dialect import ONE_COLUMN
from unbend.io.reading import open_table
from unbend.io.source import LONGEST_LINE
from unbend.io.table import Roles

# The table, and texts of every kind: bytes, separator, and the columns that must be read.
# Columns of numbers are lists of numbers, those of text lists of str.
DIALECTS = {
    "text with numbers and spaces": (
        b"id,name,body\n1,a,alpha 3 beta\n2,b,gamma 4 delta\n",
        ",",
        {"id": [1, 2], "name": ["a", "b"], "body": ["alpha 3 beta", "gamma 4 delta"]},
    ),
    "more numbers than fields": (
        b"id,body\n1,7 8 9 10\n2,1 2 3 4\n",
        ",",
        {"id": [1, 2], "body": ["7 8 9 10", "1 2 3 4"]},
    ),
    "no header, numbers among words": (
        b"1,alpha 3 4\n2,beta 5 6\n",
        ",",
        {"x0": [1, 2], "x1": ["alpha 3 4", "beta 5 6"]},
    ),
    "names of two words": (
        b"first name,last name\nAda Maria,King Noel\nBo Jan,Lee Roy\n",
        ",",
        {"first name": ["Ada Maria", "Bo Jan"], "last name": ["King Noel", "Lee Roy"]},
    ),
    "spaces behind commas": (
        b"id, name\n1, Ada King\n2, Bo Lee\n",
        ",",
        {"id": [1, 2], "name": ["Ada King", "Bo Lee"]},
    ),
    "semicolons, decimal commas, text with commas": (
        "id;größe;text\n1;1,5;one, two\n2;-2,25e1;three\n".encode(),
        ";",
        {"id": [1, 2], "größe": [1.5, -22.5], "text": ["one, two", "three"]},
    ),
    "commas, text with semicolons": (
        b"id,text\n1,one; two\n2,three; four\n",
        ",",
        {"id": [1, 2], "text": ["one; two", "three; four"]},
    ),
    "tabs, text with commas and spaces": (
        b"id\tx\ttext\n1\t0.5\tone, two 3\n2\t1.5\tfour, five 6\n",
        "\t",
        {"id": [1, 2], "x": [0.5, 1.5], "text": ["one, two 3", "four, five 6"]},
    ),
    "tabs, empty fields": (b"a\tb\n1\t\n\t2\n", "\t", {"a": [1, np.nan], "b": [np.nan, 2]}),
    "bars": (
        b"a|text\n1|x, y; z\n2|u, v; w\n",
        "|",
        {"a": [1, 2], "text": ["x, y; z", "u, v; w"]},
    ),
    "spaces": (
        b"x y kind\n1.5 2 a\n3 4 b\n",
        " ",
        {"x": [1.5, 3], "y": [2, 4], "kind": ["a", "b"]},
    ),
    "aligned": (
        b"   x     y\n 1.5  10.25\n-3.0   4\n",
        " ",
        {"x": [1.5, -3], "y": [10.25, 4]},
    ),
    "spaces, decimal commas": (b"1,5 2,5\n3,5 4,25\n", " ", {"x0": [1.5, 3.5], "x1": [2.5, 4.25]}),
    "spaces, a date and decimal commas": (
        b"day v w\n2024-01-01 1,5 2,5\n2024-01-02 2,5 3,5\n",
        " ",
        {"day": ["2024-01-01", "2024-01-02"], "v": [1.5, 2.5], "w": [2.5, 3.5]},
    ),
    "spaces, text with commas": (
        b'x y name\n1 2 "a, b"\n3 4 c,d\n',
        " ",
        {"x": [1, 3], "y": [2, 4], "name": ["a, b", "c,d"]},
    ),
    "quoted separators": (
        b'a,"b, c"\n1,"x, y"\n2,"u; v, w"\n',
        ",",
        {"a": [1, 2], "b, c": ["x, y", "u; v, w"]},
    ),
    "quoted line ends": (
        b'id,body\n1,"first\nsecond, third"\n2,"one\n\nthree"\n',
        ",",
        {"id": [1, 2], "body": ["first\nsecond, third", "one\n\nthree"]},
    ),
    "quoted quotes": (
        b'id;body\n1;"he said ""no; never"""\n2;"""yes"""\n',
        ";",
        {"id": [1, 2], "body": ['he said "no; never"', '"yes"']},
    ),
    "quotes within a field": (
        b'id,size\n1,12" wide\n2,7" long\n',
        ",",
        {"id": [1, 2], "size": ['12" wide', '7" long']},
    ),
    "byte order mark": (b"\xef\xbb\xbfid;v\n1;1,5\n", ";", {"id": [1], "v": [1.5]}),
    "windows": (
        b'id,body\r\n1,alpha 3\r\n2,"beta\r\n4"\r\n',
        ",",
        {"id": [1, 2], "body": ["alpha 3", "beta\r\n4"]},
    ),
    "one column": (b"value\n1.5\n2\n", ",", {"value": [1.5, 2]}),
    "one column, decimal commas": (
        b"value\n4,5\n2,25\n-3\n",
        ONE_COLUMN,
        {"value": [4.5, 2.25, -3]},
    ),
    "one column, decimal commas throughout": (
        b"value\n4,5\n2,25\n",
        ONE_COLUMN,
        {"value": [4.5, 2.25]},
    ),
    "one column of text": (
        b"body\nhello, big world\nbye; now\nx\n",
        ONE_COLUMN,
        {"body": ["hello, big world", "bye; now", "x"]},
    ),
    "one column of text, a comma in each": (
        b"body\nhello, world\nbye, now\n",
        ONE_COLUMN,
        {"body": ["hello, world", "bye, now"]},
    ),
    "one column of two words": (
        b"body\nhello world\nbye now\n",
        ONE_COLUMN,
        {"body": ["hello world", "bye now"]},
    ),
    "one quoted column": (
        b'body\n"hello, ""big"" world"\n"bye"\n',
        ONE_COLUMN,
        {"body": ['hello, "big" world', "bye"]},
    ),
    "a header short of the row names": (
        b'"a" "b"\n"p q" 1 2\n"r" 3 4\n',
        " ",
        {"": ["p q", "r"], "a": [1, 3], "b": [2, 4]},
    ),
    "a header short of the row numbers": (b"x\n1,5.5\n2,7\n", ",", {"": [1, 2], "x": [5.5, 7]}),
    "rows end with a separator": (b"a,b\n1,2,\n3,4,\n", ",", {"a": [1, 3], "b": [2, 4]}),
    "all lines end with a separator": (b"a;b;\n1,5;2;\n3;4;\n", ";", {"a": [1.5, 3], "b": [2, 4]}),
    "no header, lines end with a separator": (b"1|2|\n3|4|\n", "|", {"x0": [1, 3], "x1": [2, 4]}),
    "comments above": (
        b'# measured on Monday, "by hand\n#\n\nid,body\n1,alpha 3 beta\n2,gamma\n',
        ",",
        {"id": [1, 2], "body": ["alpha 3 beta", "gamma"]},
    ),
    "comments of as many fields above": (
        b"# by Ada, Bo\nx,y\n1,2\n3,4\n",
        ",",
        {"x": [1, 3], "y": [2, 4]},
    ),
    "a header in a comment": (b"# run 7\n# x,y\n1,2\n3,4\n", ",", {"x": [1, 3], "y": [2, 4]}),
    "a header in a comment, spaces": (b"# x y\n1 2\n3 4\n", " ", {"x": [1, 3], "y": [2, 4]}),
    "a header in a comment over words": (
        b"#name\trole\nAda\tboss\nBo\tbee\n",
        "\t",
        {"name": ["Ada", "Bo"], "role": ["boss", "bee"]},
    ),
    "no comments": (
        b"#ff0000,1\n#00ff00,2\nblack,3\n",
        ",",
        {"x0": ["#ff0000", "#00ff00", "black"], "x1": [1, 2, 3]},
    ),
    "names with number signs": (b"#1,#2\n1,2\n", ",", {"#1": [1], "#2": [2]}),
}
# What pandas reads alike, with which further arguments.
OF_PANDAS = {
    name: ({"sep": r"\s+"} if separator == " " else {"sep": separator})
    | ({"decimal": ","} if "decimal commas" in name or "byte order" in name else {})
    | ({"comment": "#"} if name.startswith("comments") else {})
    | ({"skipinitialspace": True} if "behind" in name else {})
    for name, (_, separator, columns) in DIALECTS.items()
    if separator != ONE_COLUMN
    and not any(x in name for x in ("no header", "header in", "end with", "no comments"))
    and "x0" not in columns
}


def columns_read(content: bytes, separator: str | None = None) -> dict[str, np.ndarray]:
    """Read each column by itself, as text or numbers, whatever it holds."""
    reader = open_table(io.BytesIO(content), separator=separator)
    found = {}
    for name in reader.names:
        (table,) = reader.tables(Roles(name, None, (), alone=True), None)
        found[name] = table.label
    return found


def check(found: dict[str, np.ndarray], expected: dict[str, list]) -> None:
    assert list(found) == list(expected)
    for name, column in expected.items():
        if isinstance(column[0], str):
            assert found[name].tolist() == column
        else:
            np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_is_read_as_written(name, engine):
    content, separator, expected = DIALECTS[name]
    assert open_table(io.BytesIO(content)).dialect.separator == separator
    check(columns_read(content), expected)
    check(columns_read(gzip.compress(content)), expected)


@pytest.mark.parametrize("name", OF_PANDAS)
def test_pandas_with_the_separator_reads_the_same(name):
    content, _, expected = DIALECTS[name]
    frame = pd.read_csv(io.BytesIO(content), **OF_PANDAS[name])
    if "" in expected:
        frame = frame.reset_index(names="")
    check({key: frame[key].to_numpy() for key in frame}, expected)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_separator_that_is_given_is_used(name, engine):
    content, separator, expected = DIALECTS[name]
    check(columns_read(content, separator), expected)


def test_numbers_of_a_dialect_are_one_matrix(engine):
    content, _, _ = DIALECTS["semicolons, decimal commas, text with commas"]
    table = unbend.io.read(io.BytesIO(content), label="text")
    assert table.values.tolist() == [[1, 1.5], [2, -22.5]]
    table = unbend.io.read(io.BytesIO(b"1,5;2\n3;4,25\n"))
    assert table.values.tolist() == [[1.5, 2], [3, 4.25]]
    (batch,) = unbend.io.batches(io.BytesIO(b"a,b\n1,2,\n3,4,\n"))
    assert (batch.columns, batch.values.tolist()) == (("a", "b"), [[1, 2], [3, 4]])


WORDS = st.text(st.sampled_from("ab 01.,;|\t\"'#\n"), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text and text not in ("",)
)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(",;\t|"),
    st.lists(st.tuples(st.floats(-1e6, 1e6), WORDS, WORDS), min_size=1, max_size=8),
)
def test_what_csv_writes_is_read_whatever_the_text(separator, rows):
    """The writer quotes fields that need it; a header with as many fields as the rows decides."""
    written = io.StringIO()
    writer = csv.writer(written, delimiter=separator, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([("value", "first", "second"), *rows])
    content = written.getvalue().encode()
    reader = open_table(io.BytesIO(content))
    assert reader.dialect.separator == separator
    (table,) = reader.tables(Roles("second", "first", ()), None)
    assert table.values[:, 0].tolist() == [row[0] for row in rows]
    for column, place in ((table.ids, 1), (table.label, 2)):
        if column.dtype.kind not in "if":
            assert column.tolist() == [row[place] for row in rows]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,c\n1,2\n3,4\n", "line 2 .* has 2 fields where the first has 3"),
        (b"a,b\n1,2,3,4\n5,6,7,8\n", "line 2 .* has 4 fields where the first has 2"),
        (b"a\n1,2,3\n4,5,6\n", "line 2 .* has 3 fields where the first has 1"),
        (b"a b\n1 2 3 4\n5 6 7 8\n", "line 2 .* has 4 fields where the first has 2"),
        (b"1 2 3\n4 5\n", "line 2 .* has 2 fields where the first has 3"),
    ],
)
def test_headers_of_another_length_are_refused_with_the_line(content, words, engine):
    with pytest.raises(ValueError, match=words):
        unbend.io.read(io.BytesIO(content))


def test_a_value_behind_the_last_separator_is_refused(engine):
    content = b"a,b\n" + b"1,2,\n" * 300 + b"1,2,3\n"
    with pytest.raises(ValueError, match=r"line 302 .* has 3 fields where the first has 2"):
        unbend.io.read(io.BytesIO(content))
    with pytest.raises(ValueError, match=r"line 302 "):
        list(unbend.io.batches(io.BytesIO(content), rows=50))


def test_line_numbers_count_comments_and_headers(engine):
    content = b'# a comment\n"a\nb",c\n1,2\n3\n'
    with pytest.raises(ValueError, match=r"line 5 .* has 1 field"):
        unbend.io.read(io.BytesIO(content))


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "\0", 7])
def test_separators_that_cannot_be_are_refused(separator):
    with pytest.raises(ValueError, match="it must be one character"):
        unbend.io.read(io.BytesIO(b"a,b\n1,2\n"), separator=separator)


def test_a_separator_is_refused_where_nothing_is_split(tmp_path):
    unbend.io.write(tmp_path / "t.npy", np.eye(3))
    for source in (tmp_path / "t.npy", np.eye(3), {"a": [1.0]}):
        with pytest.raises(ValueError, match=r"separator=';' is for text files .*: leave it out"):
            unbend.io.read(source, separator=";")
    with pytest.raises(ValueError, match="each line is a document"):
        unbend.io.read_texts(["one", "two"], separator=";")


def test_every_reader_takes_a_separator(tmp_path):
    """A colon is never found by itself."""
    apart = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    square = "\n".join(":".join(map(str, row)) for row in apart).encode()
    assert unbend.io.read(io.BytesIO(square), separator=":").values.tolist() == apart
    (batch,) = unbend.io.batches(io.BytesIO(square), separator=":")
    assert batch.values.tolist() == apart
    assert unbend.io.read_distances(io.BytesIO(square), separator=":").tolist() == apart
    (tmp_path / "1.csv").write_bytes(square)
    matrices = unbend.io.read_matrices(tmp_path, separator=":")
    assert matrices.values[0].tolist() == apart
    stream = io.BytesIO(b"id:body\n1:red, green\n2:blue 3\n")
    texts = unbend.io.read_texts(stream, column="body", separator=":")
    assert texts.columns == ("blue", "green", "red")


def test_texts_are_found_in_their_column(engine):
    """The table of the issue."""
    content = b"id,name,body\n1,a,alpha 3 beta\n2,b,gamma 4 delta\n"
    texts = unbend.io.read_texts(io.BytesIO(content), column="body", label="name")
    assert texts.columns == ("alpha", "beta", "delta", "gamma")
    assert texts.label.tolist() == ["a", "b"]


def wide(rows: int, columns: int) -> tuple[np.ndarray, bytes]:
    values = np.random.default_rng(0).standard_normal((rows, columns))
    return values, "\n".join(",".join(map(repr, row)) for row in values.tolist()).encode()


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_wide_rows_are_read_to_the_last_bit(header, pack, engine):
    """A row of 30 000 numbers takes 600 000 characters."""
    values, content = wide(3, 30_000)
    names = tuple(f"c{place}" for place in range(30_000))
    content = ",".join(names).encode() + b"\n" + content if header else content
    table = unbend.io.read(io.BytesIO(pack(content)))
    assert table.values.tobytes() == values.tobytes()
    assert not header or table.columns == names
    parts = list(unbend.io.batches(io.BytesIO(pack(content)), rows=2))
    assert np.concatenate([part.values for part in parts]).tobytes() == values.tobytes()


@pytest.mark.parametrize("rows", [None, 2])
def test_pyarrow_reads_wide_rows_itself(rows, monkeypatch):
    """Its blocks hold the rows, so that it does not give up for the slower way."""
    values, content = wide(3, 30_000)
    monkeypatch.setattr(delimited.TextReader, "_csv_blocks", None)
    reader = open_table(io.BytesIO(content))
    read = np.concatenate([part.values for part in reader.tables(Roles(None, None, ()), rows)])
    assert read.tobytes() == values.tobytes()


def test_rows_much_longer_than_the_first_ones_are_read(engine):
    """Longer than a block of pyarrow, which follows the first rows."""
    body = "word, " * 1_000_000
    content = "id,body\n" + "1,a\n" * 300 + f'2,"{body}"\n3,b\n'
    found = columns_read(content.encode())
    assert found["body"].tolist() == ["a"] * 300 + [body.strip(), "b"]
    (table,) = unbend.io.batches(io.BytesIO(content.encode()), label="body")
    assert table.label.tolist()[-2:] == [body.strip(), "b"]


@pytest.mark.parametrize("size", [1 << 23, pytest.param(LONGEST_LINE, marks=pytest.mark.slow)])
def test_rows_of_up_to_64_mb_are_read(size, engine):
    """Longer than any block of pyarrow: the csv module reads them."""
    long = "x" * (size - 100)
    table = unbend.io.read(io.BytesIO(f"id,body\n1,a\n2,{long}\n3,b\n".encode()), label="body")
    assert table.values[:, 0].tolist() == [1, 2, 3]
    assert table.label.tolist() == ["a", long, "b"]


@pytest.mark.slow
def test_a_row_of_more_than_64_mb_is_refused(engine):
    content = f"id,body\n1,a\n2,{'x' * (LONGEST_LINE + 100)}\n".encode()
    with pytest.raises(ValueError, match="line 3 of the stream cannot be split into fields"):
        unbend.io.read(io.BytesIO(content), label="body")


def test_a_long_text_with_line_ends_does_not_hide_the_separator(engine):
    """The sample of the first lines ends within the first text."""
    body = "one 1\ntwo 2, 3\n" * 30_000 + "end"
    content = f'id,body,kind\n1,"{body}",x\n2,"{body}",y\n'
    found = columns_read(content.encode())
    assert (found["id"].tolist(), found["kind"].tolist()) == ([1, 2], ["x", "y"])
    assert found["body"].tolist() == [body, body]

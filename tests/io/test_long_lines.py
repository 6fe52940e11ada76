"""Text tables of extreme fields, lines and widths: bounded memory, and one sentence."""

import io
import tracemalloc
from typing import Any

import numpy as np
import pytest

import unbend
from unbend.io import delimited
from unbend.io.source import LONGEST_LINE


@pytest.fixture(params=["pyarrow", "csv"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "csv":
        monkeypatch.setattr(delimited, "import_pyarrow", lambda: None)


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_number_beyond_double_precision_is_refused(number: str) -> None:
    text = f"a,b\n1,2\n3,{number}\n".encode()
    for read in (unbend.io.read, unbend.io.read_frame):
        with pytest.raises(ValueError, match=r"column 'b' of .* beyond the range of double"):
            read(io.BytesIO(text))


@pytest.mark.usefixtures("_reader")
def test_the_largest_and_the_smallest_numbers_are_read() -> None:
    found = unbend.io.read(io.BytesIO(b"a,b\n1.7976931348623157e308,5e-324\n-1e308,1e-999\n"))
    assert found.values.tolist() == [[1.7976931348623157e308, 5e-324], [-1e308, 0.0]]


LONG = b"x" * (LONGEST_LINE + (1 << 24))


@pytest.mark.parametrize(
    "before", [b"", b"a,b\n1,", b'a,b\n1,2\n3,"'], ids=["first line", "second line", "quoted field"]
)
def test_a_line_without_end_is_refused_before_more_of_it_is_held(before: bytes) -> None:
    source = io.BytesIO(before + LONG)
    tracemalloc.start()
    with pytest.raises(ValueError, match="a line of more than 64 MB: it is not a table of text"):
        unbend.io.read(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The source itself, which is held, and the line once as bytes and once as text.
    assert peak < len(LONG) + 2.5 * LONGEST_LINE


def test_many_columns_take_memory_for_their_fields_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("pyarrow takes some kB for every column")

    assert delimited.MOST_COLUMNS <= 50_000
    monkeypatch.setattr(delimited, "MOST_COLUMNS", 5000)
    monkeypatch.setattr(delimited.TextReader, "_arrow_blocks", refuse)
    expected = np.arange(2 * 6000.0).reshape(2, -1)
    names = ",".join(f"c{number}" for number in range(6000))
    rows = "\n".join(",".join(map(repr, row)) for row in expected.tolist())
    text = f"{names}\n{rows}\n".encode()
    tracemalloc.start()
    found = unbend.io.read(io.BytesIO(text)).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(found, expected)
    assert peak < 60 * len(text)

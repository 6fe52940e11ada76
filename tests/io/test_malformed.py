"""Every file that is wrong is refused by one sentence, however it is read."""

import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unbend
from tests.io.conftest import arrow, csv_lines, npy, npz, parquet


def assert_one_sentence(message: str) -> None:
    assert "\n" not in message
    assert len(message) < 300


def test_a_malformed_file_is_refused_by_one_sentence(malformed, engine):
    path, words = malformed
    with pytest.raises(ValueError, match=words) as refusal:
        unbend.io.read(path)
    assert path.name in str(refusal.value)
    assert_one_sentence(str(refusal.value))


def test_a_malformed_file_is_refused_in_batches_too(malformed, engine):
    path, words = malformed
    with pytest.raises(ValueError, match=words):
        list(unbend.io.batches(path, rows=10_000))


def test_a_malformed_stream_is_refused_as_the_file_is(malformed):
    path, words = malformed
    if "does not begin" in words:
        pytest.skip("a stream has no extension that its content could belie")
    with pytest.raises(ValueError, match="the stream"):
        unbend.io.read(io.BytesIO(path.read_bytes()))


def test_what_is_not_a_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*absent\.csv"):
        unbend.io.read(tmp_path / "absent.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        unbend.io.read(tmp_path)
    with pytest.raises(TypeError, match="cannot be read from float"):
        unbend.io.read(3.0)
    with pytest.raises(TypeError, match="binary mode"):
        unbend.io.read(io.StringIO("a,b\n1,2\n"))


WHOLE = [parquet(), arrow(), npy(), npz(a=np.eye(3)), csv_lines()]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(WHOLE), st.data())
def test_damage_anywhere_is_refused_or_read(content, data):
    """Bytes changed or cut off anywhere: a table, or a ValueError of one sentence."""
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        damaged = content[:place]
    else:
        other = data.draw(st.integers(1, 255))
        damaged = content[:place] + bytes([content[place] ^ other]) + content[place + 1 :]
    try:
        table = unbend.io.read(io.BytesIO(damaged))
    except ValueError as refusal:
        assert_one_sentence(str(refusal))
    else:
        assert table.values.ndim == 2


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_read(content):
    try:
        table = unbend.io.read(io.BytesIO(content))
    except ValueError as refusal:
        assert_one_sentence(str(refusal))
    else:
        assert len(table) > 0

"""Small files that would grow: refused by what they say, before the most of them is unpacked."""

import gzip
import io

import numpy as np
import pyarrow as arrow
import pyarrow.ipc
import pyarrow.parquet as parquet
import pytest

import unbend
from tests.io.test_hostile import LIMIT, npy_head, packed
from tests.io.test_malformed import assert_one_sentence
from unbend.io.source import MOST_GROWTH
from unbend.memory import NotEnoughMemory

CARDS = ("SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 3", "NAXIS1  = 1000", "NAXIS2  = 1000")


def fits_head(*cards: str) -> bytes:
    return "".join(card.ljust(80) for card in (*cards, "END")).ljust(2880).encode()


def refused(content, read=unbend.io.read):
    with unbend.memory_limit(LIMIT), pytest.raises(NotEnoughMemory) as refusal:
        read(io.BytesIO(content))
    assert_one_sentence(str(refusal.value))
    return str(refusal.value)


def idx_head(*shape: int) -> bytes:
    return bytes([0, 0, 8, len(shape)]) + np.array(shape, ">u4").tobytes()


@pytest.mark.parametrize(
    ("head", "read"),
    [
        (npy_head((100 << 17,)), unbend.io.read),
        (fits_head(*CARDS, "NAXIS3  = 100"), unbend.io.read_cube),
        (idx_head(100, 1000, 1000), unbend.io.read_images),
    ],
)
def test_a_header_that_claims_too_much_is_refused_without_what_follows(head, read):
    # There is nothing that could be unpacked: it is the header that is refused.
    refused(gzip.compress(head), read)


@pytest.mark.parametrize(
    ("head", "read", "count"),
    [
        (npy_head((10, 2)), unbend.io.read, 20),
        (fits_head(*CARDS[:3], "NAXIS1  = 4", "NAXIS2  = 5", "NAXIS3  = 3"), None, 60),
    ],
)
def test_what_follows_the_numbers_that_a_header_claims_is_not_unpacked(head, read, count):
    content = packed(100 << 20, head)
    with unbend.memory_limit(LIMIT):
        if read is None:
            table = unbend.io.read_cube(io.BytesIO(content)).pixels()
        else:
            table = read(io.BytesIO(content))
    assert table.values.size == count


def test_a_part_before_the_image_is_not_passed_over_for_ever():
    first = fits_head("SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 999999999")
    output = refused(packed(1 << 20, first), unbend.io.read_cube)
    assert "unpack it to a file" in output


def test_numbers_count_that_take_more_than_their_text():
    content = gzip.compress(b"1,2\n" * 1_000_000)
    assert LIMIT // 2 > 4_000_000
    assert "unpacks to more than" in refused(content)


def test_a_table_that_passes_takes_no_more_than_was_counted():
    rows = 500_000
    with unbend.memory_limit(32 * 2 * rows + 1000):
        table = unbend.io.read(io.BytesIO(gzip.compress(b"1,2\n" * rows)))
    assert table.shape == (rows, 2)


def test_the_end_of_a_gzip_file_is_looked_at_first():
    content = bytearray(gzip.compress(b"1,2\n" * 25_000_000, 1))
    # Nothing behind the beginning could be unpacked.
    middle = slice(len(content) // 100, -8)
    content[middle] = bytes(len(content[middle]))
    assert "says that it unpacks to 100 MB" in refused(bytes(content))


def test_a_file_that_was_cut_off_is_called_so_whatever_its_last_bytes_say():
    content = gzip.compress(np.random.default_rng(0).bytes(3000))[:-8] + b"\xff" * 4
    assert len(content) * MOST_GROWTH < 0xFFFFFFFF
    with unbend.memory_limit(LIMIT), pytest.raises(ValueError, match="damaged or cut off"):
        unbend.io.read_texts(io.BytesIO(content), encoding="utf-16")


def test_many_equal_numbers_of_parquet_are_counted():
    out = io.BytesIO()
    parquet.write_table(arrow.table({"x": np.zeros(5_000_000)}), out)
    assert len(out.getvalue()) < 1_000_000
    assert "read it in batches" in refused(out.getvalue())
    with unbend.memory_limit(LIMIT):
        assert len(next(iter(unbend.io.batches(io.BytesIO(out.getvalue()), rows=1000)))) == 1000


def test_pieces_of_arrow_count_when_they_are_unpacked():
    out = io.BytesIO()
    packing = arrow.ipc.IpcWriteOptions(compression="zstd")
    batch = arrow.record_batch({"x": np.zeros(200_000)})
    with arrow.ipc.new_file(out, batch.schema, options=packing) as file:
        for _ in range(100):
            file.write_batch(batch)
    assert len(out.getvalue()) < 1_000_000
    assert "read it in batches" in refused(out.getvalue())
    with unbend.memory_limit(LIMIT):
        assert sum(map(len, unbend.io.batches(io.BytesIO(out.getvalue())))) == 20_000_000


def test_lines_without_end_are_no_documents_without_end():
    content = gzip.compress(b"word\n" * 1_000_000)
    assert "documents" in refused(content, unbend.io.read_texts)

"""Small files that would grow: what they take stays within the memory that may be taken."""

import io
import struct
import subprocess
import sys
import tracemalloc
import zlib

import h5py
import numpy as np
import pytest

import unbend
from tests.io.test_named_arrays import MATRIX, mat
from unbend.memory import NotEnoughMemory

HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
LIMIT = 50_000_000


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<2I", kind, len(content)) + content + bytes(-len(content) % 8)


def variable(name: bytes, shape: tuple[int, int]) -> bytes:
    parts = element(6, struct.pack("<2I", 9, 0)) + element(5, struct.pack("<2i", *shape))
    return element(14, parts + element(1, name) + element(2, bytes(shape[0] * shape[1])))


def packed(content: bytes) -> bytes:
    squeezed = zlib.compress(content)
    return struct.pack("<2I", 15, len(squeezed)) + squeezed


def read_within(content, **options):
    """Read under a limit; give what was raised, and the most memory that Python took."""
    tracemalloc.start()
    try:
        with unbend.memory_limit(LIMIT), pytest.raises((ValueError, NotEnoughMemory)) as raised:
            unbend.io.read(io.BytesIO(content), **options)
        return raised.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_packed_variables_count_together():
    # Each would fit.
    content = HEAD + b"".join(packed(variable(b"v%d" % i, (2000, 5000))) for i in range(12))
    assert len(content) < 200_000
    error, most = read_within(content)
    assert isinstance(error, NotEnoughMemory)
    assert most < 2 * LIMIT


def test_a_variable_of_millions_of_parts_is_refused_after_a_few():
    parts = struct.pack("<2I", 4 << 16 | 1, 0) * 2_000_000
    error, most = read_within(HEAD + packed(struct.pack("<2I", 14, len(parts)) + parts))
    assert "damaged" in str(error)
    assert most < 2 * LIMIT


def test_what_matlab_keeps_for_its_objects_is_no_matrix(tmp_path):
    path = tmp_path / "t.mat"
    path.write_bytes(mat({"X": MATRIX}) + variable(b"", (4, 5)))
    assert np.array_equal(unbend.io.read(path).values, MATRIX)


def test_a_piece_far_larger_than_its_array_is_refused():
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.create_dataset("X", (6, 3), maxshape=(None, None), chunks=(4000, 4000), dtype="f8")
    error, most = read_within(out.getvalue())
    assert isinstance(error, NotEnoughMemory)
    assert "smaller chunks" in str(error)
    assert most < LIMIT


def test_entries_that_are_all_one_long_text_are_counted():
    n, out = 3000, io.BytesIO()
    with h5py.File(out, "w") as file:
        file["X"] = np.zeros((n, 2))
        texts = file.create_dataset("t", (n,), dtype=h5py.string_dtype())
        texts[:] = ["x" * 200_000, *"y" * (n - 1)]
        start = texts.id.get_offset()
    content = bytearray(out.getvalue())
    # Sixteen bytes say where a text lies: now all lie where the first does.
    content[start : start + 16 * n] = content[start : start + 16] * n
    error, most = read_within(bytes(content), label="t")
    assert isinstance(error, NotEnoughMemory)
    assert most < 2 * LIMIT


def test_a_limit_on_the_address_space_counts():
    script = (
        "import resource, unbend\n"
        "from unbend.memory import available_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))\n"
        "print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert 0 < int(done.stdout) < 8 << 30

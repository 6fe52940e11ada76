"""Good files with damage anywhere: read, or refused by one sentence of the right kind."""

import io
import struct
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import unbend
from tests.io.conftest import npy, npz
from tests.io.test_cubes import envi, fits_bytes, numbers
from tests.io.test_images import GREY, idx
from tests.io.test_malformed import assert_one_sentence
from tests.io.test_named_arrays import MATRIX, hdf5, mat, mtx

REFUSALS = (ValueError, TypeError, OSError, MemoryError)
LARGE = [b"99999999999999999999", b"-1", b"4294967295", b"1e309", b"nan", b"", b"\xff\xff\xff\xff"]


@st.composite
def damaged(draw, contents):
    """Cut bytes off, change some, put others in, or write a large number over some."""
    content = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 3))):
        # Headers are where harm is done.
        end = draw(st.sampled_from([min(400, len(content)), len(content)]))
        place = draw(st.integers(0, max(end - 1, 0)))
        kind = draw(st.sampled_from(["cut", "change", "insert", "large", "number"]))
        rest = content[place + 1 :]
        if kind == "cut":
            content = content[:place]
        elif kind == "change":
            content = content[:place] + bytes([draw(st.integers(0, 255))]) + rest
        elif kind == "insert":
            content = content[:place] + draw(st.binary(max_size=8)) + content[place:]
        elif kind == "large":
            large = draw(st.sampled_from(LARGE))
            content = content[:place] + large + content[place + len(large) :]
        else:
            size = struct.pack("<I", draw(st.sampled_from([2**31, 2**32 - 1, 2**24])))
            content = content[:place] + size + content[place + 4 :]
    return content


def survives(read, content):
    """Read bounded by 200 MB, or be refused."""
    with warnings.catch_warnings(), unbend.memory_limit(200_000_000):
        warnings.simplefilter("ignore")
        try:
            return read(content)
        except REFUSALS as refusal:
            assert_one_sentence(str(refusal))
    return None


fuzzed = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def picture(kind, **options) -> bytes:
    out = io.BytesIO()
    Image.fromarray(GREY[0]).save(out, format=kind, **options)
    return out.getvalue()


TABLES = [
    npy(),
    npz(a=np.eye(3)),
    hdf5({"X": MATRIX}),
    hdf5({"X": MATRIX}, compression="gzip", chunks=(7, 2)),
    mat({"X": MATRIX, "k": np.arange(50.0)}),
    mat({"X": MATRIX}, do_compression=True),
    mtx(MATRIX),
    mtx(np.eye(9)),
    b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 3 2.5\n",
]
PICTURES = [picture(kind) for kind in ("PNG", "JPEG", "TIFF", "BMP", "GIF", "PPM", "WEBP")]
CUBES = [
    fits_bytes(fits.PrimaryHDU(numbers("f4").transpose(2, 0, 1))),
    fits_bytes(fits.PrimaryHDU(), fits.ImageHDU(numbers("i2").transpose(2, 0, 1))),
]


@fuzzed
@given(damaged(TABLES))
def test_damaged_tables(content):
    table = survives(lambda some: unbend.io.read(io.BytesIO(some)), content)
    assert table is None or table.values.ndim == 2


@fuzzed
@given(damaged([mat({"X": MATRIX}, format="4")]))
def test_damaged_mat_files_of_version_4(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.mat")
        path.write_bytes(content)
        table = survives(unbend.io.read, path)
        assert table is None or table.values.ndim == 2


@fuzzed
@given(damaged(TABLES))
def test_damaged_distances_and_matrices(content):
    survives(lambda some: unbend.io.read_distances(io.BytesIO(some)), content)
    survives(lambda some: unbend.io.read_matrices(io.BytesIO(some)), content)


@fuzzed
@given(damaged(PICTURES))
def test_damaged_images(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.png")
        path.write_bytes(content)
        images = survives(lambda place: unbend.io.read_images([place]), path)
        assert images is None or np.isfinite(images.values).all()


@fuzzed
@given(damaged([idx(GREY), npy(GREY), npz(a=GREY)]))
def test_damaged_arrays_of_images(content):
    survives(lambda some: unbend.io.read_images(io.BytesIO(some)), content)


@fuzzed
@given(damaged(CUBES))
def test_damaged_fits(content):
    def read(some):
        return unbend.io.read_cube(io.BytesIO(some)).pixels()

    table = survives(read, content)
    assert table is None or np.isfinite(table.values).all()


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    more = "wavelength = {1, 2, 3, 4, 5}\ndata ignore value = 3\nbbl = {1,1,1,1,0}\n"
    return envi(folder, numbers("f4"), 4, "bil", more=more)


@fuzzed
@given(st.data())
def test_damaged_envi_headers(scene, data):
    content = data.draw(damaged([scene.read_bytes()]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scene.hdr")
        path.write_bytes(content)
        table = survives(
            lambda place: unbend.io.read_cube(place, data=scene.with_suffix(".img")).pixels(), path
        )
        assert table is None or np.isfinite(table.values).all()


@fuzzed
@given(damaged([b"Red sea\nGreen apple", b"\xef\xbb\xbfRed sea", "né à la".encode()]))
def test_damaged_texts(content):
    survives(lambda some: unbend.io.read_texts(io.BytesIO(some)), content)
    table = b'text,kind\n"' + content + b'",a\n'
    survives(lambda some: unbend.io.read_texts(io.BytesIO(some), column="text"), table)

"""What files say beside their numbers, and what they keep them in: nothing is lost on the way."""

import io

import h5py
import numpy as np
import pytest
import scipy.io
from scipy.sparse import coo_array, random_array

import unbend
from tests.io.test_bounds import LIMIT, read_within
from tests.io.test_cubes import BANDS, envi, numbers
from tests.io.test_named_arrays import mat
from unbend.memory import NotEnoughMemory

GAINS, OFFSETS = np.array([1e-4, 2e-4, 0.5, 1, 3]), np.array([0, 1, -2.5, 0.25, 1e-3])


def said(name, values):
    return f"{name} = {{{', '.join(map(repr, values.tolist()))}}}\n"


@pytest.mark.parametrize("interleave", ["bsq", "bip"])
def test_gains_and_offsets_of_envi_make_radiance_of_each_band(interleave, tmp_path):
    stored = numbers("u2")
    more = said("Data Gain Values", GAINS) + said("data offset values", OFFSETS)
    more += "bbl = {1, 0, 1, 1, 1}\ndata ignore value = 7\n"
    stored[0, 0, 2] = 7
    cube = unbend.io.read_cube(envi(tmp_path, stored, 12, interleave, more=more))
    good = [0, 2, 3, 4]
    expected = (stored * GAINS + OFFSETS).reshape(-1, BANDS)[1:, good]
    assert np.allclose(cube.pixels().values, expected, rtol=1e-6)
    assert np.allclose(cube.bands().values, expected.T, rtol=1e-6)
    batch = next(iter(unbend.io.batches(cube, rows=100, missing="drop")))
    assert np.array_equal(batch.values, cube.pixels().values)


@pytest.mark.parametrize("given", ["gain", "offset"])
def test_gains_or_offsets_may_stand_alone(given, tmp_path):
    stored = numbers("i2")
    more = said(f"data {given} values", GAINS)
    cube = unbend.io.read_cube(envi(tmp_path, stored, 2, more=more))
    expected = stored * GAINS if given == "gain" else stored + GAINS
    assert np.allclose(cube.pixels().values, expected.reshape(-1, BANDS), rtol=1e-6)


def test_the_reflectance_scale_factor_of_envi_divides(tmp_path):
    stored = numbers("i2")
    more = "reflectance scale factor = 10000\n"
    cube = unbend.io.read_cube(envi(tmp_path, stored, 2, more=more))
    assert np.allclose(cube.pixels().values, (stored / 10000).reshape(-1, BANDS), rtol=1e-6)
    header = envi(tmp_path, stored, 2, more=more + said("data gain values", GAINS))
    with pytest.warns(UserWarning, match="gains and offsets were applied, the reflectance"):
        cube = unbend.io.read_cube(header)
    assert np.allclose(cube.pixels().values, (stored * GAINS).reshape(-1, BANDS), rtol=1e-6)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("data gain values = {1, 2}\n", "lists 2 entries under 'data gain values'"),
        (
            "data offset values = {1, 2, 3, 4, nan}\n",
            "'data offset values' and needs 5 finite",
        ),
        ("reflectance scale factor = 0\n", "must be a positive number"),
        ("reflectance scale factor = many\n", "must be a number"),
    ],
)
def test_scales_that_make_no_sense_are_refused(more, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        unbend.io.read_cube(envi(tmp_path, numbers("i2"), 2, more=more))


@pytest.mark.parametrize("shape", [(7, 4), (1, 5), (30, 2)])
def test_sparse_matrices_of_version_4_are_those_that_scipy_reads(shape, tmp_path):
    rng = np.random.default_rng(0)
    content = mat({"S": random_array(shape, density=0.3, rng=rng)}, format="4")
    expected = scipy.io.loadmat(io.BytesIO(content))["S"].toarray()
    (tmp_path / "t.mat").write_bytes(content)
    table = unbend.io.read(tmp_path / "t.mat", array="S").values
    assert np.array_equal(table.reshape(expected.shape), expected)


def old_sparse(rows):
    """Version 4 of full numbers, which the first number of the header calls sparse."""
    content = bytearray(mat({"S": np.array(rows, dtype=float)}, format="4"))
    content[0] = 2
    return io.BytesIO(bytes(content)), "t.mat"


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 5], [3, 9, 0]][::-1],
        [[0, 1, 5], [3, 9, 0]],
        [[1.5, 1, 5], [3, 9, 0]],
        [[np.nan, 1, 5], [3, 9, 0]],
        [[1, 1, 5], [-3, 9, 0]],
    ],
)
def test_sparse_matrices_of_version_4_with_places_outside_are_refused(rows, tmp_path):
    stream, name = old_sparse(rows)
    (tmp_path / name).write_bytes(stream.getvalue())
    with pytest.raises(ValueError, match="damaged or cut off MAT file"):
        unbend.io.read(tmp_path / name)


def test_a_sparse_matrix_of_version_4_that_would_not_fit_is_refused(tmp_path):
    stream, name = old_sparse([[1, 1, 5], [2, 2, 1], [10**9, 10**9, 0]])
    (tmp_path / name).write_bytes(stream.getvalue())
    with pytest.raises(NotEnoughMemory, match="as a table"):
        unbend.io.read(tmp_path / name)
    entries = coo_array(([5.0, 1.0], ([0, 1], [0, 1])), shape=(4, 3)).toarray()
    stream, name = old_sparse([[1, 1, 5], [2, 2, 1], [4, 3, 0]])
    (tmp_path / name).write_bytes(stream.getvalue())
    assert np.array_equal(unbend.io.read(tmp_path / name).values, entries)


TEXTS = 3000


def all_one_text(content: bytes, start: int, stride: int, place: int) -> bytes:
    """Let every entry lie where the first does: sixteen bytes say where a text lies."""
    changed = bytearray(content)
    one = changed[start + place : start + place + 16]
    for entry in range(TEXTS):
        at = start + entry * stride + place
        changed[at : at + 16] = one
    return bytes(changed)


def test_texts_in_fields_of_records_are_counted():
    kind = np.dtype([("x", "f8"), ("t", h5py.string_dtype())])
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        held = file.create_dataset("r", (TEXTS,), dtype=kind)
        entries = np.zeros(TEXTS, dtype=kind)
        entries["t"] = ["x" * 200_000, *"y" * (TEXTS - 1)]
        held[:] = entries
        start = held.id.get_offset()
    error, most = read_within(all_one_text(out.getvalue(), start, 8 + 16, 8), label="t")
    assert isinstance(error, NotEnoughMemory)
    assert "texts" in str(error)
    assert most < 2 * LIMIT


@pytest.mark.parametrize("shape", [(TEXTS, 1), (1, TEXTS), (TEXTS,)])
def test_texts_of_matlab_7_3_are_counted(shape):
    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512) as file:
        held = file.create_dataset("t", shape, dtype=h5py.string_dtype())
        held[...] = np.array(["x" * 200_000, *"y" * (TEXTS - 1)], dtype=object).reshape(shape)
        start = held.id.get_offset() + 512 * (held.id.get_offset() < 512)
    content = all_one_text(out.getvalue(), start, 16, 0)
    content = b"MATLAB 7.3 MAT-file".ljust(512, b"\0") + content[512:]
    error, most = read_within(content, array="t")
    assert isinstance(error, NotEnoughMemory)
    assert most < 2 * LIMIT


def test_texts_in_records_and_of_two_dimensions_are_read():
    kind = np.dtype([("x", "f8"), ("t", h5py.string_dtype())])
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        entries = np.zeros(3, dtype=kind)
        entries["x"], entries["t"] = [1, 2, 3], ["a", "bb", "c"]
        file["r"] = entries
    table = unbend.io.read(io.BytesIO(out.getvalue()), label="t")
    assert table.values.tolist() == [[1], [2], [3]]
    assert len(table.label) == 3

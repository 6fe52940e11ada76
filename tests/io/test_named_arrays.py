"""HDF5, MAT and Matrix Market against h5py and SciPy."""

import io
import struct

import h5py
import numpy as np
import pytest
import scipy.io
from scipy.sparse import coo_array, csr_array

import unbend
from unbend.io import source
from unbend.io.matlab import variables

MATRIX = np.random.default_rng(0).standard_normal((50, 4))
KIND = np.array(["a", "b"] * 25)


def hdf5(arrays, **options) -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        for name, array in arrays.items():
            held = array.astype(object) if array.dtype.kind == "U" else array
            file.create_dataset(name, data=held, **options if array.ndim == 2 else {})
    return out.getvalue()


def mat(arrays, **options) -> bytes:
    out = io.BytesIO()
    scipy.io.savemat(out, arrays, **options)
    return out.getvalue()


def mtx(matrix, **options) -> bytes:
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix, precision=17, **options)
    return out.getvalue()


SAME = {
    "hdf5": hdf5({"X": MATRIX}),
    "hdf5 packed": hdf5({"X": MATRIX}, compression="gzip", chunks=(7, 2), shuffle=True),
    "mat 4": mat({"X": MATRIX}, format="4"),
    "mat 5": mat({"X": MATRIX}),
    "mat 7": mat({"X": MATRIX}, do_compression=True),
    "mtx": mtx(MATRIX),
    "sparse mtx": mtx(coo_array(MATRIX)),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_matrix_of_a_file_is_the_table(kind, tmp_path):
    path = tmp_path / ("t.mat" if kind == "mat 4" else "t.dat")
    path.write_bytes(SAME[kind])
    table = unbend.io.read(path)
    assert np.array_equal(table.values, MATRIX)
    assert table.columns == ("x0", "x1", "x2", "x3")
    parts = list(unbend.io.batches(path, rows=13))
    assert np.array_equal(np.vstack([part.values for part in parts]), MATRIX)


@pytest.mark.parametrize("write", [hdf5, mat])
def test_vectors_beside_the_matrix_are_columns(write):
    arrays = {"X": MATRIX, "kind": KIND, "weight": np.arange(50.0), "wavelength": np.arange(4.0)}
    content = write(arrays)
    table = unbend.io.read(io.BytesIO(content), label="kind")
    assert table.columns == ("x0", "x1", "x2", "x3", "weight")
    assert np.array_equal(table.values[:, :4], MATRIX)
    assert np.array_equal(table.values[:, 4], np.arange(50))
    assert table.label.tolist() == KIND.tolist()


@pytest.mark.parametrize("write", [hdf5, mat])
def test_one_of_several_matrices_is_named(write):
    content = write({"X": MATRIX, "Y": MATRIX + 1})
    with pytest.raises(ValueError, match=r"several matrices \(X 50 x 4, Y 50 x 4\).*array="):
        unbend.io.read(io.BytesIO(content))
    assert np.array_equal(unbend.io.read(io.BytesIO(content), array="Y").values, MATRIX + 1)
    with pytest.raises(ValueError, match="has no array 'Z': it holds X 50 x 4, Y 50 x 4"):
        unbend.io.read(io.BytesIO(content), array="Z")


def test_arrays_are_named_in_npz_and_nowhere_else():
    out = io.BytesIO()
    np.savez(out, X=MATRIX, Y=MATRIX + 1)
    content = out.getvalue()
    assert np.array_equal(unbend.io.read(io.BytesIO(content), array="X").values, MATRIX)
    with pytest.raises(ValueError, match="array='X' names an array of an NPZ, HDF5 or MAT file"):
        unbend.io.read(io.BytesIO(b"a,b\n1,2\n"), array="X")
    with pytest.raises(ValueError, match="no file was given"):
        unbend.io.read(MATRIX, array="X")


def test_groups_and_records_of_hdf5():
    content = hdf5({"run/one/points": MATRIX})
    assert np.array_equal(unbend.io.read(io.BytesIO(content)).values, MATRIX)
    table = unbend.io.read(io.BytesIO(content), array="run/one/points")
    assert np.array_equal(table.values, MATRIX)
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    table = unbend.io.read(io.BytesIO(hdf5({"t": records})))
    assert (table.columns, table.values.tolist()) == (("a", "b"), [[1, 2.5], [3, 4.5]])


def test_matrices_of_matlab_7_3_are_not_transposed():
    """Version 7.3 is HDF5 after 512 bytes of MATLAB's own, with matrices stored by columns."""
    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512) as file:
        file["X"] = MATRIX.T
        file["weight"] = np.arange(50.0)[None]
    content = b"MATLAB 7.3 MAT-file".ljust(512, b"\0") + out.getvalue()[512:]
    table = unbend.io.read(io.BytesIO(content), array="X")
    assert np.array_equal(table.values, MATRIX)
    assert np.array_equal(
        next(iter(unbend.io.batches(io.BytesIO(content), rows=7, array="X"))).values, MATRIX[:7]
    )


@pytest.mark.parametrize("type_", ["i1", "u2", "i8", "f4", "f8", "?"])
def test_every_kind_of_number_is_read(type_):
    matrix = np.array([[0, 1], [1, 0], [1, 1]], dtype=type_)
    for content in (hdf5({"X": matrix}), mat({"X": matrix})):
        assert unbend.io.read(io.BytesIO(content)).values.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_matrix_market_knows_symmetry_patterns_and_integers():
    lines = b"%%MatrixMarket matrix coordinate pattern symmetric\n% a note\n\n3 3 2\n2 1\n3 3\n"
    table = unbend.io.read(io.BytesIO(lines))
    assert table.values.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    lines = b"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n"
    assert unbend.io.read(io.BytesIO(lines)).values.tolist() == [[1, 3], [2, 4]]


def test_distances_of_pairs_come_from_matrix_market():
    graph = csr_array(np.array([[0, 3.5, 0], [3.5, 0, 2], [0, 2, 0]]))
    read = unbend.io.read_distances(io.BytesIO(mtx(graph)))
    assert np.array_equal(read.toarray(), graph.toarray())
    whole = np.array([[0, 3.5, 1], [3.5, 0, 2], [1, 2, 0]])
    assert np.array_equal(unbend.io.read_distances(io.BytesIO(mtx(whole))), whole)


def test_sparse_matrices_of_matlab_become_tables():
    content = mat({"X": csr_array(MATRIX).tocsc()})
    assert np.array_equal(unbend.io.read(io.BytesIO(content)).values, MATRIX)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
@pytest.mark.parametrize("make", [np.array, coo_array])
def test_every_matrix_that_scipy_writes_is_read(symmetry, field, make):
    square = np.random.default_rng(0).integers(-9, 9, (7, 7))
    fold = {"general": 0, "symmetric": 1, "skew-symmetric": -1}[symmetry]
    matrix = make((square + fold * square.T).astype(int if field == "integer" else float))
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix, symmetry=symmetry, field=field)
    assert out.getvalue().startswith(b"%%MatrixMarket matrix")
    expected = matrix.toarray() if make is coo_array else matrix
    assert np.array_equal(unbend.io.read(io.BytesIO(out.getvalue())).values, expected)


def test_a_missing_package_is_reported_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(source, "import_module", lambda name: exec("raise ImportError"))
    with pytest.raises(ImportError, match=r"^reading HDF5 needs h5py: pip install 'unbend\[io\]'$"):
        unbend.io.read(io.BytesIO(SAME["hdf5"]))
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(ImportError, match=r"^reading images needs Pillow: pip install"):
        unbend.io.read_images(tmp_path)
    with pytest.raises(ImportError, match=r"^writing PNG needs Pillow: pip install"):
        unbend.io.write_cube(tmp_path / "b.png", np.zeros((2, 2)))


@pytest.mark.parametrize("version", ["4", "5", "5 packed"])
@pytest.mark.parametrize("type_", ["f8", "f4", "i4", "i2", "u2", "u1", "i8", "?"])
def test_variables_of_matlab_are_those_that_scipy_reads(version, type_):
    if version == "4" and type_ in ("i8", "?"):
        pytest.skip("version 4 has no such type")
    array = np.arange(12).reshape(3, 4).astype(type_)
    options = {"format": version[0], "do_compression": version.endswith("packed")}
    content = mat({"first": np.eye(2), "second": array, "third": "words"}, **options)
    expected = scipy.io.loadmat(io.BytesIO(content), variable_names=["second"])["second"]
    found = dict(variables(content, "t"))["second"]
    assert np.array_equal(found, expected)
    assert found.dtype.itemsize == expected.dtype.itemsize


def test_big_endian_variables_are_read():
    """Hand-built: SciPy writes little-endian files only."""
    flags = struct.pack(">4I", 6, 8, 6, 0)
    sizes = struct.pack(">2I2i", 5, 8, 2, 3)
    name = struct.pack(">2H", 1, 1) + b"X\0\0\0"
    numbers = struct.pack(">2I", 3, 12) + struct.pack(">6h", 1, 2, 3, 4, 5, -600) + bytes(4)
    body = flags + sizes + name + numbers
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    content = head + struct.pack(">2I", 14, len(body)) + body
    table = unbend.io.read(io.BytesIO(content))
    assert table.values.tolist() == [[1, 3, 5], [2, 4, -600]]

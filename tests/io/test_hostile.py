"""Files that mean harm: refused in one sentence, within bounds, and nothing is run."""

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
from PIL import Image

import unbend
from tests.io.test_cubes import envi, fits_bytes, numbers
from tests.io.test_malformed import assert_one_sentence
from tests.io.test_named_arrays import MATRIX, hdf5, mat
from unbend.memory import NotEnoughMemory

ZEROS = bytes(1 << 20)


def packed(size: int, head: bytes = b"") -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as stream:
        stream.write(head)
        for _ in range(size >> 20):
            stream.write(ZEROS)
    return out.getvalue()


def npz_of(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    return out.getvalue()


def npy_head(shape) -> bytes:
    out = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, head)
    return out.getvalue()


def line(text: bytes, size: int) -> bytes:
    return gzip.compress(text * (size // len(text)), 1)


LIMIT = 20_000_000
# Each unpacks to far more than the limit below.
BOMBS = {
    "npy.gz": lambda: packed(100 << 20, npy_head((100 << 17,))),
    "npz": lambda: npz_of(npy_head((100 << 17,)) + ZEROS * 100),
    "csv.gz": lambda: line(b"1,2\n", 100 << 20),
    "one line": lambda: line(b"1,2,", 100 << 20),
    "mat": lambda: mat({"X": np.zeros((100, 1 << 17))}, do_compression=True),
    "hdf5": lambda: hdf5({"X": np.zeros((100, 1 << 17))}, compression="gzip"),
    "mtx": lambda: b"%%MatrixMarket matrix coordinate real general\n9999999 9999999 1\n1 1 1\n",
    "parquet.gz": lambda: packed(100 << 20, b"PAR1"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(kind):
    content = BOMBS[kind]()
    assert len(content) < LIMIT
    with unbend.memory_limit(LIMIT), pytest.raises((NotEnoughMemory, ValueError)) as refusal:
        unbend.io.read(io.BytesIO(content))
    assert_one_sentence(str(refusal.value))


def test_bombs_among_texts_images_and_cubes_are_refused(tmp_path):
    (tmp_path / "a.txt").write_bytes(packed(100 << 20))
    with unbend.memory_limit(LIMIT), pytest.raises(NotEnoughMemory, match=r"a\.txt .*unpacks to"):
        unbend.io.read_texts(tmp_path)
    Image.fromarray(np.zeros((6000, 6000), dtype=np.uint8)).save(tmp_path / "a.png")
    with unbend.memory_limit(LIMIT), pytest.raises(NotEnoughMemory, match="need 144"):
        unbend.io.read_images(tmp_path)
    header = envi(tmp_path, numbers("f8"), more="file compression = 1\n")
    header.write_text(header.read_text().replace("samples = 4", "samples = 99999999", 1))
    with unbend.memory_limit(LIMIT), pytest.raises(NotEnoughMemory, match="numbers of"):
        unbend.io.read_cube(header)


@pytest.mark.parametrize("shape", [(10**12,), (10**9, 10**9), (2**62, 4)])
def test_a_header_that_claims_too_much_is_not_believed(shape):
    for content in (npy_head(shape), npz_of(npy_head(shape))):
        with pytest.raises(ValueError, match="damaged or cut off"):
            unbend.io.read(io.BytesIO(content))


def test_huge_headers_are_not_read_to_their_end(tmp_path):
    path = tmp_path / "scene.hdr"
    path.write_bytes(b"ENVI\n" + b"a = {" + b"1," * (9 << 20))
    (tmp_path / "scene.img").write_bytes(b"")
    with pytest.raises(ValueError, match="more than 16 MB"):
        unbend.io.read_cube(path)
    card = b"COMMENT".ljust(80)
    endless = b"SIMPLE  =                    T".ljust(80) + card * (36 * 2100)
    with pytest.raises(ValueError, match="a header does not end"):
        unbend.io.read_cube(io.BytesIO(endless))


def test_fields_of_many_braces_take_no_time(tmp_path):
    """A pattern that goes back over what it read would take hours."""
    path = tmp_path / "scene.hdr"
    path.write_text("ENVI\n" + "a = {" * 200_000 + "b " * 200_000)
    (tmp_path / "scene.img").write_bytes(b"")
    with pytest.raises(ValueError, match="does not say 'lines'"):
        unbend.io.read_cube(path)


class Harm:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


def test_nothing_pickled_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    harm = np.array([[Harm()]], dtype=object)
    out = io.BytesIO()
    np.save(out, harm, allow_pickle=True)
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file["X"] = np.void(pickle.dumps(Harm()))
    for content in (pickle.dumps(Harm()), out.getvalue(), npz_of(out.getvalue()), held.getvalue()):
        for read in (unbend.io.read, unbend.io.read_matrices, unbend.io.read_images):
            with pytest.raises((ValueError, TypeError)):
                read(io.BytesIO(content))
    assert not (tmp_path / "harmed").exists()


def test_hdf5_is_not_followed_to_other_files(tmp_path):
    (tmp_path / "secret.bin").write_bytes(MATRIX.tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = MATRIX
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["X"] = h5py.ExternalLink("other.h5", "/X")
        file["Y"] = h5py.SoftLink("/X")
    with pytest.raises(ValueError, match="no array of numbers"):
        unbend.io.read(tmp_path / "link.h5")
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        outside = [(str(tmp_path / "secret.bin"), 0, MATRIX.nbytes)]
        file.create_dataset("X", MATRIX.shape, "f8", external=outside)
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout(MATRIX.shape, "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "X", MATRIX.shape)
        file.create_virtual_dataset("X", layout)
    for name in ("raw.h5", "virtual.h5"):
        with pytest.raises(ValueError, match="is stored in another file, which is not followed"):
            unbend.io.read(tmp_path / name)


def test_groups_that_hold_themselves_end(tmp_path):
    with h5py.File(tmp_path / "loop.h5", "w") as file:
        file["X"] = MATRIX
        file["group/again"] = file["/"]
    assert np.array_equal(unbend.io.read(tmp_path / "loop.h5").values, MATRIX)


def test_folders_that_hold_themselves_end_and_links_lead_nowhere(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret words")
    (tmp_path / "set" / "b.txt").write_text("red sea")
    (tmp_path / "set" / "loop").symlink_to(tmp_path / "set")
    (tmp_path / "set" / "out").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "set" / "pipe.txt")
    assert unbend.io.read_texts(tmp_path / "set").ids.tolist() == ["b.txt"]


def test_sparse_matrices_with_places_outside_are_refused():
    out = io.BytesIO()
    held = {"indices": np.array([0, 99]), "indptr": np.array([0, 1, 2]), "data": np.ones(2)}
    np.savez(out, format=np.array(b"csr"), shape=np.array([2, 2]), **held)
    with pytest.raises(ValueError, match="damaged or cut off sparse matrix"):
        unbend.io.read_distances(io.BytesIO(out.getvalue()))


def test_cells_structures_and_functions_of_matlab_are_left_alone():
    cell = np.empty(2, dtype=object)
    cell[:] = [MATRIX, {"a": MATRIX}]
    out = io.BytesIO()
    scipy.io.savemat(out, {"cell": cell, "structure": {"a": MATRIX}})
    with pytest.raises(ValueError, match="no array of numbers"):
        unbend.io.read(io.BytesIO(out.getvalue()))


def test_fits_claims_are_not_believed():
    from astropy.io import fits

    content = fits_bytes(fits.PrimaryHDU(np.zeros((5, 3, 4))))
    for old, new, words in (
        (b"NAXIS1  =                    4", b"NAXIS1  =   999999999999999999", "impossible size"),
        (b"NAXIS1  =                    4", b"NAXIS1  =                   -4", "impossible size"),
        (b"NAXIS1  =                    4", b"NAXIS1  =                    x", "is invalid"),
        (b"BITPIX  =                  -64", b"BITPIX  =                  -63", "is invalid"),
        (b"NAXIS   =                    3", b"NAXIS   =             99999999", "is invalid"),
    ):
        with pytest.raises(ValueError, match=words):
            unbend.io.read_cube(io.BytesIO(content.replace(old, new, 1)))


PEAK = """
import io, resource, sys
import unbend
unbend.io.read(io.BytesIO(b"a,b\\n1,2\\n"))
content = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    with unbend.memory_limit(50_000_000):
        unbend.io.read(io.BytesIO(content))
except (ValueError, MemoryError):
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["npz", "csv.gz", "mat"])
def test_the_memory_that_a_bomb_takes_is_bounded(kind, tmp_path):
    (tmp_path / "bomb").write_bytes(BOMBS[kind]())
    command = [sys.executable, "-c", PEAK, str(tmp_path / "bomb")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Kilobytes: the limit, with room for what reads.
    assert int(done.stdout) < 150_000


def test_points_numbered_far_beyond_the_distances_are_refused():
    with pytest.raises(ValueError, match="counts points up to 2147483001 and has 2 distances"):
        unbend.io.read_distances(io.BytesIO(b"0,1,3\n0,2147483000,5\n"))
    entries = b"%%MatrixMarket matrix coordinate real general\n2147483000 2147483000 1\n1 2 1\n"
    with pytest.raises(ValueError, match="damaged or cut off Matrix Market"):
        unbend.io.read_distances(io.BytesIO(entries))


REAL = b"%%MatrixMarket matrix array real general\n2 1\n"


@pytest.mark.parametrize(
    "content",
    [
        # SciPy ends the process over the first four, and reads 1 and 2 from the next four.
        REAL + b"1\n2-3",
        REAL + b"1\x00\xbe7\n2\n",
        b"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 7\n3 1 8\x00\xcc\n",
        b"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6e",
        REAL + b"1,5\n2\n",
        REAL + b"1 5\n2\n",
        REAL + b"1d5\n2\n",
        REAL + b"1\n2-3\n",
        b"%%MatrixMarket matrix array pattern general\n2 1\n1\n2\n",
        b"%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n4\n5\n6\n",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
        b"%%MatrixMarket matrix array real general\n0 0\n",
        REAL + b"1\n",
        REAL + b"1\n2\n3\n",
    ],
)
def test_damaged_lines_of_matrix_market_are_refused(content):
    with pytest.raises(ValueError, match="damaged or cut off Matrix Market"):
        unbend.io.read(io.BytesIO(content))


def test_lines_of_matrix_market_may_be_empty_indented_or_windows():
    content = (
        b"%%MatrixMarket matrix array real general\r\n%\r\n\r\n 3 1 \r\n\r\n 1\r\n\t2e0 \r\n.5"
    )
    assert unbend.io.read(io.BytesIO(content)).values.ravel().tolist() == [1, 2, 0.5]

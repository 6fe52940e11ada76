"""Several matrices at once."""

import io

import h5py
import numpy as np
import pytest
import scipy.io
from scipy.sparse import csr_array

import unbend

POINTS = np.random.default_rng(0).standard_normal((3, 8, 2))
STACK = np.linalg.norm(POINTS[:, :, None] - POINTS[:, None], axis=3)


def as_lines(matrix, names=None) -> str:
    rows = [",".join(map(repr, row)) for row in matrix.tolist()]
    if names is None:
        return "\n".join(rows) + "\n"
    body = [f"{name},{row}" for name, row in zip(names, rows, strict=True)]
    return "\n".join([",".join(["", *names]), *body]) + "\n"


def sources(folder):
    (folder / "set").mkdir()
    for place, matrix in enumerate(STACK):
        (folder / "set" / f"judge{place}.csv").write_text(as_lines(matrix))
    np.save(folder / "stack.npy", STACK)
    np.savez(folder / "several.npz", **{f"judge{i}": matrix for i, matrix in enumerate(STACK)})
    scipy.io.savemat(folder / "several.mat", {f"judge{i}": m for i, m in enumerate(STACK)})
    scipy.io.savemat(folder / "stack.mat", {"all": STACK})
    with h5py.File(folder / "stack.h5", "w") as file:
        file["all"] = STACK
    (folder / "below.csv").write_text(as_lines(STACK.reshape(-1, 8)))
    paths = sorted((folder / "set").iterdir())
    files = ["set", "stack.npy", "several.npz", "several.mat", "stack.mat", "stack.h5", "below.csv"]
    return [*(folder / name for name in files), paths, STACK, list(STACK)]


def test_every_source_gives_the_same_matrices(tmp_path):
    for source in sources(tmp_path):
        matrices = unbend.io.read_matrices(source)
        assert len(matrices) == 3
        assert np.array_equal(np.stack(matrices.values), STACK), source


def test_estimators_for_several_take_them(tmp_path):
    matrices = unbend.io.read_matrices(STACK)
    for method in (unbend.ReplicatedMDS, unbend.WeightedMDS):
        expected = method(metric="precomputed").fit(STACK).embedding_
        assert np.array_equal(
            method(metric="precomputed").fit(matrices.values).embedding_, expected
        )


def test_names_of_rows_are_kept_and_compared(tmp_path):
    names = list("abcdefgh")
    (tmp_path / "1.csv").write_text(as_lines(STACK[0], names))
    (tmp_path / "2.csv").write_text(as_lines(STACK[1], names))
    assert unbend.io.read_matrices(tmp_path).objects == tuple(names)
    assert unbend.io.read_matrices(tmp_path).names == ("1.csv", "2.csv")
    (tmp_path / "2.csv").write_text(as_lines(STACK[1], names[::-1]))
    with pytest.raises(ValueError, match=r"rows of 2\.csv have other names than those of 1\.csv"):
        unbend.io.read_matrices(tmp_path)


def test_what_does_not_fit_is_named(tmp_path):
    (tmp_path / "1.csv").write_text(as_lines(STACK[0]))
    (tmp_path / "2.csv").write_text(as_lines(STACK[1][:5, :5]))
    with pytest.raises(ValueError, match=r"2\.csv describes 5 objects and 1\.csv 8"):
        unbend.io.read_matrices(tmp_path)
    (tmp_path / "2.csv").write_text(as_lines(STACK[1][:, :5]))
    with pytest.raises(ValueError, match=r"2\.csv is 8 x 5"):
        unbend.io.read_matrices(tmp_path)
    skew = STACK[1].copy()
    skew[0, 1] += 1
    with pytest.raises(ValueError, match=r"matrix 2 is not symmetric .*by up to 1"):
        unbend.io.read_matrices([STACK[0], skew])
    with pytest.raises(ValueError, match="list of matrices is empty"):
        unbend.io.read_matrices([])


def test_unknown_pairs_stay_unknown():
    gaps = STACK[0].copy()
    gaps[0, 1] = gaps[1, 0] = np.nan
    matrices = unbend.io.read_matrices([gaps, csr_array(STACK[1])])
    assert np.isnan(matrices.values[0][0, 1])
    assert np.array_equal(matrices.values[1].toarray(), STACK[1])
    text = io.BytesIO(as_lines(gaps).replace("nan", "").encode())
    assert np.isnan(unbend.io.read_matrices(text).values[0][0, 1])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_counts_and_truth_values_are_numbers(dtype):
    stack = (STACK > 1).astype(dtype)
    found = unbend.io.read_matrices(stack)
    assert np.array_equal(found.values, stack)
    assert all(matrix.dtype == np.float64 for matrix in found.values)


@pytest.mark.parametrize("dtype", [object, complex, str])
def test_what_is_not_real_is_refused(dtype):
    with pytest.raises(ValueError, match="similarities are real numbers"):
        unbend.io.read_matrices(STACK.astype(dtype))


def test_a_source_without_matrices_is_refused():
    with pytest.raises(ValueError, match="no matrices"):
        unbend.io.read_matrices(np.empty((0, 3, 3)))


def test_a_folder_may_hold_files_of_named_arrays(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"heard": STACK[0]})
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["heard"] = STACK[1]
    assert np.array_equal(unbend.io.read_matrices(tmp_path).values, STACK[:2])

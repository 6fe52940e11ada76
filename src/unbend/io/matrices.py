"""Several matrices of similarities or distances between the same objects, one for each source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.io.arrays import load_npy, load_npz, pick_array
from unbend.io.distances import read_distance_table, read_sparse
from unbend.io.hdf5 import open_arrays
from unbend.io.matlab import load_mat
from unbend.io.numerals import Array
from unbend.io.reading import check_no_array, check_no_separator, open_table
from unbend.io.source import Source, is_file, is_folder, list_files, open_source, table_format

Matrix = FloatArray | csr_array
# Relative difference of the two directions beyond which a matrix is not symmetric.
ROUNDING = 1e-8
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow", ".npy", ".npz", ".mtx")
SUFFIXES = (*TABLES, ".h5", ".hdf5", ".mat")


@dataclass(frozen=True, eq=False)
class Matrices:
    """Square matrices of one size; what `read_matrices` returns.

    Attributes
    ----------
    values : tuple of arrays (n, n)
        The matrices, dense or sparse; NaN, or absent from a sparse one, is a missing value.
    names : tuple of str
        Source of each matrix.
    objects : tuple of str or None
        Names of the rows, where the sources have some.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> matrices = unbend.io.read_matrices(np.array([[[0.0, 1], [1, 0]], [[0.0, 2], [2, 0]]]))
    >>> len(matrices), [float(one.max()) for one in matrices.values]
    (2, [1.0, 2.0])
    """

    values: tuple[Matrix, ...]
    names: tuple[str, ...]
    objects: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Candidate:
    """One matrix that was read."""

    name: str
    matrix: Matrix
    objects: tuple[str, ...] | None


def read_matrices(
    source: Any, *, array: str | None = None, separator: str | None = None
) -> Matrices:
    """Read several matrices of similarities or distances between the same objects.

    Parameters
    ----------
    source : path, or list of paths, arrays or dataframes
        A folder or a list of files, each with one square table as `read_distances` takes it; an
        array (m, n, n); an NPY, NPZ, HDF5 or MAT file of one such array or of several matrices; or
        a table of square matrices below each other.
    array : str, optional
        Which array of an NPZ, HDF5 or MAT file is the matrices; by default all that can be.
    separator : str, optional
        As for `read`, for all text files.

    Returns
    -------
    Matrices
        Whose `values` are for `ReplicatedMDS` and `WeightedMDS`.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> rows = np.random.default_rng(0).random((2, 10, 1, 2))
    >>> heard = np.linalg.norm(rows - rows.swapaxes(1, 2), axis=3)
    >>> matrices = unbend.io.read_matrices(heard)
    >>> len(matrices), matrices.values[0].shape
    (2, (10, 10))
    >>> model = unbend.WeightedMDS(metric="precomputed").fit(matrices.values)
    >>> model.embedding_.shape
    (10, 2)
    """
    found = list(_candidates(source, array, separator))
    if not found:
        raise ValueError("there are no matrices in the source")
    first = found[0]
    for one in found:
        _check(one)
        if one.matrix.shape != first.matrix.shape:
            raise ValueError(
                f"{one.name} describes {one.matrix.shape[0]} objects and {first.name} "
                f"{first.matrix.shape[0]}: all must describe the same objects, with NaN for "
                "the unknown"
            )
        if one.objects is not None and first.objects not in (None, one.objects):
            raise ValueError(
                f"the rows of {one.name} have other names than those of {first.name}, or another "
                "order: bring all to one"
            )
    objects = next((one.objects for one in found if one.objects is not None), None)
    return Matrices(
        tuple(_as_float(one.matrix) for one in found), tuple(one.name for one in found), objects
    )


def _as_float(matrix: Matrix) -> Matrix:
    """Convert integers and booleans to floats."""
    return matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)


def _candidates(source: Any, array: str | None, separator: str | None) -> Iterator[Candidate]:
    if array is not None and (is_folder(source) or not is_file(source)):
        raise ValueError(f"array={array!r} names an array of a file, and no file was given")
    if is_folder(source):
        for path in list_files(source, SUFFIXES, "matrices").paths:
            yield _single(path, path.name, separator)
    elif is_file(source):
        yield from _of_file(open_source(source), array, separator)
    elif isinstance(source, Mapping):
        for name, item in source.items():
            yield _single(item, str(name), separator)
    elif isinstance(source, list | tuple):
        if not source:
            raise ValueError("the list of matrices is empty")
        for place, item in enumerate(source):
            named = isinstance(item, str | Path)
            yield _single(item, str(item) if named else f"matrix {place + 1}", separator)
    else:
        check_no_separator(separator, "the matrices are in memory")
        yield from _of_stack(source, "the array")


def _of_stack(source: Any, where: str) -> Iterator[Candidate]:
    """Take the matrices of an array of three dimensions, or of a table."""
    array = source if is_sparse(source) else np.asarray(source)
    if array.ndim != 3:
        yield from _of_table(source, where, None)
        return
    for place, matrix in enumerate(array):
        yield Candidate(f"matrix {place + 1} of {where}", np.asarray(matrix), None)


def _of_table(source: Any, where: str, separator: str | None) -> Iterator[Candidate]:
    """Take the matrices of a table, one square below the other."""
    one = _single(source, where, separator)
    n, width = one.matrix.shape
    if n == width or n % width or is_sparse(one.matrix):
        yield one
        return
    for place in range(n // width):
        part = slice(place * width, (place + 1) * width)
        names = None if one.objects is None else one.objects[part]
        yield Candidate(f"matrix {place + 1} of {where}", one.matrix[part], names)


def _of_file(source: Source, array: str | None, separator: str | None) -> Iterator[Candidate]:
    kind = table_format(source)
    if kind != "text":
        check_no_separator(separator, f"{source.name} is not one")
    arrays = _arrays(source, kind)
    if arrays is None:
        check_no_array(array, source.name)
    if kind == "npy":
        yield from _of_stack(load_npy(source), source.name)
        return
    if arrays is None:
        yield from _of_table(source, source.name, separator)
        return
    if array is not None:
        matrix = pick_array(arrays, array, source.name)
        yield from _of_stack(matrix, f"{array} of {source.name}")
        return
    for name, held in arrays.items():
        if held.ndim == 3:
            yield from _of_stack(held, f"{name} of {source.name}")
        else:
            yield Candidate(f"{name} of {source.name}", held, None)
    if not arrays:
        raise ValueError(f"{source.name} holds no matrices")


def _arrays(source: Source, kind: str) -> dict[str, Array] | None:
    """Matrices of a file that holds arrays by name, or nothing where it is of another kind."""
    if kind == "npz" and read_sparse(source) is None:
        held = load_npz(source)
    elif kind == "mat":
        held = load_mat(source)
    elif kind in ("hdf5", "mat 7.3"):
        with open_arrays(source) as arrays:
            held = {name: array[:] for name, array in arrays.items() if array.ndim in (2, 3)}
    else:
        return None
    return {
        name: array
        for name, array in held.items()
        if array.ndim in (2, 3) and array.dtype.kind in "biuf"
    }


def _single(source: Any, name: str, separator: str | None) -> Candidate:
    """Read one matrix: sparse as it is, or a table whose first column may name the rows."""
    if is_file(source):
        source = open_source(source)
        sparse = read_sparse(source)
        if sparse is not None:
            check_no_separator(separator, f"{name} is sparse")
            return Candidate(name, sparse, None)
    elif is_sparse(source):
        return Candidate(name, csr_array(source), None)
    table = read_distance_table(open_table(source, separator=separator, counted=False))
    objects = None if table.ids is None else tuple(map(str, table.ids.tolist()))
    return Candidate(name, table.values, objects)


def _check(one: Candidate) -> None:
    """Refuse what is no matrix of numbers or not square, or differs in the two directions."""
    if one.matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{one.name} holds values of type {one.matrix.dtype}: similarities are real numbers"
        )
    n, width = one.matrix.shape
    if n != width:
        raise ValueError(f"{one.name} is {n} x {width} and a matrix of similarities is square")
    matrix: Any = one.matrix
    values: Array = np.asarray(matrix.data if is_sparse(matrix) else matrix)
    if np.isinf(values).any():
        raise ValueError(
            f"{one.name} holds numbers that are not finite: use NaN for unknown entries"
        )
    if is_sparse(matrix):
        apart = abs(matrix - matrix.T).max() if matrix.nnz else 0.0
    else:
        both = np.nan_to_num(np.subtract(values, values.T, dtype=np.float64))
        apart = np.abs(both).max(initial=0.0)
    if apart > ROUNDING * np.nanmax(np.abs(values), initial=0.0):
        raise ValueError(
            f"{one.name} is not symmetric (entries differ by up to {apart:g}): take the mean of "
            "both directions if that is what you mean"
        )

"""Arrays: in memory, or in NPY and NPZ files, which are never unpickled."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO, Any, cast

import numpy as np

from unbend.io.files import File
from unbend.io.named import chosen, listed
from unbend.io.numerals import Array
from unbend.io.table import Roles, Table, table_of_columns, table_of_matrix
from unbend.memory import NotEnoughMemory, reserve

# What NumPy raises over headers that make no sense.
DAMAGE = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OSError,
    OverflowError,
    MemoryError,
    SyntaxError,
    TokenError,
)
# Under this name `write` keeps the names of the columns in NPZ files.
COLUMNS = "columns"


@dataclass(frozen=True)
class MatrixSource:
    """A matrix, with arrays kept aside by name."""

    matrix: Array
    matrix_names: tuple[str, ...]
    aside: Mapping[str, Array]
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, and of the arrays beside them."""
        return (*self.matrix_names, *self.aside)

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Give tables of so many rows, or one of all."""
        n = len(self.matrix)
        if not n:
            raise ValueError(f"{self.where} has no rows")
        beside = set(roles.wanted(self.names, self.where)) & set(self.aside)
        step = rows or n
        for start in range(0, n, step):
            part = slice(start, start + step)
            matrix = _in_memory(self.matrix[part])
            if beside:
                columns = dict(zip(self.matrix_names, matrix.T, strict=True))
                columns |= {name: _in_memory(array[part]) for name, array in self.aside.items()}
                yield table_of_columns(columns, roles, start, self.where)
            else:
                yield table_of_matrix(matrix, self.matrix_names, roles, start, self.where)


def _in_memory(array: Array) -> Array:
    """Copy what is mapped: a table must not change when its file does."""
    return np.array(array) if isinstance(array, np.memmap) else array


def columns_source(columns: Mapping[str, Array], where: str) -> MatrixSource:
    """Take arrays of one dimension, which are the columns."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"the columns of {where} must have one length: they have {listed}")
    n = next(iter(lengths.values()))
    return MatrixSource(np.empty((n, 0)), (), columns, where)


def matrix_source(array: Any, where: str) -> MatrixSource:
    """Take rows of numbers, a single column, or a structured array with its fields."""
    # A mapped file stays one, to be read as far as it is asked for.
    matrix = array if isinstance(array, np.memmap) else _array(array, where)
    if matrix.dtype.names is not None and matrix.ndim == 1:
        fields = {name: matrix[name] for name in matrix.dtype.names}
        return columns_source(fields, where)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise ValueError(
            f"{where} has {matrix.ndim} dimensions and a table has two: reshape it to one row for "
            "each point"
        )
    return MatrixSource(matrix, places(matrix), {}, where)


def _array(array: Any, where: str) -> Array:
    """Array of what was given, NaN where a masked array has no value."""
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "biuf":
        array = array if array.dtype.kind == "f" else array.astype(np.float64)
        return np.asarray(array.filled(np.nan))
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(
            f"{where} has rows of different lengths: give each as many numbers as there are columns"
        ) from error


def places(matrix: Any) -> tuple[str, ...]:
    """Names of columns that have none: x0, x1, …."""
    return tuple(f"x{place}" for place in range(matrix.shape[1]))


def npy_source(file: File) -> MatrixSource:
    """Open an NPY file, mapped into memory where it can be."""
    return matrix_source(load_npy(file), file.name)


def load_npy(file: File) -> Array:
    """Open an NPY file, mapped into memory where it can be, and never unpickled."""
    try:
        if file.path is not None and not file.packed:
            mapped: Array = np.load(file.path, mmap_mode="r", allow_pickle=False)
            return mapped
        content = file.bytes(_length(file))
        return read_npy(io.BytesIO(content), len(content))
    except NotEnoughMemory:
        raise
    except DAMAGE as error:
        raise ValueError(_refusal(file.name, error, "NPY")) from error


def _length(file: File) -> int:
    """Bytes of an NPY file, as its header says."""
    with file.unpacking() as stream:
        shape, dtype = _header(stream)
        return stream.tell() + math.prod(shape) * dtype.itemsize


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the shape and type that the header of an array claims."""
    version = np.lib.format.read_magic(stream)
    # Version 3 differs from 2 by the encoding of the names of fields, which sizes do not need.
    old = version == (1, 0)
    header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    if min(shape, default=0) < 0:
        raise ValueError("the header claims fewer entries than none")
    return shape, dtype


def _refusal(name: str, error: BaseException, title: str) -> str:
    # NumPy's words for an array of Python objects, mapped or not.
    if "object" in str(error).lower():
        return (
            f"{name} holds pickled objects, which are never read, since loading them can run any "
            "program: save an array of numbers"
        )
    if isinstance(error, MemoryError):
        return f"{name} claims more entries than memory can hold: it is damaged, or too large"
    return f"{name} is a damaged or cut off {title} file: fetch or write it again"


def load_npz(file: File) -> dict[str, Array]:
    """Read the arrays of an NPZ file, none of them unpickled."""
    try:
        with _archive(file) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            arrays = {name[:-4]: _member(archive, name) for name in names}
            workbook = "[Content_Types].xml" in archive.namelist()
    except NotEnoughMemory:
        raise
    except (*DAMAGE, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(_refusal(file.name, error, "NPZ")) from error
    except (NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{file.name} cannot be unpacked ({error}): write it again") from error
    if not arrays:
        kind = "an Excel workbook" if workbook else "a zip archive without arrays"
        raise ValueError(f"{file.name} is {kind}, which is not read: save the table as CSV")
    return arrays


@contextmanager
def _archive(file: File) -> Iterator[zipfile.ZipFile]:
    """Open an NPZ file whose arrays fit in memory, however small they are packed."""
    packed = file.path is None or file.packed
    with zipfile.ZipFile(io.BytesIO(file.bytes()) if packed else cast(Any, file.path)) as archive:
        size = sum(info.file_size for info in archive.infolist() if info.filename.endswith(".npy"))
        reserve(size, f"the arrays of {file.name}", "take a machine with more, or fewer rows")
        yield archive


def _member(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as stream:
        return read_npy(stream, archive.getinfo(name).file_size)


def read_npy(stream: IO[bytes], size: int) -> Array:
    """Read an array from a stream of so many bytes, if its header claims no more than those."""
    shape, dtype = _header(stream)
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError("the header claims more entries than there are")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def npz_source(file: File, array: str | None = None) -> MatrixSource:
    """Take the one matrix of an NPZ file; arrays of one dimension beside it are columns."""
    arrays = load_npz(file)
    if is_sparse_archive(arrays):
        raise ValueError(
            f"{file.name} holds a sparse matrix, which is not a table: read it with "
            "read_distances if it holds distances"
        )
    if array is not None:
        return matrix_source(arrays[str(chosen(arrays, array, file.name).matrix)], file.name)
    matrices = [name for name, held in arrays.items() if held.ndim != 1]
    if len(matrices) > 1:
        raise ValueError(
            f"{file.name} holds several matrices ({listed(arrays, matrices)}): name the one that "
            "is the table by array="
        )
    if not matrices:
        return columns_source(arrays, file.name)
    matrix = arrays.pop(matrices[0])
    if matrix.ndim != 2:
        return matrix_source(matrix, file.name)
    names = places(matrix)
    if len(arrays.get(COLUMNS, ())) == len(names) and arrays[COLUMNS].dtype.kind == "U":
        names = tuple(arrays.pop(COLUMNS).tolist())
    for name, beside in arrays.items():
        if len(beside) != len(matrix):
            raise ValueError(
                f"array {name!r} of {file.name} has {len(beside)} entries and the table has "
                f"{len(matrix)} rows: save them apart"
            )
    return MatrixSource(matrix, names, arrays, file.name)


def is_sparse_archive(arrays: Mapping[str, Array]) -> bool:
    """Whether SciPy wrote the arrays, as the parts of a sparse matrix."""
    return {"format", "shape", "data"} <= set(arrays)

"""Arrays in memory, and in NPY, NPZ, IDX and Matrix Market files; nothing is unpickled."""

import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import csr_array

from unbend.arrays import is_sparse
from unbend.io.numerals import Array
from unbend.io.source import IDX_TYPES, Source
from unbend.io.table import (
    TOO_LARGE,
    Frame,
    Roles,
    Table,
    frame_from_columns,
    table_from_columns,
    table_from_matrix,
)
from unbend.memory import NotEnoughMemory, check_fits, reserve

# What NumPy raises for invalid headers.
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
# More empty rows than that for each entry would cost memory for nothing.
SCATTERED = 100
END = rb"[ \t\r]*+\n"
HEAD = rb"%%[^\n]*+\n(?:%[^\n]*+\n|" + END + rb")*+[ \t]*+\d++(?:[ \t]++\d++){1,2}" + END
NUMBER = rb"[ \t]*+[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+|(?i:nan|inf))(?=\s)"


@dataclass(frozen=True)
class MatrixReader:
    """A matrix, and named columns beside it."""

    matrix: Array
    matrix_names: tuple[str, ...]
    aside: Mapping[str, Array]
    where: str
    # Whether columns may have units of their own, as in a workbook.
    tabular: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, and of the arrays beside them."""
        return (*self.matrix_names, *self.aside)

    @property
    def memory_size(self) -> int:
        """Bytes that all rows would take, of a matrix that is still in its file."""
        return 8 * math.prod(self.matrix.shape) if isinstance(self.matrix, np.memmap) else 0

    def sample(self, rows: int, random_state: int) -> "tuple[MatrixReader, int] | None":
        """Return a reader of random rows, and how many there are."""
        n = len(self.matrix)
        rng = np.random.default_rng(random_state)
        chosen = np.sort(rng.choice(n, min(rows, n), replace=False))
        aside = {name: column[chosen] for name, column in self.aside.items()}
        return replace(self, matrix=np.array(self.matrix[chosen]), aside=aside), n

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one table of all."""
        n = len(self.matrix)
        if not n:
            raise ValueError(f"{self.where} has no rows")
        if rows is None:
            check_fits(self.memory_size, f"the numbers of {self.where}", TOO_LARGE)
        beside = set(roles.read_names(self.names, self.where)) & set(self.aside)
        step = rows or n
        for start in range(0, n, step):
            part = slice(start, start + step)
            matrix = _copy_mapped(self.matrix[part])
            if beside:
                columns = dict(zip(self.matrix_names, matrix.T, strict=True))
                columns |= {name: _copy_mapped(array[part]) for name, array in self.aside.items()}
                yield table_from_columns(columns, roles, start, self.where)
            else:
                yield table_from_matrix(matrix, self.matrix_names, roles, start, self.where)

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""
        n = len(self.matrix)
        if not n:
            raise ValueError(f"{self.where} has no rows")
        step = rows or n
        for start in range(0, n, step):
            part = slice(start, start + step)
            columns = dict(zip(self.matrix_names, _copy_mapped(self.matrix[part]).T, strict=True))
            columns |= {name: _copy_mapped(array[part]) for name, array in self.aside.items()}
            yield frame_from_columns(columns, roles, start, self.where)


def _copy_mapped(array: Array) -> Array:
    """Copy what is mapped: a table must not change when its file does."""
    return np.array(array) if isinstance(array, np.memmap) else array


def read_columns(columns: Mapping[str, Array], where: str) -> MatrixReader:
    """Take arrays of one dimension, which are the columns."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"the columns of {where} must have one length: they have {listed}")
    n = next(iter(lengths.values()))
    return MatrixReader(np.empty((n, 0)), (), columns, where)


def read_matrix(array: Any, where: str) -> MatrixReader:
    """Take rows of numbers, a single column, or a structured array with its fields."""
    # A mapped file stays one, to be read as far as it is asked for.
    matrix = array if isinstance(array, np.memmap) else _array(array, where)
    if matrix.dtype.names is not None and matrix.ndim == 1:
        fields = {name: matrix[name] for name in matrix.dtype.names}
        return read_columns(fields, where)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise ValueError(
            f"{where} has {matrix.ndim} dimensions and a table has two: reshape it to one row for "
            "each point"
        )
    return MatrixReader(matrix, number_columns(matrix), {}, where)


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


def number_columns(matrix: Any) -> tuple[str, ...]:
    """Names of columns that have none: x0, x1, …."""
    return tuple(f"x{place}" for place in range(matrix.shape[1]))


def load_npy(source: Source) -> Array:
    """Read an NPY file, mapped into memory where it can be, and never unpickled."""
    try:
        with source.stream() as stream:
            shape, fortran, dtype = _read_header(stream)
            offset = stream.tell()
        if source.on_disk and not dtype.hasobject:
            return source.map_array(dtype, shape, offset, "F" if fortran else "C")
        content = source.read_bytes(offset + math.prod(shape) * dtype.itemsize)
        return read_npy(io.BytesIO(content), len(content))
    except NotEnoughMemory:
        raise
    except DAMAGE as error:
        raise ValueError(_refusal(source.name, error, "NPY")) from error


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the shape, order and type that the header of an array claims."""
    version = np.lib.format.read_magic(stream)
    # Version 3 differs from 2 by the encoding of the names of fields, which sizes do not need.
    old = version == (1, 0)
    header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(stream)
    if min(shape, default=0) < 0:
        raise ValueError("the header gives a negative number of entries")
    return shape, fortran, dtype


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


def load_npz(source: Source) -> dict[str, Array]:
    """Read the arrays of an NPZ file, none of them unpickled."""
    try:
        with _archive(source) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            arrays = {name[:-4]: _member(archive, name) for name in names}
            workbook = "[Content_Types].xml" in archive.namelist()
    except NotEnoughMemory:
        raise
    except (*DAMAGE, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(_refusal(source.name, error, "NPZ")) from error
    except (NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{source.name} cannot be unpacked ({error}): write it again") from error
    if not arrays:
        kind = "an Excel workbook that is damaged or binary" if workbook else "a zip archive"
        raise ValueError(f"{source.name} is {kind} without arrays or sheets: save it as CSV")
    return arrays


@contextmanager
def _archive(source: Source) -> Iterator[zipfile.ZipFile]:
    """Open an NPZ file whose arrays fit in memory, however small they are packed."""
    packed = io.BytesIO(source.read_bytes()) if source.packed else None
    with source.stream() as stream, zipfile.ZipFile(packed or stream) as archive:
        size = sum(info.file_size for info in archive.infolist() if info.filename.endswith(".npy"))
        reserve(
            size, f"the arrays of {source.name}", "use a machine with more memory, or fewer rows"
        )
        yield archive


def _member(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as stream:
        return read_npy(stream, archive.getinfo(name).file_size)


def read_npy(stream: IO[bytes], size: int) -> Array:
    """Read an array from a stream of `size` bytes; refuse a header that claims more."""
    shape, _, dtype = _read_header(stream)
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError("the header gives more entries than the file has")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def read_npz(source: Source, array: str | None = None) -> MatrixReader:
    """Take the one matrix of an NPZ file; arrays of one dimension beside it are columns."""
    arrays = load_npz(source)
    if is_sparse_archive(arrays):
        raise ValueError(
            f"{source.name} holds a sparse matrix, which is not a table: read it with "
            "read_distances if it holds distances"
        )
    if array is not None:
        return read_matrix(pick_array(arrays, array, source.name), source.name)
    matrices = [name for name, held in arrays.items() if held.ndim != 1]
    _check_single(arrays, matrices, source.name)
    if not matrices:
        return read_columns(arrays, source.name)
    matrix = arrays.pop(matrices[0])
    if matrix.ndim != 2:
        return read_matrix(matrix, source.name)
    names = number_columns(matrix)
    if len(arrays.get(COLUMNS, ())) == len(names) and arrays[COLUMNS].dtype.kind == "U":
        names = tuple(arrays.pop(COLUMNS).tolist())
    for name, beside in arrays.items():
        if len(beside) != len(matrix):
            raise ValueError(
                f"array {name!r} of {source.name} has {len(beside)} entries and the table has "
                f"{len(matrix)} rows: save them separately"
            )
    return MatrixReader(matrix, names, arrays, source.name)


def is_sparse_archive(arrays: Mapping[str, Array]) -> bool:
    """Whether SciPy wrote the arrays, as the parts of a sparse matrix."""
    return {"format", "shape", "data"} <= set(arrays)


def load_idx(source: Source) -> Array:
    """Read the array of an IDX file, whose size must be what the file says."""
    damage = ValueError(f"{source.name} is a damaged or cut off IDX file: fetch or write it again")
    head = source.read_bytes(4)
    dtype, start = np.dtype(IDX_TYPES[head[2]]), 4 + 4 * head[3]
    sizes = source.read_bytes(start)[4:]
    if len(sizes) < start - 4:
        raise damage
    shape = tuple(int(length) for length in np.frombuffer(sizes, ">u4"))
    end = start + math.prod(shape) * dtype.itemsize
    # One byte more is a file that holds more than it says.
    content = source.read_bytes(end + 1)
    if len(content) != end:
        raise damage
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def read_arrays(arrays: Mapping[str, Any], array: str | None, where: str) -> MatrixReader:
    """Take the array that is asked for, or the one matrix with the columns of its length.

    Without a matrix, arrays of one dimension and one length are the columns. Arrays may be in
    memory, or still in their file.
    """
    if array is not None:
        chosen = pick_array(arrays, array, where)
        if chosen.ndim != 2:
            return read_matrix(chosen[:], where)
        return MatrixReader(chosen, number_columns(chosen), {}, where)
    matrices = [name for name, held in arrays.items() if held.ndim == 2]
    _check_single(arrays, matrices, where)
    columns = {name: held for name, held in arrays.items() if held.ndim == 1}
    if matrices:
        matrix = arrays[matrices[0]]
        beside = {name: column for name, column in columns.items() if len(column) == len(matrix)}
        return MatrixReader(matrix, number_columns(matrix), beside, where)
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError(
            f"{where} holds no matrix that could be the table, but {describe_arrays(arrays)}: name "
            "an array by array=, or save a matrix with one row for each point"
        )
    first = next(iter(columns.values()))
    if len(columns) == 1 and first.dtype.names is not None:
        return read_matrix(first[:], where)
    return read_columns(columns, where)


def pick_array(arrays: Mapping[str, Any], array: str, where: str) -> Any:
    """Return the array of that name."""
    if array not in arrays:
        raise ValueError(f"{where} has no array {array!r}: it holds {describe_arrays(arrays)}")
    return arrays[array]


def _check_single(arrays: Mapping[str, Any], matrices: list[str], where: str) -> None:
    if len(matrices) > 1:
        raise ValueError(
            f"{where} holds several matrices ({describe_arrays(arrays, matrices)}): name the one "
            "that is the table by array="
        )


def describe_arrays(
    arrays: Mapping[str, Any], names: list[str] | None = None, most: int = 5
) -> str:
    """Return the names of arrays with their sizes, for a sentence."""
    names = list(arrays) if names is None else names
    if not names:
        return "no array of numbers"
    sizes = [(name, " x ".join(map(str, arrays[name].shape)) or "one number") for name in names]
    shown = ", ".join(f"{_short(name)} {size}" for name, size in sizes[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _short(name: str) -> str:
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= 30 else plain[:27] + "..."


def read_matrix_market(source: Source) -> MatrixReader:
    """Take the matrix of a file; one that is given by its entries has zeros elsewhere."""
    matrix = load_matrix_market(source)
    if is_sparse(matrix):
        reserve(
            matrix.shape[0] * matrix.shape[1] * 8,
            f"the sparse matrix of {source.name}, as a table,",
            "read distances between pairs by read_distances",
        )
        matrix = matrix.toarray()
    return read_matrix(matrix, source.name)


def load_matrix_market(source: Source) -> Any:
    """Read the matrix, dense or sparse as the file has it."""
    content = source.read_bytes() + b"\n"
    if b"complex" in content.split(b"\n", 1)[0].lower().split():
        raise ValueError(f"{source.name} holds complex numbers, not numbers of a table")
    try:
        rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(content))
        width = (3 if layout == "coordinate" else 1) - (field == "pattern")
        # A number takes two bytes at least, one of them a separator.
        if not (
            _is_possible(rows, columns, entries, layout, symmetry, len(content) // (2 * width))
            and re.fullmatch(HEAD + rb"(?:(?:%b){%d}%b|%b)*+" % (NUMBER, width, END, END), content)
        ):
            raise ValueError
        size = rows + columns + (2 * entries if layout == "coordinate" else rows * columns)
        reserve(
            16 * size, f"the rows and entries of {source.name}", "use a machine with more memory"
        )
        matrix: Any = mmread(io.BytesIO(content))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f"{source.name} is a damaged or cut off Matrix Market file: fetch or write it again"
        ) from error
    return csr_array(matrix, dtype=float) if is_sparse(matrix) else np.asarray(matrix, dtype=float)


def _is_possible(
    rows: int, columns: int, entries: int, layout: str, symmetry: str, most: int
) -> bool:
    """Whether a file of at most `most` lines can hold the matrix that its header claims."""
    if min(rows, columns) < 1 or (symmetry != "general" and rows != columns):
        return False
    if layout == "coordinate":
        return entries <= most and max(rows, columns) <= SCATTERED * (entries + 1000)
    return (rows * columns if symmetry == "general" else rows * (rows - 1) // 2) <= most

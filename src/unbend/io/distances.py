"""Distances between points: a square table, or one line for each pair."""

import io
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from unbend.arrays import BoolArray, FloatArray, IntArray, is_sparse
from unbend.io.arrays import SCATTERED, is_sparse_archive, load_matrix_market
from unbend.io.arrays import load_npz as load_arrays
from unbend.io.reading import TableReader, check_no_separator, open_table
from unbend.io.source import Source, is_file, open_source, table_format
from unbend.io.table import Roles, Table, fill_missing
from unbend.memory import reserve
from unbend.validation.distances import check_distances


def read_distances(source: Any, *, separator: str | None = None) -> FloatArray | csr_array:
    r"""Read distances between points from a file, a dataframe or an array.

    Parameters
    ----------
    source : path, binary file object, dataframe, array, or sparse array
        As for `read`, with or without a header. A square table of all distances, where a first
        column may name the rows; or three columns, the numbers of two points and their distance.
        Points are counted from 0, or from 1 where no 0 occurs; a pair may be given once or both
        ways. An NPZ file of SciPy's, or Matrix Market, holds the distances of some pairs.
    separator : str, optional
        As for `read`.

    Returns
    -------
    array (n, n)
        All distances; or, where some pairs are missing, a sparse array of those that there are.
        Both are symmetric, for estimators with ``metric="precomputed"``.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> unbend.io.read_distances(io.BytesIO(b"i,j,distance\n0,1,3\n0,2,4\n1,2,5\n"))
    array([[0., 3., 4.],
           [3., 0., 5.],
           [4., 5., 0.]])
    >>> unbend.io.read_distances(io.BytesIO(b"0,1,3\n1,2,5\n")).nnz
    4
    """
    where = "the matrix"
    if is_file(source):
        source = open_source(source)
        where, sparse = source.name, read_sparse(source)
    else:
        sparse = csr_array(source) if is_sparse(source) else None
    if sparse is not None:
        check_no_separator(separator, f"{where} is sparse")
        return _check_graph(sparse, where)
    reader = open_table(source, separator=separator, counted=False)
    table = fill_missing(read_distance_table(reader), "refuse", reader.where)
    if table.values.shape[1] == 3 and not _is_square(table.values):
        return _from_pairs(table.values, reader.where)
    return _square(table, reader.where)


def read_network(
    source: Any, *, separator: str | None = None
) -> tuple[FloatArray | csr_array, int]:
    r"""Read distances of which some were not measured, and the number that the first point has.

    As `read_distances`, but a square table may lack some distances, which then are NaN.

    Examples
    --------
    >>> import io
    >>> from unbend.io.distances import read_network
    >>> read_network(io.BytesIO(b"0,3,\n3,0,5\n,5,0\n"))
    (array([[ 0.,  3., nan],
           [ 3.,  0.,  5.],
           [nan,  5.,  0.]]), 0)
    >>> read_network(io.BytesIO(b"1,2,3\n2,3,5\n"))[1]
    1
    """
    source = open_source(source)
    matrix = read_sparse(source)
    if matrix is not None:
        check_no_separator(separator, f"{source.name} is sparse")
        return _check_graph(matrix, source.name), 0
    reader = open_table(source, separator=separator, counted=False)
    table = read_distance_table(reader)
    if table.values.shape[1] != 3 or _is_square(table.values):
        return _square_values(table, reader.where), 0
    table = fill_missing(table, "refuse", reader.where)
    return _from_pairs(table.values, reader.where), _first_number(table.values)


def read_sparse(source: Source) -> csr_array | None:
    """Read the sparse matrix of a file, or nothing where it holds none."""
    kind = table_format(source)
    if kind == "mtx":
        matrix = load_matrix_market(source)
        return matrix if is_sparse(matrix) else None
    if kind != "npz" or not is_sparse_archive(arrays := load_arrays(source)):
        return None
    shape = arrays["shape"]
    if shape.shape == (2,) and shape.dtype.kind in "iu":
        reserve(16 * int(shape.max()), f"the rows of {source.name}", "take fewer")
    try:
        held: Any = load_npz(io.BytesIO(source.read_bytes()))
        if hasattr(held, "check_format"):
            # Places outside the matrix would be read from memory that is not its own.
            held.check_format(full_check=True)
        return csr_array(held)
    except (ValueError, TypeError, KeyError, OverflowError, IndexError, NotImplementedError) as e:
        raise ValueError(
            f"{source.name} is a damaged or cut off sparse matrix: fetch or write it again"
        ) from e


def read_distance_table(reader: TableReader) -> Table:
    """Read the numbers, NaN where one is missing; a first column of text names the rows."""
    names = reader.names
    index = Roles(None, None, ()).resolve(names, reader.where)
    try:
        (table,) = reader.tables(index, None)
    except ValueError:
        if len(names) < 3 or index.id is not None:
            raise
        try:
            (table,) = reader.tables(Roles(None, names[0], ()), None)
        except ValueError:
            pass
        else:
            return table
        raise
    return table


def _is_square(values: FloatArray) -> bool:
    """Whether three columns are all distances between three points."""
    if values.shape != (3, 3):
        return False
    return np.array_equal(values, values.T, equal_nan=True) and not values.diagonal().any()


def _square(table: Table, where: str) -> FloatArray:
    distances = _square_values(table, where)
    _check_finite(distances, where)
    check_distances(distances)
    return distances


def _square_values(table: Table, where: str) -> FloatArray:
    """Distances of a square table, without numbers that name rows or columns."""
    distances = table.values
    n, width = distances.shape
    if n == width + 1 and (distances[0] == np.arange(width)).all():
        # A header of numbers looks like data.
        distances = distances[1:]
    elif width == n + 1:
        # So does a column of numbers that name the rows.
        distances = distances[:, 1:]
    elif table.ids is not None and width == n:
        _check_names(table, where)
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f"{where} has {n} rows and {width} columns: distances are a square table, or "
            "three columns (two points and their distance)"
        )
    return np.ascontiguousarray(distances)


def _check_names(table: Table, where: str) -> None:
    """Refuse rows and columns in different orders, where both have the same names."""
    rows = [str(name) for name in np.asarray(table.ids).tolist()]
    if set(rows) == set(table.columns) and tuple(rows) != table.columns:
        raise ValueError(
            f"the rows and columns of {where} have the same names in different orders: put them in "
            "one order"
        )


def _check_finite(distances: FloatArray, where: str) -> None:
    rows, columns = np.nonzero(~np.isfinite(distances))
    if len(rows):
        raise ValueError(
            f"the distance in row {rows[0] + 1} and column {columns[0] + 1} of {where} is not "
            "finite: give pairs that were measured, in three columns"
        )


def _from_pairs(triples: FloatArray, where: str) -> FloatArray | csr_array:
    points = triples[:, :2]
    whole = np.isfinite(points) & (points == np.floor(points)) & (points >= 0) & (points < 2**31)
    if not whole.all():
        row = int(np.argmax(~whole.all(axis=1)))
        raise ValueError(
            f"row {row + 1} of {where} does not begin with the numbers of two points: three "
            "columns are two integers and a distance"
        )
    first, second = (points - _first_number(triples)).astype(np.int64).T
    lengths = np.asarray(triples[:, 2], dtype=np.float64)
    if not np.isfinite(lengths).all():
        row = int(np.argmax(~np.isfinite(lengths)))
        raise ValueError(f"the distance in row {row + 1} of {where} is not finite: leave it out")
    n = int(max(first.max(), second.max())) + 1
    if n > SCATTERED * (len(triples) + 1000):
        raise ValueError(
            f"{where} counts points up to {n} and has {len(triples)} distances: number the points "
            "without gaps"
        )
    apart = first != second
    if lengths[~apart].any():
        raise ValueError(
            f"row {_first(~apart & (lengths != 0)) + 1} of {where} has a point at a distance other "
            "than zero from itself"
        )
    if n < 2:
        raise ValueError(f"{where} has no pair of different points")
    return _symmetric(first[apart], second[apart], lengths[apart], n, where)


def _first_number(triples: FloatArray) -> int:
    """Points are counted from 0, or from 1 where no 0 occurs."""
    return 1 if triples[:, :2].min() == 1 else 0


def _first(mask: BoolArray) -> int:
    return int(np.argmax(mask))


def _symmetric(
    first: IntArray, second: IntArray, lengths: FloatArray, n: int, where: str
) -> FloatArray | csr_array:
    """Put every pair in once and both ways; dense if there is a distance for each."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys, start, place = np.unique(low * n + high, return_index=True, return_inverse=True)
    agree = lengths == lengths[start][place]
    if not agree.all():
        row = _first(~agree)
        raise ValueError(
            f"{where} has two distances between the points {first[row]} and {second[row]}, counted "
            "from 0: keep one"
        )
    low, high, lengths = keys // n, keys % n, lengths[start]
    entries = (np.r_[lengths, lengths], (np.r_[low, high], np.r_[high, low]))
    graph = csr_array(entries, shape=(n, n))
    if len(keys) == n * (n - 1) // 2:
        return np.asarray(_check_graph(graph, where).toarray())
    return _check_graph(graph, where)


def _check_graph(graph: csr_array, where: str) -> csr_array:
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"{where} is {graph.shape[0]} x {graph.shape[1]} and distances are a square matrix"
        )
    if not np.isfinite(graph.data).all():
        raise ValueError(f"{where} holds a distance that is not finite: leave it out")
    check_distances(graph)
    return graph

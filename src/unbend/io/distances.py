"""Distances between points: a square table, or one line for each pair."""

import io
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from unbend.arrays import BoolArray, FloatArray, IntArray, is_sparse
from unbend.io.arrays import SCATTERED, is_sparse_archive, load_matrix_market
from unbend.io.arrays import load_npz as load_arrays
from unbend.io.reading import TableReader, check_no_separator, open_table
from unbend.io.source import Source, is_file, open_source, table_format
from unbend.io.table import Roles, Table
from unbend.memory import reserve
from unbend.validation.distances import (
    check_diagonal,
    check_distances,
    check_nonnegative,
    check_symmetric,
    largest_entry,
)

# Ends messages about what the parameter mends.
REMEDY = " Or pass symmetrize=True."


@dataclass(frozen=True, eq=False)
class NamedDistances:
    r"""Distances between objects, and the names of these; what `read_named_distances` returns.

    Attributes
    ----------
    values : array (n, n) or sparse array (n, n)
        All distances; or, where some pairs are unknown, those that are known.
    names : tuple of str or None
        Names of the objects, where the source has some.
    asymmetry, diagonal : float
        Largest difference of the two directions, and largest distance of an object to itself, that
        `symmetrize` removed.
    first : int
        Number that the source gives the first object, where it numbers them: 0 or 1.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> pairs = io.BytesIO(b"a,b,3\na,c,4\nb,c,5\n")
    >>> found = unbend.io.read_named_distances(pairs)
    >>> found.names, found.values[0].tolist()
    (('a', 'b', 'c'), [0.0, 3.0, 4.0])
    """

    values: FloatArray | csr_array
    names: tuple[str, ...] | None
    asymmetry: float = 0.0
    diagonal: float = 0.0
    first: int = 0

    def __len__(self) -> int:
        return int(self.values.shape[0])


def read_distances(
    source: Any, *, separator: str | None = None, symmetrize: bool = False
) -> FloatArray | csr_array:
    r"""Read distances between points from a file, a dataframe or an array.

    Parameters
    ----------
    source : path, binary file object, dataframe, array, or sparse array
        As for `read`, with or without a header. A square table of all distances, where a first
        column may name the rows; or three columns, two points and their distance. Points are names,
        or numbers from 0, or from 1 where no 0 occurs. A pair may be given once or both ways, so
        that a triangle is enough; an empty field is an unknown pair. An NPZ file of SciPy's, or
        Matrix Market, holds the distances of some pairs.
    separator : str, optional
        As for `read`.
    symmetrize : bool, default=False
        Whether two directions that differ are averaged, and distances of points to themselves set
        to zero; otherwise both are refused.

    Returns
    -------
    array (n, n)
        All distances; or, where some pairs are missing, a sparse array of those that there are.
        Both are symmetric, for estimators with ``metric="precomputed"``.

    See Also
    --------
    read_named_distances : With the names of the objects.

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
    return read_named_distances(source, separator=separator, symmetrize=symmetrize).values


def read_named_distances(
    source: Any, *, separator: str | None = None, symmetrize: bool = False
) -> NamedDistances:
    r"""Read distances and the names of the objects, as `read_distances` reads them.

    Parameters
    ----------
    source, separator, symmetrize
        As for `read_distances`.

    Returns
    -------
    NamedDistances
        Names are those of the first column, or of the header, of a square table, or of the pairs
        in the order in which they first occur.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> pairs = io.BytesIO(b"Boston,Atlanta,1508\nAtlanta,Chicago,944\nChicago,Boston,1367\n")
    >>> cities = unbend.io.read_named_distances(pairs)
    >>> cities.names, cities.values[0].tolist()
    (('Boston', 'Atlanta', 'Chicago'), [0.0, 1508.0, 1367.0])
    """
    where = "the matrix"
    if is_file(source):
        source = open_source(source)
        where, sparse = source.name, read_sparse(source)
    else:
        sparse = csr_array(source) if is_sparse(source) else None
    if sparse is not None:
        check_no_separator(separator, f"{where} is sparse")
        if symmetrize and sparse.shape[0] == sparse.shape[1]:
            return _average_graph(sparse, where)
        return NamedDistances(_check_graph(sparse, where), None)
    reader = open_table(source, separator=separator, counted=False)
    try:
        table = read_distance_table(reader)
    except ValueError:
        named = _pairs_by_name(reader)
        if named is None:
            raise
        return _distances_of_pairs(named, reader.where, symmetrize)
    if _holds_pairs(table):
        pairs = _pairs_by_number(table.values, reader.where)
        found = _distances_of_pairs(pairs, reader.where, symmetrize)
        return replace(found, first=_first_number(table.values))
    square = _square_values(table, reader.where)
    _check_finite(square, reader.where)
    return _distances_of_square(square, _object_names(table, len(square)), symmetrize)


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


def _holds_pairs(table: Table) -> bool:
    """Whether three columns are pairs and not all distances between three points."""
    values = table.values
    if values.shape != (3, 3):
        return bool(values.shape[1] == 3)
    agree = np.isnan(values) | np.isnan(values.T) | (values == values.T)
    zero = np.nan_to_num(values.diagonal()) == 0
    return table.ids is None and not (bool(agree.all()) and bool(zero.all()))


def _distances_of_square(
    square: FloatArray, names: tuple[str, ...] | None, symmetrize: bool
) -> NamedDistances:
    """Fill in the direction that is missing where the other is known; average both if asked."""
    check_nonnegative(square)
    back = square.T
    difference = np.abs(square - back)
    asymmetry = float(np.nanmax(difference, initial=0.0))
    diagonal = float(np.nanmax(np.abs(square.diagonal()), initial=0.0))
    if not symmetrize:
        check_symmetric(square, "distance matrix", REMEDY)
        check_diagonal(square.diagonal(), largest_entry(square), square.dtype, REMEDY)
    one_way = np.where(np.isnan(square), back, square)
    values = np.where(np.isnan(difference) | (not symmetrize), one_way, square / 2 + back / 2)
    if symmetrize or np.isnan(square.diagonal()).any():
        np.fill_diagonal(values, 0.0)
    if np.isnan(values).any():
        first, second = np.nonzero(np.triu(~np.isnan(values), 1))
        return _distances_of_pairs(
            Pairs(first, second, values[first, second], len(values), names), "", symmetrize=False
        )
    removed = (asymmetry, diagonal) if symmetrize else (0.0, 0.0)
    return NamedDistances(np.ascontiguousarray(values), names, *removed)


def _average_graph(graph: csr_array, where: str) -> NamedDistances:
    entries = graph.tocoo()
    lengths = np.asarray(entries.data, dtype=np.float64)
    if not np.isfinite(lengths).all():
        raise ValueError(f"{where} holds a distance that is not finite: leave it out")
    pairs = Pairs(
        entries.row.astype(np.int64), entries.col.astype(np.int64), lengths, graph.shape[0]
    )
    return _distances_of_pairs(pairs, where, symmetrize=True)


def _object_names(table: Table, n: int) -> tuple[str, ...] | None:
    """Names of the rows, or of the columns, of a square table; numbers that count are none."""
    for words in (table.ids, table.columns):
        names = () if words is None else tuple(str(word) for word in words)
        counted = all(name.lstrip("x").isdecimal() for name in names)
        if len(names) == n and not counted and len(set(names)) == n:
            return names
    return None


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
    rows, columns = np.nonzero(np.isinf(distances))
    if len(rows):
        raise ValueError(
            f"the distance in row {rows[0] + 1} and column {columns[0] + 1} of {where} is not "
            "finite: give pairs that were measured, in three columns"
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Known distances between n points, each pair once or more."""

    first: IntArray
    second: IntArray
    lengths: FloatArray
    n: int
    names: tuple[str, ...] | None = None

    def name(self, point: int) -> str:
        """Return the name of a point, or its number."""
        return f"point {point} (counted from 0)" if self.names is None else repr(self.names[point])


def _pairs_by_number(triples: FloatArray, where: str) -> Pairs:
    points = triples[:, :2]
    whole = np.isfinite(points) & (points == np.floor(points)) & (points >= 0) & (points < 2**31)
    if not whole.all():
        row = int(np.argmax(~whole.all(axis=1)))
        raise ValueError(
            f"row {row + 1} of {where} does not begin with the numbers of two points: three "
            "columns are two integers and a distance"
        )
    first, second = (points - _first_number(triples)).astype(np.int64).T
    n = int(max(first.max(), second.max())) + 1
    if n > SCATTERED * (len(triples) + 1000):
        raise ValueError(
            f"{where} counts points up to {n} and has {len(triples)} distances: number the points "
            "without gaps"
        )
    return Pairs(first, second, np.asarray(triples[:, 2], dtype=np.float64), n)


def _pairs_by_name(reader: TableReader) -> Pairs | None:
    """Read two columns of names and one of distances, or nothing where the table is another."""
    if len(reader.names) != 3:
        return None
    (frame,) = reader.frames(Roles(None, None, ()), None)
    if len(frame.columns) != 3:
        return None
    one, two, lengths = frame.columns.values()
    if lengths.dtype.kind not in "fiu" or any(c.dtype.kind == "f" for c in (one, two)):
        return None
    for row, name in enumerate(zip(one.tolist(), two.tolist(), strict=True)):
        if None in name:
            raise ValueError(f"row {row + 1} of {reader.where} lacks the name of a point: add it")
    words = np.column_stack((one, two)).astype(str).ravel()
    names, start, place = np.unique(words, return_index=True, return_inverse=True)
    order = np.argsort(start)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    first, second = rank[place].reshape(-1, 2).T
    ordered = tuple(str(name) for name in names[order])
    return Pairs(first, second, np.asarray(lengths, dtype=np.float64), len(names), ordered)


def _first_number(triples: FloatArray) -> int:
    """Points are counted from 0, or from 1 where no 0 occurs."""
    return 1 if triples[:, :2].min() == 1 else 0


def _first(mask: BoolArray) -> int:
    return int(np.argmax(mask))


def _distances_of_pairs(pairs: Pairs, where: str, symmetrize: bool) -> NamedDistances:
    """Put every known pair in once and both ways; dense if there is a distance for each."""
    n, infinite = pairs.n, np.isinf(pairs.lengths)
    if infinite.any():
        raise ValueError(
            f"the distance in row {_first(infinite) + 1} of {where} is not finite: leave it out"
        )
    apart, known = pairs.first != pairs.second, ~np.isnan(pairs.lengths)
    own = pairs.lengths[~apart & known]
    if own.any() and not symmetrize:
        row = _first(~apart & known & (pairs.lengths != 0))
        raise ValueError(
            f"row {row + 1} of {where} has a point at a distance other than zero from itself: "
            "leave it out, or pass symmetrize=True"
        )
    if n < 2 or not apart.any():
        raise ValueError(f"{where} has no pair of different points")
    first, second = pairs.first[apart & known], pairs.second[apart & known]
    lengths = pairs.lengths[apart & known]
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys, start, place = np.unique(low * n + high, return_index=True, return_inverse=True)
    difference = np.abs(lengths - lengths[start][place])
    if difference.any() and not symmetrize:
        row = _first(difference > 0)
        raise ValueError(
            f"{where} has two distances between {pairs.name(first[row])} and "
            f"{pairs.name(second[row])}: keep one, or pass symmetrize=True"
        )
    mean = np.bincount(place, weights=lengths) / np.bincount(place)
    chosen = np.where(difference.any(), mean, lengths[start]) if len(keys) else lengths
    low, high = keys // n, keys % n
    entries = (np.r_[chosen, chosen], (np.r_[low, high], np.r_[high, low]))
    graph = _check_graph(csr_array(entries, shape=(n, n)), where)
    complete = len(keys) == n * (n - 1) // 2
    values = np.asarray(graph.toarray()) if complete else graph
    removed = (float(difference.max(initial=0.0)), float(np.abs(own).max(initial=0.0)))
    return NamedDistances(values, pairs.names, *removed)


def _check_graph(graph: csr_array, where: str) -> csr_array:
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"{where} is {graph.shape[0]} x {graph.shape[1]} and distances are a square matrix"
        )
    if not np.isfinite(graph.data).all():
        raise ValueError(f"{where} holds a distance that is not finite: leave it out")
    check_distances(graph)
    return graph

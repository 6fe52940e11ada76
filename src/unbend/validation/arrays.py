"""Checks of arrays: rows of real numbers, and one value for each row.

Everything that users pass as data goes through `check_rows`. A mistake gets the same sentence
everywhere: what is wrong, and what to do.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import BoolArray, FloatArray, IntArray, is_sparse
from unbend.lazy import refuse_dask

# Beyond these, products of squared distances leave the range of double precision; beyond FARTHEST,
# which a single new sample may reach, the squares themselves do.
LARGEST, SMALLEST, FARTHEST = 1e60, 1e-60, 1e150
# Rows that are looked at for the spread of columns: so many, fewer where columns are many.
MOST_ROWS, LEAST_ROWS, SAMPLE = 500, 100, 50_000
# Share of the squares of a column below which its deviations are summed one by one: the difference
# of squares would be rounding.
CANCELLED = 1e-6
# Classes of graphs, of ours and of networkx and igraph, which must not be imported for this.
GRAPHS = {"Graph", "LabelledGraph", "Neighbors"}


def check_rows(
    X: Any,
    name: str = "X",
    *,
    min_rows: int = 2,
    sparse: bool = False,
    missing: bool = False,
    new: bool = False,
    scale: bool = True,
) -> Any:
    """Return rows of finite real numbers as an array, or as compressed rows or columns.

    Parameters
    ----------
    X : array_like, data frame or sparse matrix
        What the user passed. Single precision is kept, everything else becomes double.
    name : str
        Name of the argument, for messages.
    min_rows : int
        Fewest rows.
    sparse : bool
        Whether sparse matrices are accepted.
    missing : bool
        Whether NaN is accepted.
    new : bool
        Whether these are new samples, which may all lie near the origin.
    scale : bool
        Whether numbers are refused whose squares leave double precision.

    Examples
    --------
    >>> check_rows([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: X contains NaN (first in row 1, column 1). Drop or impute those rows.
    """
    return check_and_measure_rows(
        X, name, min_rows=min_rows, sparse=sparse, missing=missing, new=new, scale=scale
    )[0]


def check_and_measure_rows(
    X: Any,
    name: str = "X",
    *,
    min_rows: int = 2,
    sparse: bool = False,
    missing: bool = False,
    new: bool = False,
    scale: bool = True,
) -> tuple[Any, float]:
    """Return what `check_rows` returns, and the largest magnitude: both take one pass."""
    rows = real_array(X, name, sparse=sparse)
    check_shape(rows, name, min_rows)
    largest = check_finite(rows, name, missing=missing, columns=column_names(X))
    if scale:
        check_scale(largest, name, new=new)
    return rows, largest


def real_array(X: Any, name: str = "X", *, sparse: bool = False) -> Any:
    """Return an array of real numbers in single or double precision, whatever their values."""
    refuse_graph(name, X)
    refuse_dask(X, name)
    if is_sparse(X):
        if not sparse:
            raise TypeError(
                f"{name} has sparse rows, and dense ones are needed. Pass {name}.toarray(), the "
                "coordinates of PCA(svd_solver='arpack'), or metric='precomputed' if these are "
                "distances."
            )
        values = X if X.format in ("csr", "csc") else csr_array(X)
        return values.astype(_real_type(values.dtype, name), copy=False)
    if isinstance(X, np.ma.MaskedArray):
        # Masked entries are missing; as a plain array their numbers would count.
        X = np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X))
    try:
        values = np.asarray(X)
        if values.dtype.kind == "O" and hasattr(X, "iloc"):
            # Missing values of pandas' nullable types become NaN.
            values = X.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(values, dtype=_real_type(values.dtype, name))
    except (TypeError, ValueError, OverflowError) as error:
        if "omplex data" in str(error):
            raise
        if str(error).endswith("not 'complex'"):
            raise _complex(name) from None
        raise TypeError(
            f"{name} must be an array of real numbers ({error}). {_remedy(X)}"
        ) from None


def _remedy(X: Any) -> str:
    """Return what to do about values that are no numbers, with the columns that hold them."""
    names = column_names(X)
    kinds = getattr(X, "dtypes", ()) if names else ()
    words = [name for name, kind in zip(names, kinds, strict=False) if not _is_number(kind)]
    if not words:
        return "Convert or drop other values."
    listed = ", ".join(map(repr, words[:6])) + (" …" if len(words) > 6 else "")
    return f"Encode {listed} by make_pipeline(unbend.Prepare(), …), or drop other values."


def _is_number(kind: Any) -> bool:
    """Whether a type of pandas or polars holds numbers or booleans."""
    if hasattr(kind, "is_numeric"):
        return kind.is_numeric() or str(kind) == "Boolean"
    return kind.kind in "biuf"


def _real_type(dtype: Any, name: str) -> Any:
    if dtype.kind == "c":
        raise _complex(name)
    if dtype.kind in "mMV":
        raise TypeError(f"its type is {dtype}")
    # Of either byte order.
    return np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64


def stored_type(rows: Any) -> Any:
    """Return the type in which rows are stored and searched: single precision stays single.

    Whatever is computed from stored rows is computed in double precision, so that results are those
    of the same numbers in double precision, in half the memory.

    Examples
    --------
    >>> stored_type(np.zeros((2, 3), dtype=np.float32)), stored_type(np.zeros((2, 3), dtype=int))
    (<class 'numpy.float32'>, <class 'numpy.float64'>)
    """
    return np.float32 if rows.dtype == np.float32 else np.float64


def _complex(name: str) -> ValueError:
    return ValueError(
        f"Complex data not supported: {name} is complex. Pass real numbers, for example its "
        "real and imaginary parts as columns."
    )


def check_shape(rows: Any, name: str = "X", min_rows: int = 1) -> None:
    """Refuse what has not two dimensions, no column, or too few rows."""
    if rows.ndim != 2:
        raise ValueError(
            f"{name} must be a 2D array of rows and columns, and its shape is {rows.shape}. "
            "Reshape your data: .reshape(-1, 1) makes one column, .reshape(1, -1) one row."
        )
    if rows.shape[0] < min_rows:
        raise ValueError(
            f"{name} has {rows.shape[0]} sample(s) (shape={rows.shape}) while a minimum of "
            f"{min_rows} is required. Pass more rows."
        )
    if rows.shape[1] < 1:
        raise ValueError(
            f"{name} has 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required. "
            "Pass at least one column."
        )


def check_distinct(n: int, min_rows: int) -> None:
    """Refuse too few rows that differ from each other."""
    if n < min_rows:
        raise ValueError(
            f"X has {n} distinct sample(s) while a minimum of {min_rows} is required. Pass "
            "more rows."
        )


def check_finite(
    rows: Any, name: str = "X", *, missing: bool = False, columns: tuple[str, ...] = ()
) -> float:
    """Return the largest magnitude; refuse infinity, and NaN unless it may mean a missing value."""
    values = rows.data if is_sparse(rows) else rows
    largest = largest_magnitude(values)
    if np.isfinite(largest):
        return largest
    wrong = np.isinf(values) if missing else ~np.isfinite(values)
    if not wrong.any():
        return float(np.nanmax(np.abs(values), initial=0.0))
    remedy = "Pass NaN where a value is missing." if missing else "Drop or impute those rows."
    raise ValueError(f"{name} contains {_first_wrong(rows, wrong, columns)}. {remedy}")


def _first_wrong(rows: Any, wrong: Any, columns: tuple[str, ...]) -> str:
    """Describe the first value that is not finite."""
    if is_sparse(rows):
        entries = rows.tocoo()
        place = int(np.argmax(~np.isfinite(entries.data)))
        at: tuple[int, ...] = (int(entries.row[place]), int(entries.col[place]))
        value = entries.data[place]
    else:
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        value = rows[at]
    what = "NaN" if np.isnan(value) else "infinity"
    where = f"position {at[0]}"
    if len(at) == 2:
        where = f"row {at[0]}, column {repr(columns[at[1]]) if columns else at[1]}"
    return f"{what} (first in {where})"


def largest_magnitude(values: FloatArray) -> float:
    """Largest magnitude of numbers, without an array of magnitudes; NaN if there is one."""
    if values.dtype == np.float64 and values.flags.c_contiguous:
        return kernels.largest_magnitude(values.reshape(-1))
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def sampling_step(n: int, p: int) -> int:
    """Return every how many rows of a table of n rows and p columns are looked at."""
    return -(-n // min(MOST_ROWS, max(SAMPLE // p, LEAST_ROWS)))


def column_deviations(rows: FloatArray) -> FloatArray:
    """Sum the squared deviations of columns from their means, in evenly spaced rows.

    These are at most 500, and fewer where columns are many.

    Examples
    --------
    >>> import numpy as np
    >>> column_deviations(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([2., 0.])
    """
    n, p = rows.shape
    step = sampling_step(n, p)
    if rows.dtype == np.float64 and rows.flags.c_contiguous:
        sums, squares = np.empty(p), np.empty(p)
        kernels.column_spread(rows, step, sums, squares)
    else:
        some = rows[::step].astype(np.float64)
        differences = some - some[0]
        sums, squares = differences.sum(axis=0), np.einsum("ij,ij->j", differences, differences)
    deviations = squares - np.square(sums) / -(-n // step)
    if (deviations >= CANCELLED * squares).all():
        return np.asarray(deviations)
    # The first row lies far from the others.
    centered = np.asarray(rows[::step], dtype=np.float64)
    centered = centered - centered.mean(axis=0)
    return np.asarray(np.einsum("ij,ij->j", centered, centered))


def check_scale(largest: float, name: str = "X", *, new: bool = False) -> None:
    """Refuse numbers whose largest magnitude has no square in double precision."""
    # A new sample may well lie near the origin; all samples together may not.
    if largest > (FARTHEST if new else LARGEST) or (not new and 0 < largest < SMALLEST):
        raise ValueError(
            f"The largest magnitude in {name} is {largest:.1e}, and its square leaves double "
            f"precision. Rescale {name}, for example divide it by that number."
        )


def column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns of a data frame; none of anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return () if names is None or callable(names) else tuple(map(str, names))


def refuse_graph(name: str, X: object) -> None:
    """Refuse a graph where rows, or all distances, are needed."""
    if any(base.__name__ in GRAPHS for base in type(X).__mro__):
        raise incomplete_distances(name)


def incomplete_distances(name: str = "X") -> TypeError:
    """Return the error about a graph, sparse or of a library, where all distances are needed."""
    return TypeError(
        f"{name} is a graph, which does not have all distances. Pass points, or "
        "unbend.graphs.geodesics of the graph where metric='precomputed' is accepted."
    )


def check_same_rows(**arrays: Any) -> None:
    """Refuse arrays that have different numbers of rows.

    Examples
    --------
    >>> check_same_rows(X=[[1.0], [2.0]], embedding=[[1.0]])
    Traceback (most recent call last):
    ...
    ValueError: X has 2 rows and embedding has 1. Pass the same samples in the same order.
    """
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        (first, n), *others = sizes.items()
        other, m = next((name, size) for name, size in others if size != n)
        raise ValueError(
            f"{first} has {n} rows and {other} has {m}. Pass the same samples in the same order."
        )


def check_labels(name: str, labels: Any, n: int) -> np.ndarray[Any, Any]:
    """Return one label, or value, for each of n rows."""
    refuse_dask(labels, name)
    values = np.asarray(labels)
    if values.shape != (n,):
        raise ValueError(
            f"{name} must hold one value for each of {n} rows, and its shape is {values.shape}."
        )
    return values


def known_labels(labels: np.ndarray[Any, Any]) -> BoolArray:
    """Whether each label is known: neither None nor NaN."""
    if labels.dtype.kind == "O":
        return np.array([label is not None and label == label for label in labels], dtype=bool)
    return np.ones(len(labels), dtype=bool) if labels.dtype.kind != "f" else ~np.isnan(labels)


def class_numbers(y: Any, n: int) -> IntArray:
    """Give each class a number from 0; -1, NaN and None mean that a class is not known."""
    if y is None:
        return np.full(n, -1)
    labels = check_labels("y", y, n)
    known = known_labels(labels)
    if labels.dtype.kind in "biuf":
        known &= labels != -1
    numbers: IntArray = np.full(n, -1)
    numbers[known] = np.unique(labels[known], return_inverse=True)[1]
    return numbers

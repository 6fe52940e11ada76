"""Matrix Market files, read by SciPy once their sizes and lines are checked.

SciPy reads beyond the end of some damaged files, and takes ``1,5`` for 1.
"""

import io
import re
from typing import Any

import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import csr_array

from unbend.arrays import is_sparse
from unbend.io.arrays import MatrixSource, matrix_source
from unbend.io.files import File
from unbend.memory import reserve

# More empty rows than that for each entry would cost memory for nothing.
SCATTERED = 100
END = rb"[ \t\r]*+\n"
HEAD = rb"%%[^\n]*+\n(?:%[^\n]*+\n|" + END + rb")*+[ \t]*+\d++(?:[ \t]++\d++){1,2}" + END
NUMBER = rb"[ \t]*+[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+|(?i:nan|inf))(?=\s)"


def matrix_market_source(file: File) -> MatrixSource:
    """Take the matrix of a file; one that is given by its entries has zeros elsewhere."""
    matrix = load_matrix_market(file)
    if is_sparse(matrix):
        reserve(
            matrix.shape[0] * matrix.shape[1] * 8,
            f"the sparse matrix of {file.name}, as a table,",
            "read distances between pairs by read_distances",
        )
        matrix = matrix.toarray()
    return matrix_source(matrix, file.name)


def load_matrix_market(file: File) -> Any:
    """Read the matrix, dense or sparse as the file has it."""
    content = file.bytes() + b"\n"
    try:
        rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(content))
        width = (3 if layout == "coordinate" else 1) - (field == "pattern")
        if field == "complex":
            raise NotImplementedError
        # A number takes two bytes at least, one of them a separator.
        if not (
            _is_possible(rows, columns, entries, layout, symmetry, len(content) // (2 * width))
            and re.fullmatch(HEAD + rb"(?:(?:%b){%d}%b|%b)*+" % (NUMBER, width, END, END), content)
        ):
            raise ValueError
        size = rows + columns + (2 * entries if layout == "coordinate" else rows * columns)
        reserve(16 * size, f"the rows and entries of {file.name}", "take a machine with more")
        matrix: Any = mmread(io.BytesIO(content))
    except NotImplementedError:
        raise ValueError(f"{file.name} holds complex numbers, not numbers of a table") from None
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f"{file.name} is a damaged or cut off Matrix Market file: fetch or write it again"
        ) from error
    return csr_array(matrix, dtype=float) if is_sparse(matrix) else np.asarray(matrix, dtype=float)


def _is_possible(
    rows: int, columns: int, entries: int, layout: str, symmetry: str, most: int
) -> bool:
    """Whether a matrix can be as its header claims in a file of at most so many lines."""
    if min(rows, columns) < 1 or (symmetry != "general" and rows != columns):
        return False
    if layout == "coordinate":
        return entries <= most and max(rows, columns) <= SCATTERED * (entries + 1000)
    return (rows * columns if symmetry == "general" else rows * (rows - 1) // 2) <= most

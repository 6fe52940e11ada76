"""Matrix Market files: matrices of text, whole or by their entries."""

import io
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import is_sparse
from unbend.io.arrays import MatrixSource, matrix_source
from unbend.io.files import File
from unbend.memory import reserve

BANNER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|unsigned-integer|"
    rb"pattern|complex)\s+(general|symmetric|skew-symmetric|hermitian)\s*",
    re.IGNORECASE,
)
SIZES = re.compile(rb"\s*(\d{1,15})\s+(\d{1,15})(?:\s+(\d{1,15}))?\s*")
DAMAGE = (ValueError, OverflowError, TypeError, MemoryError, IndexError, OSError, RuntimeError)


@dataclass(frozen=True)
class Claim:
    """What the head of a file says about the matrix."""

    rows: int
    columns: int
    entries: int | None
    complex: bool


def matrix_market_source(file: File) -> MatrixSource:
    """Take the matrix of a file; one that is given by its entries has zeros elsewhere."""
    matrix = load_matrix_market(file)
    if is_sparse(matrix):
        reserve(
            matrix.shape[0] * matrix.shape[1] * 8,
            f"the sparse matrix of {file.name}, as a table,",
            "read distances between pairs by read_distances, or fit PCA to the sparse matrix",
        )
        matrix = matrix.toarray()
    return matrix_source(matrix, file.name)


def load_matrix_market(file: File) -> Any:
    """Read the matrix, dense or sparse as the file has it."""
    from scipy.io import mmread

    content = file.bytes()
    claim = _claim(content, file.name)
    if claim.complex:
        raise ValueError(f"{file.name} holds complex numbers, not numbers of a table")
    reserve(
        8 * (claim.rows * claim.columns if claim.entries is None else 3 * claim.entries),
        f"the entries of {file.name}",
        "take a machine with more",
    )
    try:
        matrix = mmread(io.BytesIO(content))
        if not is_sparse(matrix):
            return np.asarray(matrix)
        reserve(8 * claim.rows, f"the rows of {file.name}", "take a machine with more")
        return csr_array(matrix)
    except DAMAGE as error:
        raise ValueError(_damaged(file.name)) from error


def _damaged(name: str) -> str:
    return f"{name} is a damaged or cut off Matrix Market file: fetch or write it again"


def _claim(content: bytes, name: str) -> Claim:
    """Read the banner and the sizes, which must not claim more entries than there are bytes."""
    end = content.find(b"\n")
    banner = BANNER.fullmatch(content[: max(end, 0)])
    place = end + 1
    while banner and content[place : place + 1] in (b"%", b"\n", b"\r") and end >= 0:
        end = content.find(b"\n", place)
        place = end + 1
    line = content[place : place + 200].partition(b"\n")[0]
    sizes = SIZES.fullmatch(line)
    if banner is None or sizes is None:
        raise ValueError(_damaged(name))
    rows, columns = int(sizes[1]), int(sizes[2])
    listed = banner[1].lower() == b"coordinate"
    if listed != (sizes[3] is not None):
        raise ValueError(_damaged(name))
    entries = int(sizes[3]) if listed else None
    # An entry takes two bytes at least; of a symmetric matrix half of the entries are there.
    least = entries if entries is not None else rows * columns // 2
    if 2 * least > len(content) + 2 * max(rows, columns) or not rows or not columns:
        raise ValueError(_damaged(name))
    return Claim(rows, columns, entries, banner[2].lower() == b"complex")

"""Matrix Market files: matrices of text, whole or by their entries.

Read here and not by SciPy, whose reader can be made to crash by a file whose sizes do not fit.
"""

import io
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.io.arrays import MatrixSource, matrix_source
from unbend.io.files import File
from unbend.memory import reserve

BANNER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|unsigned-integer|"
    rb"pattern|complex)\s+(general|symmetric|skew-symmetric|hermitian)\s*",
    re.IGNORECASE,
)
SIZES = re.compile(rb"\s*(\d{1,15})\s+(\d{1,15})(?:\s+(\d{1,15}))?\s*")
# More empty rows than that for each entry would cost memory for nothing.
SCATTERED = 100
# A line of sizes is not longer.
LONGEST = 200


@dataclass(frozen=True)
class Claim:
    """What the head of a file says about the matrix, and where the entries begin."""

    rows: int
    columns: int
    # Of a matrix that lists its entries, their number.
    entries: int | None
    pattern: bool
    # 0 for a matrix of which all is there, 1 and -1 for what lies above the diagonal.
    mirror: int
    start: int

    @property
    def numbers(self) -> tuple[int, int]:
        """Numbers of lines and of numbers in each."""
        if self.entries is not None:
            return self.entries, 2 if self.pattern else 3
        if self.mirror:
            return self.rows * (self.rows + self.mirror) // 2, 1
        return self.rows * self.columns, 1


class _Damaged(Exception):
    """The file makes no sense."""


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
    content = file.bytes()
    try:
        claim = _claim(content, file.name)
        reserve(
            16 * (claim.rows + claim.columns + claim.numbers[0]),
            f"the rows and entries of {file.name}",
            "take a machine with more",
        )
        numbers = _numbers(content, claim)
        return _dense(numbers, claim) if claim.entries is None else _sparse(numbers, claim)
    except _Damaged as error:
        raise ValueError(
            f"{file.name} is a damaged or cut off Matrix Market file: fetch or write it again"
        ) from error


def _claim(content: bytes, name: str) -> Claim:
    """Read the banner and the sizes, which must not claim more entries than there are bytes."""
    end = content.find(b"\n")
    banner = BANNER.fullmatch(content[: max(end, 0)])
    while banner and end >= 0 and content[end + 1 : end + 2] in (b"%", b"\n", b"\r"):
        end = content.find(b"\n", end + 1)
    line = content[end + 1 : end + 1 + LONGEST].partition(b"\n")[0]
    sizes = SIZES.fullmatch(line)
    if banner is None or sizes is None:
        raise _Damaged
    field, symmetry = banner[2].lower(), banner[3].lower()
    if field == b"complex":
        raise ValueError(f"{name} holds complex numbers, not numbers of a table")
    listed = banner[1].lower() == b"coordinate"
    claim = Claim(
        rows=int(sizes[1]),
        columns=int(sizes[2]),
        entries=int(sizes[3]) if listed and sizes[3] else None,
        pattern=field == b"pattern",
        mirror={b"general": 0, b"skew-symmetric": -1}.get(symmetry, 1),
        start=end + 1 + len(line),
    )
    square = claim.rows == claim.columns or not claim.mirror
    whole = listed == (sizes[3] is not None) and (listed or not claim.pattern)
    # A number takes two bytes at least, one of them before it or behind.
    listed_rows = SCATTERED * (claim.numbers[0] + 1000)
    scattered = listed and max(claim.rows, claim.columns) > listed_rows
    fits = (
        not scattered and 2 * claim.numbers[0] * claim.numbers[1] <= len(content) - claim.start + 1
    )
    if not (square and whole and fits and claim.rows and claim.columns):
        raise _Damaged
    return claim


def _numbers(content: bytes, claim: Claim) -> FloatArray:
    """Read the lines below the sizes: as many as they say, with as many numbers in each."""
    lines, width = claim.numbers
    if not lines:
        return np.empty((0, width))
    try:
        below = io.BytesIO(content[claim.start :])
        numbers = np.loadtxt(below, comments="%", ndmin=2, encoding="latin-1")
    except (ValueError, OverflowError) as error:
        raise _Damaged from error
    if numbers.shape != (lines, width):
        raise _Damaged
    return numbers


def _dense(numbers: FloatArray, claim: Claim) -> FloatArray:
    """Put numbers, which stand column by column, in their places."""
    if not claim.mirror:
        return np.ascontiguousarray(numbers.reshape(claim.columns, claim.rows).T)
    n = claim.rows
    reserve(16 * n * n, "the entries of a symmetric matrix", "take fewer rows")
    matrix = np.zeros((n, n))
    # Column by column of the lower triangle is row by row of the upper one.
    matrix[np.triu_indices(n, k=0 if claim.mirror == 1 else 1)] = numbers[:, 0]
    above = np.triu(matrix, k=1)
    return matrix.T + claim.mirror * above


def _sparse(numbers: FloatArray, claim: Claim) -> csr_array:
    places = numbers[:, :2]
    size = np.array([claim.rows, claim.columns])
    if not ((places >= 1) & (places <= size) & (places == np.floor(places))).all():
        raise _Damaged
    first, second = (places - 1).astype(np.int64).T
    values = np.ones(len(numbers)) if claim.pattern else numbers[:, 2]
    if claim.mirror:
        apart = first != second
        values = np.r_[values, claim.mirror * values[apart]]
        first, second = np.r_[first, second[apart]], np.r_[second, first[apart]]
    shape = (claim.rows, claim.columns)
    return csr_array(coo_array((values, (first, second)), shape=shape))

"""MAT files of versions 4 to 7; those of version 7.3 are HDF5."""

from unbend.io.arrays import MatrixSource, columns_source, matrix_source, places
from unbend.io.files import File
from unbend.io.mat5 import Damaged, variables
from unbend.io.named import chosen, listed
from unbend.io.numerals import Array


def mat_source(file: File, array: str | None) -> MatrixSource:
    """Take the matrix of a MAT file; vectors of its length are columns."""
    arrays = load_mat(file)
    which = chosen(arrays, array, file.name)
    columns = {name: arrays[name] for name in which.columns}
    if which.matrix is None:
        return columns_source(columns, file.name)
    matrix = arrays[which.matrix]
    if matrix.ndim != 2:
        return matrix_source(matrix, file.name)
    return MatrixSource(matrix, places(matrix), columns, file.name)


def load_mat(file: File) -> dict[str, Array]:
    """Read the arrays of numbers and text; cells, structures and objects are left alone."""
    try:
        held = dict(variables(file.bytes(), file.name))
    except Damaged as error:
        raise ValueError(
            f"{file.name} is a damaged or cut off MAT file: fetch or write it again"
        ) from error
    arrays = {name: _vector(array) for name, array in held.items() if array.size}
    if not arrays:
        raise ValueError(f"{file.name} holds {listed({})}: save a matrix")
    return arrays


def _vector(array: Array) -> Array:
    """MATLAB has no arrays of one dimension."""
    return array.reshape(-1) if array.ndim == 2 and 1 in array.shape else array

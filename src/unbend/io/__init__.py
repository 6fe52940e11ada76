"""Data in, coordinates out.

`read` takes CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT and Matrix Market files,
dataframes and arrays and gives a `Table`: numbers, with the label and the ids kept aside. `batches`
gives the same some rows at a time, for files larger than memory; `read_distances` takes distances
in place of points and `read_matrices` several matrices of them; `read_images`, `read_texts` and
`read_cube` take data that are no tables; `write` and `write_cube` write results. Parquet, Arrow and
Feather need pyarrow, which also makes CSV faster; HDF5 needs h5py, images need Pillow.
"""

from unbend.files import replacing
from unbend.io.cube import Cube
from unbend.io.cubes import read_cube, write_cube
from unbend.io.distances import read_distances
from unbend.io.images import Images, read_images
from unbend.io.matrices import Matrices, read_matrices
from unbend.io.reading import Batches, batches, read
from unbend.io.table import Table
from unbend.io.texts import Texts, read_texts
from unbend.io.writing import write

__all__ = [
    "Batches",
    "Cube",
    "Images",
    "Matrices",
    "Table",
    "Texts",
    "batches",
    "read",
    "read_cube",
    "read_distances",
    "read_images",
    "read_matrices",
    "read_texts",
    "replacing",
    "write",
    "write_cube",
]

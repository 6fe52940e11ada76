"""Readers and writers of tables, arrays, images, texts, distances and spectral cubes.

`open_source` opens a file once, and every reader takes what it returns. `read` takes CSV, TSV,
Parquet, Arrow, Feather, XLSX, NPY, NPZ, HDF5, MAT and Matrix Market files, dataframes and arrays
and returns a `Table`: numbers, with label and ids apart; `read_frame` returns columns of any kind.
`open_table` reads the names of the columns only; for files larger than memory `batches` reads a
limited number of rows at a time, and `sample_table` random rows. `read_distances` takes distances
in place of points and `read_matrices` several matrices of them; `read_images`, `read_texts` and
`read_cube` take images, documents and hyperspectral cubes; `write` and `write_cube` write results.
Parquet, Arrow and Feather need pyarrow, which also makes CSV faster; HDF5 needs h5py, XLSX
python-calamine, images need Pillow.
"""

from unbend.files import atomic_write, write_together
from unbend.io.cube import Cube, read_cube, write_cube
from unbend.io.distances import NamedDistances, read_distances, read_named_distances
from unbend.io.documents import Texts, read_texts
from unbend.io.images import Images, read_images
from unbend.io.matrices import Matrices, read_matrices
from unbend.io.reading import (
    Batches,
    TableReader,
    TableSample,
    batches,
    open_table,
    read,
    read_frame,
    sample_table,
)
from unbend.io.source import Source, open_source
from unbend.io.table import Frame, Table
from unbend.io.writing import write

__all__ = [
    "Batches",
    "Cube",
    "Frame",
    "Images",
    "Matrices",
    "NamedDistances",
    "Source",
    "Table",
    "TableReader",
    "TableSample",
    "Texts",
    "atomic_write",
    "batches",
    "open_source",
    "open_table",
    "read",
    "read_cube",
    "read_distances",
    "read_frame",
    "read_images",
    "read_matrices",
    "read_named_distances",
    "read_texts",
    "sample_table",
    "write",
    "write_cube",
    "write_together",
]

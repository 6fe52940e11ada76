"""Tables in, coordinates out.

`read` takes CSV, TSV, Parquet, Arrow, Feather, NPY and NPZ files, dataframes and arrays and gives a
`Table`: numbers, with the label and the ids kept aside. `batches` gives the same some rows at a
time, for files larger than memory; `read_distances` takes distances in place of points; `write`
writes coordinates. Parquet, Arrow and Feather need pyarrow, which also makes CSV faster.
"""

from unbend.files import replacing
from unbend.io.distances import read_distances
from unbend.io.reading import Batches, batches, read
from unbend.io.table import Table
from unbend.io.writing import write

__all__ = ["Batches", "Table", "batches", "read", "read_distances", "replacing", "write"]

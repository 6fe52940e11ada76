"""Rows that were read: their names, labels and numbers, and tables made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unbend.io import Cube, Table, Texts


# Names of columns that a sentence may list.
MOST_NAMES = 12


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that were read: names and labels in a table, and what new data of the kind need.

    The table has no numbers where these are sparse.
    """

    kind: str
    table: "Table"
    like: Mapping[str, Any]
    sparse: Any = None
    cube: "Cube | None" = None
    # The fitted `Prepare` that gave the numbers of a table, if any did.
    preparation: Any = None

    def take(self, keep: Any) -> "Rows":
        """Restrict to some rows."""
        sparse = None if self.sparse is None else self.sparse[keep]
        return replace(self, table=self.table.take(keep), sparse=sparse)

    def dense(self) -> "Table":
        """Return a table with all numbers."""
        if self.sparse is None:
            return self.table
        from unbend.memory import reserve

        rows, terms = self.sparse.shape
        reserve(
            8 * rows * terms,
            f"{rows} documents x {terms} terms",
            "reduce them first by --method pca --svd-solver arpack -d 50 -o LESS.csv",
        )
        return replace(self.table, values=self.sparse.toarray())

    def values(self, estimator: Any) -> Any:
        """Return the numbers as an estimator takes them: sparse where it can."""
        if self.sparse is not None and estimator.__sklearn_tags__().input_tags.sparse:
            return self.sparse
        return self.dense().values


def object_table(names: Sequence[str] | None, n: int) -> "Table":
    """Return a table of n objects with their names and without numbers."""
    import numpy as np

    from unbend.io import Table

    objects = None if names is None else np.array(names, dtype=object)
    id_name = None if names is None else "object"
    columns = () if names is None else tuple(names)
    return Table(np.empty((n, 0)), columns, None, None, objects, id_name, np.arange(n))


def document_table(texts: "Texts") -> "Table":
    """Return a table of the names and labels of documents, without their numbers."""
    import numpy as np

    from unbend.io import Table

    return Table(
        values=np.empty((len(texts), 0)),
        columns=texts.columns,
        label=texts.label,
        label_name=texts.label_name,
        ids=texts.ids,
        id_name=texts.id_name,
        rows=texts.rows,
    )


def take_sample(read: Rows, rows: int, seed: int) -> Rows:
    """Return a random sample of rows, in their order."""
    import numpy as np

    from unbend.quality.measure import sample_rows

    keep = np.zeros(len(read.table), dtype=bool)
    keep[sample_rows(len(read.table), rows, seed)] = True
    return read.take(keep)


def name_pixels(table: "Table", cube: "Cube") -> "Table":
    """Give rows of pixels their positions as ids."""
    import numpy as np

    places = zip(*(part.tolist() for part in divmod(table.rows, cube.shape[1])), strict=True)
    ids = np.array([f"y{line}x{sample}" for line, sample in places], dtype=object)
    return replace(table, ids=ids, id_name="pixel")


def pick_columns(table: "Table", names: Sequence[str], where: str) -> Any:
    """Return the values of some columns, in the order of the names."""
    places = {name: place for place, name in enumerate(table.columns)}
    for name in names:
        if name not in places:
            from unbend.io.table import list_names
            from unbend.validation.scalars import hint

            listed = list_names(table.columns, MOST_NAMES) + hint(name, table.columns)
            raise ValueError(f"{where} has no column {name!r}: its columns are {listed}")
    return table.values[:, [places[name] for name in names]]


def drop_columns(table: "Table", names: Sequence[str]) -> "Table":
    """Return the table without some of its columns."""
    if not set(names) & set(table.columns):
        return table
    kept = tuple(name for name in table.columns if name not in names)
    return replace(table, values=pick_columns(table, kept, ""), columns=kept)

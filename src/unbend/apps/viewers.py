"""Embeddings as files of the viewers people like: embedding-atlas, jupyter-scatter and AnnData.

A file has the coordinates of all methods, the label, what each map lost at every row, and the
nearest neighbours in the data.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.files import atomic_write
from unbend.io import Table
from unbend.neighbors import open_space
from unbend.quality import Measure, continuity, trustworthiness
from unbend.validation.scalars import check_choice, check_integer

AXES = "xyz"
# Rows up to which every row has its measures; more are sampled.
MOST_MEASURED = 5000


@dataclass(frozen=True, eq=False)
class Maps:
    """Coordinates of one table by several methods.

    Attributes
    ----------
    table : Table
        The features, label and ids of the rows.
    coordinates : mapping of str to array (n, d)
        By name of the method.
    losses : mapping of str to array (n,)
        Trustworthiness and continuity of every row, named after method and measure; NaN for rows
        outside the sample that was measured.
    neighbors, distances : array (n, k)
        Nearest rows in the data, nearest first, and how far they are.
    """

    table: Table
    coordinates: Mapping[str, FloatArray]
    losses: Mapping[str, FloatArray]
    neighbors: IntArray
    distances: FloatArray

    def columns(self) -> dict[str, Any]:
        """Return ids, label, coordinates and losses as columns of one table."""
        table, found = self.table, dict[str, Any]()
        for name, values in ((table.id_name, table.ids), (table.label_name, table.label)):
            if name is not None and values is not None:
                found[name] = values
        for method, points in self.coordinates.items():
            for place, column in enumerate(points.T):
                axis = AXES[place] if points.shape[1] <= len(AXES) else str(place + 1)
                found[f"{method}_{axis}"] = column.astype(np.float32)
        return found | {name: values.astype(np.float32) for name, values in self.losses.items()}


def measure_maps(
    table: Table, coordinates: Mapping[str, FloatArray], n_neighbors: int = 15
) -> Maps:
    """Find the neighbours in the data, and what each map lost at every row.

    Parameters
    ----------
    table : Table
        Features of the rows.
    coordinates : mapping of str to array (n, d)
        Embeddings of these rows.
    n_neighbors : int
        Neighbours that are stored; the measures look at as many.

    Returns
    -------
    Maps

    Examples
    --------
    >>> import unbend
    >>> table = unbend.io.read(unbend.datasets.s_curve(100, random_state=0).points)
    >>> maps = measure_maps(table, {"pca": unbend.PCA().fit_transform(table.values)}, 5)
    >>> sorted(maps.columns()), maps.neighbors.shape
    (['pca_continuity', 'pca_trustworthiness', 'pca_x', 'pca_y'], (100, 5))
    """
    X, n = np.asarray(table.values, dtype=np.float64), len(table)
    check_integer("n_neighbors", n_neighbors, 1, (n - 1) // 2, f"with {n} rows")
    near = open_space(X).nearest(n_neighbors)
    losses = {}
    for method, points in coordinates.items():
        for name, measure in (("trustworthiness", trustworthiness), ("continuity", continuity)):
            found = measure(X, points, n_neighbors=n_neighbors, max_rows=MOST_MEASURED)
            losses[f"{method}_{name}"] = _spread(found, n)
    shape = n, n_neighbors
    return Maps(
        table, coordinates, losses, near.indices.reshape(shape), near.distances.reshape(shape)
    )


def _spread(measure: Measure, n: int) -> FloatArray:
    values = np.full(n, np.nan)
    values[measure.rows] = measure.local
    return values


def write_maps(maps: Maps, path: str | os.PathLike[str], viewer: str) -> None:
    """Write a file that a viewer opens.

    Parameters
    ----------
    maps : Maps
    path : path-like
        Parquet, or h5ad for AnnData; the write is atomic.
    viewer : {"embedding-atlas", "jupyter-scatter", "h5ad"}
    """
    check_choice("viewer", viewer, tuple(VIEWERS))
    with atomic_write(Path(path)) as partial:
        VIEWERS[viewer].write(maps, partial)


def _write_atlas(maps: Maps, path: Path) -> None:
    """Write neighbours as embedding-atlas reads them: a struct of ids and distances."""
    import pyarrow as pa

    neighbors = pa.StructArray.from_arrays(
        [_lists(maps.neighbors, pa.int64()), _lists(maps.distances, pa.float32())],
        ["ids", "distances"],
    )
    _write_parquet(maps, neighbors, path)


def _write_scatter(maps: Maps, path: Path) -> None:
    """Write neighbours as a list, which pandas reads as an array of each row."""
    import pyarrow as pa

    _write_parquet(maps, _lists(maps.neighbors, pa.int64()), path)


def _write_parquet(maps: Maps, neighbors: Any, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {
        name: values
        for name, values in zip(maps.table.columns, maps.table.values.T, strict=True)
        if name not in maps.columns()
    }
    columns = {**features, **maps.columns()}
    table = pa.table({name: _plain(values) for name, values in columns.items()})
    pq.write_table(table.append_column("neighbors", neighbors), path)


def _plain(values: Any) -> Any:
    """Return a column that Arrow takes: words as such, missing ones as null."""
    if values.dtype.kind != "O":
        return values
    return [None if value is None else str(value) for value in values.tolist()]


def _lists(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    n, k = values.shape
    ends = np.arange(0, n * k + 1, k, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values.ravel(), type=kind))


def _write_h5ad(maps: Maps, path: Path) -> None:
    """Write AnnData with the names that scanpy and cellxgene look for."""
    import anndata
    import pandas as pd
    from scipy.sparse import csr_matrix

    table, (n, k) = maps.table, maps.neighbors.shape
    observed = {name: _plain(v) for name, v in maps.columns().items() if not _is_axis(name, maps)}
    obs = pd.DataFrame(observed, index=[str(row) for row in range(n)])
    if table.label_name is not None and obs[table.label_name].dtype == object:
        obs[table.label_name] = obs[table.label_name].astype("category")
    graph = csr_matrix(
        (maps.distances.ravel(), maps.neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
    data = anndata.AnnData(
        X=np.asarray(table.values, dtype=np.float32),
        obs=obs,
        var=pd.DataFrame(index=list(map(str, table.columns))),
        obsm={f"X_{name}": np.asarray(points) for name, points in maps.coordinates.items()},
        obsp={"distances": graph},
        uns={"neighbors": {"distances_key": "distances", "params": {"n_neighbors": k}}},
    )
    data.write_h5ad(path)


def _is_axis(name: str, maps: Maps) -> bool:
    methods = [method for method in maps.coordinates if name.startswith(f"{method}_")]
    return bool(methods) and name not in maps.losses


@dataclass(frozen=True)
class Viewer:
    """How a viewer's file is written, what its name ends in, and how it is opened."""

    write: Callable[[Maps, Path], None]
    suffix: str
    command: str

    def opening(self, path: str, methods: Sequence[str]) -> str:
        """Return the command or code that opens a file."""
        return self.command.format(path=path, method=methods[0])


VIEWERS: Mapping[str, Viewer] = {
    "embedding-atlas": Viewer(
        _write_atlas,
        ".parquet",
        "embedding-atlas {path} --x {method}_x --y {method}_y --neighbors neighbors",
    ),
    "jupyter-scatter": Viewer(
        _write_scatter,
        ".parquet",
        "jscatter.plot(data=pandas.read_parquet('{path}'), x='{method}_x', y='{method}_y')",
    ),
    "h5ad": Viewer(_write_h5ad, ".h5ad", "scanpy.read_h5ad('{path}')"),
}

"""Row-wise methods of a fitted model, applied lazily to the partitions of a collection."""

from collections.abc import Iterable
from typing import Any

import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from unbend.scale.collections import (
    block_meta,
    blocks_of,
    is_frame,
    naming_partition,
    open_collection,
)
from unbend.scale.workers import check_reachable, ship

# Methods that return one number for each row.
ONE_COLUMN = ("predict", "outlyingness", "subspace_distances", "score_samples")


# Coordinates, and the outlyingness as one more column: `transform(return_outlyingness=True)`.
BOTH = "transform_and_score"


def map_rows(model: Any, method: str, X: Any, **options: Any) -> Any:
    """Apply a row-wise method of a fitted model to each partition, lazily.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Name of the method, such as ``"transform"``; ``"transform_and_score"`` gives coordinates
        and, as one more column, the outlyingness.
    X : Dask array or data frame, or path of a folder
        Rows.
    **options
        Arguments of the method.

    Returns
    -------
    Dask array or data frame
        As X, with its partitions, order and index. With ``return_outlyingness=True`` two of them.

    Examples
    --------
    >>> import dask.array as da
    >>> import unbend
    >>> model = unbend.PCA(n_components=1).fit([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> map_rows(model, "transform", da.ones((4, 2), chunks=2)).chunks
    ((2, 2), (1,))
    """
    shipped: Any = None
    if hasattr(model, "header"):
        model, shipped = model.header, model.model
        check_reachable(shipped)
    check_is_fitted(model)
    collection = open_collection(X)
    unknown = sorted(set(options) - {"return_outlyingness"})
    if unknown:
        raise TypeError(f"{method} of rows of Dask takes no argument {unknown[0]!r}: leave it out")
    if getattr(model, "missing", None) == "drop":
        raise ValueError(
            "missing='drop' changes the number of rows of a partition. Drop them first, for "
            "example by X.dropna(), or fit Prepare with another policy."
        )
    _check_columns(model, method, collection)
    if not options.get("return_outlyingness"):
        return _map(model, shipped, method, collection)
    both, dtype = _map(model, shipped, BOTH, collection), _dtype(model, method)
    if is_frame(collection):
        return both[both.columns[:-1]].astype(dtype), both["outlyingness"]
    return both[:, :-1].astype(dtype), both[:, -1]


def _map(model: Any, shipped: Any, method: str, X: Any) -> Any:
    """Map a method over the partitions."""
    shipped = ship(model) if shipped is None else shipped
    names, dtype = _names(model, method), _dtype(model, method)
    if is_frame(X):
        import pandas as pd

        empty = np.empty((0, len(names)) if names else 0, dtype=dtype)
        index = X._meta.index
        meta = (
            pd.DataFrame(empty, columns=names, index=index)
            if names
            else pd.Series(empty, index=index, name=method)
        )
        blocks = [
            delayed(_apply_to_frame)(block, shipped, method, meta, number)
            for number, block in enumerate(blocks_of(X))
        ]
        return dd.from_delayed(blocks, meta=meta, divisions=X.divisions, verify_meta=False)
    chunks = (X.chunks[0], (len(names),)) if names else (X.chunks[0],)
    return X.map_blocks(
        _apply_to_array,
        shipped,
        method,
        chunks=chunks,
        drop_axis=None if names else 1,
        meta=np.empty((0,) * len(chunks), dtype=dtype),
    )


def _apply_to_array(block: Any, model: Any, method: str, block_info: Any = None) -> Any:
    inside, outside = block_info[0], block_info[None]
    if not block.shape[0]:
        return np.empty((0, *outside["chunk-shape"][1:]), dtype=outside["dtype"])
    with naming_partition(inside["chunk-location"][0]):
        return _call(model, method, block)


def _apply_to_frame(block: Any, model: Any, method: str, meta: Any, number: int) -> Any:
    if not len(block):
        return meta
    with naming_partition(number):
        # Prepare, known by columns_, has no feature_names_in_ when it was fitted by partitions.
        named = hasattr(model, "feature_names_in_") or hasattr(model, "columns_")
        result = _call(model, method, block if named else block.to_numpy())
    shared = {"index": block.index}
    if meta.ndim == 1:
        return type(meta)(result, name=meta.name, **shared)
    return type(meta)(result, columns=meta.columns, **shared)


def _call(model: Any, method: str, block: Any) -> Any:
    if method == BOTH:
        placed, scores = model.transform(block, return_outlyingness=True)
        return np.column_stack((np.asarray(placed), scores))
    result = getattr(model, method)(block)
    return result.to_numpy() if hasattr(result, "to_numpy") else result


def _check_columns(model: Any, method: str, X: Any) -> None:
    """Refuse other columns than those of the fit before anything is computed."""
    meta = block_meta(X)
    if method == "inverse_transform":
        width = len(model.get_feature_names_out())
        if meta.shape[1] != width:
            raise ValueError(f"X has {meta.shape[1]} columns and the embedding has {width}")
        return
    if hasattr(model, "columns_"):
        return  # Prepare matches columns by name, in any order.
    named = is_frame(X) and hasattr(model, "feature_names_in_")
    validate_data(
        model, meta if named else np.empty(meta.shape), reset=False, skip_check_array=True
    )


def _names(model: Any, method: str) -> list[str] | None:
    """Return the names of the columns of a result; None where it has one number a row."""
    if method in ONE_COLUMN:
        return None
    if method == "inverse_transform":
        numbered: Iterable[str] = (f"x{i}" for i in range(model.n_features_in_))
        return [str(name) for name in getattr(model, "feature_names_in_", numbered)]
    names = [str(name) for name in model.get_feature_names_out()]
    return [*names, "outlyingness"] if method == BOTH else names


def _dtype(model: Any, method: str) -> np.dtype[Any]:
    """Return the type of the numbers of a result."""
    if method == "predict":
        labels = np.asarray(getattr(model, "classes_", getattr(model, "labels_", None)))
        unknown = getattr(model, "unknown_label", None)
        both = labels.dtype if unknown is None else np.array([labels[0], unknown]).dtype
        return both if both.kind == labels.dtype.kind else np.dtype(object)
    exact = method in ("outlyingness", BOTH)
    embedding = getattr(model, "embedding_", None)
    return np.dtype(np.float64) if exact or embedding is None else embedding.dtype

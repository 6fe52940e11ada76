"""Every public name of unbend.scale that takes rows refuses wrong ones with one sentence."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

import unbend
from unbend import scale
from unbend.registry import CLUSTERINGS, METHODS

ROWS = np.random.default_rng(0).normal(size=(120, 3))
MODEL = unbend.PCA().fit(ROWS)
SMALL = {"held_out": 0, "sample": 60}


def fit(name):
    def call(X):
        kind = getattr(scale, name)
        options = SMALL if "sample" in kind().get_params() else {}
        return kind(**options).fit(X)

    return call


CALLS = {
    **{entry.class_name: fit(entry.class_name) for entry in (*METHODS, *CLUSTERINGS)},
    "nearest_neighbors": lambda X: da.compute(*scale.nearest_neighbors(X, 3)),
    "measure_quality": lambda X: scale.measure_quality(X, lazy(ROWS[:, :2]), sample=20),
    "map_rows": lambda X: scale.map_rows(MODEL, "transform", X).compute(),
    "open_rows": lambda X: scale.open_rows(unbend.PCA(), X).mean,
    "Partitions": lambda X: unbend.PCA().fit_batches(scale.Partitions(X)),
}
# Names that take no rows.
VALUES = {"Cost", "SampledQuality", "estimate_cost"}
NEEDED = "a Dask array of rows and columns, a Dask data frame or a folder of Parquet or Zarr is"
MISTAKES = {
    "an array in memory": (lambda: ROWS, TypeError, f"X is an array in memory, and {NEEDED}"),
    "one dimension": (lambda: da.from_array(ROWS[:, 0], chunks=60), TypeError, NEEDED),
    "a series": (
        lambda: dd.from_pandas(pd.Series(ROWS[:, 0]), npartitions=2),
        TypeError,
        f"X is a Dask Series, and {NEEDED}",
    ),
    "a delayed": (lambda: dask.delayed(ROWS), TypeError, f"X is a Dask Delayed, and {NEEDED}"),
    "a list": (lambda: ROWS.tolist(), TypeError, NEEDED),
    "no folder": (lambda: "nowhere", FileNotFoundError, "there is no folder nowhere"),
}


def lazy(rows):
    return da.from_array(rows, chunks=(60, rows.shape[1]))


def test_every_public_name_has_its_mistakes():
    assert set(scale.__all__) - VALUES == set(CALLS)


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("name", CALLS)
def test_other_rows_are_refused_in_one_sentence(name, mistake):
    make, kind, sentence = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        CALLS[name](make())
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("Partitions",)])
def test_missing_values_are_named_by_partition_and_row(name):
    wrong = ROWS.copy()
    wrong[75, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(first in partition 1, row 15, column 1\)"):
        CALLS[name](lazy(wrong))


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"map_rows", "open_rows", "Partitions"}))
def test_fewer_than_two_rows_are_refused_as_in_memory(name, count):
    with pytest.raises(ValueError, match=f"X has {count} sample"):
        CALLS[name](lazy(ROWS[:count]))


@pytest.mark.parametrize("lengths", [(50, 70), (70, 60)])
def test_labels_in_other_partitions_are_refused(lengths):
    y = da.from_array(np.arange(sum(lengths)) % 2, chunks=(lengths,))
    with pytest.raises(ValueError, match=f"partition 0 of y has {lengths[0]} rows and that of X"):
        scale.SupervisedLLE(**SMALL).fit(lazy(ROWS), y)


def test_unknown_arguments_are_refused_as_in_memory():
    with pytest.raises(TypeError, match="no argument 'wrong'"):
        MODEL.transform(lazy(ROWS), wrong=1)

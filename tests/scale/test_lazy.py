"""Models on Dask collections: same numbers, lazily, in the partitions of the input."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import subprocess
import sys
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

import unbend
from tests.entry_points import TABLE
from unbend import scale
from unbend.neighbors import PointSpace
from unbend.registry import METHODS
from unbend.scale import measure_quality, nearest_neighbors
from unbend.scale import neighbors as searching

rng = np.random.default_rng(0)
NAMES = ["x", "y", "z"]


@pytest.fixture(autouse=True)
def same_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(rows, lengths):
    return da.from_array(rows, chunks=(lengths, (1, rows.shape[1] - 1)))


def frame(rows, partitions=4):
    table = pd.DataFrame(rows, columns=NAMES, index=10 * np.arange(len(rows)))
    return dd.from_pandas(table, npartitions=partitions)


def refuse_computing(*_, **__):
    raise AssertionError("computed before it was asked for")


@pytest.mark.parametrize("lengths", [(1200,), (500, 1, 699), (100,) * 12])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_pca_of_partitions_is_that_of_all_rows(rows, lengths, offset):
    rows = rows + offset
    whole = unbend.PCA(n_components=3).fit(rows)
    parts = unbend.PCA(n_components=3).fit(lazy(rows, lengths))
    largest = whole.singular_values_[0]
    assert np.abs(parts.singular_values_ - whole.singular_values_).max() <= 1e-12 * largest
    assert np.abs(parts.components_ - whole.components_).max() <= 1e-12
    assert parts.mean_ == pytest.approx(whole.mean_, rel=1e-14)
    assert parts.noise_variance_ == pytest.approx(whole.noise_variance_, abs=1e-12)
    assert parts.embedding_.shape == (0, 3)


def test_pca_takes_a_share_of_the_variance_and_frames_and_empty_partitions(rows):
    table = frame(rows)
    parts = unbend.PCA(n_components=0.8).fit(table[table["x"] > -100.0])
    assert list(parts.feature_names_in_) == NAMES
    whole = unbend.PCA(n_components=0.8).fit(rows)
    assert parts.n_components_ == whole.n_components_
    empty = table.partitions[0].query("x > 1e9")
    padded = unbend.PCA().fit(dd.concat([empty, table, empty]))
    assert np.abs(padded.components_ - unbend.PCA().fit(rows).components_).max() <= 1e-12
    placed = padded.transform(dd.concat([empty, table, empty]))
    assert np.array_equal(placed.compute(), padded.transform(table.compute()))


def test_single_precision_stays_single(rows):
    single = rows.astype(np.float32)
    parts = unbend.PCA().fit(lazy(single, (600, 600)))
    assert parts.components_.dtype == np.float32
    placed = parts.transform(lazy(single, (600, 600)))
    assert placed.dtype == placed.compute().dtype == np.float32


@pytest.mark.parametrize("options", [{}, {"svd": True}, {"kind": "sparse"}])
def test_random_projections_are_those_of_all_rows(rows, options):
    model = unbend.RandomProjection(n_components=2, random_state=3, **options)
    whole = model.fit(rows)
    expected, distortion = whole.components_, whole.distortion_
    parts = unbend.RandomProjection(n_components=2, random_state=3, **options)
    parts.fit(lazy(rows, (500, 700)))
    dense = [m.toarray() if hasattr(m, "toarray") else m for m in (parts.components_, expected)]
    assert np.abs(dense[0] - dense[1]).max() <= 1e-12
    assert parts.distortion_ == pytest.approx(distortion, rel=1e-9)


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_every_model_transforms_partitions_to_the_bits_of_the_array(entry, rows):
    fitted, new = rows[:300:2], rows[1:300:2]
    kind = entry.load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = {"y": np.arange(150) % 3} if entry.name == "supervised_lle" else {}
        model = kind().fit(fitted, **labels)
        expected = model.transform(new)
        placed = model.transform(lazy(new, (40, 1, 109)))
        assert placed.chunks == ((40, 1, 109), (expected.shape[1],))
        assert np.array_equal(placed.compute(), expected)
        back = model.inverse_transform(placed)
        assert np.array_equal(back.compute(), model.inverse_transform(expected))


def test_a_frame_keeps_partitions_order_index_and_names(rows):
    table = frame(rows)
    model = unbend.Isomap(n_neighbors=8).fit(table.compute().iloc[:400])
    placed = model.transform(table)
    assert placed.divisions == table.divisions
    assert list(placed.columns) == ["isomap0", "isomap1"]
    found = placed.compute()
    assert np.array_equal(found.index, 10 * np.arange(len(rows)))
    assert np.array_equal(found.to_numpy(), model.transform(table.compute()))
    back = model.inverse_transform(placed)
    assert list(back.columns) == NAMES
    assert back.divisions == table.divisions
    scores = model.outlyingness(table)
    assert np.array_equal(scores.compute().to_numpy(), model.outlyingness(table.compute()))


@pytest.mark.parametrize("make", [lambda rows: lazy(rows, (500, 700)), frame])
def test_coordinates_and_outlyingness_come_together(rows, make):
    model = unbend.LTSA(n_neighbors=8).fit(rows[:400])
    expected, expected_scores = model.transform(rows, return_outlyingness=True)
    placed, scores = dask.compute(*model.transform(make(rows), return_outlyingness=True))
    assert np.array_equal(np.asarray(placed), expected)
    assert np.array_equal(np.asarray(scores), expected_scores)


def test_labels_are_predicted_by_partitions(rows):
    clusters = unbend.SpectralClustering(n_clusters=3).fit(rows[:300])
    found = clusters.predict(lazy(rows, (500, 700)))
    assert found.dtype == np.int64
    assert np.array_equal(found.compute(), clusters.predict(rows))
    names = np.where(rows[:300, 0] > 0, "right", "left")
    recognizer = unbend.SubspaceRecognizer(n_components=2, unknown_label="?").fit(rows[:300], names)
    series = recognizer.predict(frame(rows))
    assert np.array_equal(series.compute().to_numpy(), recognizer.predict(rows))


def test_pipelines_of_a_preparation_take_partitions():
    table = pd.DataFrame(
        {
            "size": rng.normal(40, 9, 300),
            "rooms": rng.integers(1, 5, 300),
            "city": list("abc") * 100,
        }
    )
    model = make_pipeline(unbend.Prepare(), unbend.PCA()).fit(table)
    lazily = model.transform(dd.from_pandas(table, npartitions=3))
    assert np.array_equal(lazily.compute().to_numpy(), model.transform(table))
    parts = unbend.Prepare().fit(dd.from_pandas(table, npartitions=3))
    assert parts.transform(table) == pytest.approx(unbend.Prepare().fit_transform(table), abs=1e-12)
    shuffled = table[["city", "size", "rooms"]]
    lazily = parts.transform(dd.from_pandas(shuffled, npartitions=4))
    assert np.array_equal(lazily.compute().to_numpy(), parts.transform(table))
    with pytest.raises(ValueError, match="Drop them first"):
        unbend.Prepare(missing="drop").fit(table).transform(dd.from_pandas(table, npartitions=3))


def test_scikit_learn_containers_do_not_gather(rows):
    model = unbend.PCA().fit(frame(rows).compute()).set_output(transform="pandas")
    placed = model.transform(frame(rows))
    assert isinstance(placed, dd.DataFrame)
    assert np.array_equal(placed.compute(), model.transform(frame(rows).compute()))


def test_nothing_is_computed_before_it_is_asked_for(rows):
    model = unbend.PCA().fit(rows)
    array, table = lazy(rows, (500, 700)), frame(rows)
    with dask.config.set(scheduler=refuse_computing):
        placed = [model.transform(array), model.transform(table), model.outlyingness(table)]
        model.inverse_transform(placed[0])
        with pytest.raises(AssertionError, match="before it was asked for"):
            placed[0].compute()


def test_graphs_hold_the_model_once(rows):
    model = unbend.Isomap().fit(rows[:500])
    sizes = []
    for count in (4, 40):
        placed = model.transform(lazy(rows[:400], (400 // count,) * count))
        tasks = dict(placed.__dask_graph__())
        sizes.append(sum(1 for task in tasks.values() if "Isomap" in repr(task)))
        assert sum(key == name for key in tasks for name in tasks if "unbend-" in str(name)) == 1
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("make", [lambda rows: lazy(rows, (500, 700)), frame])
@pytest.mark.parametrize("method", ["fit", "transform", "predict"])
def test_nan_is_refused_with_its_partition_and_row(rows, make, method):
    good = unbend.PCA().fit(rows)
    clusters = unbend.SpectralClustering(n_clusters=2).fit(rows[:200])
    wrong = rows.copy()
    wrong[750, 2] = np.nan
    column = "'z'" if make is frame and method == "fit" else "('z'|2)"
    place = "partition 2, row 150" if make is frame else "partition 1, row 250"

    def run():
        if method == "fit":
            unbend.PCA().fit(make(wrong))
        else:
            model = good if method == "transform" else clusters
            getattr(model, method)(make(wrong)).compute()

    with pytest.raises(ValueError, match=f"NaN \\(first in {place}, column {column}\\)"):
        run()


def test_other_columns_are_refused_at_once(rows):
    table = frame(rows)
    model = unbend.PCA().fit(table.compute())
    with pytest.raises(ValueError, match="feature names"):
        model.transform(table.rename(columns={"x": "other"}))
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.transform(lazy(rows[:, :2], (1200,)))
    with pytest.raises(ValueError, match="the embedding has 2"):
        model.inverse_transform(lazy(rows, (1200,)))
    with pytest.raises(TypeError, match="reshape"):
        model.transform(lazy(rows, (1200,))[:, 0])


@pytest.mark.parametrize(
    "entry",
    [e for e in METHODS if e.name not in ("pca", "random_projection")],
    ids=lambda e: e.name,
)
def test_other_fits_refuse_with_the_size_and_the_alternative(entry, rows):
    array = da.zeros((10**8, 100))
    with pytest.raises(TypeError, match=r"100000000 x 100 numbers \(80.0 GB\)") as refused:
        entry.load()().fit(array)
    assert f"unbend.scale.{entry.class_name}(sample=20_000)" in str(refused.value)
    with pytest.raises(TypeError, match="4 partitions with 3 columns"):
        entry.load()().fit_transform(frame(rows))


def test_no_public_name_gathers_silently():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    array = da.from_array(rows, chunks=20)
    lazily = ("PCA", "RandomProjection", "Prepare")
    with dask.config.set(scheduler=refuse_computing):
        for name, entry in TABLE.items():
            if any(kind in name for kind in lazily):
                continue
            with pytest.raises(TypeError, match="Dask array of 40 x 3"):
                entry.rows(array)
        with pytest.raises(TypeError, match="Dask array"):
            unbend.PCA().fit(rows).score(array)


@pytest.mark.parametrize("lengths", [(1200,), (500, 1, 699), (100,) * 12])
@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_exact_neighbours_are_those_of_all_rows_to_the_bit(rows, lengths, metric, monkeypatch):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 16)
    whole = unbend.neighbors.open_space(rows, metric).nearest(7)
    indices, distances = nearest_neighbors(lazy(rows, lengths), 7, metric=metric)
    assert indices.chunks[0] == distances.chunks[0] == lengths
    assert np.array_equal(indices.compute().ravel(), whole.indices)
    assert np.array_equal(distances.compute().ravel(), whole.distances)


def test_neighbours_of_many_columns_are_the_same_bits(monkeypatch):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 17)
    curve = np.sin(np.linspace(0, 3, 900)[:, None] * np.arange(1, 21))
    whole = PointSpace(curve).nearest(5)
    indices, distances = nearest_neighbors(da.from_array(curve, chunks=(200, 20)), 5)
    assert np.array_equal(indices.compute().ravel(), whole.indices)
    assert np.array_equal(distances.compute().ravel(), whole.distances)


def test_the_recall_of_approximate_neighbours_is_estimated(monkeypatch):
    monkeypatch.setattr(searching, "CELL_ROWS", 500)
    chart = rng.uniform(size=(4000, 3))
    X = np.cos(chart @ rng.normal(size=(3, 50)) * 2)
    exact = PointSpace(X).nearest(10).distances.reshape(-1, 10)
    lazily = searching.LazyRows(da.from_array(X, chunks=(900, 50)))
    found = searching.find_neighbors(lazily, 10, searching.EUCLIDEAN, "approximate")
    recall = np.mean(found.arrays()[1].compute() <= exact[:, -1:] * (1 + 1e-12))
    assert recall > 0.97
    assert abs(found.recall - recall) < max(0.01, 4 * found.recall_error)


def test_wrong_arguments_of_neighbours_are_refused(rows):
    array = lazy(rows, (1200,))
    with pytest.raises(ValueError, match="algorithm='best' is not allowed"):
        nearest_neighbors(array, algorithm="best")
    with pytest.raises(ValueError, match="metric='cosine' is not searched by boxes"):
        nearest_neighbors(array, metric="cosine")
    with pytest.raises(ValueError, match="n_neighbors=0"):
        nearest_neighbors(array, 0)
    with pytest.raises(ValueError, match="1200"):
        nearest_neighbors(array, 1200)
    with pytest.raises(TypeError, match="in memory"):
        nearest_neighbors(rows)


def test_the_core_does_not_import_dask():
    code = (
        "import sys, numpy as np, unbend\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "model = unbend.LTSA().fit(X); model.transform(X); unbend.PCA().fit(X)\n"
        "unbend.quality.trustworthiness(X, X[:, :2])\n"
        "import unbend.cli.app\n"
        "assert not {'dask', 'distributed'} & set(sys.modules), 'imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_dask_one_sentence_says_what_to_install():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('dask', 'distributed'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import importlib.util as u\n"
        "import unbend\n"
        "try:\n"
        "    unbend.scale\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "unbend.scale needs Dask: pip install 'unbend[dask]'"


def test_quality_by_samples_is_that_of_the_sampled_rows(rows):
    flat = rows[:, :2]
    found = measure_quality(lazy(rows, (500, 700)), frame_of(flat), n_neighbors=6, sample=200)
    chosen = found.trustworthiness.rows
    for name in ("neighborhood_preservation", "trustworthiness", "continuity"):
        whole = getattr(unbend.quality, name)(rows, flat, n_neighbors=6)
        part = getattr(found, name)
        assert len(chosen) == 200
        assert part.local == pytest.approx(whole.local[chosen], abs=1e-12)
        assert abs(part - whole) < 4 * part.error
    other = measure_quality(lazy(rows, (100,) * 12), frame_of(flat), n_neighbors=6, sample=200)
    assert np.array_equal(other.continuity.local, found.continuity.local)


def frame_of(coordinates):
    return dd.from_pandas(pd.DataFrame(coordinates, columns=["a", "b"]), npartitions=3)


def test_quality_refuses_other_rows(rows):
    with pytest.raises(ValueError, match="X has 1200 rows and embedding has 1199"):
        measure_quality(lazy(rows, (1200,)), lazy(rows[1:], (1199,)))
    with pytest.raises(ValueError, match="sample=1 is not allowed"):
        measure_quality(lazy(rows, (1200,)), lazy(rows, (1200,)), sample=1)


def test_small_files_of_parquet_stay_partitions(rows, tmp_path):
    """Dask merges them when it optimises, and others where fewer columns are read."""
    frame(rows, 9).to_parquet(tmp_path / "rows")
    table = dd.read_parquet(tmp_path / "rows")
    model = unbend.PCA().fit(table[["x", "y"]])
    placed = model.transform(table[["x", "y"]])
    assert placed.npartitions == len(placed.to_delayed()) == table.npartitions
    assert np.array_equal(placed.compute(), model.transform(table[["x", "y"]].compute()))
    lazily = searching.LazyRows(searching.open_collection(table[["x", "y"]]))
    numbers = np.array([1199, 3, 700])
    assert np.array_equal(lazily.take(numbers), rows[numbers, :2])


def test_a_path_of_zarr_is_a_collection(rows, tmp_path):
    pytest.importorskip("zarr", reason="Zarr is not installed")
    lazy(rows, (500, 700)).to_zarr(str(tmp_path / "rows"))
    model = scale.PCA().fit(tmp_path / "rows").local_
    expected = unbend.PCA().fit(rows).singular_values_
    assert np.abs(model.singular_values_ - expected).max() <= 1e-12 * expected[0]
    found = scale.map_rows(model, "transform", tmp_path / "rows")
    assert np.array_equal(found.compute(), model.transform(rows))


def test_progress_counts_tasks(rows):
    seen = []
    with unbend.monitoring(seen.append):
        unbend.PCA().fit(lazy(rows, (100,) * 12))
    counted = [(one.done, one.total) for one in seen if one.total >= 12]
    assert counted[-1][0] == counted[-1][1]
    assert len(set(counted)) >= 12

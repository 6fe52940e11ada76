"""Estimators of collections: samples that do not depend on partitions, and graphs of all rows."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.base import clone

import unbend
from unbend import scale
from unbend.registry import CLUSTERINGS, METHODS
from unbend.scale import neighbors as searching

SMALL = {"MVU": 100, "MetricMDS": 120, "NonmetricMDS": 100, "LandmarkMVU": 150}


@pytest.fixture(autouse=True)
def same_process():
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def roll():
    return unbend.datasets.swiss_roll(3000, random_state=1)


def lazy(rows, parts=3):
    return da.from_array(rows, chunks=(-(-len(rows) // parts), rows.shape[1]))


@pytest.mark.parametrize("entry", [*METHODS, *CLUSTERINGS], ids=lambda entry: entry.name)
def test_every_method_is_fitted_on_the_same_sample_for_any_partitioning(entry, roll):
    kind = getattr(scale, entry.class_name)
    options = {}
    if entry.name not in ("pca", "random_projection"):
        options = {"sample": SMALL.get(entry.class_name, 300), "held_out": 0, "random_state": 4}
        if not hasattr(kind(), "random_state"):
            del options["random_state"]
    y = np.digitize(roll.chart[:, 0], np.quantile(roll.chart[:, 0], (0.3, 0.6)))
    y = y if entry.name == "supervised_lle" else None
    method = "predict" if entry.name == "spectral_clustering" else "transform"
    found = []
    for parts in (1, 4):
        model = kind(**options).fit(lazy(roll.points, parts), y)
        applied = getattr(model, method)(lazy(roll.points, parts))
        assert len(applied.chunks[0]) == parts
        found.append(applied.compute())
        assert type(model.local_) is entry.load()
    exact = entry.name not in ("pca", "kernel_pca", "classical_mds", "landmark_mds")
    if exact:
        assert np.array_equal(*found)
    else:  # sums over all rows, by partitions
        assert np.abs(found[0] - found[1]).max() <= 1e-9 * np.abs(found[0]).max()


def test_a_model_of_a_sample_is_the_plain_one_of_the_sampled_rows(roll):
    model = scale.LTSA(n_neighbors=12, sample=500, random_state=3).fit(lazy(roll.points))
    plain = unbend.LTSA(n_neighbors=12, random_state=3).fit(roll.points[model.sample_])
    assert len(model.sample_) == 500
    assert np.array_equal(model.local_.embedding_, plain.embedding_)
    assert np.array_equal(model.transform(roll.points[:9]), plain.transform(roll.points[:9]))
    facts = model.report_.stage("sample").facts
    assert facts["tier"] == "sample"
    assert facts["rows"] == 3000


def test_names_index_and_files_go_along(roll, tmp_path):
    table = pd.DataFrame(roll.points, columns=list("abc"), index=7 * np.arange(3000))
    rows = dd.from_pandas(table, npartitions=3)
    model = scale.LandmarkIsomap(sample=400, held_out=50).fit(rows)
    assert list(model.local_.feature_names_in_) == list("abc")
    placed = model.transform(rows).compute()
    assert np.array_equal(placed.index, table.index)
    model.save(tmp_path / "m.unbend")
    again = unbend.load(tmp_path / "m.unbend").transform(rows)
    assert np.array_equal(again.compute(), placed)
    rows.to_parquet(tmp_path / "rows")
    by_path = scale.LandmarkIsomap(sample=400, held_out=50).fit(tmp_path / "rows")
    assert np.array_equal(by_path.sample_, model.sample_)
    assert np.array_equal(by_path.transform(str(tmp_path / "rows")).compute(), placed)


def test_parameters_are_those_of_the_plain_estimator():
    model = scale.Isomap(3, n_neighbors=7, sample=50)
    assert clone(model).get_params() == model.get_params()
    plain = set(unbend.Isomap().get_params())
    assert set(model.get_params()) == plain | {"sample", "sampling", "held_out"}
    assert repr(model) == "Isomap(n_components=3, n_neighbors=7, sample=50)"
    with pytest.raises(TypeError, match="has no parameter 'samples': use sample"):
        scale.Isomap(samples=3)
    with pytest.raises(ValueError, match="sample=1 is not allowed"):
        scale.Isomap(sample=1).fit(da.zeros((10, 2)))
    assert "sample : an integer of at least 2 or None, default=5000" in scale.Isomap.__doc__


def test_a_sample_that_is_representative_raises_no_warning(roll):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = scale.LTSA(n_neighbors=9, sample=2000, held_out=800).fit(lazy(roll.points))
    assert model.held_out_.preserved > model.held_out_.fitted - 0.05
    assert model.held_out_.disagreement < 0.05
    assert model.report_.stage("held out").facts["disagreement"] == model.held_out_.disagreement


def test_a_sample_that_is_too_small_warns(roll):
    with pytest.warns(UserWarning, match="Two halves of the sample .* Increase sample"):
        model = scale.LTSA(n_neighbors=8, sample=60, held_out=800).fit(lazy(roll.points))
    assert model.held_out_.disagreement > 0.1
    assert any("Two halves" in text for text in model.report_.warnings)


def test_disagreement_of_clusters_is_measured_by_their_labels():
    blobs = np.random.default_rng(0).normal(size=(900, 2)) + 20 * (np.arange(900) % 3)[:, None]
    model = scale.SpectralClustering(3, sample=300, held_out=200).fit(lazy(blobs))
    assert model.held_out_.disagreement == 0
    labels = model.predict(lazy(blobs)).compute()
    assert all(len(set(labels[c::3])) == 1 for c in range(3))


def test_farthest_rows_cover_what_few_random_rows_miss():
    rng = np.random.default_rng(0)
    rows = np.concatenate((rng.normal(size=(3000, 2)) * 0.01, rng.uniform(-5, 5, size=(60, 2))))
    outside = {}
    for sampling in ("hash", "farthest"):
        options = {"n_landmarks": 10, "sample": 200, "sampling": sampling, "held_out": 0}
        models = [scale.LandmarkMDS(random_state=seed, **options) for seed in range(5)]
        chosen = [model.fit(lazy(rows)).sample_ for model in models]
        assert all(len(set(some.tolist())) == 200 for some in chosen)
        outside[sampling] = sum(np.sum(some >= 3000) for some in chosen)
    # 4 of 60 in 200 of 3060 rows, and nearly all of the 16 in 800.
    assert outside["farthest"] > 2 * outside["hash"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("KernelPCA", {"eigen_solver": unbend.Nystrom(60), "gamma": 0.01}),
        ("KernelPCA", {"eigen_solver": unbend.Nystrom(60), "kernel": "poly", "degree": 2}),
        ("ClassicalMDS", {"eigen_solver": unbend.Nystrom(40)}),
        ("LandmarkMDS", {"n_landmarks": 30}),
        ("LandmarkMDS", {"n_landmarks": 30, "variant": "pivot"}),
        (
            "LaplacianEigenmaps",
            {"n_neighbors": None, "weights": "heat", "t": 60.0, "eigen_solver": unbend.Nystrom(80)},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_columns_are_summed_over_all_rows(name, options, roll):
    """With all rows in the sample, the sums over partitions are those of one memory."""
    plain = getattr(unbend, name)(random_state=0, **options).fit(roll.points)
    model = getattr(scale, name)(random_state=0, sample=3000, held_out=0, **options)
    model.fit(lazy(roll.points))
    assert np.array_equal(model.sample_, np.arange(3000))
    expected = plain.transform(roll.points)
    found = model.transform(lazy(roll.points)).compute()
    assert np.abs(found - expected).max() <= 1e-7 * np.abs(expected).max()
    assert model.local_.eigenvalues_ == pytest.approx(plain.eigenvalues_, rel=1e-8)


def test_sums_over_all_rows_center_what_a_sample_does_not(roll):
    model = scale.LandmarkMDS(n_landmarks=20, sample=100, held_out=0).fit(lazy(roll.points))
    placed = model.transform(lazy(roll.points)).compute()
    width = np.abs(placed).max()
    assert np.abs(placed.mean(axis=0)).max() < 1e-10 * width
    scatter = placed.T @ placed
    assert abs(scatter[0, 1]) < 1e-9 * scatter[0, 0]
    assert model.local_.eigenvalues_ == pytest.approx(scatter.diagonal(), rel=1e-9)


@pytest.fixture(scope="module")
def doubled(roll):
    rows = roll.points[:1500].copy()
    rows[900:930] = rows[20:50]
    return rows


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("LaplacianEigenmaps", {"n_neighbors": 9}),
        ("LaplacianEigenmaps", {"n_neighbors": 9, "weights": "heat", "symmetrization": "mean"}),
        ("DiffusionMaps", {"n_neighbors": 15}),
        ("SpectralClustering", {"n_clusters": 4}),
    ],
)
def test_the_graph_of_all_rows_has_the_bits_of_one_memory(
    name, options, parts, doubled, monkeypatch
):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 16)
    plain = getattr(unbend, name)(random_state=0, **options).fit(doubled)
    model = getattr(scale, name)(random_state=0, sample=None, **options).fit(lazy(doubled, parts))
    assert np.array_equal(model.embedding_.compute(), plain.embedding_)
    assert model.embedding_.chunks[0] == lazy(doubled, parts).chunks[0]
    if name == "SpectralClustering":
        assert np.array_equal(model.labels_.compute(), plain.labels_)
        found = model.predict(lazy(doubled, parts)).compute()
        assert np.array_equal(found, plain.predict(doubled))
    else:
        new = doubled + 0.01
        assert np.array_equal(model.transform(lazy(new, 2)).compute(), plain.transform(new))
        assert np.array_equal(model.local_.transform(new), plain.transform(new))
    assert model.report_.stage("search").facts["tier"] == "graph"


def test_approximate_graphs_report_their_recall(monkeypatch):
    monkeypatch.setattr(searching, "CELL_ROWS", 500)
    rng = np.random.default_rng(0)
    X = np.cos(rng.uniform(size=(2000, 2)) @ rng.normal(size=(2, 40)) * 2)
    model = scale.LaplacianEigenmaps(n_neighbors=8, neighbors_algorithm="approximate", sample=None)
    model.fit(lazy(X))
    assert model.report_.stage("neighbors").facts["recall"] > 0.97
    plain = unbend.LaplacianEigenmaps(n_neighbors=8).fit(X).embedding_
    assert unbend.quality.procrustes(plain, model.embedding_.compute(), kind="affine") < 0.01


@pytest.mark.parametrize(
    "name", ["Isomap", "MVU", "ClassicalMDS", "LLE", "LTSA", "HessianLLE", "RigidAlignment"]
)
def test_exact_fits_of_all_rows_are_refused_with_the_alternative(name, roll):
    with pytest.raises(ValueError, match="Give a sample, such as sample=20_000, or use Laplacian"):
        getattr(scale, name)(sample=None).fit(lazy(roll.points))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "precomputed"}, "needs a matrix of all pairs"),
        ({"metric": "cosine", "sample": None}, "is not searched by boxes"),
        ({"n_neighbors": "auto", "sample": None}, "give one number, or a sample"),
    ],
)
def test_what_needs_all_pairs_is_refused(options, sentence, roll):
    with pytest.raises(ValueError, match=sentence):
        scale.LaplacianEigenmaps(**options).fit(lazy(roll.points))


def test_a_failed_fit_leaves_the_estimator_as_it_was(roll):
    model = scale.LTSA(sample=300, held_out=0).fit(lazy(roll.points))
    before = model.transform(roll.points[:5])
    wrong = roll.points.copy()
    wrong[:, 0] = np.nan
    with pytest.raises(ValueError, match="partition 0, row 0"):
        model.fit(lazy(wrong))
    assert np.array_equal(model.transform(roll.points[:5]), before)


def test_labels_of_a_collection_are_taken_where_rows_are(roll):
    y = (roll.chart[:, 0] > roll.chart[:, 0].mean()).astype(int)
    options = {"sample": 300, "held_out": 0}
    whole = scale.SupervisedLLE(**options).fit(lazy(roll.points), y)
    parts = scale.SupervisedLLE(**options).fit(lazy(roll.points), da.from_array(y, chunks=1000))
    assert np.array_equal(whole.local_.embedding_, parts.local_.embedding_)
    with pytest.raises(ValueError, match="y has 1 partitions and X has 3"):
        scale.SupervisedLLE(**options).fit(lazy(roll.points), da.from_array(y, chunks=3000))

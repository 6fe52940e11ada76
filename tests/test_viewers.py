"""Files of other viewers hold what the library says, and notebooks give selections back."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import cdist

import unbend
from tests.cli.program import unbend as program
from unbend.apps import notebook
from unbend.apps.viewers import VIEWERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
LABELS = np.repeat(["a", "b", "c"], 20)
K = 5


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("viewers") / "points.csv"
    pd.DataFrame(X, columns=list("pqrs")).assign(kind=LABELS).to_csv(path, index=False)
    return path


def export(table, viewer, *words):
    path = table.with_name(f"{viewer}{VIEWERS[viewer].suffix}")
    chosen = ["--label", "kind", "--methods", "pca,isomap", "-k", K]
    program("export", table, "--to", viewer, "-o", path, *chosen, *words)
    return path


def nearest():
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1)[:, :K]
    return order, np.take_along_axis(distances, order, axis=1)


EXPECTED = {"pca": unbend.PCA().fit_transform(X), "isomap": unbend.Isomap().fit_transform(X)}


def check_columns(frame):
    for name, points in EXPECTED.items():
        np.testing.assert_allclose(frame[[f"{name}_x", f"{name}_y"]], points, rtol=1e-5, atol=1e-6)
        trust = unbend.quality.trustworthiness(X, points, n_neighbors=K)
        np.testing.assert_allclose(frame[f"{name}_trustworthiness"], trust.local, rtol=1e-5)
        kept = unbend.quality.continuity(X, points, n_neighbors=K)
        np.testing.assert_allclose(frame[f"{name}_continuity"], kept.local, rtol=1e-5)
    np.testing.assert_allclose(frame[list("pqrs")], X)
    assert frame["kind"].tolist() == LABELS.tolist()


def test_embedding_atlas_gets_neighbours_as_a_struct(table):
    path = export(table, "embedding-atlas")
    schema = pq.read_schema(path)
    assert str(schema.field("neighbors").type) == (
        "struct<ids: list<element: int64>, distances: list<element: float>>"
    )
    frame = pd.read_parquet(path)
    check_columns(frame)
    order, distances = nearest()
    np.testing.assert_array_equal(np.stack([each["ids"] for each in frame["neighbors"]]), order)
    found = np.stack([each["distances"] for each in frame["neighbors"]])
    np.testing.assert_allclose(found, distances, rtol=1e-6)


def test_jupyter_scatter_gets_neighbours_as_lists(table):
    frame = pd.read_parquet(export(table, "jupyter-scatter"))
    check_columns(frame)
    np.testing.assert_array_equal(np.stack(frame["neighbors"]), nearest()[0])


def test_anndata_has_the_names_that_scanpy_reads(table):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed (extra [export])")
    data = anndata.read_h5ad(export(table, "h5ad"))
    np.testing.assert_allclose(data.X, X, rtol=1e-6)
    assert data.var_names.tolist() == list("pqrs")
    for name, points in EXPECTED.items():
        np.testing.assert_allclose(data.obsm[f"X_{name}"], points)
    assert sorted(data.obs) == [
        "isomap_continuity",
        "isomap_trustworthiness",
        "kind",
        "pca_continuity",
        "pca_trustworthiness",
    ]
    assert data.obs["kind"].cat.categories.tolist() == ["a", "b", "c"]
    order, distances = nearest()
    graph = data.obsp[data.uns["neighbors"]["distances_key"]].toarray()
    expected = np.zeros((60, 60))
    np.put_along_axis(expected, order, distances, axis=1)
    np.testing.assert_allclose(graph, expected)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "tensorboard", "-o", "x.parquet"], "--to tensorboard is not allowed"),
        (["--to", "h5ad", "-o", "x.parquet"], "x.parquet must end in .h5ad"),
        (["--to", "h5ad", "-o", "x.h5ad", "--methods", "nothing"], "there is no method 'nothing'"),
    ],
)
def test_misuse_is_refused_before_any_work(table, words, sentence):
    assert sentence in program("export", table, *words, code=2).stderr.decode()


def test_too_many_neighbours_are_refused(table, tmp_path):
    words = ["--to", "h5ad", "-o", tmp_path / "x.h5ad", "--label", "kind", "--methods", "pca"]
    done = program("export", table, *words, "-k", 30, code=1)
    assert "n_neighbors" in done.stderr.decode()
    assert not (tmp_path / "x.h5ad").exists()


def test_a_selection_in_one_map_is_that_of_all():
    models = [unbend.PCA().fit(X), unbend.PCA(n_components=3).fit(X), EXPECTED["isomap"]]
    shown = unbend.view(models, X, LABELS)
    assert shown.selection.tolist() == []
    # What the browser sends back.
    shown.scatters[2].widget.selection = np.array([7, 3], dtype=np.uint32)
    assert shown.selection.tolist() == [3, 7]
    shown.selection = [1]
    assert [scatter.selection().tolist() for scatter in shown.scatters] == [[1]] * 3


def test_maps_show_the_first_two_coordinates_and_their_trustworthiness():
    (scatter,) = unbend.view(EXPECTED["pca"], X, X[:, 0]).scatters
    for column, expected in zip((scatter.x_data, scatter.y_data), EXPECTED["pca"].T, strict=True):
        np.testing.assert_allclose(column, expected, rtol=1e-6, atol=1e-6)
    trust = unbend.quality.trustworthiness(X, EXPECTED["pca"])
    np.testing.assert_allclose(scatter._data["trustworthiness"], trust.local)
    assert scatter.widget.tooltip_properties == ["label", "trustworthiness"]


def test_maps_of_one_method_have_different_titles():
    models = [unbend.PCA().fit(X), unbend.PCA().fit(X), X]
    assert list(notebook._titled(models)) == ["PCA", "PCA (2)", "map"]


@pytest.mark.parametrize(
    ("models", "error", "sentence"),
    [
        ([], ValueError, "models must be 1 to 6 maps, not 0"),
        ([X] * 7, ValueError, "models must be 1 to 6 maps, not 7"),
        ([X, X[:5]], ValueError, "All maps must have the same rows"),
        (3, (TypeError, ValueError), "."),
    ],
)
def test_wrong_maps_are_refused(models, error, sentence):
    with pytest.raises(error, match=sentence):
        unbend.view(models)


def test_without_jupyter_scatter_one_sentence_says_what_to_install():
    code = """
import sys
sys.modules["jscatter"] = None
import unbend
try:
    unbend.view([[0.0, 1.0], [1.0, 0.0]])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == notebook.WITHOUT_EXTRA

"""``unbend cluster`` finds the clusters that the library finds, and assigns new samples."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import unbend as library
from tests.cli.program import sentence, unbend


@pytest.fixture
def wine(tmp_path):
    """Make wine.csv, and new.csv of every third row."""
    data = load_wine(as_frame=True)
    table = data.data.assign(kind=[f"kind {number}" for number in data.target])
    table.to_csv(tmp_path / "wine.csv", index=False)
    table[::3].drop(columns="kind").to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_clusters_of_a_table_are_those_of_standardized_columns(wine):
    words = ("cluster", "wine.csv", "-n", 3, "--label", "kind", "--seed", 0, "-o", "found.csv")
    facts = json.loads(unbend(*words, "--json", cwd=wine).stdout)
    data = load_wine()
    expected = library.SpectralClustering(n_clusters=3, random_state=0).fit_predict(
        StandardScaler().fit_transform(data.data)
    )
    written = pd.read_csv(wine / "found.csv")
    assert list(written.columns) == ["cluster", "kind"]
    assert adjusted_rand_score(expected, written["cluster"]) == 1
    assert facts["sizes"] == np.bincount(written["cluster"]).tolist()
    agreement = adjusted_rand_score(data.target, expected)
    assert facts["adjusted_rand_index"] == pytest.approx(agreement)
    assert agreement > 0.8


def test_a_saved_model_assigns_new_samples(wine):
    words = ("--label", "kind", "--seed", 0, "-o", "found.csv", "--model", "wine.unbend")
    unbend("cluster", "wine.csv", "-n", 3, *words, cwd=wine)
    unbend("transform", "wine.unbend", "new.csv", "-o", "placed.csv", cwd=wine)
    old, new = pd.read_csv(wine / "found.csv"), pd.read_csv(wine / "placed.csv")
    assert new["cluster"].tolist() == old["cluster"][::3].tolist()


def test_distances_are_clustered(tmp_path):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(20, 2)), rng.normal(10, size=(30, 2))])
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.savetxt(tmp_path / "d.csv", distances, delimiter=",")
    found = unbend("cluster", "d.csv", "--distances", "-n", 2, "--n-neighbors", 5, cwd=tmp_path)
    labels = np.array(found.stdout.decode().split()[1:], dtype=int)
    assert adjusted_rand_score(np.repeat([0, 1], [20, 30]), labels) == 1


def test_the_number_of_clusters_must_be_given(wine):
    done = unbend("cluster", "wine.csv", cwd=wine, code=2)
    assert "--clusters is missing" in sentence(done)


def test_an_empty_name_is_no_folder(tmp_path):
    assert "is empty" in sentence(unbend("embed", "", cwd=tmp_path, code=2))


def test_methods_include_clustering():
    assert b"spectral_clustering" in unbend("methods").stdout
    assert b"--clusters" in unbend("methods", "spectral_clustering").stdout

"""Tables of distances on the command line: names, pairs, empty fields, two directions."""

import json

import numpy as np
import pandas as pd
import pytest

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.quality import procrustes

CITIES = ["Atlanta", "Boston", "Chicago", "Denver", "Houston", "Miami", "Seattle", "Tulsa"]
PLACES = np.random.default_rng(0).uniform(0, 3000, (8, 2))
MILES = np.linalg.norm(PLACES[:, None] - PLACES, axis=2)


@pytest.fixture
def tables(tmp_path):
    """Make miles.csv; pairs.csv by name; gaps.csv with empty fields; roads.csv, not symmetric."""
    square = pd.DataFrame(MILES, index=CITIES, columns=CITIES)
    square.to_csv(tmp_path / "miles.csv")
    rows, columns = np.triu_indices(8, 1)
    pairs = [
        f"{CITIES[i]},{CITIES[j]},{float(MILES[i, j])!r}"
        for i, j in zip(rows, columns, strict=True)
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(pairs) + "\n")
    gaps = square.copy()
    for i, j in ((0, 3), (2, 5), (1, 6)):
        gaps.iloc[i, j] = gaps.iloc[j, i] = np.nan
    gaps.to_csv(tmp_path / "gaps.csv")
    (square * np.where(np.tri(8), 1.01, 0.99)).to_csv(tmp_path / "roads.csv")
    return tmp_path


def embedded(folder, *words):
    unbend("embed", *words, "--distances", "-o", "map.csv", cwd=folder)
    return pd.read_csv(folder / "map.csv")


@pytest.mark.parametrize("name", ["miles.csv", "pairs.csv"])
def test_a_map_has_the_names_of_its_cities(tables, name):
    found = embedded(tables, name, "-m", "classical_mds", "--plot", "map.svg")
    assert list(found.columns) == ["object", "classical_mds_1", "classical_mds_2"]
    assert found["object"].tolist() == CITIES
    assert procrustes(PLACES, found.iloc[:, 1:].to_numpy()) < 1e-12
    drawn = (tables / "map.svg").read_text()
    assert all(f"<!-- {city} -->" in drawn for city in CITIES)


def test_the_message_says_whether_distances_are_euclidean(tables):
    words = ("--distances", "-m", "classical_mds", "--model", "m.unbend", "-o", "map.csv")
    done = unbend("embed", "miles.csv", *words, cwd=tables).stderr.decode()
    assert "The distances are Euclidean, of dimension 2" in done
    data = json.loads(unbend("info", "m.unbend", "--json", cwd=tables).stdout)["data"]
    assert (data["euclidean"], data["dimension"]) == (True, 2)
    # Three leaves, each half of their distances from the center of a star, are no points of space.
    rows = [[0.0, 0.5011, 0.5013], [0.5011, 0.0, 1.0021], [0.5013, 1.0021, 0.0]]
    star = np.zeros((4, 4))
    star[:3, :3], star[3, :3] = rows, [0.5012, 1.0023, 1.0022]
    star[:3, 3] = star[3, :3]
    np.savetxt(tables / "star.csv", star + 1e-12 * np.pi * (star > 0), delimiter=",", fmt="%.15f")
    done = unbend("embed", "star.csv", "--distances", "-m", "classical_mds", cwd=tables)
    assert "The distances are not Euclidean (smallest eigenvalue" in done.stderr.decode()


def test_empty_fields_are_unknown_pairs(tables):
    found = embedded(tables, "gaps.csv", "-m", "metric_mds", "--seed", 0)
    assert procrustes(PLACES, found.iloc[:, 1:].to_numpy()) < 1e-6
    answer = sentence(unbend("embed", "gaps.csv", "--distances", "-m", "classical_mds",
                             cwd=tables, code=1))  # fmt: skip
    assert "ClassicalMDS needs all distances" in answer


def test_two_directions_are_averaged_if_asked(tables):
    words = ("embed", "roads.csv", "--distances", "-m", "classical_mds")
    assert "Give --symmetrize" in sentence(unbend(*words, cwd=tables, code=1))
    done = unbend(*words, "--symmetrize", "-o", "map.csv", cwd=tables)
    assert "Averaged the two directions, which differ by up to" in done.stderr.decode()
    found = pd.read_csv(tables / "map.csv").iloc[:, 1:].to_numpy()
    assert procrustes(PLACES, found) < 1e-12
    misuse = unbend("embed", "miles.csv", "--symmetrize", "--id", "x", cwd=tables, code=2)
    assert "--symmetrize is for distances" in sentence(misuse)


def test_clusters_and_models_keep_the_names(tables):
    unbend("cluster", "miles.csv", "--distances", "-n", 2, "--n-neighbors", 3, "-o", "c.csv",
           cwd=tables)  # fmt: skip
    assert pd.read_csv(tables / "c.csv")["object"].tolist() == CITIES
    unbend("embed", "miles.csv", "--distances", "-m", "classical_mds", "--model", "m.unbend",
           cwd=tables)  # fmt: skip
    new = np.linalg.norm(np.array([[1000.0, 1000.0]]) - PLACES, axis=1)
    shuffled = pd.DataFrame([new], columns=CITIES)[CITIES[::-1]]
    shuffled.to_csv(tables / "new.csv", index=False)
    unbend("transform", "m.unbend", "new.csv", "-o", "placed.csv", cwd=tables)
    model = library.ClassicalMDS(metric="precomputed").fit(MILES)
    found = pd.read_csv(tables / "placed.csv").to_numpy()
    np.testing.assert_allclose(np.abs(found), np.abs(model.transform([new])), rtol=1e-9)


@pytest.mark.parametrize("command", ["embed", "cluster", "report", "suggest"])
@pytest.mark.parametrize("names", [False, True])
def test_distances_are_refused_as_points(command, names, tmp_path):
    points = np.random.default_rng(0).normal(size=(40, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    lines = [",".join(map(repr, row)) for row in apart.tolist()]
    if names:
        cities = [f"city {number}" for number in range(40)]
        lines = [",".join(["", *cities]), *map(",".join, zip(cities, lines, strict=True))]
    (tmp_path / "apart.csv").write_text("\n".join(lines) + "\n")
    more = ["-n", 2] if command == "cluster" else []
    done = unbend(command, "apart.csv", *more, cwd=tmp_path, code=1 if command == "report" else 2)
    assert "square and symmetric" in sentence(done)
    assert "--distances" in sentence(done)

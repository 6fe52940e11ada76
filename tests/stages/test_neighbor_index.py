"""The neighbour-index protocol: our indexes, an index of usearch, and indexes that are wrong."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

import unbend
from tests.loops import each
from unbend.neighbors import BruteForce, KDTree, Metric, NeighborIndex, NNDescent, PointSpace
from unbend.report import recording, stage

K = 8


def decaying(n=1500, columns=40, seed=0):
    return np.random.default_rng(seed).normal(size=(n, columns)) * 0.85 ** np.arange(columns)


def by_sorting(rows, points, k, metric="euclidean", **options):
    between = cdist(rows, points, metric, **options)
    order = np.argsort(between, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(between, order, axis=1)


class Sorting:
    """The smallest index there is: it computes all distances."""

    def __init__(self, spoil=None, metric="euclidean"):
        self.spoil, self.metric = spoil, metric

    def build(self, points):
        self.points = points.copy()
        return self

    def query(self, rows, k):
        answer = by_sorting(rows, self.points, k, self.metric)
        return answer if self.spoil is None else self.spoil(*answer)


class Manhattan(Sorting):
    p = 1

    def __init__(self):
        super().__init__(metric="cityblock")


def documented_index():
    """Run the example of docs/neighborhoods.md and return its class and its fitted model."""
    page = Path(__file__).parents[2] / "docs" / "neighborhoods.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    names = {"__name__": __name__, "print": lambda *facts: None}
    exec(next(block for block in blocks if "class Usearch" in block), names)
    return names["Usearch"], names["model"]


Usearch, DOCUMENTED = documented_index()


def searched(points, k=K, metric="euclidean", index="exact", workers=1):
    """Neighbours of all points, and the facts of the report."""
    with recording("search") as report, stage("neighbors"):
        found = PointSpace(points, Metric(metric).fit(points), workers, index).nearest(k)
    return found, report.stage("neighbors").facts


@pytest.mark.parametrize("index", [KDTree(), BruteForce(), NNDescent(), Sorting(), Usearch()])
def test_every_index_implements_the_protocol(index):
    assert isinstance(index, NeighborIndex)
    points, rows = decaying(300, 6), decaying(20, 6, seed=1)
    before = vars(index).copy()
    indices, distances = copy.copy(index).build(points).query(rows, K)
    assert vars(index) == before
    expected = by_sorting(rows, points, K)
    assert np.array_equal(indices, expected[0])
    # usearch computes in single precision.
    np.testing.assert_allclose(distances, expected[1], rtol=1e-5)


@pytest.mark.parametrize("index", [KDTree(), BruteForce(), NNDescent()])
def test_our_indexes_refuse_what_they_cannot_answer(index):
    points = decaying(30, 4)
    with pytest.raises(ValueError, match="build"):
        index.query(points, 3)
    built = index.build(points)
    for rows, k in [(points, 31), (points, 0), (points[:, :3], 3), (points * np.nan, 3)]:
        with pytest.raises(ValueError, match="must be"):
            built.query(rows, k)
    with pytest.raises(ValueError, match="at most 29"):
        built.query_self(30)
    for wrong in (points[0], points[:0], points * np.inf):
        with pytest.raises(ValueError, match="finite numbers"):
            index.build(wrong)
    with pytest.raises(ValueError, match="threads"):
        type(index)(threads=0)


def test_a_tree_refuses_an_order_that_gives_no_norm():
    with pytest.raises(ValueError, match="at least 1"):
        KDTree(p=0.5)


@each("columns", [3, 40])
@each("index", ["kd_tree", "brute", KDTree(), BruteForce(), Sorting()])
@each("workers", [1, 2])
def test_exact_searches_agree_in_few_and_many_columns(index, columns, workers):
    points, rows = decaying(400, columns), decaying(20, columns, seed=1)
    space = PointSpace(points, index=index, workers=workers)
    other, expected = space.nearest(K), by_sorting(points, points, K + 1)
    assert np.array_equal(other.indices.reshape(-1, K), expected[0][:, 1:])
    np.testing.assert_allclose(other.distances.reshape(-1, K), expected[1][:, 1:], rtol=1e-12)
    new, expected = space.nearest_of(rows, K), by_sorting(rows, points, K)
    assert np.array_equal(new[0], expected[0])
    np.testing.assert_allclose(new[1], expected[1], rtol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("index", ["kd_tree", "brute"])
def test_named_searches_serve_other_metrics(metric, index):
    points = decaying(200, 20)
    found, _ = searched(points, metric=metric, index=index)
    name = "cityblock" if metric == "manhattan" else metric
    expected = by_sorting(points, points, K + 1, name)
    np.testing.assert_allclose(found.distances.reshape(-1, K), expected[1][:, 1:], atol=1e-12)


def test_an_index_searches_the_features_of_a_metric_and_its_distances_are_read_from_them():
    """Cosine distance grows with the Euclidean distance of unit rows, which the index sees."""
    points = decaying(200, 20)
    found, facts = searched(points, metric="cosine", index=Sorting())
    expected = by_sorting(points, points, K + 1, "cosine")
    assert np.array_equal(found.indices.reshape(-1, K), expected[0][:, 1:])
    np.testing.assert_allclose(found.distances.reshape(-1, K), expected[1][:, 1:], atol=1e-12)
    assert facts["recall"] == 1.0


def test_an_index_declares_another_norm():
    points = decaying(200, 20)
    found, facts = searched(points, metric="manhattan", index=Manhattan())
    expected = by_sorting(points, points, K + 1, "cityblock")
    assert np.array_equal(found.indices.reshape(-1, K), expected[0][:, 1:])
    np.testing.assert_allclose(found.distances.reshape(-1, K), expected[1][:, 1:], rtol=1e-12)
    assert facts["recall"] == 1.0
    for metric, index in [
        ("manhattan", Sorting()),
        ("euclidean", Manhattan()),
        ("manhattan", KDTree()),
        ("fourier_phase", "kd_tree"),
        ("fourier_phase", Sorting()),
    ]:
        with pytest.raises(ValueError, match="neighbors_algorithm='exact'"):
            searched(points, metric=metric, index=index)


def test_unknown_names_of_searches_are_refused():
    with pytest.raises(ValueError, match="'kd_tree', 'brute'"):
        PointSpace(decaying(), index="ball_tree")


def test_the_documented_example_finds_most_neighbors():
    assert DOCUMENTED.report_.stage("neighbors").facts["recall"] > 0.98


@pytest.mark.parametrize("expansion", [4, 200])
def test_the_recall_of_another_library_is_measured(expansion):
    points = decaying()
    found, facts = searched(points, index=Usearch(connectivity=4, expansion=expansion))
    exact = by_sorting(points, points, K + 1)[1][:, 1:]
    near = found.distances.reshape(-1, K)
    shares = np.mean(near <= exact[:, -1:] * (1 + 1e-9), axis=1)
    assert facts["search"] == "Usearch"
    error = np.std(shares) / np.sqrt(250)
    assert abs(facts["recall"] - shares.mean()) <= 5 * error + 1e-12
    assert facts["recall_error"] <= 3 * error + 1e-12
    # Whatever was found has its own distance in double precision, and is sorted.
    lengths = PointSpace(points).lengths(found.rows, found.indices)
    np.testing.assert_allclose(found.distances, lengths, rtol=1e-12)
    assert (found.indices != found.rows).all()
    assert (np.diff(near, axis=1) >= 0).all()
    assert (near >= exact * (1 - 1e-12)).all()


def test_a_search_that_finds_half_reports_half():
    def every_second(indices, distances):
        """Leave out every second neighbour."""
        return indices[:, ::2], distances[:, ::2]

    class Half(Sorting):
        def query(self, rows, k):
            return every_second(*by_sorting(rows, self.points, 2 * k))

    _, facts = searched(decaying(), k=K, index=Half())
    # The point itself and the neighbours 2, 4, …, 16: half of them are among the first eight.
    assert facts["recall"] == 0.5
    assert facts["recall_error"] == 0.0


def test_duplicate_rows_are_found_by_an_index():
    points = np.repeat(decaying(60, 5), 4, axis=0)
    found, facts = searched(points, k=3, index=Sorting())
    assert (found.distances == 0).all()
    assert (found.indices != found.rows).all()
    assert (found.indices // 4 == found.rows // 4).all()
    assert facts["recall"] == 1.0


def test_squared_and_single_precision_distances_do_no_harm():
    """The index ranks; distances are recomputed."""
    points = decaying(300, 20) + 1e3
    rough = Sorting(lambda indices, distances: (indices, np.float32(distances) ** 2))
    found, _ = searched(points, index=rough)
    exact, _ = searched(points)
    assert np.array_equal(found.indices, exact.indices)
    assert np.array_equal(found.distances, exact.distances)


def at(place, value, which):
    def spoil(*answer):
        parts = [part.astype(np.int64) if part.dtype.kind == "i" else part for part in answer]
        parts[which][place] = value
        return tuple(parts)

    return spoil


WRONG = {
    "no pair": (lambda i, d: i, TypeError, "pair"),
    "swapped": (lambda i, d: (d, i), TypeError, "in this order"),
    "few columns": (lambda i, d: (i[:, :-1], d[:, :-1]), ValueError, "k=9 neighbours"),
    "few rows": (lambda i, d: (i[1:], d[1:]), ValueError, "shape"),
    "shapes": (lambda i, d: (i, d[:, :-1]), ValueError, "shape"),
    "missing": (at((3, 2), -1, 0), ValueError, "fewer than k=9"),
    "range": (at((3, 2), 5000, 0), ValueError, "5000"),
    "twice": (lambda i, d: (np.repeat(i[:, :1], i.shape[1], 1), d), ValueError, "twice"),
    "NaN": (at((3, 2), np.nan, 1), ValueError, "NaN"),
    "infinite": (at((3, -1), np.inf, 1), ValueError, "infinite"),
    "negative": (lambda i, d: (i, -d[:, ::-1]), ValueError, "inner products"),
    "descending": (lambda i, d: (i[:, ::-1], d[:, ::-1]), ValueError, "ascending"),
    "real indices": (lambda i, d: (i.astype(float), d), TypeError, "float64"),
}


@each("name", WRONG)
def test_wrong_answers_of_an_index_are_refused(name):
    spoil, error, words = WRONG[name]
    points = decaying(200, 20)
    model = unbend.LTSA(n_neighbors=K, neighbors_algorithm=Sorting(spoil))
    with pytest.raises(error, match=words) as raised:
        model.fit(points)
    assert str(raised.value).startswith("Sorting.query(rows, k)")


def test_a_build_that_returns_nothing_is_refused():
    class Forgetful(Sorting):
        def build(self, points):
            super().build(points)

    with pytest.raises(TypeError, match="return self"):
        unbend.LTSA(neighbors_algorithm=Forgetful()).fit(decaying(100, 4))


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute", KDTree(), BruteForce(), Sorting()])
def test_an_exact_index_gives_an_estimator_the_default_embedding(algorithm):
    points = unbend.datasets.swiss_roll(400, random_state=0).points
    default = unbend.LTSA().fit(points)
    model = unbend.LTSA(neighbors_algorithm=algorithm).fit(points)
    np.testing.assert_allclose(model.embedding_, default.embedding_, atol=1e-9)
    np.testing.assert_allclose(
        model.transform(points + 0.01), default.transform(points + 0.01), atol=1e-9
    )


def test_fits_leave_the_parameter_as_it_was():
    points, index = decaying(300, 20), Usearch()
    model = unbend.LaplacianEigenmaps(neighbors_algorithm=index).fit(points)
    assert vars(index) == {"connectivity": 16, "expansion": 64}
    assert model.neighbors_algorithm is index
    assert model.report_.stage("neighbors").facts["search"] == "Usearch"
    again = clone(model).fit(points)
    assert again.neighbors_algorithm is not index
    assert np.array_equal(again.embedding_, model.embedding_)
    # New samples are searched with the index too; the model is pickled without it.
    expected = model.transform(points[:20] + 0.01)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(points[:20] + 0.01), expected)


def test_clusters_are_found_with_an_index():
    model = unbend.SpectralClustering(2, neighbors_algorithm=Usearch(), random_state=0)
    points = np.concatenate((decaying(100, 20), decaying(100, 20, seed=1) + 50.0))
    labels = model.fit_predict(points)
    assert len({tuple(set(part)) for part in (labels[:100], labels[100:])}) == 2


def test_distances_leave_nothing_to_build_an_index_on():
    between = cdist(decaying(60, 4), decaying(60, 4))
    for algorithm in ("kd_tree", Sorting()):
        model = unbend.LTSA(metric="precomputed", neighbors_algorithm=algorithm)
        with pytest.raises(ValueError, match="precomputed"):
            model.fit(between)


def test_an_index_of_another_library_is_not_saved(tmp_path):
    points = decaying(200, 20)
    model = unbend.LTSA(neighbors_algorithm=Sorting()).fit(points)
    with pytest.raises(TypeError, match="neighbors_algorithm is a Sorting") as raised:
        model.save(tmp_path / "model.unbend")
    assert "joblib" in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "algorithm", ["exact", "approximate", "kd_tree", "brute", KDTree(), BruteForce(), NNDescent()]
)
def test_our_indexes_are_saved(algorithm, tmp_path):
    points = decaying(200, 20)
    model = unbend.LTSA(neighbors_algorithm=algorithm).fit(points)
    model.save(tmp_path / "model.unbend")
    again = unbend.load(tmp_path / "model.unbend")
    assert again.neighbors_algorithm == algorithm
    assert np.array_equal(again.transform(points + 0.01), model.transform(points + 0.01))

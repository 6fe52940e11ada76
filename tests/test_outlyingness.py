"""Out-of-distribution scores: what they are, for every method, and when `transform` warns."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import datasets as sklearn_datasets
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import unbend
from tests.cli.program import sentence, table_of
from tests.cli.program import unbend as program
from tests.conformance.cases import CLASSES, over
from unbend.outlyingness import FAR

ROLL = unbend.datasets.swiss_roll(400, random_state=0).points
NEW = unbend.datasets.swiss_roll(60, random_state=1).points
AWAY = np.array([[1e4, 0.0, 0.0]])
LINEAR = (unbend.PCA, unbend.RandomProjection)


def fit(method, points, **options):
    if "MVU" in method.__name__:
        points = points[:150]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method(**options).fit(points, np.zeros(len(points)))


def outlyingness(distances, spacing_of, k=5):
    """Compute the definition from all distances."""
    fitted = np.sort(spacing_of, axis=1)[:, 1 : k + 1].mean(axis=1)
    near = np.argsort(distances, axis=1)[:, :k]
    return np.take_along_axis(distances, near, axis=1).mean(axis=1) / fitted[near].mean(axis=1)


@over([m for m in CLASSES if m not in LINEAR])
def test_the_score_is_the_distance_over_the_spacing(method):
    model = fit(method, ROLL)
    points = ROLL[: len(model.embedding_)]
    expected = outlyingness(cdist(NEW, points), cdist(points, points))
    np.testing.assert_allclose(model.outlyingness(NEW), expected, rtol=1e-9)


@pytest.mark.parametrize("method", LINEAR)
def test_a_linear_method_compares_coordinates_and_what_they_do_not_show(method):
    points = np.random.default_rng(0).normal(size=(300, 6))
    model = method(n_components=2).fit(points)

    def features(rows):
        placed = model.transform(rows)
        away = rows - model.inverse_transform(placed) if method is unbend.PCA else rows
        return np.column_stack((placed, np.linalg.norm(away, axis=1)))

    fitted, new = features(points), features(points + 0.3)
    expected = outlyingness(cdist(new, fitted), cdist(fitted, fitted))
    np.testing.assert_allclose(model.outlyingness(points + 0.3), expected, rtol=1e-6)
    # Off the plane, with the coordinates of a fitted row.
    kernel = np.linalg.svd(model.components_)[2][-1]
    assert model.outlyingness(points[:1] + 1e4 * kernel)[0] > 100
    sparse = csr_array(points + 0.3)
    np.testing.assert_allclose(model.outlyingness(sparse), expected, rtol=1e-6)


@over([*CLASSES, unbend.SpectralClustering])
def test_a_sample_far_away_is_flagged_and_others_are_not_alone_or_in_bulk(method):
    model = fit(method, ROLL)
    scores = model.outlyingness(np.concatenate((NEW, AWAY)))
    assert scores[-1] > 100
    assert np.median(scores[:-1]) < 1.5
    assert np.mean(scores[:-1] > FAR) <= 0.02
    alone = np.concatenate([model.outlyingness(row[None]) for row in (*NEW[:20], AWAY[0])])
    assert np.array_equal(alone[:-1], scores[:20])
    assert alone[-1] == scores[-1]


@over([m for m in CLASSES if m not in LINEAR])
def test_fitted_rows_score_below_one_or_so(method):
    model = fit(method, ROLL)
    assert model.outlyingness(ROLL[:100]).max() < 1.5


@over([m for m in CLASSES if "metric" in m().get_params()])
def test_distances_to_the_fitted_rows_score_as_points_do(method):
    points = ROLL[:150]
    model = fit(method, cdist(points, points), metric="precomputed")
    expected = outlyingness(cdist(NEW, points), cdist(points, points))
    np.testing.assert_allclose(model.outlyingness(cdist(NEW, points)), expected, rtol=1e-9)


def test_missing_distances_are_left_out():
    points = ROLL[:60]
    known = cdist(points, points)
    known[0, 1:10] = known[1:10, 0] = np.nan
    model = unbend.MetricMDS(metric="precomputed").fit(known)
    new = cdist(NEW[:5], points)
    new[:, 3] = np.nan
    assert np.all(np.isfinite(model.outlyingness(new)))


def test_a_graph_scores_by_its_edges():
    graph = unbend.Isomap(n_neighbors=8).fit(ROLL).graph_
    model = unbend.Isomap(metric="precomputed").fit(graph)
    far = np.where(cdist(NEW[:5], ROLL) < 6, cdist(NEW[:5], ROLL), 0)
    scores = model.outlyingness(csr_array(far))
    assert np.all(scores < FAR)
    assert np.all(model.outlyingness(csr_array(1000 * far)) > FAR)


@pytest.mark.parametrize(
    "rows",
    [
        scale(sklearn_datasets.load_wine().data),
        scale(sklearn_datasets.load_breast_cancer().data),
        scale(sklearn_datasets.load_diabetes().data),
        sklearn_datasets.load_iris().data,
        unbend.datasets.s_curve(2000, random_state=0).points,
        unbend.datasets.punched_sphere(2000, random_state=0).points,
        np.random.default_rng(0).exponential(size=(2000, 4)),
        np.random.default_rng(1).laplace(size=(2000, 2)),
        np.random.default_rng(2).gamma(0.5, size=(2000, 3)),
        np.random.default_rng(3).poisson(3, size=(2000, 3)).astype(float),
        unbend.datasets.rotated_pictures(300, random_state=0).points,
    ],
    ids=[
        *("wine", "cancer", "diabetes", "iris", "curve", "sphere"),
        *("exponential", "laplace", "gamma", "lattice", "pictures"),
    ],
)
@pytest.mark.parametrize("method", [unbend.Isomap, unbend.PCA, unbend.ClassicalMDS])
@pytest.mark.filterwarnings("ignore")
def test_few_held_out_rows_of_families_that_set_no_threshold_are_far(rows, method):
    """At most 1 %, over five fits to four fifths of the rows."""
    far = total = 0
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(rows))
        new, fitted = rows[order[::5]], rows[np.setdiff1d(order, order[::5])]
        scores = method().fit(fitted[:1200]).outlyingness(new)
        far, total = far + np.sum(scores > FAR), total + len(new)
    assert far <= 0.01 * total


def test_transform_returns_the_score_on_request_and_frames_stay_frames():
    frame = pd.DataFrame(ROLL, columns=list("xyz"))
    new = pd.DataFrame(NEW, columns=list("xyz"))
    for method in (unbend.Isomap, unbend.PCA):
        model = method().fit(frame).set_output(transform="pandas")
        placed, scores = model.transform(new, return_outlyingness=True)
        assert isinstance(placed, pd.DataFrame)
        pd.testing.assert_frame_equal(placed, model.transform(new))
        assert np.array_equal(scores, model.outlyingness(new))
    pipeline = make_pipeline(StandardScaler(), unbend.Isomap()).fit(ROLL)
    assert pipeline.transform(NEW).shape == (60, 2)


@pytest.mark.parametrize("method", [unbend.Isomap, unbend.LTSA, unbend.DiffusionMaps])
def test_transform_warns_when_more_than_one_percent_are_far(method):
    model = fit(method, ROLL)
    with pytest.warns(unbend.OutOfDistributionWarning, match="1 of 61 .*sample 60 is"):
        model.transform(np.concatenate((NEW, AWAY)))
    many = np.concatenate([NEW + shift for shift in (0, 0.01, 0.02)] + [AWAY])
    with warnings.catch_warnings():
        warnings.simplefilter("error", unbend.OutOfDistributionWarning)
        model.transform(many)  # 1 of 181 is less than 1 %
        model.transform(NEW)


@over(CLASSES)
def test_reloaded_models_score_alike(method, tmp_path):
    model = fit(method, ROLL)
    model.save(tmp_path / "model.unbend")
    for again in (unbend.load(tmp_path / "model.unbend"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.outlyingness(NEW), model.outlyingness(NEW))
    model.save(tmp_path / "model.unbend", training=False)
    less = unbend.load(tmp_path / "model.unbend")
    with pytest.raises(ValueError, match=r"save (it|the model) with training=True"):
        less.outlyingness(NEW)


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (unbend.KernelPCA(kernel="precomputed"), ROLL @ ROLL.T, "similarities give none"),
        (unbend.ClassicalMDS(metric="kernel"), ROLL @ ROLL.T, "similarities give none"),
        (unbend.ReplicatedMDS(), [cdist(ROLL[:40], ROLL[:40])] * 2, "several distances"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_has_no_score_says_why(model, X, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X).outlyingness(X)


def test_batches_keep_no_rows_to_compare_with():
    model = unbend.PCA().fit_batches([ROLL[:200], ROLL[200:]])
    with pytest.raises(ValueError, match="use fit and not fit_batches"):
        model.outlyingness(NEW)


@pytest.fixture
def models(tmp_path):
    frame = pd.DataFrame(ROLL, columns=list("xyz"))
    frame.to_csv(tmp_path / "roll.csv", index=False)
    rows = pd.DataFrame(np.concatenate((NEW, AWAY)), columns=list("xyz"))
    rows.to_csv(tmp_path / "new.csv", index=False)
    pd.DataFrame(NEW, columns=list("xyz")).to_csv(tmp_path / "same.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("method", ["isomap", "pca", "landmark_mds"])
def test_the_command_line_writes_the_score_and_warns_once(models, method):
    words = ("embed", "roll.csv", "--method", method, "--model", "m.unbend", "--scale", "none")
    program(*words, cwd=models)
    moved = ("transform", "m.unbend", "new.csv", "-o", "flat.csv", "--batches", "10")
    stderr = program(*moved, "--score", cwd=models).stderr.decode()
    (line,) = [line for line in stderr.splitlines() if line.startswith("Warning")]
    assert "1 of 61 rows of new.csv are far outside" in line
    assert line.endswith("the first is row 61")
    header, rows = table_of(models / "flat.csv")
    assert header == [f"{method}_1", f"{method}_2", "outlyingness"]
    expected = unbend.load(models / "m.unbend").outlyingness(np.concatenate((NEW, AWAY)))
    np.testing.assert_allclose([float(row[-1]) for row in rows], expected, rtol=1e-12)
    moved = ("transform", "m.unbend", "same.csv", "-o", "flat.csv")
    assert b"Warning" not in program(*moved, cwd=models).stderr
    assert table_of(models / "flat.csv")[0] == [f"{method}_1", f"{method}_2"]


def test_a_score_that_is_not_defined_is_refused_only_if_asked_for(models):
    words = ("--batches", "100", "--model", "m.unbend")
    program("embed", "roll.csv", "--method", "pca", *words, cwd=models)
    program("transform", "m.unbend", "new.csv", "-o", "flat.csv", cwd=models)
    done = program("transform", "m.unbend", "new.csv", "--score", cwd=models, code=1)
    assert "use fit and not fit_batches" in sentence(done)

"""Neighbour embedding: laws of collapse, oracles, new samples, one result for any threads."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs
from sklearn.manifold import TSNE
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

import unbend
from unbend import NeighborEmbedding
from unbend.layout.control import ControlledRepulsion
from unbend.layout.descent import Schedule, divergence, minimize
from unbend.layout.repulsion import Repulsion, exact_repulsion, tree_repulsion
from unbend.layout.start import collapse_bounds, eigenmaps_start, rescale

DIGITS, LABELS = load_digits(return_X_y=True)
SOME = DIGITS[:500]


def dense_laplacian(model):
    """Eigenvalues and eigenvectors of D − P, by LAPACK."""
    p = model.affinities_.toarray()
    return np.linalg.eigh(np.diag(p.sum(axis=1)) - p)


def lay_out(joint, exaggeration, iterations):
    start = rescale(eigenmaps_start(joint, 1, np.random.default_rng(0), 1)[0])
    schedule = Schedule(exaggeration, exaggeration, 0, iterations, 0.0, 0.04)
    return minimize(joint, start, schedule).points.astype(np.float64)


@pytest.fixture(scope="module")
def blob():
    """Affinities of one blob, its collapse bound by LAPACK, and its second eigenvector."""
    points = np.random.default_rng(0).normal(size=(300, 2)) * [3.0, 1.0]
    model = NeighborEmbedding(exaggeration="max", perplexity=20).fit(points)
    values, vectors = dense_laplacian(model)
    return model.affinities_, 1.0 / (300 * values[1]), vectors[:, 1]


def angle(layout, vector):
    """Degrees between the only coordinate of a layout and a unit vector."""
    cosine = abs(layout[:, 0] @ vector) / np.linalg.norm(layout)
    return np.degrees(np.arccos(min(1.0, cosine)))


def test_a_layout_collapses_at_the_inverse_of_the_second_eigenvalue(blob):
    joint, bound, _ = blob
    below, above = (lay_out(joint, share * bound, 8000) for share in (0.99, 1.01))
    # Near the bound the width is that of a pitchfork, √(1 − share); beyond, it vanishes.
    assert below.std() > 0.02
    assert above.std() < 1e-5


def test_just_below_collapse_the_layout_is_the_second_eigenvector(blob):
    joint, bound, vector = blob
    assert angle(lay_out(joint, 0.9 * bound, 3000), vector) < 0.2


def test_the_layout_turns_towards_the_second_eigenvector_as_it_nears_collapse(blob):
    joint, bound, vector = blob
    angles = [angle(lay_out(joint, share * bound, 2000), vector) for share in (0.5, 0.7, 0.9)]
    assert angles[0] > angles[1] > angles[2]


def test_collapse_bounds_are_those_of_lapack(blob):
    joint, bound, _ = blob
    found = collapse_bounds(joint, 2, np.random.default_rng(0))
    p = joint.toarray()
    values = np.linalg.eigvalsh(np.diag(p.sum(axis=1)) - p)
    np.testing.assert_allclose(found, 1.0 / (299 * values[1:3]), rtol=1e-6)
    assert found[0] == pytest.approx(bound, rel=0.01)


def test_exaggeration_at_which_a_coordinate_collapses_warns():
    values, _ = dense_laplacian(NeighborEmbedding(exaggeration="max").fit(SOME))
    bounds = 1.0 / (500 * values[1:3])
    with pytest.warns(UserWarning, match="only 1 of 2 coordinates grow"):
        NeighborEmbedding(exaggeration=float(np.sqrt(bounds.prod())), max_iter=1).fit(SOME)
    with pytest.warns(UserWarning, match="only 1 of 2 coordinates grow"):
        NeighborEmbedding(exaggeration=1.01 * float(bounds[1]), max_iter=1).fit(SOME)
    with pytest.warns(UserWarning, match="the layout collapses"):
        NeighborEmbedding(exaggeration=1.01 * float(bounds[0]), max_iter=1).fit(SOME)


def test_exaggeration_below_the_bound_does_not_warn(recwarn):
    values, _ = dense_laplacian(NeighborEmbedding(exaggeration="max").fit(SOME))
    NeighborEmbedding(exaggeration=0.99 / (500 * values[2]), max_iter=1).fit(SOME)
    assert not recwarn.list


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 12}])
def test_maximal_exaggeration_is_laplacian_eigenmaps_of_the_affinities(options):
    model = NeighborEmbedding(exaggeration="max", **options).fit(SOME)
    p = model.affinities_
    # Lengths that `weights` turns back into the affinities.
    lengths = csr_array((1.0 - np.log(p.data / p.data.max()), p.indices, p.indptr), shape=p.shape)
    waves = unbend.LaplacianEigenmaps(metric="precomputed", weights=lambda d: np.exp(1.0 - d))
    waves.fit(lengths)
    np.testing.assert_allclose(model.eigenvalues_, waves.eigenvalues_, rtol=1e-8)
    cosines = np.linalg.svd(
        np.linalg.qr(model.embedding_)[0].T @ np.linalg.qr(waves.embedding_)[0]
    )[1]
    assert cosines.min() > 1 - 1e-9


def test_the_divergence_is_that_of_its_definition():
    model = NeighborEmbedding(max_iter=50).fit(SOME)
    p = model.affinities_.toarray()
    w = 1.0 / (1.0 + cdist(model.embedding_, model.embedding_, "sqeuclidean"))
    np.fill_diagonal(w, 0.0)
    q, some = w / w.sum(), p > 0
    assert model.kl_divergence_ == pytest.approx(
        float(np.sum(p[some] * np.log(p[some] / q[some]))), rel=1e-5
    )


def test_the_divergence_is_not_above_that_of_scikit_learn():
    ours = NeighborEmbedding(pca_columns=None, max_iter=750, tol=0).fit(SOME)
    with threadpool_limits(1):
        theirs = TSNE(random_state=0, init="pca", max_iter=1000).fit(SOME)
    joint = ours.affinities_
    assert ours.kl_divergence_ <= 1.005 * divergence(joint, theirs.embedding_)


@pytest.mark.slow
def test_a_finer_mesh_gives_no_worse_divergence():
    # Descents end in different minima: from slightly different starts, one for each seed, the
    # divergence of either mesh scatters by 0.3 %, so means over several are compared.
    coarse, fine = (
        np.mean(
            [
                NeighborEmbedding(gradient_error=error, tol=0, random_state=seed)
                .fit(DIGITS)
                .kl_divergence_
                for seed in range(5)
            ]
        )
        for error in (0.04, 0.001)
    )
    assert coarse <= 1.005 * fine


@pytest.mark.parametrize("error", [0.04, 0.001])
def test_rows_keep_their_neighbours_and_labels(error):
    model = NeighborEmbedding(gradient_error=error).fit(DIGITS)
    assert unbend.quality.trustworthiness(DIGITS, model.embedding_) > 0.985
    assert unbend.quality.neighborhood_hit(model.embedding_, LABELS) > 0.97


CLUMPS = make_blobs(1000, 30, centers=40, random_state=0)[0]


@pytest.mark.parametrize("rows", [DIGITS, CLUMPS], ids=["digits", "clumps"])
@pytest.mark.parametrize("options", [{}, {"exaggeration": 4}, {"n_components": 1}], ids=str)
def test_the_repulsion_of_finished_layouts_is_as_accurate_as_asked_for(rows, options):
    points = NeighborEmbedding(**options).fit(rows).embedding_.astype(np.float32)
    exact, total = exact_repulsion(points)
    for error in (0.04, 0.001):
        repulsion = Repulsion(error)
        while repulsion.adjust(points):
            pass
        ways = [repulsion(points)]
        if repulsion.mesh.finer or repulsion.method(points) == "mesh":
            ways.append(repulsion.mesh(points))
        if points.shape[1] > 1:
            ways.append(tree_repulsion(points, repulsion.opening))
        for forces, normalizer in ways:
            assert np.linalg.norm(forces - exact) <= error * np.linalg.norm(exact)
            assert normalizer == pytest.approx(total, rel=error)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("exaggeration", [1, 4])
def test_every_step_of_a_descent_is_as_accurate_as_asked_for(monkeypatch, exaggeration, d):
    # Clusters gather in clumps narrower than the mesh, inside of which forces cancel: without
    # control the errors are as large as the repulsion, and with a measurement at fixed intervals
    # they are up to 0.11 in the meantime.
    errors = []
    repel = ControlledRepulsion.__call__

    def measured(self, points, box):
        forces, normalizer = repel(self, points, box)
        if len(errors) % 3 == 1:
            exact, _ = exact_repulsion(points)
            errors.append(np.linalg.norm(forces - exact) / np.linalg.norm(exact))
        else:
            errors.append(0.0)
        return forces, normalizer

    monkeypatch.setattr(ControlledRepulsion, "__call__", measured)
    NeighborEmbedding(exaggeration=exaggeration, n_components=d, max_iter=200).fit(CLUMPS)
    assert np.quantile(errors[1::3], 0.98) <= 0.04
    assert np.max(errors) <= 0.06


@pytest.mark.parametrize("options", [{}, {"exaggeration": 4.0}, {"n_components": 3}])
def test_threads_change_no_bit(options):
    one, *others = (NeighborEmbedding(n_jobs=n, **options).fit(DIGITS) for n in (1, 2, 3))
    new = DIGITS[:300] + 0.25
    for other in others:
        np.testing.assert_array_equal(one.embedding_, other.embedding_)
        assert one.kl_divergence_ == other.kl_divergence_
        np.testing.assert_array_equal(one.transform(new), other.transform(new))


@pytest.mark.slow
def test_threads_change_no_bit_where_every_kernel_has_several():
    points = unbend.datasets.swiss_roll(70_000, random_state=0).points
    one, two = (NeighborEmbedding(n_jobs=n, max_iter=20).fit(points) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.kl_divergence_ == two.kl_divergence_
    new = points[:3000] + 0.01
    np.testing.assert_array_equal(one.transform(new), two.transform(new))


@pytest.fixture(scope="module")
def fitted():
    return NeighborEmbedding().fit(DIGITS[:1200])


def test_new_samples_are_placed_among_their_kind(fitted):
    placed = fitted.transform(DIGITS[1200:])
    near = np.argsort(cdist(placed, fitted.embedding_), axis=1)[:, :10]
    votes = [np.bincount(row, minlength=10).argmax() for row in LABELS[:1200][near]]
    assert np.mean(votes == LABELS[1200:]) > 0.93


def test_new_samples_are_placed_alone_as_in_bulk(fitted):
    new = DIGITS[1200:1230]
    bulk = fitted.transform(new)
    alone = np.concatenate([fitted.transform(row[None]) for row in new])
    np.testing.assert_array_equal(bulk, alone)


def test_the_map_is_continuous_at_fitted_rows(fitted):
    rows, y = DIGITS[:200], fitted.embedding_
    reach = np.sort(cdist(y[:200], y), axis=1)[:, 10]
    second = np.sort(pairwise_distances(rows, DIGITS[:1200]), axis=1)[:, 1]
    direction = np.random.default_rng(0).normal(size=rows.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    moved = [
        np.linalg.norm(
            fitted.transform(rows + share * second[:, None] * direction) - y[:200], axis=1
        )
        for share in (1e-6, 1e-3, 1e-2)
    ]
    assert np.all(moved[0] <= 1e-4 * reach)
    assert np.all(moved[1] <= 0.15 * reach)
    assert np.mean(moved[2] <= 0.15 * reach) > 0.97
    np.testing.assert_array_equal(fitted.transform(rows), y[:200])


def test_reconstructions_are_near_rows_with_near_coordinates(fitted):
    back = fitted.inverse_transform(fitted.embedding_[:100] * (1 + 1e-6))
    error = np.linalg.norm(back - DIGITS[:100], axis=1).mean()
    mean = np.linalg.norm(DIGITS[:100] - DIGITS.mean(axis=0), axis=1).mean()
    assert error < 0.5 * mean


def test_a_saved_model_places_new_samples_to_the_same_bits(fitted, tmp_path):
    fitted.save(tmp_path / "digits.unbend")
    loaded = unbend.load(tmp_path / "digits.unbend")
    np.testing.assert_array_equal(
        loaded.transform(DIGITS[1200:1300]), fitted.transform(DIGITS[1200:1300])
    )
    assert loaded.kl_divergence_ == fitted.kl_divergence_


def test_wide_rows_are_projected_as_the_report_says():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 120)) + 0.01 * rng.normal(
        size=(300, 120)
    )
    model = NeighborEmbedding(max_iter=20).fit(wide)
    facts = model.report_.stage("columns").facts
    assert (facts["columns"], facts["principal_components"]) == (120, 50)
    assert facts["variance_share"] > 0.999
    # The projection keeps distances, so the affinities are those of all columns.
    plain = NeighborEmbedding(max_iter=20, pca_columns=None).fit(wide)
    assert abs(model.affinities_ - plain.affinities_).max() < 1e-3 * plain.affinities_.max()
    names = [stage.name for stage in plain.report_.stages]
    assert names == ["neighbors", "graph", "affinities", "start", "layout", "coordinates"]


def test_clusters_without_edges_between_them_stay_apart():
    rng = np.random.default_rng(0)
    centers = 1000.0 * np.arange(7)[:, None] * np.ones(3)
    labels = np.repeat(np.arange(7), 60)
    points = centers[labels] + rng.normal(size=(420, 3))
    for options in ({"perplexity": 10}, {"n_neighbors": 10}):
        with pytest.warns(UserWarning, match="7 components"):
            model = NeighborEmbedding(**options).fit(points)
        assert len(np.unique(model.embedding_, axis=0)) == 420
        assert unbend.quality.neighborhood_hit(model.embedding_, labels) == 1.0


def test_distances_give_the_layout_of_points():
    points = NeighborEmbedding(pca_columns=None).fit(SOME)
    distances = NeighborEmbedding(metric="precomputed").fit(pairwise_distances(SOME))
    assert distances.kl_divergence_ == pytest.approx(points.kl_divergence_, rel=5e-3)


def test_a_far_origin_changes_the_divergence_little():
    near, far = (NeighborEmbedding().fit(SOME + shift).kl_divergence_ for shift in (0.0, 1e8))
    assert far == pytest.approx(near, rel=5e-3)


def test_a_start_of_principal_components_or_an_array_is_taken():
    by_name = NeighborEmbedding(init="pca", pca_columns=None).fit(SOME)
    centered = SOME - SOME.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    start = centered @ axes.T
    start *= np.sign(start[np.abs(start).argmax(axis=0), [0, 1]])
    by_array = NeighborEmbedding(init=start, pca_columns=None).fit(SOME)
    np.testing.assert_allclose(by_array.embedding_, by_name.embedding_, atol=1e-6)


def test_the_callback_sees_every_iteration_and_cancels():
    seen = []
    NeighborEmbedding(max_iter=10).fit(SOME, callback=lambda step, y: seen.append((step, y)))
    assert [step for step, _ in seen] == list(range(1, 261))
    assert np.ptp(seen[0][1]) < np.ptp(seen[-1][1])
    fresh = NeighborEmbedding()
    with pytest.raises(unbend.progress.Cancelled, match="iteration 7"):
        fresh.fit(SOME, callback=lambda step, y: step < 7)
    assert not hasattr(fresh, "embedding_")


def test_the_descent_stops_when_the_divergence_stands():
    model = NeighborEmbedding(exaggeration=4, max_iter=5000).fit(SOME)
    facts = model.report_.stage("layout").facts
    assert facts["converged"]
    assert model.n_iter_ < 3000
    longer = NeighborEmbedding(exaggeration=4, max_iter=2 * model.n_iter_, tol=0).fit(SOME)
    assert longer.n_iter_ == 250 + 2 * model.n_iter_
    assert longer.kl_divergence_ == pytest.approx(model.kl_divergence_, rel=0.01)


def test_few_rows_lower_the_perplexity_with_a_warning():
    with pytest.warns(UserWarning, match="perplexity was lowered"):
        model = NeighborEmbedding().fit(DIGITS[:20])
    assert np.all(np.isfinite(model.embedding_))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 4}, "at most"),
        ({"exaggeration": 0.0}, "exaggeration"),
        ({"exaggeration": "most"}, "exaggeration"),
        ({"perplexity": 0.5}, "perplexity"),
        ({"gradient_error": 1.0}, "gradient_error"),
        ({"init": np.zeros((3, 2))}, "init has the shape"),
        ({"init": "pca", "metric": "manhattan"}, "init='pca'"),
    ],
)
def test_options_that_are_not_allowed_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        NeighborEmbedding(**options).fit(SOME)

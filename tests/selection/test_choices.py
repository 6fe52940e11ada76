"""Neighbours, bandwidth and dimension: chosen on data whose truth is known."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import unbend
from tests.loops import each, sampled
from unbend.graphs import consistency
from unbend.neighbors import PointSpace
from unbend.quality import procrustes
from unbend.selection.dimensions import (
    DimensionChoice,
    _without_noise,
    describe_dimension,
    weigh_votes,
)
from unbend.shown_dimension import ShownDimension

SEEDS = range(3)


@pytest.mark.parametrize("criterion", ["r_nx", "residual_variance"])
@sampled("seed", SEEDS)
def test_the_chosen_number_of_neighbours_unrolls_the_roll(criterion, seed):
    roll = unbend.datasets.swiss_roll(1000, random_state=seed)
    choice = unbend.choose_neighbors(roll.points, criterion=criterion)
    assert choice.smallest == consistency(roll.points, 2, 10).suggested
    assert choice.smallest <= choice.n_neighbors <= 16
    found = unbend.Isomap(n_neighbors=int(choice)).fit_transform(roll.points)
    assert procrustes(roll.chart, found) < 0.02
    assert criterion in str(choice)


def test_the_choice_is_as_good_as_the_best_and_the_smallest_of_those():
    roll = unbend.datasets.s_curve(600, random_state=0)
    choice = unbend.choose_neighbors(roll.points, method=unbend.LTSA(), criterion="r_nx")
    chosen = choice.scores[choice.tried == int(choice)][0]
    assert chosen >= 0.95 * choice.scores.max()
    assert (choice.scores[choice.tried < int(choice)] < choice.scores.max()).all()


@pytest.mark.parametrize("method", [unbend.Isomap, unbend.LTSA, unbend.HessianLLE, unbend.MVU])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_number_chosen_is_the_one_that_a_fit_takes(method, noise):
    points = unbend.datasets.swiss_roll(400, noise=noise, random_state=3).points
    choice = unbend.choose_neighbors(points, method=method())
    # The neighbour stage alone decides.
    search = method(n_neighbors="auto")._search(None, method()._needs())
    neighbors = search.run(PointSpace(points)).neighbors
    assert set(neighbors.counts) == {int(choice)}


def test_noise_asks_for_more_neighbours():
    rolls = [unbend.datasets.swiss_roll(1500, noise=noise, random_state=1) for noise in (0, 0.2)]
    clean, noisy = (int(unbend.choose_neighbors(roll.points)) for roll in rolls)
    assert clean < noisy


def test_the_shares_are_those_of_the_covariances():
    points = unbend.datasets.swiss_roll(500, noise=0.3, random_state=2).points
    choice = unbend.choose_neighbors(points)
    near = np.argsort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)
    for k, share in zip(choice.tried, choice.scores, strict=True):
        spectra = np.array(
            [np.linalg.eigvalsh(np.cov(points[row[: k + 1]].T, bias=True))[::-1] for row in near]
        )
        # The choice looks at 192 of the 500 rows.
        assert share == pytest.approx(np.median(spectra[:, 2] / spectra[:, 1]), rel=0.25)


def test_methods_without_neighbours_are_refused():
    with pytest.raises(ValueError, match="PCA has no n_neighbors to choose"):
        unbend.choose_neighbors(np.eye(9), method=unbend.PCA())
    with pytest.raises(ValueError, match=r"criterion=.stress. is not allowed"):
        unbend.choose_neighbors(np.eye(9), criterion="stress")
    with pytest.raises(ValueError, match="a minimum of 8 is required"):
        unbend.choose_neighbors(np.eye(3))


def test_disconnected_data_get_a_number_and_a_warning():
    rng = np.random.default_rng(0)
    far = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1000])
    for criterion in ("spectra", "r_nx"):
        choice = unbend.choose_neighbors(far, criterion=criterion)
        assert "it is in parts" in " ".join(choice.reasons)


@pytest.mark.parametrize("d", [1, 2, 3])
@sampled("seed", SEEDS)
def test_the_steepest_bandwidth_gives_the_dimension(d, seed):
    # A torus has no border, at which neighbours are missing and the slope is less.
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, (2000, d))
    choice = unbend.choose_bandwidth(np.hstack((np.cos(angles), np.sin(angles))), rule="slope")
    # The steepest place is steep by chance and curvature too: never less, up to a third more.
    assert d < choice.dimension < 4 / 3 * d
    assert float(choice) == choice.rules["slope"]


def test_bandwidths_are_squared_lengths_and_follow_their_rules():
    points = np.random.default_rng(0).normal(size=(300, 3))
    ones, tens = unbend.choose_bandwidth(points), unbend.choose_bandwidth(10 * points)
    for name, value in ones.rules.items():
        assert tens.rules[name] == pytest.approx(100 * value)
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    others = squares[~np.eye(300, dtype=bool)]
    assert ones.rules["median"] == pytest.approx(np.median(others))
    near = np.sort(squares, axis=1)
    assert ones.rules["nearest"] == pytest.approx(near[:, 1].mean())
    assert ones.rules["neighbors"] == pytest.approx(near[:, 1:11].mean())
    fitted = unbend.DiffusionMaps(n_neighbors=10).fit(points)
    assert ones.rules["neighbors"] == pytest.approx(fitted.bandwidth_)
    direct = [np.exp(-others / t).mean() for t in ones.t]
    assert ones.sums == pytest.approx(direct, abs=2 / len(others))


def test_impossible_bandwidths_are_refused():
    with pytest.raises(ValueError, match=r"rule=.mean. is not allowed"):
        unbend.choose_bandwidth(np.eye(9), rule="mean")
    with pytest.raises(ValueError, match="All rows of X are equal"):
        unbend.choose_bandwidth(np.ones((20, 2)))


@each("seed", SEEDS, keep=1)
@each("name", ["swiss_roll", "s_curve", "square", "swiss_hole"])
def test_surfaces_have_two_dimensions(name, seed):
    points = unbend.datasets.SURFACES[name](1000, random_state=seed).points
    choice = unbend.choose_dimension(points)
    assert int(choice) == 2
    assert choice.agreement > 0.5
    assert "votes" in str(choice)


@pytest.mark.parametrize("d", [1, 3, 5])
def test_a_cube_turned_in_space_has_its_dimension(d):
    rng = np.random.default_rng(d)
    turned = np.linalg.qr(rng.normal(size=(10, 10)))[0][:d]
    assert int(unbend.choose_dimension(rng.uniform(size=(1500, d)) @ turned)) == d


@sampled("seed", SEEDS)
@pytest.mark.parametrize(("name", "noise"), [("square", 0.05), ("swiss_roll", 0.5)])
def test_noise_that_fills_the_space_does_not_vote(name, noise, seed):
    points = unbend.datasets.SURFACES[name](1500, noise=noise, random_state=seed).points
    choice = unbend.choose_dimension(points)
    assert int(choice) == 2
    assert "mle" in choice.abstained
    assert "abstained" in str(choice)


@sampled("seed", SEEDS)
@pytest.mark.parametrize("d", [2, 3, 5])
def test_noise_that_does_not_fill_the_space_does_not_outvote_the_data(d, seed):
    """Four estimators by distances see the same noise, and no two see it in all columns."""
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(d + 4, d + 4)))[0][:d]
    cube = rng.uniform(size=(600, d)) @ turned
    choice = unbend.choose_dimension(cube + 0.05 * rng.normal(size=cube.shape))
    assert int(choice) == d
    assert choice.abstained["two_nn"] > d + 0.5


def test_votes_above_the_ceiling_count_only_where_the_rest_are_at_odds():
    seen = {"mle": 5.2, "two_nn": 2.4, "correlation": 4.9}
    agreed = {"spectrum gap": 2.0, "local_pca": 3.0, "multiscale_svd": 2.0, **seen}
    assert set(agreed) - set(_without_noise(agreed, 2.5)) == {"mle", "correlation"}
    at_odds = {"spectrum gap": 1.0, "local_pca": 9.0, "multiscale_svd": 4.0, **seen}
    assert _without_noise(at_odds, 2.5) == at_odds
    assert _without_noise(agreed, np.inf) == agreed


@pytest.mark.parametrize(
    ("votes", "chosen", "verdict"),
    [
        ([2, 2, 3], 2, "2"),
        ([3, 3, 2, 2], 2, "between 2 and 3"),
        ([3.1, 1.9], 2, "between 2 and 3"),
        ([5, 5, 6, 7, 8, 8], 6, "between 5 and 8"),
        ([1, 2, 2, 9, 29, 32, 42, 46], 19, "not determined"),
        ([5], 5, "5"),
    ],
)
def test_a_split_vote_leaves_a_range_or_nothing(votes, chosen, verdict):
    named = {str(place): float(vote) for place, vote in enumerate(votes)}
    dimension, low, high = weigh_votes(named)
    assert (dimension, describe_dimension(low, high)) == (chosen, verdict)
    assert low <= dimension <= high


def test_coordinates_of_a_closed_surface_do_not_outvote_its_dimension():
    """The spectrum and the knee count coordinates; with one estimator they have the majority."""
    votes = {"spectrum gap": 3.0, "residual variance knee": 3.0, "mle": 2.0, "local_pca": 3.0}
    votes |= {"two_nn": 2.0}
    assert weigh_votes(votes) == (2, 2, 3)


@sampled("seed", SEEDS)
def test_a_noisy_surface_is_not_reported_as_solid(seed):
    points = unbend.datasets.s_curve(1000, noise=0.2, random_state=seed).points
    suggestion = unbend.suggest(points)
    found = suggestion.findings
    assert found.dimension == 2
    assert f"intrinsic dimension {found.verdict}:" in suggestion.reasons[0]


def turned(points, columns, noise, seed):
    """Points turned into more columns, with noise in all of them."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(columns, points.shape[1])))[0]
    return points @ axes.T + rng.normal(scale=noise, size=(len(points), columns))


@sampled("seed", SEEDS)
def test_noise_in_many_columns_does_not_hide_the_dimension(seed):
    # In all columns no neighbourhood shows it, or three.
    curve = unbend.datasets.s_curve(1500, random_state=seed).points
    assert unbend.choose_dimension(turned(curve, 30, 0.25, seed)).verdict == "2"


@sampled("seed", SEEDS)
@pytest.mark.parametrize("d", [2, 3])
def test_the_directions_that_rows_fill_bound_the_dimension(d, seed):
    rng = np.random.default_rng(seed)
    rows = turned(rng.uniform(-1, 1, size=(1500, d)), 30, 0.35, seed)
    assert unbend.choose_dimension(rows, scale="none").verdict == str(d)


def test_the_headline_names_both_dimensions_of_rows_that_fill_their_directions():
    shown = ShownDimension(2, 1999, 3, fills=True)
    choice = DimensionChoice(3, 2, 3, {"mle": 3.0}, {}, np.ones(3), np.ones(3), shown=shown)
    assert "a surface of 2 with noise about it, or one of 3" in choice.headline


def test_a_column_of_another_unit_is_warned_of():
    wine = load_wine(as_frame=True).data
    with pytest.warns(unbend.ScaleWarning, match="Column 'proline' holds"):
        unbend.choose_neighbors(wine)


def test_numbers_that_were_not_compared_are_not_printed():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    text = str(unbend.choose_neighbors(rows))
    assert "nan" not in text
    assert text.startswith("n_neighbors = ")


def test_one_column_is_described_in_the_singular():
    text = str(unbend.suggest(np.random.default_rng(0).normal(size=(200, 1))))
    assert "1 feature," in text
    assert "1 dimensions" not in text


def test_a_dimension_of_equal_rows_is_refused_by_their_number():
    with pytest.raises(ValueError, match=r"X has 1 (distinct )?sample\(s\)"):
        unbend.choose_dimension(np.ones((60, 3)))


def test_advice_warns_of_edges_between_sheets_at_most_once():
    """The dimension has no embedding to warn of, and parts of the rows repeat what all rows say."""
    roll = unbend.datasets.swiss_roll(400, noise=0.5, random_state=1).points
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unbend.choose_dimension(roll)
    with pytest.warns(UserWarning, match="jump between sheets") as caught:
        unbend.stability(unbend.Isomap(), roll, n_resamples=3)
    assert len(caught) == 1


@pytest.mark.parametrize("columns", [3, 5])
def test_the_dimension_is_at_most_the_number_of_columns(columns):
    """The gap of a spectrum of geodesics may come after more coordinates than columns."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(12, columns))[rng.integers(12, size=300)]
    for rows in (rng.standard_cauchy(size=(500, columns)), few):
        choice = unbend.choose_dimension(rows, scale="none")
        assert choice.high <= columns
        assert max(choice.votes.values()) <= columns
        estimator = unbend.suggest(rows, for_="features", scale="none").estimator
        assert estimator.fit(rows).embedding_.shape[1] <= columns


def test_the_vote_does_not_warn_of_embeddings_that_nobody_asked_for():
    """A path has fewer coordinates than the spectrum that is looked at."""
    rows = np.column_stack((np.arange(60.0), np.zeros(60)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unbend.choose_dimension(rows).verdict == "1"

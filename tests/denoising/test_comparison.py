"""Landmarks of methods that make no even charts are taken only where they keep more neighbours."""

import warnings

import numpy as np
import pytest
from benchmarks.noise.cases import make_cases
from benchmarks.noise.others import lost_neighbors as lost_of_truth
from benchmarks.noise.run import worst_error

import unbend
from unbend.denoising import lost_neighbors
from unbend.memory import NotEnoughMemory


def test_lost_neighbours_are_counted():
    plane = np.random.default_rng(0).uniform(size=(300, 2))
    turned = plane @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert lost_neighbors(plane, 5 * turned - 1) == 0
    # Of 299 others, 15 drawn at random are the nearest by chance alone.
    shuffled = plane[np.random.default_rng(1).permutation(300)]
    assert lost_neighbors(plane, shuffled) == pytest.approx(1 - 15 / 299, abs=0.01)
    assert 0 < lost_neighbors(plane, plane[:, :1]) < 1
    assert lost_neighbors(plane, np.full((300, 2), np.nan)) == 1


def fits(half, number, method):
    """Errors of the rows and of 'auto', against the truth, and what the stage recorded."""
    case = make_cases(half, number + 1)[number]
    draw = case.draw(1, most_feet=400)
    some = draw.regular
    charts = method in (unbend.Isomap, unbend.LLE)
    error = worst_error if charts else lost_of_truth
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = method(case.d).fit(draw.rows)
        auto = method(case.d, denoise="auto").fit(draw.rows)
    errors = [error(draw.foot_chart[some], model.embedding_[some]) for model in (plain, auto)]
    facts = auto.report_.stage("denoise").facts
    return (*errors, facts, np.array_equal(plain.embedding_, auto.embedding_))


@pytest.mark.parametrize(
    ("half", "number", "method"),
    [
        ("seen", 64, unbend.LaplacianEigenmaps),
        ("folded", 48, unbend.LaplacianEigenmaps),
        ("seen", 24, unbend.DiffusionMaps),
        ("seen", 126, unbend.Isomap),
        ("folded", 13, unbend.Isomap),
        ("folded", 20, unbend.LLE),
    ],
)
def test_landmarks_that_would_lose_more_are_declined(half, number, method):
    """Cases for calibration of which landmarks make the result worse by a third and more."""
    _, _, facts, same = fits(half, number, method)
    assert same
    assert "neighbours on the surface" in facts["declined"]
    by_landmarks, by_rows = facts["lost_neighbors"]
    assert by_landmarks >= 0.9 * by_rows
    assert not {"landmarks", "patch_size", "displacement"} & set(facts)


@pytest.mark.parametrize(
    ("number", "method"),
    [
        (0, unbend.LaplacianEigenmaps),
        (153, unbend.DiffusionMaps),
        (98, unbend.Isomap),
        (117, unbend.LLE),
    ],
)
def test_landmarks_that_keep_more_are_taken(number, method):
    before, after, facts, _ = fits("seen", number, method)
    assert after < 0.7 * before
    assert facts["landmarks"] > 0
    assert facts["lost_neighbors"][0] < facts["lost_neighbors"][1]


def test_rows_too_many_to_be_compared_are_denoised(monkeypatch):
    """A quadratic method does not fit so many rows beside landmarks."""
    monkeypatch.setattr(unbend.Isomap, "most_compared", 1000)
    curve = unbend.datasets.s_curve(1200, noise=0.15, random_state=0)
    facts = unbend.Isomap(denoise="auto").fit(curve.points).report_.stage("denoise").facts
    assert facts["landmarks"] > 0
    assert "lost_neighbors" not in facts


def test_landmarks_are_kept_where_the_rows_do_not_fit_in_memory(monkeypatch):
    points = unbend.datasets.s_curve(1200, noise=0.15, random_state=0).points
    embed = unbend.Isomap._embed

    def embed_some(model, component):
        if component.n == len(points):
            raise NotEnoughMemory("too many rows")
        return embed(model, component)

    monkeypatch.setattr(unbend.Isomap, "_embed", embed_some)
    facts = unbend.Isomap(denoise="auto").fit(points).report_.stage("denoise").facts
    assert facts["landmarks"] > 0

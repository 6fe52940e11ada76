"""Advice and method agree: `suggest`, `choose_*` and the report of the suggested fit."""

import warnings

import numpy as np
import pytest

import unbend
from tests.loops import each


def noisy(family: str, noise: float, n: int = 900) -> np.ndarray:
    return np.asarray(getattr(unbend.datasets, family)(n, noise=noise, random_state=5).points)


CASES = [("swiss_roll", 0.0), ("swiss_roll", 0.4), ("s_curve", 0.05), ("swiss_hole", 0.2)]


@each("case", CASES, keep=2)
def test_the_suggested_fit_reports_what_the_choices_found(case: tuple[str, float]) -> None:
    points = noisy(*case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suggestion = unbend.suggest(points, for_="chart")
        fitted = suggestion.estimator.fit(points)
    found = suggestion.findings
    dimension = unbend.choose_dimension(points)
    assert (found.dimension, found.verdict) == (int(dimension), dimension.verdict)
    assert fitted.n_components == int(dimension)
    neighbors = unbend.choose_neighbors(points, int(dimension))
    assert found.n_neighbors == int(neighbors)
    stages = {stage.name: stage.facts for stage in fitted.report_.stages}
    denoised = stages.get("denoise", {})
    if "noise" in denoised:
        assert found.surface
        assert denoised["noise"] == pytest.approx(found.noise)
    if "landmarks" not in denoised and "n_neighbors" in stages["neighbors"]:
        own = unbend.choose_neighbors(points, int(dimension), method=fitted)
        assert stages["neighbors"]["n_neighbors"] == int(own)


def test_a_fit_with_that_number_is_the_fit_with_an_open_one() -> None:
    points = noisy("s_curve", 0.1)
    k = int(unbend.choose_neighbors(points))
    open_number = unbend.Isomap(n_neighbors="auto").fit(points)
    assert np.array_equal(
        open_number.embedding_, unbend.Isomap(n_neighbors=k).fit(points).embedding_
    )


def test_all_advice_and_the_fit_agree_where_noise_fills_the_neighbourhoods() -> None:
    rng = np.random.default_rng(3)
    disc = np.column_stack((rng.uniform(-1, 1, size=(900, 2)), np.zeros(900)))
    points = disc + rng.normal(scale=0.25, size=disc.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suggestion = unbend.suggest(points, for_="chart", scale="none")
        fitted = unbend.Isomap(n_components=2, n_neighbors="auto").fit(points)
    dimension = unbend.choose_dimension(points, scale="none")
    assert suggestion.findings.verdict == dimension.verdict == "2"
    assert suggestion.estimator.n_components == 2
    number = int(unbend.choose_neighbors(points, 2))
    assert suggestion.findings.n_neighbors == number
    assert fitted.report_.stage("neighbors").facts["n_neighbors"] == number


def test_where_noise_hides_the_dimension_it_is_left_open() -> None:
    # Noise in thirty columns, wider than the sheet.
    rng = np.random.default_rng(0)
    sheet = rng.uniform(-1, 1, size=(800, 2)) @ np.linalg.qr(rng.normal(size=(30, 30)))[0][:2]
    noise = rng.normal(size=(800, 30))
    shown = unbend.choose_dimension(sheet + 0.05 * noise, scale="none")
    assert (shown.verdict, shown.shown is not None) == ("2", True)
    hidden = unbend.choose_dimension(sheet + 0.8 * noise, scale="none")
    assert hidden.shown is None
    assert not hidden.verdict.isdigit()


@each("d", [1, 2, 3, 4, 5])
def test_neighbourhoods_show_the_dimension_of_bent_sheets_with_noise(d: int) -> None:
    rng = np.random.default_rng(d)
    flat = rng.uniform(-1, 1, size=(1000, d))
    bent = np.column_stack((flat, 0.3 * np.sin(2 * flat[:, 0]), 0.2 * np.cos(2 * flat[:, -1])))
    turned = bent @ np.linalg.qr(rng.normal(size=(20, 20)))[0][: d + 2]
    noise = 0.02 * rng.normal(size=(1000, 20))
    choice = unbend.choose_dimension(turned + noise, scale="none")
    assert choice.verdict == str(d)
    assert "shown by neighbourhoods" in choice.headline

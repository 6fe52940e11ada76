"""Digits lost by rounding: every fit warns with their number, refuses, or has lost none.

The oracle is a fit to the same rounded rows, centred in extended precision. What `transform`
promises for fitted rows, their coordinates to 1e-8 of the largest, holds wherever the fit is not
refused, for every word of every parameter.
"""

import re
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unbend
from tests.conformance.cases import CHOICES, CLASSES, INHERITED, curve, first_declares, over
from tests.loops import each
from unbend.registry import METHODS
from unbend.validation.conditioning import IMPRECISE, PrecisionWarning, rounding_of_rows

LOST = "digits are lost"
OFFSETS = (1e6, 1e9, 1e12, 1e14, 1e15, 1e16)
SINGLE_OFFSETS = (1e1, 1e3, 1e5, 1e8)
# Without a warning a fit has lost nothing; a descent stops within its tolerance.
AGREES = 1e-6


def fit(method: Any, rows: np.ndarray, **options: Any) -> tuple[Any, list[warnings.WarningMessage]]:
    """Return the fitted estimator, or the refusal, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return method(**options).fit(rows, np.arange(len(rows)) % 2), caught
        except ValueError as error:
            return str(error), caught


def centred(rows: np.ndarray) -> np.ndarray:
    """Centre rounded rows exactly, to the last bit of double precision."""
    wide = rows.astype(np.longdouble)
    return np.asarray(wide - wide.mean(axis=0), dtype=np.float64)


def apart(first: np.ndarray, second: np.ndarray) -> float:
    """Largest distance left when one embedding is turned onto the other, over the size."""
    a, b = centred(first), centred(second)
    left, _, right = np.linalg.svd(b.T @ a)
    return float(np.abs(a - b @ left @ right).max() / np.abs(a).max())


def digits_lost(rows: np.ndarray) -> float:
    """Decimal digits of the differences that rounding took, in extended precision."""
    wide = rows.astype(np.longdouble)
    spread = np.sqrt(np.square(wide - wide.mean(axis=0)).mean(axis=0).sum())
    return float(np.log10(np.abs(wide).max() / spread))


def assert_honest(method: Any, rows: np.ndarray) -> None:
    """Check that a fit is right, or says how many digits of X are lost, or is refused for it."""
    model, caught = fit(method, rows)
    lost, digits = digits_lost(rows), -np.log10(np.finfo(rows.dtype).eps)
    said = [str(w.message) for w in caught if w.category is PrecisionWarning]
    if isinstance(model, str):
        assert LOST in model
        assert lost > digits - 1.5
        return
    error = 10.0 ** (lost - digits)
    if said:
        assert int(said[0].split()[0]) == pytest.approx(lost, abs=1.0)
        assert error > IMPRECISE / 10
    else:
        assert error < IMPRECISE * 10
    other, _ = fit(method, centred(rows))
    allowed = 20 * error if said or method is unbend.RandomProjection else AGREES
    if rows.dtype == np.float32:
        allowed += 1e-5  # the coordinates are rounded too
    assert apart(other.embedding_, model.embedding_) < max(allowed, AGREES)


@over([method for method in CLASSES if method.__name__ != "NeighborEmbedding"])
@each("offset", OFFSETS)
def test_rows_far_from_the_origin_are_fitted_rightly_or_reported(
    method: type, offset: float
) -> None:
    assert_honest(method, curve(80) + offset)


@over([method for method in CLASSES if method.__name__ != "NeighborEmbedding"])
@each("offset", SINGLE_OFFSETS)
def test_single_precision_is_fitted_rightly_or_reported(method: type, offset: float) -> None:
    assert_honest(method, (curve(80) + offset).astype(np.float32))


def test_integers_that_are_exact_are_not_reported() -> None:
    years = np.random.default_rng(0).integers(0, 30, (200, 3)) + 1e14
    assert rounding_of_rows(years)[1] == 0.0
    assert rounding_of_rows((years - 1e14 + 8e6).astype(np.float32))[1] == 0.0
    assert rounding_of_rows(years + 0.3)[1] > 0.0


def test_a_column_is_judged_beside_the_spread_of_all() -> None:
    rows = curve(100) * [1.0, 1e6, 1e6] + [1e13, 0.0, 0.0]
    assert rounding_of_rows(rows)[1] == 0.0
    constant = np.hstack([curve(100), np.full((100, 1), 0.1 + 1e18)])
    assert rounding_of_rows(constant)[1] == 0.0


def test_batches_are_judged_together() -> None:
    near = np.sort(np.random.default_rng(0).normal(size=(400, 3)), axis=0) * 1e6
    rows = near + 1e12
    batches = [rows[:4], rows[4:200], rows[200:]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = unbend.PCA(3).fit_batches(batches)
    exact = np.linalg.svd(centred(rows), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-9)
    with pytest.warns(PrecisionWarning, match="12 of 16 digits are lost"):
        unbend.PCA(2).fit_batches([near / 1e6 + 1e12, near / 1e6 + 1e12])


@pytest.mark.parametrize("columns", [3, 30])
@over(CLASSES)
def test_columns_1e8_apart_are_reported_with_the_lost_digits(method: type, columns: int) -> None:
    rows = np.random.default_rng(0).normal(size=(60, columns))
    rows[:, 1] *= 1e8
    model, caught = fit(method, rows)
    assert not isinstance(model, str)
    said = [str(w.message) for w in caught if w.category is unbend.ScaleWarning]
    assert len(said) == 1
    variances = rows.astype(np.longdouble).var(axis=0)
    lost = -np.log10((variances.sum() - variances[1]) / variances.sum())
    reported = re.search(r"(\d+) of 16 digits", said[0])
    assert reported is not None
    assert int(reported[1]) == pytest.approx(float(lost), abs=1.0)


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.class_name)
@each("offset", [1e3, 1e8, 1e12, 1e16])
def test_similarities_with_a_huge_constant_are_fitted_rightly_or_reported(
    entry: Any, offset: float
) -> None:
    words = {(name, word) for of, name, word in _all_words() if of is entry.load()}
    pairs = [p for p in (("kernel", "precomputed"), ("metric", "kernel")) if p in words]
    rows = curve(60) - curve(60).mean(axis=0)
    for name, word in pairs:
        plain, _ = fit(entry.load(), rows @ rows.T, **{name: word})
        model, caught = fit(entry.load(), rows @ rows.T + offset, **{name: word})
        said = any(LOST in str(w.message) for w in caught)
        if isinstance(model, str):
            assert LOST in model
        else:
            assert said or apart(plain.embedding_, model.embedding_) < AGREES
        assert said == (offset > 1e6) or isinstance(model, str)


def _all_words() -> list[tuple[Any, str, Any]]:
    from unbend.validation.parameters import Choice, parameters

    return [
        (method, parameter.name, word)
        for method in CLASSES
        for parameter in parameters(method)
        for kind in parameter.kinds
        if isinstance(kind, Choice)
        for word in kind.words
    ]


HARD: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "offset": lambda rows: rows + 1e9,
    "far offset": lambda rows: rows + 1e12,
    "apart": lambda rows: rows * [1.0, 1e8, 1e-3],
    "single": lambda rows: (rows + 300.0).astype(np.float32),
    "tiny": lambda rows: rows * 1e-50,
    "huge": lambda rows: rows * 1e50 + 1e55,
}


@over(CLASSES)
@INHERITED
@each("of, name, word", CHOICES)
def test_every_choice_transforms_fitted_rows_of_hard_data_to_their_coordinates(
    method: type, inherited: bool, of: type, name: str, word: Any
) -> None:
    if of is not method or not (inherited or first_declares(method, name)):
        return
    # One kind of hard data for each word, chosen by its name; all of them in `make check-slow`.
    kinds = sorted(HARD)
    if not inherited:
        kinds = [kinds[zlib.crc32(f"{method.__name__}{name}{word}".encode()) % len(kinds)]]
    for kind in kinds:
        rows = HARD[kind](curve(60))
        model, caught = fit(method, rows, **{name: word})
        if isinstance(model, str) or any("converge" in str(w.message) for w in caught):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            placed = model.transform(rows)
        tolerance = 1e-5 if rows.dtype == np.float32 else 1e-8
        off = np.abs(placed - model.embedding_).max() / np.abs(model.embedding_).max()
        assert off < tolerance, kind


def test_a_cosine_kernel_places_rows_of_one_direction_and_different_lengths() -> None:
    # Products of their directions are 1 up to the last digits; differences of these are not.
    rows = curve(60) * [1.0, 1e8, 1e-3]
    model, _ = fit(unbend.KernelPCA, rows, kernel="cosine")
    precise = rows.astype(np.longdouble)
    directions = precise / np.sqrt(np.square(precise).sum(axis=1))[:, None]
    centered = directions - directions.mean(axis=0)
    first = np.linalg.eigvalsh(np.float64(centered.T @ centered))[-1]
    np.testing.assert_allclose(model.eigenvalues_[0], first, rtol=1e-7)
    off = np.abs(model.transform(rows) - model.embedding_).max(axis=0)
    assert np.all(off < 1e-8 * np.abs(model.embedding_).max(axis=0))

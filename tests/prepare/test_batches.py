"""Preparation fitted to batches: the features of a fit to all rows."""

import numpy as np
import pandas as pd
import pytest

from tests.tables.corpus import TABLES
from unbend import Prepare
from unbend.prepare.problems import UnusableTable


def parts_of(frame, rows):
    return [frame.iloc[start : start + rows] for start in range(0, len(frame), rows)]


@pytest.mark.parametrize("scale", ["auto", "none", "standard", "range", "gower"])
@pytest.mark.parametrize("name", sorted(TABLES))
def test_batches_give_the_features_of_the_whole(name, scale):
    frame = TABLES[name]().frame
    whole = Prepare(scale=scale, missing="mean").fit(frame)
    parts = Prepare(scale=scale, missing="mean").fit_batches(parts_of(frame, 37))
    assert parts.columns_ == whole.columns_
    assert (parts.scale_, parts.scale_reason_) == (whole.scale_, whole.scale_reason_)
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    # A column that hardly varies about a large mean is known to fewer digits.
    numbers = frame.select_dtypes("number").loc[:, lambda f: f.std() > 0]
    digits = 1e-15 * float((numbers.abs().max() / numbers.std()).max()) if numbers.size else 0.0
    found, expected = parts.transform(frame), whole.transform(frame)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 + digits)


def test_scales_are_those_of_all_rows_however_they_are_sorted():
    # Rows beyond the sample by which kinds are inferred, sorted: the first batches show little.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.sort(rng.lognormal(0, 2, 90_000)), "y": rng.normal(size=90_000)})
    frame["kind"] = np.where(np.arange(90_000) < 89_990, "common", "rare")
    prepare = Prepare(scale="standard").fit_batches(parts_of(frame, 4000))
    features = prepare.transform(frame)
    np.testing.assert_allclose(features[:, :2].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(features[:, :2].var(axis=0), 1, rtol=1e-9)
    assert prepare.get_feature_names_out().tolist()[2:] == ["kind=common", "kind=rare"]
    np.testing.assert_allclose(features[:, 2:].var(axis=0).sum(), 1, rtol=1e-9)


def test_rows_with_gaps_are_dropped_from_every_column():
    frame = TABLES["penguins"]().frame
    whole = Prepare(missing="drop").fit(frame)
    parts = Prepare(missing="drop").fit_batches(parts_of(frame, 40))
    np.testing.assert_allclose(parts.transform(frame), whole.transform(frame), atol=1e-9)


def test_gaps_that_only_a_late_batch_has_are_refused():
    frame = pd.DataFrame({"a": np.arange(50_000.0) ** 0.5, "b": np.arange(50_000) % 7 + 0.5})
    frame.loc[49_998, "a"] = np.nan
    with pytest.raises(UnusableTable, match=r"'a' \(1\)"):
        Prepare().fit_batches(parts_of(frame, 1000))


@pytest.mark.parametrize("options", [{"scale": "robust"}, {"scale": "log"}, {"missing": "median"}])
def test_what_needs_all_rows_is_refused(options):
    frame = TABLES["wine"]().frame
    with pytest.raises(ValueError, match="needs all rows at once"):
        Prepare(**options).fit_batches(parts_of(frame, 50))


def test_batches_of_different_columns_are_refused():
    with pytest.raises(ValueError, match="different columns"):
        Prepare().fit_batches([{"a": [1.0, 2.0]}, {"b": [1.0, 2.0]}])
    with pytest.raises(ValueError, match="no batches"):
        Prepare().fit_batches([])

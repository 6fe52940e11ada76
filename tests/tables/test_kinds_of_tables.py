"""Kinds and scaling of the tables in the corpus."""

import pytest

from tests.tables.corpus import TABLES
from unbend.prepare import Prepare


@pytest.mark.parametrize("name", TABLES)
def test_kinds_and_scaling_are_those_a_person_names(name):
    table = TABLES[name]()
    rows = table.frame.drop(columns=[table.label] if table.label else [])
    prepare = Prepare(missing="median").fit(rows)
    kinds = {c.name: c.kind for c in prepare.columns_ if c.kind != "numeric"}
    assert kinds == table.kinds
    assert prepare.scale_ == ("standard" if table.standardise else "none"), prepare.scale_reason_

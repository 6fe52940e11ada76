"""The page that documents the format says what the code does."""

import dataclasses
import re
from pathlib import Path

from unbend.storage.classes import VALUES, value_class
from unbend.storage.decode import Decoder

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()


def test_the_page_lists_every_class_of_values_and_no_other() -> None:
    table = PAGE.split("| what | classes |")[1].split("\n\n")[0]
    assert set(re.findall("`(.+?)`", table)) == set(VALUES)


def test_the_page_lists_every_kind_of_value_and_no_other() -> None:
    table = PAGE.split("A **value** in")[1].split("Classes of values")[0]
    assert set(re.findall(r'`\{"(\w+)"', table)) == set(Decoder(lambda number: None)._tags)  # type: ignore[arg-type, return-value]


def test_every_class_of_values_is_a_dataclass_of_the_library() -> None:
    for name in VALUES:
        found = value_class(name)
        assert dataclasses.is_dataclass(found)
        assert found.__module__.startswith("unbend.")

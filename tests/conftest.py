"""Hypothesis profiles (few examples, more with ``--hypothesis-profile=slow``), and Ctrl-C."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("few", max_examples=8, deadline=None)
settings.register_profile("slow", max_examples=30, deadline=None)
settings.load_profile("few")

# Tests send Ctrl-C, which Python ignores where its parent does, as in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def unknown_classes() -> Iterator[None]:
    """Let tests of all methods call fit(X), in which supervised ones then know no class.

    That users must pass y is tested in tests/test_mistakes.py.
    """
    from unbend.estimators.neighborhood import NeighborhoodEmbedding

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NeighborhoodEmbedding, "_check_classes", lambda self, y: None)
        yield


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pictures of report pages, which take most of the time.

    No word of a page depends on them. They are drawn in tests/cli/test_report.py and for one table
    in tests/tables.
    """
    from unbend.apps.study import page

    for name in ("dimension", "sheet", "curves", "recommended", "trust"):
        monkeypatch.setattr(page, f"{name}_picture", lambda found: "")

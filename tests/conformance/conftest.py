"""One BLAS thread in each test process; laws that a method need not keep, or keeps slowly."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
EXCEPTIONS = tomllib.loads((HERE / "exceptions.toml").read_text())
SLOW = tomllib.loads((HERE / "slow.toml").read_text())


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    # With two processes of two threads each, all wait for one another: six times slower.
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(autouse=True, scope="module")
def _fit_without_classes(unknown_classes: None) -> None:
    """Supervised methods are tested as all others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent != HERE or not hasattr(item, "callspec"):
            continue
        method = getattr(item.callspec.params.get("method"), "__name__", "")
        if reason := EXCEPTIONS.get(method, {}).get(item.originalname):
            item.add_marker(pytest.mark.skip(reason=reason))
        if item.originalname in SLOW.get(method, []):
            item.add_marker(pytest.mark.slow)

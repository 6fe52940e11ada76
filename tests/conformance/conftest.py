"""One BLAS thread in each test process, and laws that a method need not keep."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
EXCEPTIONS = tomllib.loads((HERE / "exceptions.toml").read_text())


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    # With two processes of two threads each, all wait for one another: six times slower.
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        method = getattr(item, "callspec", None) and item.callspec.params.get("method")
        reason = EXCEPTIONS.get(getattr(method, "__name__", ""), {}).get(
            getattr(item, "originalname", "")
        )
        if reason and item.path.parent == HERE:
            item.add_marker(pytest.mark.skip(reason=reason))

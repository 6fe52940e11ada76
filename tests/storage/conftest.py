"""One thread in each test process for BLAS and scikit-learn's k-means."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    # With two processes of two threads each, all wait for one another.
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(autouse=True, scope="module")
def _fit_without_classes(unknown_classes: None) -> None:
    """Supervised methods are tested as all others."""

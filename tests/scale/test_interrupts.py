"""Interrupted fits and uses of collections leave the old state or the new one, as of rows."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")

import signal
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import unbend
from tests.conformance.cases import curve
from tests.conformance.test_interrupted_fits import assert_old_or_new
from tests.conformance.test_random_interrupts import MORE, ROWS, digest, interrupt_once
from unbend.progress import Cancelled
from unbend.scale.estimators import CLASSES, EXACT, GRAPHS


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def lazy(rows: np.ndarray, parts: int = 3) -> Any:
    return da.from_array(rows, chunks=(-(-len(rows) // parts), rows.shape[1]))


def fit(model: Any, rows: np.ndarray) -> Any:
    return model.fit(lazy(rows), *labels(model, rows))


def labels(model: Any, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    return ((rows[:, 0] > 0).astype(int),) if type(model).__name__ == "SupervisedLLE" else ()


def use(model: Any, rows: np.ndarray) -> np.ndarray:
    """Embed rows lazily and in memory."""
    method = "transform" if hasattr(model.local_, "transform") else "predict"
    embedded = getattr(model, method)
    return np.concatenate((embedded(lazy(rows)).compute(), np.asarray(embedded(rows))))


def make(name: str) -> Callable[[], Any]:
    options: dict[str, Any] = {"n_clusters": 2} if name == "SpectralClustering" else {}
    if name == "RandomProjection":
        options["n_components"] = 2
    if name not in EXACT:
        options |= {"sample": 34, "held_out": 4}
    return partial(CLASSES[name], **options)


def cases() -> list[Any]:
    """Return every class on a sample, and the graphs of all rows."""
    found = [(name, make(name)) for name in CLASSES]
    found += [(f"{name} of all rows", partial(make(name), sample=None)) for name in GRAPHS]
    return [pytest.param(call, id=name) for name, call in found]


@pytest.mark.parametrize(
    "trials",
    [pytest.param((0, 2), id="few"), pytest.param((2, 60), id="many", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("create", cases())
def test_an_interrupt_at_a_random_point_leaves_one_whole_state(
    create: Callable[[], Any], trials: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id.rpartition("-")[0]
    struck = 0
    with dask.config.set(scheduler="synchronous"):
        for trial in range(*trials):
            rng = np.random.default_rng([trial, zlib.crc32(name.encode())])
            plain = name.removesuffix(" of all rows")
            struck += bool(interrupt_once(plain, create, fit, rng, use))
    assert struck or trials[1] == 2


@pytest.mark.parametrize("scheduler", ["threads", "client"])
@pytest.mark.parametrize("name", ["PCA", "LTSA", "LaplacianEigenmaps"])
def test_a_signal_or_a_callback_stops_threads_and_workers(
    name: str, scheduler: str, request: pytest.FixtureRequest
) -> None:
    if scheduler == "client":
        request.getfixturevalue("client")
    create = make(name) if name != "LaplacianEigenmaps" else partial(make(name), sample=None)
    model, new = fit(create(), ROWS), fit(create(), MORE)
    before, checksum = vars(model).copy(), digest(vars(model))
    with pytest.raises(Cancelled), unbend.monitoring(lambda _: False):
        fit(model, MORE)
    assert assert_old_or_new(model, before, new)
    for delay in (0.001, 0.01, 0.04):
        timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
        try:
            timer.start()
            fit(model, MORE)
            timer.join()
            time.sleep(0.001)
        except KeyboardInterrupt:
            pass
        timer.join()
        if not assert_old_or_new(model, before, new):
            model = fit(create(), ROWS)
            before, checksum = vars(model).copy(), digest(vars(model))
        assert digest(vars(model)) == checksum
    np.testing.assert_allclose(use(model, ROWS[:5]), use(fit(create(), ROWS), ROWS[:5]))


def slowly(block: np.ndarray, folder: str, block_info: Any = None) -> np.ndarray:
    """Return a block after three seconds, and record that."""
    time.sleep(3.0)
    (Path(folder) / str(block_info[0]["chunk-location"][0])).touch()
    return block


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LTSA", "LaplacianEigenmaps"])
def test_a_callback_is_asked_while_workers_compute(name: str, client: Any, tmp_path: Path) -> None:
    meta = np.empty((0, 0))
    rows = lazy(curve(200)).map_blocks(slowly, str(tmp_path), meta=meta, dtype=np.float64)
    calls = iter(range(10))
    model = partial(make(name), sample=None)() if name in GRAPHS else make(name)()
    with pytest.raises(Cancelled), unbend.monitoring(lambda _: next(calls) < 3):
        model.fit(rows)
    # No block was done: the callback was not kept waiting for one.
    assert not list(tmp_path.iterdir())
    assert not hasattr(model, "report_")


def raise_in(block: np.ndarray) -> np.ndarray:
    raise OSError("the disk is gone")


def test_a_task_that_fails_on_a_worker_raises_its_own_error(client: Any) -> None:
    rows = lazy(curve(60)).map_blocks(raise_in, meta=np.empty((0, 0)), dtype=np.float64)
    for name in ("PCA", "LTSA"):
        with pytest.raises(OSError, match="the disk is gone"):
            make(name)().fit(rows)

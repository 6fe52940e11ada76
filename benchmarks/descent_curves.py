"""Recall against CPU of approximate neighbours: `python -m benchmarks.descent_curves [ROWS...]`.

NN-descent of ours, pynndescent and hnswlib (where they are installed), each with several settings,
on word vectors (GloVe, 100 columns), digits of MNIST and clothes of Fashion-MNIST (784, together up
to 140 000 rows) and rows like SIFT descriptors (clusters of non-negative values of heavy tails,
clipped and scaled to one length; 128 columns, a million rows have 100). All in single precision,
one thread, CPU seconds: of building and asking for the 15 nearest of all rows, and of asking for
those of 1000 new ones in the same structure; exact products stand beside. Recall is that of 1000
rows.

A peer's settings are tried in order until one reaches a recall of 0.98 or takes over 35 CPU
seconds, since the next takes more. Libraries are compared at
equal recall: `ratios_at_equal_recall` reads our CPU off our curve at the recall of the peer. Writes
`descent_curves.json`, case by case; 50 000 and 200 000 rows unless others are named. `--only NAME`
takes one table, `--search PATTERN` only searches whose names match, `--ours` no peers.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import digits, fashion, glove
from benchmarks.output import results_of
from unbend.neighbors import BruteForce, NNDescent

RESULTS = results_of(__file__)
K, SAMPLE = 15, 1000
# Multiply-adds from which on exact products are left out, and the recall that is enough.
MOST_PRODUCTS, ENOUGH = 2.5e12, 0.98
# CPU seconds of a peer's setting beyond which the next, which takes more, is not tried.
PEER_SECONDS = 35.0
# Rows from which on we have fewer settings: of many rows 0.9 finds as many as 0.95.
MANY = 100_000
# Rows from which on those like SIFT descriptors have 100 columns.
MILLION = 1_000_000

# What builds a structure and finds the neighbours of all rows, and what asks it for new ones.
Search = tuple[Callable[[], tuple[Any, Any]], Callable[[Any, Any], Any]]


def sift_like(n: int) -> Any:
    """Rows like SIFT descriptors."""
    rng = np.random.default_rng(3)
    columns = 100 if n >= MILLION else 128
    centers = rng.gamma(0.5, 1.0, size=(200, columns)).astype(np.float32)
    rows = np.empty((n, columns), dtype=np.float32)
    for some in np.array_split(np.arange(n), max(1, n // 50_000)):
        part = centers[rng.integers(200, size=len(some))]
        part = part * rng.gamma(2.0, 0.5, size=part.shape)
        part /= np.linalg.norm(part, axis=1)[:, None]
        part = np.minimum(part, 0.2)
        rows[some] = part / np.linalg.norm(part, axis=1)[:, None]
    return rows


def pictures(n: int) -> Any:
    """Digits, and beyond 70 000 clothes."""
    rows = digits(n)[0]
    return rows if len(rows) >= n else np.concatenate((rows, fashion(n - len(rows))[0]))


DATA: dict[str, Callable[[int], Any]] = {
    "GloVe": lambda n: glove(n)[0],
    "SIFT-like": sift_like,
    "MNIST": pictures,
}


def ours(points: Any) -> Iterator[tuple[str, Search]]:
    """Yield searches of ours."""

    def of(index: Any) -> Search:
        def build() -> tuple[Any, Any]:
            built = index.build(points)
            return built, built.query_self(K)[0]

        return build, lambda built, new: built.query(new, K)[0]

    if len(points) ** 2 * points.shape[1] < MOST_PRODUCTS:
        yield "exact products", of(BruteForce())
    few = (0.95, 0.98) if len(points) >= MILLION else (0.95, 0.98, 0.99)
    for recall in few if len(points) >= MANY else (0.9, 0.95, 0.98, 0.99, 0.995):
        yield f"NNDescent(recall={recall})", of(NNDescent(recall=recall))


def peers(points: Any) -> Iterator[tuple[str, Search]]:
    """Yield searches of other libraries."""
    try:
        import pynndescent
    except ImportError:
        print("pynndescent is not installed")
    else:
        # Compiled before.
        pynndescent.NNDescent(points[:3000], n_neighbors=K + 1, n_jobs=1).query(points[:9], K)

        def descend(count: int) -> tuple[Any, Any]:
            built = pynndescent.NNDescent(points, n_neighbors=count, n_jobs=1, random_state=0)
            return built, built.neighbor_graph[0][:, 1 : K + 1]

        for neighbors in (K + 1, 30, 60):
            yield (
                f"pynndescent(n_neighbors={neighbors})",
                (
                    lambda count=neighbors: descend(count),
                    lambda built, new: built.query(new, K)[0],
                ),
            )
    try:
        import hnswlib
    except ImportError:
        print("hnswlib is not installed")
        return

    def insert(ef: int) -> tuple[Any, Any]:
        index = hnswlib.Index(space="l2", dim=points.shape[1])
        index.init_index(max_elements=len(points), ef_construction=ef, M=16)
        index.set_num_threads(1)
        index.add_items(points)
        index.set_ef(ef)
        return index, index.knn_query(points, k=K + 1)[0][:, 1:]

    for ef in (50, 100, 200):
        yield (
            f"hnswlib(ef={ef})",
            (lambda ef=ef: insert(ef), lambda built, new: built.knn_query(new, k=K)[0]),
        )


def recall_of(found: Any, exact: Any) -> float:
    """Share of the exact neighbours among those found."""
    shared = [len(np.intersect1d(a, b)) / K for a, b in zip(found, exact, strict=True)]
    return float(np.mean(shared))


def measure(name: str, n: int, with_peers: bool, pattern: str) -> None:
    """Measure all searches of one table whose name matches a pattern."""
    rows = np.ascontiguousarray(DATA[name](n + SAMPLE), dtype=np.float32)
    rows = rows[np.random.default_rng(2).permutation(len(rows))]
    points, new = rows[:-SAMPLE], rows[-SAMPLE:]
    sample = np.sort(np.random.default_rng(1).choice(len(points), SAMPLE, replace=False))
    exact = BruteForce().build(points)
    near = exact.query(points[sample], K + 1)[0]
    near = np.array([one[one != row][:K] for one, row in zip(near, sample, strict=True)])
    near_new = exact.query(new, K)[0]
    title = f"{name} {len(points)} x {points.shape[1]}"
    last: dict[str, dict[str, float]] = {}
    measured = []
    for search, (build, ask) in chain(ours(points), peers(points) if with_peers else ()):
        library = search.partition("(")[0]
        if has_enough(library, last.get(library)) or not re.search(pattern, search):
            continue
        start = time.process_time()
        built, found = build()
        seconds = time.process_time() - start
        # The first query prepares a structure for more.
        ask(built, new[:1])
        start = time.process_time()
        found_new = ask(built, new)
        asked = time.process_time() - start
        value = {
            "cpu": round(seconds, 2),
            "recall": round(recall_of(found[sample], near), 4),
            "new_us": round(1e6 * asked / len(new), 1),
            "new_recall": round(recall_of(found_new, near_new), 4),
        }
        last[library] = value
        measured.append(search)
        record(title, search, value)
        print(f"{title:<28}{search:<32}{value}", flush=True)
        del built, found
    if with_peers and not pattern:
        keep_only(title, measured)


def has_enough(library: str, last: dict[str, float] | None) -> bool:
    """Return whether the next setting of a peer is not tried, after the last one."""
    if library == "NNDescent" or last is None:
        return False
    return last["recall"] >= ENOUGH or last["cpu"] > PEER_SECONDS


def keep_only(title: str, searches: list[str]) -> None:
    """Leave out searches of earlier runs, of another machine perhaps, once a table is complete."""
    known = json.loads(RESULTS.read_text())
    known[title] = {name: one for name, one in known[title].items() if name in searches}
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def ratios_at_equal_recall(
    searches: dict[str, dict[str, float]], cost: str = "cpu", recall: str = "recall"
) -> dict[str, tuple[float, bool]]:
    """Cost of each peer over ours at its recall, and whether the ratio is only a lower bound.

    Our curve has the settings that no other beats in both; the logarithm of the cost is linear in
    the recall between two of them. A peer of less recall than all of ours is compared with our
    cheapest, which gives a lower bound; one of more recall is not compared.
    """
    own = {
        (value[recall], value[cost])
        for name, value in searches.items()
        if name.startswith("NNDescent") and recall in value
    }
    curve = [p for p in sorted(own) if all(q == p or q[0] < p[0] or q[1] > p[1] for q in own)]
    ratios = {}
    for name, value in searches.items():
        if not name.startswith(("pynndescent", "hnswlib")) or recall not in value or not curve:
            continue
        recalls, costs = np.array(curve).T
        if value[recall] <= recalls[-1]:
            ours_there = np.exp(np.interp(value[recall], recalls, np.log(costs)))
            ratios[name] = float(value[cost] / ours_there), bool(value[recall] < recalls[0])
    return ratios


def record(title: str, search: str, value: dict[str, float]) -> None:
    """Write one result beside the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    searches = known.get(title, {}) | {search: value}
    libraries = ["exact products", "NNDescent", "pynndescent", "hnswlib"]
    known[title] = dict(
        sorted(
            searches.items(),
            key=lambda one: (libraries.index(one[0].partition("(")[0]), one[1]["recall"]),
        )
    )
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    """Measure the tables that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[50_000, 200_000])
    parser.add_argument("--only", choices=sorted(DATA))
    parser.add_argument("--search", default="", metavar="PATTERN")
    parser.add_argument("--ours", action="store_true")
    given = parser.parse_args()
    with threadpool_limits(1):
        for rows in given.rows:
            for table in DATA:
                if given.only in (None, table):
                    measure(table, rows, not given.ours, given.search)


if __name__ == "__main__":
    main()

"""What is measured: one `Case` a method, data set and number of rows."""

from dataclasses import dataclass, field, replace
from typing import Any

SKLEARN, TAPKEE, UMAP = "scikit-learn", "tapkee", "umap-learn"

# How an embedding of the roll is laid over its true chart. The last two bend it by nature: their
# angle to the exact answer says more.
LAID_OVER = {
    "Isomap": "similarity",
    "LandmarkIsomap": "similarity",
    "LLE": "affine",
    "LTSA": "affine",
    "HessianLLE": "affine",
    "LaplacianEigenmaps": "affine",
    "DiffusionMaps": "affine",
}
# Peers of the methods on the roll, besides scikit-learn where it has the method.
ROLL_PEERS = {
    "Isomap": (SKLEARN, TAPKEE, UMAP),
    "LandmarkIsomap": (TAPKEE,),
    "LLE": (SKLEARN, TAPKEE),
    "LTSA": (SKLEARN, TAPKEE),
    "HessianLLE": (SKLEARN, TAPKEE),
    "LaplacianEigenmaps": (SKLEARN, TAPKEE),
    "DiffusionMaps": ("pydiffmap",),
}
KNN_PEERS = (SKLEARN, "faiss-cpu", "hnswlib")
# Compiled at the first call, which takes ten to forty seconds a process.
COMPILED_LATE = (UMAP, "pynndescent")


@dataclass(frozen=True)
class Case:
    """One comparison: the same rows, the same k, every contender in turn."""

    panel: str
    method: str
    n: int
    data: str = "roll"
    k: int = 12
    d: int = 2
    peers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    variant: str = ""
    new: int = 0
    """New samples for `transform`; 0: the fit is timed."""
    peer_new: int = 0
    """Fewer rows for the peers, whose times are then scaled to `new`."""
    exact: bool = False
    """Whether the exact answer is also computed, for the angle to it."""

    @property
    def key(self) -> str:
        """Name in `results.json`."""
        variant = f" {self.variant}" if self.variant else ""
        return f"{self.panel}{variant} n={self.n}"

    @property
    def laid_over(self) -> str | None:
        """Kind of Procrustes map to the true chart, if there is one."""
        return LAID_OVER.get(self.method) if self.data == "roll" else None


def on_roll(method: str, n: int, peers: bool = True, **more: Any) -> Case:
    """Return a method on the Swiss roll; with 24 neighbours where it walks."""
    k = 24 if method == "DiffusionMaps" else 12
    named = ROLL_PEERS[method] if peers else ()
    if method == "LandmarkIsomap":
        more.setdefault("options", {"n_landmarks": min(200, n)})
    return Case(method, method, n, k=k, peers=named, **more)


def on_images(method: str, n: int, **more: Any) -> Case:
    """Return a method on synthetic pictures of 28 × 28 pixels."""
    suffix = " 784-d" if method == "LaplacianEigenmaps" else ""
    return Case(method + suffix, method, n, data="digits", **more)


def neighbors(data: str, n: int) -> Case:
    """Return a search of the 12 nearest other rows of each row."""
    flat = data == "roll"
    peers = ("scipy", *KNN_PEERS) if flat else KNN_PEERS
    if n >= 10_000:
        peers = (*peers, "pynndescent")
    return Case("kNN 3-d" if flat else "kNN 784-d", "kNN", n, data=data, peers=peers)


def transform(
    method: str, n: int, new: int, peer_new: int = 0, peers: tuple[str, ...] = (SKLEARN,)
) -> Case:
    """Return the out-of-sample extension of new rows by a model fitted on n."""
    panel = f"{method} transform"
    return Case(panel, method, n, peers=peers, new=new, peer_new=peer_new or new)


def dense(n: int) -> list[Case]:
    """Return the methods that hold n² kernel values of all columns: minutes at 10 000 rows."""
    small = n <= 2000
    return [
        on_images("ClassicalMDS", n, peers=(SKLEARN, TAPKEE), exact=small),
        on_images("KernelPCA", n, peers=(SKLEARN,), exact=small),
    ]


def curve(n: int) -> list[Case]:
    """Every other panel at one n."""
    small = n <= 2000
    return [
        *(on_roll(method, n, exact=small or method != "Isomap") for method in ROLL_PEERS),
        on_images("LaplacianEigenmaps", n, peers=(SKLEARN,), exact=small),
        on_images("PCA", n, peers=(SKLEARN, TAPKEE), exact=True),
        on_images("SpectralClustering", n, peers=(SKLEARN,)),
        neighbors("roll", n),
        neighbors("digits", n),
    ]


def large() -> list[Case]:
    """Return the sizes that only we are asked for, and the new rows."""
    return [
        transform("Isomap", 10_000, 100_000, peer_new=10_000),
        transform("LTSA", 10_000, 100_000),
        transform("LLE", 10_000, 100_000),
        transform("LaplacianEigenmaps", 10_000, 100_000, peers=()),
        replace(neighbors("roll", 100_000), peers=("scipy", SKLEARN)),
        on_roll("LandmarkIsomap", 100_000, peers=False),
        on_roll("LTSA", 100_000, peers=False),
        on_roll("HessianLLE", 100_000, peers=False),
        on_roll("LLE", 100_000, peers=False, exact=True),
        on_roll("LLE", 100_000, peers=False, options={"reg": 1e-6}, variant="reg=1e-6"),
        on_roll("Isomap", 30_000, peers=False),
        on_roll("LaplacianEigenmaps", 1_000_000, peers=False),
        on_roll("LTSA", 1_000_000, peers=False),
        replace(neighbors("roll", 1_000_000), k=10, peers=("scipy",)),
    ]


def without_compiled(case: Case) -> Case:
    """Leave out peers that numba compiles in every process."""
    return replace(case, peers=tuple(peer for peer in case.peers if peer not in COMPILED_LATE))


def full() -> list[Case]:
    """Those with a target first: a run that is cut short has them.

    Rolls of 300, 1000 and 3000 rows are in `small.py`, and approximate neighbours in
    `descent_curves.py`. What numba compiles is compared at 10 000 rows only.
    """
    fewer = [without_compiled(case) for case in [*curve(2000), *dense(2000)]]
    return [*curve(10_000), *large(), *fewer, *dense(5000)]


def largest() -> list[Case]:
    """Return what takes too long for `make bench`; `make bench-large` measures it."""
    return [on_roll("Isomap", 50_000, peers=False)]


def quick() -> list[Case]:
    """Small enough for three minutes: no peer that compiles first, and few cases of 2000 rows."""
    methods = ("Isomap", "LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps")
    larger = [replace(on_roll(method, 2000), peers=(SKLEARN,)) for method in methods]
    smaller = [*curve(1000), *dense(1000), transform("LTSA", 1000, 5000)]
    return larger + [without_compiled(case) for case in smaller]

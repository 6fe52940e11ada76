"""Peak memory of a fit, predicted from the number of rows and columns before anything is allocated.

Bytes beside X itself, with default parameters but the number of neighbours and landmarks. The
constants are measured on Swiss rolls and cubes, and judged on clusters in 20 columns
(`benchmarks/memory.py`). The sparse factor of local methods depends on the intrinsic dimension: it
is predicted from the rows, and without them that of a sheet. So are the factor by which landmarks
write the other rows, and the Newton matrix of unfolding with its rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from typing import Any

from unbend.arrays import FloatArray
from unbend.estimators.fill import predict_fill
from unbend.estimators.unfolding_memory import HIGH_RANK, dense_newton, expected_rank
from unbend.memory import check_fits, fits, is_limited
from unbend.validation.threads import threads

# A fit is refused before it begins if even this share of the prediction does not fit.
CERTAIN = 1 / 1.5
# Rows up to which pairs are kept in double precision, and bytes of a block of columns.
DOUBLE_ROWS, BLOCK = 1000, 33_000_000
# Neighbours of the defaults.
NEIGHBORS = 10


@dataclass(frozen=True)
class Peak:
    """Bytes for each row, row and column, row and neighbour, row and log n, pair, landmark."""

    row: float = 0.0
    column: float = 16.0
    neighbor: float = 0.0
    log: float = 0.0
    pair: float = 0.0
    # Of pairs up to `DOUBLE_ROWS` rows.
    small_pair: float = 0.0
    landmark: float = 0.0
    # For each landmark, row and neighbour.
    edge: float = 0.0
    landmarks: int = 0
    # Bytes of columns of landmarks that are held at a time, at most.
    block: float = float("inf")
    instead: str = "use fewer rows"
    # Where the rows are known: bytes for each number of a sparse factor and for each row beside it.
    stored: float = 0.0
    beside: float = 0.0
    # For each row if Lanczos does without a factor.
    krylov: float = 0.0
    # Whether the factor is that of an alignment kernel, which no other solver replaces.
    alignment: bool = True
    # Whether entries are blocks of the rank of an unfolded kernel.
    blocks: bool = False
    # Neighbours that write a row, at least.
    writers: int = 0

    def __call__(self, n: int, columns: int, neighbors: int, landmarks: int) -> float:
        """Predict the peak in bytes."""
        pair = self.small_pair if self.small_pair and n <= DOUBLE_ROWS else self.pair
        linear = self.row + self.column * columns + self.neighbor * neighbors
        linear += self.log * log2(max(n, 2)) * neighbors / NEIGHBORS
        held = min((self.landmark + self.edge * neighbors) * min(landmarks, n) * n, self.block)
        return n * (linear + pair * n) + held


FEWER = "use fewer neighbours, or LandmarkIsomap"
PEAKS = {
    "PCA": Peak(row=80, instead="use fit_batches"),
    "KernelPCA": Peak(row=1500, pair=8.6, instead="use eigen_solver=Nystrom(500), or PCA"),
    "RandomProjection": Peak(row=80, column=8, instead="use fit_batches"),
    "ClassicalMDS": Peak(row=640, column=38, instead="use LandmarkMDS or PCA"),
    "LandmarkMDS": Peak(
        row=90, landmark=16, landmarks=100, block=BLOCK, instead="use fewer landmarks"
    ),
    "MetricMDS": Peak(
        row=100, pair=2.1, small_pair=4.2, instead="use LandmarkMDS, or solver='sgd'"
    ),
    "NonmetricMDS": Peak(pair=72, instead="use LandmarkMDS"),
    "Isomap": Peak(row=4000, pair=4, small_pair=8, instead="use LandmarkIsomap, or LTSA"),
    "LandmarkIsomap": Peak(row=700, landmark=16, landmarks=200, instead="use fewer landmarks"),
    "MVU": Peak(log=850, instead="use LandmarkMVU", stored=18.5, blocks=True),
    "LandmarkMVU": Peak(
        landmark=25,
        edge=15,
        landmarks=50,
        instead="use fewer landmarks, or LandmarkIsomap",
        stored=18,
        beside=2000,
        writers=12,
    ),
    **dict.fromkeys(
        ("LLE", "SupervisedLLE", "LTSA", "HessianLLE"),
        Peak(log=180, instead=FEWER, stored=18, beside=700),
    ),
    "RigidAlignment": Peak(log=200, instead=FEWER, stored=18, beside=1700),
    "LaplacianEigenmaps": Peak(
        row=1090, log=40, instead=FEWER, stored=13, beside=1090, krylov=1000, alignment=False
    ),
    "DiffusionMaps": Peak(log=89, instead=FEWER),
    "NeighborEmbedding": Peak(row=7400, instead="use a smaller perplexity, or fewer rows"),
}


def predict_peak(
    estimator: Any, n: int, columns: int, rows: FloatArray | None = None
) -> int | None:
    """Predict the peak memory of a fit to n rows, in bytes; None where there is no prediction.

    With the rows themselves the sparse factor of a local method is counted for a sample of them;
    without them it is that of a sheet.

    Examples
    --------
    >>> import unbend
    >>> predict_peak(unbend.Isomap(), 10_000, 3) // 10**6
    440
    """
    peak = PEAKS.get(type(estimator).__name__)
    # Parameters are attributes; asking scikit-learn for them takes longer than some fits.
    given = vars(estimator)
    plain = isinstance(given.get("eigen_solver", "auto"), str) and not given.get("denoise")
    plain &= given.get("solver") != "sgd" and given.get("metric") not in OTHER_INPUT
    plain &= given.get("kernel", "rbf") == "rbf"
    plain &= type(estimator).__name__ != "ClassicalMDS" or given["metric"] == "euclidean"
    if peak is None or not plain:
        return None
    neighbors, landmarks = given.get("n_neighbors"), given.get("n_landmarks")
    neighbors = neighbors if isinstance(neighbors, int) else NEIGHBORS
    landmarks = landmarks if isinstance(landmarks, int) else peak.landmarks
    sheet = peak(n, columns, neighbors, landmarks)
    if rows is None or not peak.stored:
        return int(sheet)
    filled = _predict_filled(peak, given, rows, max(neighbors, peak.writers))
    if not peak.writers:
        return int(filled)
    # The factor by which landmarks write all rows is gone when their kernel is unfolded.
    return int(max(filled, sheet + dense_newton(min(landmarks, n), rows)))


def _predict_filled(
    peak: Peak, given: Mapping[str, Any], rows: FloatArray, neighbors: int
) -> float:
    """Predict the peak of a method with a sparse factor from the rows."""
    n, columns = rows.shape
    jobs = threads(given.get("n_jobs"))
    if peak.blocks:
        stored = predict_fill(rows, neighbors, bool(given["complete"]), None, threads=jobs)
        stored *= expected_rank(given, rows) ** 2
    else:
        wanted = given["n_components"] + 1
        stored = predict_fill(rows, neighbors, peak.alignment, wanted, threads=jobs)
    linear = peak.column * columns + peak.beside + (0.0 if stored else peak.krylov)
    return float(n * linear + peak.stored * stored)


# Words that change what X is: then it has pairs already.
OTHER_INPUT = ("precomputed", "kernel", "affinity")


def check_peak(estimator: Any, rows: FloatArray) -> None:
    """Refuse a fit that certainly does not fit in memory, before anything is allocated."""
    n, columns = rows.shape
    # No fit to so few rows is large, and asking takes longer than some fits.
    size = predict_peak(estimator, n, columns) if n > DOUBLE_ROWS or is_limited() else None
    if size is None:
        return
    name = type(estimator).__name__
    peak = PEAKS[name]
    _check(size, name, n)
    # A full triangle is the worst: where that fits, the rows need not be looked at.
    full = peak.stored * n * n / 2 * (HIGH_RANK**2 if peak.blocks else 1)
    if peak.stored and peak.alignment and not fits(int(full)):
        _check(predict_peak(estimator, n, columns, rows) or 0, name, n)


def _check(size: int, name: str, n: int) -> None:
    check_fits(int(CERTAIN * size), f"fits of {name} to {n} rows", PEAKS[name].instead)

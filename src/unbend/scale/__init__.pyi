# Written by `python -m tests.scale.stub` from the declared parameters; a test compares.

from typing import Any, Literal

from unbend.scale.collections import Partitions as Partitions
from unbend.scale.collections import open_rows as open_rows
from unbend.scale.cost import Cost as Cost
from unbend.scale.cost import estimate_cost as estimate_cost
from unbend.scale.estimators import ExactEstimator, SampledEstimator
from unbend.scale.mapping import map_rows as map_rows
from unbend.scale.neighbors import nearest_neighbors as nearest_neighbors
from unbend.scale.quality import SampledQuality as SampledQuality
from unbend.scale.quality import measure_quality as measure_quality

class PCA(ExactEstimator):
    n_components: Any
    svd_solver: str
    tol: float
    max_iter: int
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        n_components: Any = ...,
        *,
        svd_solver: str = ...,
        tol: float = ...,
        max_iter: int = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...

class KernelPCA(SampledEstimator):
    n_components: int
    eigen_solver: Any
    random_state: Any
    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    preimage: str
    alpha: float
    n_jobs: int | None
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        kernel: Any = ...,
        gamma: float | None = ...,
        degree: float = ...,
        coef0: float = ...,
        kernel_params: dict[str, Any] | None = ...,
        preimage: str = ...,
        alpha: float = ...,
        n_jobs: int | None = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class RandomProjection(ExactEstimator):
    n_components: Any
    kind: Any
    density: Any
    orthogonalize: bool
    svd: bool
    eps: float
    beta: float
    random_state: Any
    def __init__(
        self,
        n_components: Any = ...,
        *,
        kind: Any = ...,
        density: Any = ...,
        orthogonalize: bool = ...,
        svd: bool = ...,
        eps: float = ...,
        beta: float = ...,
        random_state: Any = ...,
    ) -> None: ...

class ClassicalMDS(SampledEstimator):
    n_components: int
    eigen_solver: Any
    random_state: Any
    metric: Any
    metric_params: dict[str, Any] | None
    repair: str | None
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        repair: str | None = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LandmarkMDS(SampledEstimator):
    n_components: int
    metric: Any
    metric_params: dict[str, Any] | None
    n_landmarks: Any
    landmarks: str
    variant: str
    n_jobs: int | None
    random_state: Any
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        n_landmarks: Any = ...,
        landmarks: str = ...,
        variant: str = ...,
        n_jobs: int | None = ...,
        random_state: Any = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class MetricMDS(SampledEstimator):
    n_components: int
    metric: Any
    metric_params: dict[str, Any] | None
    repair: str | None
    init: Any
    n_init: int
    max_iter: int
    tol: Any
    random_state: Any
    n_jobs: int | None
    loss: str
    solver: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        repair: str | None = ...,
        init: Any = ...,
        n_init: int = ...,
        max_iter: int = ...,
        tol: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        loss: str = ...,
        solver: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class NonmetricMDS(SampledEstimator):
    n_components: int
    metric: Any
    metric_params: dict[str, Any] | None
    repair: str | None
    init: Any
    n_init: int
    max_iter: int
    tol: Any
    random_state: Any
    n_jobs: int | None
    transformation: str
    ties: str
    solver: str
    loss: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        repair: str | None = ...,
        init: Any = ...,
        n_init: int = ...,
        max_iter: int = ...,
        tol: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        transformation: str = ...,
        ties: str = ...,
        solver: str = ...,
        loss: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class Isomap(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    repair: str | None
    directed: bool
    precision: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        repair: str | None = ...,
        directed: bool = ...,
        precision: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LandmarkIsomap(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    n_landmarks: Any
    landmarks: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        n_landmarks: Any = ...,
        landmarks: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class MVU(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    constraint: str
    slack: float
    nu: float | None
    tol: float
    denoise: Any
    complete: bool
    solver: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        constraint: str = ...,
        slack: float = ...,
        nu: float | None = ...,
        tol: float = ...,
        denoise: Any = ...,
        complete: bool = ...,
        solver: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LandmarkMVU(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    constraint: str
    slack: Any
    nu: float | None
    tol: float
    denoise: Any
    n_landmarks: Any
    landmarks: str
    basis: str
    weight_neighbors: Any
    reg: float
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        constraint: str = ...,
        slack: Any = ...,
        nu: float | None = ...,
        tol: float = ...,
        denoise: Any = ...,
        n_landmarks: Any = ...,
        landmarks: str = ...,
        basis: str = ...,
        weight_neighbors: Any = ...,
        reg: float = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LLE(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    reg: float
    nonnegative: bool
    denoise: Any
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        reg: float = ...,
        nonnegative: bool = ...,
        denoise: Any = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class SupervisedLLE(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    t: float
    reg: float
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        t: float = ...,
        reg: float = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LTSA(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class HessianLLE(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class RigidAlignment(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    max_iter: int
    tol: float
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        max_iter: int = ...,
        tol: float = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class LaplacianEigenmaps(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    weights: Any
    t: float | None
    symmetrization: Literal["max", "min", "mean"]
    normalization: str
    denoise: Any
    graph_solver: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        weights: Any = ...,
        t: float | None = ...,
        symmetrization: Literal["max", "min", "mean"] = ...,
        normalization: str = ...,
        denoise: Any = ...,
        graph_solver: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class DiffusionMaps(SampledEstimator):
    n_components: Any
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    denoise: Any
    kind: str
    alpha: float | None
    weights: Any
    bandwidth: float | None
    scale_neighbor: int | None
    diffusion_time: float
    delta: float | None
    threshold: float
    normalization: str
    graph_solver: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: Any = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        denoise: Any = ...,
        kind: str = ...,
        alpha: float | None = ...,
        weights: Any = ...,
        bandwidth: float | None = ...,
        scale_neighbor: int | None = ...,
        diffusion_time: float = ...,
        delta: float | None = ...,
        threshold: float = ...,
        normalization: str = ...,
        graph_solver: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class NeighborEmbedding(SampledEstimator):
    n_components: int
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    connect: str
    short_circuits: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    perplexity: float
    exaggeration: Any
    init: Any
    early_exaggeration: float
    max_iter: int
    tol: float
    gradient_error: float
    pca_columns: int | None
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_components: int = ...,
        *,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        connect: str = ...,
        short_circuits: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        perplexity: float = ...,
        exaggeration: Any = ...,
        init: Any = ...,
        early_exaggeration: float = ...,
        max_iter: int = ...,
        tol: float = ...,
        gradient_error: float = ...,
        pca_columns: int | None = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

class SpectralClustering(SampledEstimator):
    n_clusters: int
    method: str
    assign_labels: str
    n_neighbors: Any
    radius: float | None
    mutual: bool
    neighbors_algorithm: Any
    metric: Any
    metric_params: dict[str, Any] | None
    weights: Any
    t: float | None
    connect: str
    eigen_solver: Any
    random_state: Any
    n_jobs: int | None
    graph_solver: str
    sample: int | None
    sampling: str
    held_out: int
    def __init__(
        self,
        n_clusters: int = ...,
        *,
        method: str = ...,
        assign_labels: str = ...,
        n_neighbors: Any = ...,
        radius: float | None = ...,
        mutual: bool = ...,
        neighbors_algorithm: Any = ...,
        metric: Any = ...,
        metric_params: dict[str, Any] | None = ...,
        weights: Any = ...,
        t: float | None = ...,
        connect: str = ...,
        eigen_solver: Any = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        graph_solver: str = ...,
        sample: int | None = ...,
        sampling: str = ...,
        held_out: int = ...,
    ) -> None: ...

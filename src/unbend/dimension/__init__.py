"""Intrinsic dimension of the data, as a whole and near each row (book section 1.4).

Every function takes points (any table of numbers), distances (``metric="precomputed"``), any metric
of `unbend.neighbors` or a `Space`, and returns a `Dimension`: the estimate, its standard error, the
estimate at each row, and the curve it was read from. Copies of rows count once; rows far from all
others change nothing. `unbend.dimension.estimators` has a scikit-learn estimator for each;
`unbend.dimension.curse` says why high dimensions are different (book section 1.3).

No estimate is right for all data. Ask several: `multiscale_svd` where there is noise,
`u_statistic`, `mle` and `two_nn` where there is none, `pca` for the dimension of the flat space
that holds the data: with its default threshold that leaves out short directions, and is no bound.
"""

from unbend.dimension import curse
from unbend.dimension.convergence import u_statistic
from unbend.dimension.correlation_sum import correlation
from unbend.dimension.likelihood import mle, two_nn
from unbend.dimension.linear import local_pca, pca
from unbend.dimension.multiscale import multiscale_svd
from unbend.dimension.packing import capacity
from unbend.dimension.trees import entropic_graph
from unbend.dimension.value import Curve, Dimension

__all__ = [
    "Curve",
    "Dimension",
    "capacity",
    "correlation",
    "curse",
    "entropic_graph",
    "local_pca",
    "mle",
    "multiscale_svd",
    "pca",
    "two_nn",
    "u_statistic",
]

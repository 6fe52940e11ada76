"""How many dimensions data have."""

from unbend.dimension.convergence import u_statistic
from unbend.dimension.likelihood import mle, two_nn
from unbend.dimension.linear import local_pca, pca
from unbend.dimension.packing import capacity
from unbend.dimension.scaling import correlation
from unbend.dimension.trees import entropic_graph

__all__ = ["correlation", "mle", "two_nn", "u_statistic"]

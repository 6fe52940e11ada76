"""How many dimensions data have."""

from unbend.dimension.convergence import u_statistic
from unbend.dimension.likelihood import mle, two_nn
from unbend.dimension.scaling import correlation

__all__ = ["correlation", "mle", "two_nn", "u_statistic"]

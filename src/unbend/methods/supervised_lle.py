"""Supervised locally linear embedding."""

from typing import ClassVar, final

import numpy as np

from unbend.estimators.kernel import KernelEmbedding, LocalKernel
from unbend.estimators.neighborhood import Component
from unbend.methods.lle import LLE, lle_kernel, reconstruction_weights
from unbend.report import note
from unbend.validation.parameters import Real, declare, inherit, param


@final
@declare
class SupervisedLLE(KernelEmbedding):
    """Supervised LLE: points are written more by the neighbours of their own class.

    W = (1 − t) Wᵉ + t Wᵒ: Wᵉ are the weights of LLE, Wᵒ those with the neighbours of a row's own
    class only. A row whose class is unknown (-1, NaN or None), or that has no neighbour of its
    class, keeps its row of Wᵉ. At t = 0, and if no class is known, it is LLE; at t = 1 the kernel
    is block diagonal, as many eigenvalues vanish as there are classes, and each class becomes a
    point (book, Theorem 10.1).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates: orthogonal vectors of unit length.

    References
    ----------
    de Ridder et al., ICANN/ICONIP (2003). Book section 10.3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import unbend
    >>> X, y = load_iris(return_X_y=True)
    >>> flat = unbend.SupervisedLLE(n_neighbors=30, t=0.5).fit_transform(X, y)
    >>> flat.shape
    (150, 2)
    """

    t: float = param(0.5, Real(0, closed=True, high=1), help="Share of the weights within classes.")
    reg: float = inherit(LLE, "reg")
    local_blocks: ClassVar[bool] = True
    supervised: ClassVar[bool] = True

    def _kernel(self, component: Component) -> LocalKernel:
        space, neighbors, labels = component.space, component.neighbors, component.labels
        assert labels is not None
        rows = neighbors.rows
        own = labels[rows]
        same = (own >= 0) & (own == labels[neighbors.indices])
        alone = np.bincount(rows[same], minlength=component.n) == 0
        kept = same | alone[rows]
        note(rows_without_class_neighbors=int(alone.sum()), classes=int(labels.max()) + 1)
        everywhere, inside = (
            reconstruction_weights(space, some, self.reg, threads=component.block_threads)
            for some in (neighbors, neighbors.select(kept))
        )
        everywhere.data *= 1.0 - self.t
        everywhere.data[kept] += self.t * inside.data
        # With t = 1 no entry joins two classes.
        weights = everywhere if self.t < 1 else inside
        # With t = 1 every class has a constant of its own.
        nullity = self.n_components + (max(0, int(labels.max())) if self.t == 1 else 0)
        return lle_kernel(component, weights, self.reg, nullity)

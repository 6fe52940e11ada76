"""What the laws of the stages are tried on, and the rounding that they are judged by."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

EPS = float(np.finfo(np.float64).eps)
LAW = settings()  # of the profile: see tests/conftest.py

# A generator by its seed: what fails can be repeated, and no seed is chosen.
rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def lattice(rng, n, columns, values=3):
    """Whole numbers: many ties and duplicates, and every square and sum is exact."""
    return rng.integers(0, values, (n, columns)).astype(float)


def blobs(rng, sizes, columns=2, gap=20.0):
    """Draw groups of points around centres at least `gap` apart, and the group of each."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    centres = np.zeros((len(sizes), columns))
    centres[:, 0] = gap * rng.permutation(len(sizes))
    return centres[labels] + rng.uniform(-1, 1, (len(labels), columns)), labels


def random_graph(rng, n, edges, zeros=0.2):
    """Directed lengths, infinite where there is no edge; some edges have length zero."""
    lengths = np.full((n, n), np.inf)
    rows, columns = rng.integers(0, n, (2, edges))
    lengths[rows, columns] = np.where(rng.random(edges) < zeros, 0.0, rng.random(edges))
    np.fill_diagonal(lengths, np.inf)
    return lengths


def sparse(lengths):
    """Store the finite entries, zeros too."""
    rows, columns = np.nonzero(np.isfinite(lengths))
    return csr_array(coo_array((lengths[rows, columns], (rows, columns)), shape=lengths.shape))

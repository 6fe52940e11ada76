"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.mvu.certificate import Certificate, certify
from unbend.mvu.edges import Edges, locally_complete, of_graph
from unbend.mvu.landmarks import unfold_spanned
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.solve import Unfolding, unfold
from unbend.mvu.spanned import Spanned

__all__ = [
    "Certificate",
    "Edges",
    "Inequality",
    "Relaxation",
    "Soft",
    "Spanned",
    "Unfolding",
    "certify",
    "locally_complete",
    "of_graph",
    "unfold",
    "unfold_spanned",
]

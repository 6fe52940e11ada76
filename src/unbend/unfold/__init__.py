"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.unfold.certificate import Certificate, certify
from unbend.unfold.edges import Edges, locally_complete, of_graph
from unbend.unfold.landmarks import unfold_spanned
from unbend.unfold.relaxation import Inequality, Relaxation, Soft
from unbend.unfold.solve import Unfolding, unfold
from unbend.unfold.spanned import Spanned

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

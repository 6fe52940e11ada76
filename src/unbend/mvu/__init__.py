"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.mvu.certificate import Certificate, certify
from unbend.mvu.edges import Edges, Spanned, locally_complete, of_graph
from unbend.mvu.landmark_sdp import unfold_spanned
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.sdp import Unfolding, unfold

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

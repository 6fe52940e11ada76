"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.mvu.certificate import Certificate, certify
from unbend.mvu.edges import Edges, SubspaceEdges, complete_neighborhoods, graph_edges
from unbend.mvu.landmark_sdp import unfold_in_span
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.sdp import Unfolding, unfold

__all__ = [
    "Certificate",
    "Edges",
    "Inequality",
    "Relaxation",
    "Soft",
    "SubspaceEdges",
    "Unfolding",
    "certify",
    "complete_neighborhoods",
    "graph_edges",
    "unfold",
    "unfold_in_span",
]

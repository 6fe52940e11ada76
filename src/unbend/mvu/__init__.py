"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.mvu.certificate import Certificate, certify
from unbend.mvu.edges import Edges, SubspaceEdges, complete_neighborhoods, graph_edges
from unbend.mvu.landmark_sdp import unfold_in_span
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.sdp import Unfolding, unfold
from unbend.mvu.semidefinite import SemidefiniteSolution, solve_semidefinite

__all__ = [
    "Certificate",
    "Edges",
    "Inequality",
    "Relaxation",
    "SemidefiniteSolution",
    "Soft",
    "SubspaceEdges",
    "Unfolding",
    "certify",
    "complete_neighborhoods",
    "graph_edges",
    "solve_semidefinite",
    "unfold",
    "unfold_in_span",
]

"""Maximum variance unfolding: semidefinite programs on graphs of lengths, with certificates."""

from unbend.unfold.certificate import Certificate, certify
from unbend.unfold.edges import Edges
from unbend.unfold.relaxation import Inequality, Relaxation, Soft
from unbend.unfold.solve import Unfolding, unfold

__all__ = [
    "Certificate",
    "Edges",
    "Inequality",
    "Relaxation",
    "Soft",
    "Unfolding",
    "certify",
    "unfold",
]

"""Neighbour indexes: exact by a KD-tree or matrix products, approximate by NN-descent, or yours."""

from unbend.neighbors.index.brute_force import BruteForce
from unbend.neighbors.index.choice import AutoIndex
from unbend.neighbors.index.kd_tree import KDTree
from unbend.neighbors.index.nn_descent import NNDescent
from unbend.neighbors.index.protocol import NeighborIndex

__all__ = ["AutoIndex", "BruteForce", "KDTree", "NNDescent", "NeighborIndex"]

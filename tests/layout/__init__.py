"""Tests of attraction and repulsion, affinities and descent."""

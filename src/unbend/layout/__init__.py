"""Layouts by attraction along a graph and repulsion between all points: t-SNE and its relatives.

`affinities` turns neighbours into probabilities, `order` numbers rows by them, `start` places rows
first, `repulsion` sums forces between all points, `descent` minimises the Kullback–Leibler
divergence, and `placement` adds new samples.
"""

"""Layouts by attraction along a graph and repulsion between all points: t-SNE and its relatives.

`affinities` turns neighbours into probabilities, `repulsion` sums forces between all points,
`descent` minimises the Kullback–Leibler divergence.
"""

"""Parameters that several plots share, as their docstrings describe them."""

PARAMETERS = {
    "X": 'array (n, D) or (n, n)\n    The data, or with ``metric="precomputed"`` their distances.',
    "embedding": "array (n, p) or fitted estimator\n    The coordinates.",
    "metric": 'str or callable\n    Metric of the data; "precomputed" if X holds distances.',
    "color": "array (n,) or (n, 2), optional\n    Labels, values or a chart, as for `scatter`.",
    "method": (
        "str, estimator or class, optional\n"
        "    Method that computed the embedding, as for `scatter`."
    ),
    "random_state": "int\n    Seed of the random sample of rows.",
    "title": "str, optional\n    Title.",
    "ax": "Axes, optional\n    Axes to draw on; by default a new figure.",
}
FIGURE = "Figure\n    The figure; it is not shown."

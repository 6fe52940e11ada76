"""Measures of quality against oracles and laws."""

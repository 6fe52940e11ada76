"""Searches for nearest neighbours: exact by products, approximate by descent."""

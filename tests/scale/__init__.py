"""Tests of unbend.scale, on Dask."""

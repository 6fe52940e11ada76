"""Tests of the preparation of tables."""

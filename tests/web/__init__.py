"""Tests of the local page and its server."""

"""Slow, dense, plainly written reference versions that the fast library is tested against."""

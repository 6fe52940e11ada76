"""Tests of the curse of dimensionality and of the intrinsic dimension."""

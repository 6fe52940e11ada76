"""Tests of unbend."""

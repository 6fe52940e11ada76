"""Hypothesis profiles: few examples by default, more with ``--hypothesis-profile=slow``."""

from hypothesis import settings

settings.register_profile("few", max_examples=8, deadline=None)
settings.register_profile("slow", max_examples=30, deadline=None)
settings.load_profile("few")

"""Positions of sensors from noisy distances between neighbours."""

from unbend.localization.localization import Localization, localize
from unbend.localization.springs import Layout, Springs

__all__ = ["Layout", "Localization", "Springs", "localize"]

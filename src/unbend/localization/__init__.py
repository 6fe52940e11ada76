"""Positions of sensors from noisy distances between neighbours."""

from unbend.localization.localization import Localization, localize
from unbend.localization.springs import Refined, Springs

__all__ = ["Localization", "Refined", "Springs", "localize"]

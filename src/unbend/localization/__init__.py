"""Positions of sensors from noisy distances between neighbours."""

from unbend.localization.localize import localize
from unbend.localization.result import Localization
from unbend.localization.springs import Refined, Springs

__all__ = ["Localization", "Refined", "Springs", "localize"]

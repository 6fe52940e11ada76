"""Positions of sensors from noisy distances between neighbours."""

from unbend.sensors.localize import localize
from unbend.sensors.result import Localization
from unbend.sensors.springs import Refined, Springs

__all__ = ["Localization", "Refined", "Springs", "localize"]

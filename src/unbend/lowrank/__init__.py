"""Few directions that hold most of a matrix."""

from unbend.lowrank.principal import PrincipalAxes, dual_axes, em_axes, sensible_axes

__all__ = ["PrincipalAxes", "dual_axes", "em_axes", "sensible_axes"]

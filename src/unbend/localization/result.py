"""Where sensors are, and how well that is known."""

from dataclasses import dataclass

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.report import Report


@dataclass(frozen=True, eq=False)
class Localization:
    """Positions of sensors, and what is known of their errors.

    Attributes
    ----------
    positions : array (n, dim)
        Absolute where `absolute` says so; elsewhere known up to a rigid motion of the component.
    component : array (n,)
        Connected part of the network that each sensor is in, the largest first. Parts without
        anchors lie side by side, and nothing is known of where they are to each other.
    absolute : array (n,) of bool
        Whether the anchors of the sensor's component fix its position.
    determined : array (n,) of bool
        Whether a sensor is in the part of its component (the largest, or that of the anchors) that
        exact distances would determine up to a rigid motion. All others could be mirrored, or
        turned, alone or together, and keep their distances.
    errors : array (n,)
        Expected distance of each sensor from its true position, by the residuals and by how well
        the distances hold it, near the minimum that was found: with anchors that fix it, as it
        is; else up to a rigid motion. NaN for a sensor that is not determined.
    expected_error : float
        Root mean square of `errors` over the sensors that have one.
    ambiguity : array (n,)
        Distance of each sensor to where another start put it, in the layout farthest away among
        those that fit the distances as well; zero where all starts that fit agree.
    noise : float
        Estimated relative (or, with weights given, weighted) error of a distance.
    anchor_error : float
        Root mean square distance of placed anchors from where they were said to be; NaN without.
    stress : float
        ½ Σ w (|yᵢ − yⱼ| − d)² over the distances.
    start : tuple of str
        What the refinement of each component began with.
    report : Report
        What every stage did.
    """

    positions: FloatArray
    component: IntArray
    absolute: BoolArray
    determined: BoolArray
    errors: FloatArray
    expected_error: float
    ambiguity: FloatArray
    noise: float
    anchor_error: float
    stress: float
    start: tuple[str, ...]
    report: Report

    def __str__(self) -> str:
        parts = int(self.component.max()) + 1
        lines = [
            f"{len(self.positions)} sensors in {parts} component{'s' if parts > 1 else ''}",
            f"  expected error {self.expected_error:.3g}, noise of a distance {self.noise:.2g}",
            f"  absolute {int(self.absolute.sum())}, not determined "
            f"{int((~self.determined).sum())}",
        ]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.report.warnings)])

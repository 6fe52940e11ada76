"""The parameter `denoise`: what every fit must know of denoising, without the stage itself."""

from dataclasses import dataclass
from typing import Any

from unbend.validation.parameters import FLAG, MAPPING, Choice, param
from unbend.validation.scalars import check_integer, suggest_name

AUTO = "auto"
# Landmarks at most, where a method names no number of its own.
MOST_LANDMARKS = 2500
# Rows at most that are fitted as they are in a trial: of more rows, noise hides the surface.
TRIED_ROWS = 25_000


def denoise_param() -> Any:
    """Declare `denoise`."""
    return param(
        False,
        Choice(AUTO),
        FLAG,
        MAPPING,
        help="Whether to fit landmarks projected onto the surface that the rows surround, and to "
        "place all rows by the extension. 'auto' does so where noise is wide against "
        "neighbourhoods and leaves clusters and rows without noise alone; a dict overrides "
        "`patch_size`, `n_landmarks` or the `dimension` of the surface (n_components).",
    )


@dataclass(frozen=True)
class DenoiseOptions:
    """What the user asked for; None where it is left open."""

    always: bool
    patch_size: int | None = None
    n_landmarks: int | None = None
    dimension: int | None = None

    @classmethod
    def read(cls, value: Any) -> "DenoiseOptions | None":
        """Read the parameter of an estimator; None for False."""
        if value is False:
            return None
        given = value if isinstance(value, dict) else {}
        for name, number in given.items():
            if name not in ("patch_size", "n_landmarks", "dimension"):
                near = suggest_name(str(name), ("patch_size", "n_landmarks", "dimension"))
                meant = near or "patch_size, n_landmarks or dimension"
                raise ValueError(f"denoise has no {name!r}: use {meant}")
            check_integer(f"denoise[{name!r}]", number)
        return cls(value != AUTO, **{name: int(number) for name, number in given.items()})

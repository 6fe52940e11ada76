"""Numbers that compiled loops take on trust: each is looked at before it reaches them."""

import numbers


def whole(number: object) -> bool:
    """Whether something is an integer, of Python or of NumPy; a truth value is none."""
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


def check_count(k: object, most: int) -> None:
    """Refuse a number of neighbours that there are not."""
    if not whole(k) or not 1 <= k <= most:  # type: ignore[operator]
        raise ValueError(
            f"the number of neighbours must be a whole number from 1 to {most}, since there are "
            f"no more rows: it is {k!r}"
        )


def check_radius(radius: float) -> None:
    """Refuse a radius that is no length."""
    if not radius >= 0:
        raise ValueError(f"the radius must be a number that is not negative: it is {radius!r}")


def check_threads(threads: object) -> None:
    """Refuse a number of threads that cannot be started."""
    if not whole(threads) or threads < 1:  # type: ignore[operator]
        raise ValueError(f"the number of threads must be a whole number from 1: it is {threads!r}")

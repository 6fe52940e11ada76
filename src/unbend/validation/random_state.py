"""Random generators: the meaning of `random_state`."""

from typing import Any, TypeAlias

import numpy as np

from unbend.validation.scalars import at_least, is_integer, refusal

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

# Streams of our own: data drawn with the same seed must not be correlated with our draws.
FITS, DIMENSIONS = 0x756E62656E64, 0x64696D


def generator(random_state: Any, stream: int | None = FITS) -> np.random.Generator:
    """Make a generator of a `random_state`; None uses a fixed seed, so results are reproducible.

    Integers seed the given stream, or NumPy's generator directly where it is None.

    Examples
    --------
    >>> int(generator(3).integers(100)) == int(generator(3).integers(100))
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    seed = 0 if random_state is None else random_state
    if not is_integer(seed) or seed < 0:
        error = ValueError if is_integer(seed) else TypeError
        allowed = f"None or {at_least(0)} or a numpy Generator or RandomState"
        raise error(refusal("random_state", random_state, allowed))
    return np.random.default_rng(int(seed) if stream is None else (stream, int(seed)))

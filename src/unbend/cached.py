"""Properties computed once, without a lock.

That of `functools` holds a lock of the class while it computes, before Python 3.12: two fits in
threads wait for each other, and a child forked during a fit waits for ever.
"""

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """A property computed once for each object."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Return the value, which is computed the first time."""
            if instance is None:
                return self
            values = vars(instance)
            if self.attrname not in values:
                values[self.attrname] = self.func(instance)
            return values[self.attrname]


__all__ = ["cached_property"]

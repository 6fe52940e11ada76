"""Cases that one test loops over, and cases that only `make check-slow` runs."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def _split(names: str | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def each(
    names: str | tuple[str, ...], cases: Iterable[Any], keep: int | None = None
) -> Callable[[Test], Test]:
    """Loop over cases inside one test, where `pytest.mark.parametrize` makes a test of each.

    Fixtures are shared by the cases, and a failure names its case. With `keep`, a second
    test, which is slow, loops over the cases after the first `keep`.
    """
    split, all_cases = _split(names), list(cases)
    chosen = "_".join([*split, "cases"])

    def arguments(case: Any) -> dict[str, Any]:
        return dict(zip(split, case if len(split) > 1 else (case,), strict=True))

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def loop(**given: Any) -> None:
            skipped, these = 0, given.pop(chosen, all_cases)
            for case in these:
                try:
                    test(**given, **arguments(case))
                except pytest.skip.Exception:
                    skipped += 1
                    if skipped == len(these):
                        raise
                except BaseException as error:
                    error.add_note(f"in the case {arguments(case)}")
                    raise

        signature = inspect.signature(test)
        own = [p for name, p in signature.parameters.items() if name not in split]
        if keep is not None:
            own.append(inspect.Parameter(chosen, inspect.Parameter.KEYWORD_ONLY))
        loop.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        if keep is None:
            return loop
        halves = [
            pytest.param(all_cases[:keep], id="first"),
            pytest.param(all_cases[keep:], id="rest", marks=pytest.mark.slow),
        ]
        return pytest.mark.parametrize(chosen, halves)(loop)

    return decorate


def sampled(
    names: str | tuple[str, ...], cases: Iterable[Any], keep: int = 1, **options: Any
) -> pytest.MarkDecorator:
    """Parametrise as `pytest.mark.parametrize` does; the cases after the first `keep` are slow."""
    several = len(_split(names)) > 1
    marked = [
        case if i < keep else pytest.param(*(case if several else (case,)), marks=pytest.mark.slow)
        for i, case in enumerate(cases)
    ]
    return pytest.mark.parametrize(names, marked, **options)

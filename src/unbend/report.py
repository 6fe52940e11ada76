"""Reports of fits: sizes, seconds and bytes of every stage, and all warnings."""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from unbend.progress import advance, callback_var

Fact = str | int | float | bool | list[float] | None


class Deferred:
    """A value that is computed when it is first called for.

    Examples
    --------
    >>> later = Deferred(lambda: 3.0)
    >>> later()
    3.0
    """

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute: Callable[[], Any] | None = compute
        self._value: Any = None

    def __call__(self) -> Any:
        """Return the value; what it was computed from is let go."""
        # Of two threads that ask at once both compute it.
        compute = self._compute
        if compute is not None:
            self._value = compute()
            self._compute = None
        return self._value


@dataclass
class Stage:
    """One stage of a fit; `facts` that nobody may ask for are computed when first read."""

    name: str
    seconds: float = 0.0
    bytes: int = 0
    facts: dict[str, Fact] = field(default_factory=dict)

    def defer(self, compute: Callable[[], Mapping[str, Fact]]) -> None:
        """Add facts that are computed when `facts` is first read.

        Examples
        --------
        >>> distortion = Stage("distortion")
        >>> distortion.defer(lambda: {"mean": 1.0})
        >>> distortion.facts
        {'mean': 1.0}
        """
        if "_deferred" not in vars(self):
            vars(self)["_deferred"] = (self.facts, [])
            del self.facts
        vars(self)["_deferred"][1].append(compute)

    @property
    def known(self) -> dict[str, Fact]:
        """Facts that need not be computed any more."""
        return vars(self)["_deferred"][0] if "_deferred" in vars(self) else self.facts

    def __getattr__(self, name: str) -> Any:
        # Reached only for what is not there: `facts` that were deferred.
        if name != "facts" or "_deferred" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        known, computes = vars(self)["_deferred"]
        for compute in computes:
            known = {**known, **compute()}
        self.facts = known
        del vars(self)["_deferred"]
        return known

    def __getstate__(self) -> dict[str, Any]:
        """Compute what was deferred: functions are not pickled."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass
class Report:
    """The record of one fit: printable, and JSON through `to_json`.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(300, random_state=0).points
    >>> report = unbend.LTSA(n_neighbors=8).fit(X).report_
    >>> [stage.name for stage in report.stages]
    ['neighbors', 'graph', 'kernel', 'spectrum', 'coordinates']
    >>> report.stage("neighbors").facts["rows"]
    300
    """

    title: str
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def stage(self, name: str) -> Stage:
        """Return the last stage of that name."""
        for stage in reversed(self.stages):
            if stage.name == name:
                return stage
        raise KeyError(name)

    def to_dict(self) -> dict[str, object]:
        """Return plain dictionaries and lists; non-finite numbers become None."""
        plain: dict[str, object] = _finite(asdict(self))
        return plain

    def to_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the title, a line for each stage, and the warnings."""
        lines = [self.title]
        for stage in self.stages:
            facts = ", ".join(f"{name} {_format_fact(fact)}" for name, fact in stage.facts.items())
            size = f" {stage.bytes / 1e6:8.1f} MB" if stage.bytes else " " * 12
            lines.append(f"  {stage.name:<12}{stage.seconds:8.3f} s{size}  {facts}")
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return lines

    def _repr_html_(self) -> str:
        """HTML table of the stages, in the colours of the surrounding page."""
        seconds = sum(stage.seconds for stage in self.stages)
        return html_table(
            f"{self.title}, {seconds:.3f} s",
            ("stage", "seconds", "memory", "notes"),
            [_cells(stage) for stage in self.stages],
            warnings=self.warnings,
        )


# Colours are those of the page, except for the border of warnings.
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;margin:.5em 0"
_CAPTION = "caption-side:top;text-align:left;font-weight:bold;color:inherit;padding:.2em .6em"
_CELL = "text-align:left;padding:.2em .6em;border-bottom:1px solid rgba(128,128,128,.4)"
_LIST = "padding-left:1.5em;margin:.5em 0;color:inherit"
_WARNED = f"border-left:3px solid #c77700;{_LIST}"


def html_table(
    title: str,
    heads: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    *,
    sentences: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Return a result as HTML for notebooks: a title, sentences, a table and warnings.

    Every result with a `_repr_html_` is made here, and here all text is escaped.

    Examples
    --------
    >>> html_table("a < b", ["name"], [["x"]]).count("&lt;")
    1
    """
    top = "".join(f"<th style='{_CELL}'>{escape(head)}</th>" for head in heads)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        "<div class='unbend-report' style='overflow-x:auto'>"
        f"<table style='{_TABLE}'><caption style='{_CAPTION}'>{escape(title)}</caption>"
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        + _html_list("notes", sentences, _LIST)
        + _html_list("warnings", warnings, _WARNED)
        + "</div>"
    )


def _html_list(label: str, sentences: Sequence[str], style: str) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul aria-label='{label}' style='{style}'>{items}</ul>" if items else ""


def _cells(stage: Stage) -> tuple[str, ...]:
    facts = ", ".join(f"{name} {_format_fact(fact)}" for name, fact in stage.facts.items())
    size = f"{stage.bytes / 1e6:.1f} MB" if stage.bytes else ""
    return stage.name, f"{stage.seconds:.3f}", size, facts


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _format_fact(fact: Fact) -> str:
    if isinstance(fact, list):
        return "[" + " ".join(f"{number:.3g}" for number in fact) + "]"
    return f"{fact:.4g}" if isinstance(fact, float) else str(fact)


_report: ContextVar[Report | None] = ContextVar("unbend_report", default=None)
_stage: ContextVar[Stage | None] = ContextVar("unbend_stage", default=None)
# What the running stage has done, and of how much.
_progress: ContextVar[tuple[int, int]] = ContextVar("unbend_progress", default=(0, 1))
# Warnings of a trial, which are issued only if its fit is taken.
_held: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("unbend_held", default=None)


@contextmanager
def recording(title: str) -> Iterator[Report]:
    """Collect the stages and warnings of the block in a new report."""
    report = Report(title)
    token = _report.set(report)
    try:
        yield report
    finally:
        _report.reset(token)


@dataclass
class Trial:
    """Stages and warnings of a fit that may not be taken."""

    report: Report = field(default_factory=lambda: Report("trial"))
    held: list[tuple[str, type[Warning]]] = field(default_factory=list)

    def adopt(self) -> None:
        """Add the stages to the current report, and issue the warnings."""
        report = _report.get()
        if report is not None:
            report.stages += self.report.stages
        for message, category in self.held:
            warn(message, category)


@contextmanager
def trial() -> Iterator[Trial]:
    """Hold the stages and warnings of the block back until they are adopted.

    Examples
    --------
    >>> with recording("fit") as report:
    ...     with trial() as first, stage("neighbors"):
    ...         warn("not issued yet")
    ...     before = len(report.stages), report.warnings
    >>> before
    (0, [])
    """
    found = Trial()
    tokens = _report.set(found.report), _held.set(found.held)
    try:
        yield found
    finally:
        _report.reset(tokens[0])
        _held.reset(tokens[1])


@contextmanager
def stage(name: str) -> Iterator[Stage]:
    """Time a stage, add it to the current report, and call the progress callback."""
    record = Stage(name)
    report = _report.get()
    if report is not None:
        report.stages.append(record)
    outer, progress = _stage.get(), _progress.get()
    start = time.perf_counter()
    try:
        # Here, so that an interrupt cannot come between these and `finally`.
        _stage.set(record)
        _progress.set((0, 1))
        if callback_var.get() is not None:
            advance(name, 0, 1)
        yield record
        if callback_var.get() is not None:
            advance(name, 1, 1)
    finally:
        _stage.set(outer)
        _progress.set(progress)
        record.seconds = time.perf_counter() - start


def note(**facts: Fact | np.generic) -> None:
    """Record facts of the running stage, if any."""
    record = _stage.get()
    if record is not None:
        for name, fact in facts.items():
            record.known[name] = fact.item() if isinstance(fact, np.generic) else fact


def note_later(**facts: Deferred) -> None:
    """Record facts of the running stage that are computed when its facts are first read."""
    record = _stage.get()
    if record is not None:
        record.defer(lambda: {name: _plain_list(fact()) for name, fact in facts.items()})


def _plain_list(values: Any) -> list[float]:
    return [float(value) for value in values]


def note_bytes(size: int) -> None:
    """Record memory that the running stage is about to allocate."""
    record = _stage.get()
    if record is not None:
        record.bytes += size


def step(done: int, total: int) -> None:
    """Report progress within the running stage."""
    record = _stage.get()
    if record is not None and callback_var.get() is not None:
        _progress.set((done, total))
        advance(record.name, done, total)


def ask() -> None:
    """Let the callback cancel within a long step: report the last progress again."""
    record = _stage.get()
    if record is not None and callback_var.get() is not None:
        advance(record.name, *_progress.get())


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning, and record it in the report; in a trial, hold it back."""
    held, report = _held.get(), _report.get()
    if held is not None:
        held.append((message, category))
        return
    if report is not None:
        report.warnings.append(message)
    warnings.warn(message, category, stacklevel=_outside())


# scikit-learn wraps transform and fit_transform, so its frames may be in between.
SKIPPED_PACKAGES = ("unbend", "sklearn", "contextlib")


def _outside() -> int:
    """Stack level of the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in SKIPPED_PACKAGES:
        level, frame = level + 1, frame.f_back
    return level

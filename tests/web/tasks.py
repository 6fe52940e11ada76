"""Tasks for the tests of jobs."""

import os
import time
from pathlib import Path

from unbend.progress import advance


def own_process():
    return os.getpid()


def fail(sentence):
    raise ValueError(sentence)


def count(steps, seconds):
    for done in range(steps):
        advance("counting", done + 1, steps)
        time.sleep(seconds / steps)


def block():
    """Hold the interpreter for minutes, as LAPACK may."""
    return sum(1 for _ in iter(lambda: pow(3, 20_000_000) < 0, True))


def touch(path):
    Path(path).touch()


def die(signal):
    os.kill(os.getpid(), signal)

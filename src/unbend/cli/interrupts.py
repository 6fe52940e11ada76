"""Ctrl-C, or SIGTERM, ends the program within a second and leaves no partial output."""

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from unbend.cli import INTERRUPTED
from unbend.files import COMMITTING, TEMPORARIES
from unbend.journal import OPEN_JOURNALS

# Kernels look for Ctrl-C many times a second; LAPACK never does.
GRACE_SECONDS = 0.6
SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """End the program if it has not ended by itself soon after Ctrl-C; SIGTERM does the same.

    Python handles Ctrl-C only between its own instructions. A thread that the signal wakes without
    Python waits a moment for the usual end, then removes temporary files and exits.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    ended = threading.Event()
    threading.Thread(target=_watch, args=(woken, ended), daemon=True).start()
    before = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    # By default SIGTERM, which `timeout` and batch systems send, would leave temporary files.
    terminated = signal.getsignal(signal.SIGTERM)
    if terminated is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        ended.set()
        if terminated is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)
        signal.set_wakeup_fd(before)
        waking.close()


def _watch(woken: socket.socket, ended: threading.Event) -> None:
    with woken:
        while received := woken.recv(1):
            if received[0] in (signal.SIGINT, signal.SIGTERM) and not ended.wait(GRACE_SECONDS):
                _end()


def _end() -> None:
    # Renames take a moment, and a set is not left half renamed.
    for _ in range(100):
        if not COMMITTING:
            break
        time.sleep(0.01)
    for temporary in (*TEMPORARIES, *OPEN_JOURNALS):
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink()
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), SHOW_CURSOR.encode())
    os.write(sys.stderr.fileno(), b"Interrupted: nothing was written.\n")
    os._exit(INTERRUPTED)

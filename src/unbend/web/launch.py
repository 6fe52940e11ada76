"""Start of the server: its port, its address, and the browser."""

import os
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from unbend.web.protocol import TimedProtocol
from unbend.web.security import ADDRESS, Keys
from unbend.web.server import BUNDLE, make_app
from unbend.web.tables import Folder
from unbend.web.workspace import Workspace

WITHOUT_PAGE = (
    "the page is not built: in a clone of the project run make page, which needs npm; wheels have "
    "it already"
)
# Seconds that open connections have to end after Ctrl-C.
GRACE_SECONDS = 1


def serve(table: str | None, port: int, *, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C.

    `table` is a file to open first, and its folder is the one that is served; without one it is the
    current folder. `announce` gets the address.
    """
    if not (BUNDLE / "index.html").exists():
        raise FileNotFoundError(WITHOUT_PAGE)
    folder, first = open_folder(table)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        # A browser that is faster than the server waits instead of being refused.
        listener.listen()
        keys = Keys(listener.getsockname()[1])
        app = make_app(Workspace(folder, first=first), keys)
        server = uvicorn.Server(make_config(app))
        announce(keys.address)
        with redirect_file(keys.address, browser), _own_interrupts():
            server.run(sockets=[listener])


def make_config(app: Starlette) -> uvicorn.Config:
    """Return how connections are handled, whatever else is installed.

    Other parsers than h11 do not limit the heads of requests, and the page needs no WebSocket.
    """
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        log_level="error",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
    )


def open_folder(table: str | None) -> tuple[Folder, str | None]:
    """Return the folder to serve, and the name in it of the table to open first."""
    if table is None:
        return Folder.open("."), None
    path = Path(table)
    if path.is_dir():
        return Folder.open(path), None
    folder = Folder.open(path.parent)
    return folder, folder.name_of(folder.find(path.name))


@contextmanager
def redirect_file(address: str, browser: bool) -> Iterator[None]:
    """Open the browser through a private file, since arguments of programs are public.

    The file leads to the address with its token, and only this user can read it.
    """
    if not browser:
        yield
        return
    handle, path = tempfile.mkstemp(prefix="unbend-", suffix=".html")
    target = escape(address, quote=True)
    with os.fdopen(handle, "w") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={target}">'
            f'<a href="{target}">Open unbend</a>\n'
        )
    try:
        # Some browsers hold the caller until they are closed.
        threading.Thread(target=_open, args=(Path(path).as_uri(),), daemon=True).start()
        yield
    finally:
        Path(path).unlink(missing_ok=True)


def _open(address: str) -> None:
    with suppress(webbrowser.Error):
        webbrowser.open(address)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the server, which here is the normal end."""
    woken = signal.set_wakeup_fd(-1)
    try:
        # uvicorn sends itself the signal again once it has ended.
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.set_wakeup_fd(woken)

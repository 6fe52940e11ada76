"""Misbehaving sockets against a real server: each is refused or closed, and the server lives."""

import json
import os
import socket
import threading
import time

import pytest
import uvicorn

from tests.web.conftest import POINTS, write_rows
from unbend.web import protocol, server
from unbend.web.launch import make_config
from unbend.web.security import ADDRESS, Keys
from unbend.web.server import make_app
from unbend.web.tables import Folder
from unbend.web.tasks import open_file
from unbend.web.workspace import Workspace

SHORT = 0.3


class Site:
    """A server in a thread of this process."""

    def __init__(self, root):
        self.listener = socket.socket()
        self.listener.bind((ADDRESS, 0))
        self.listener.listen()
        self.keys = Keys(self.listener.getsockname()[1])
        self.workspace = Workspace(Folder.open(root))
        self.app = make_app(self.workspace, self.keys)
        self.server = uvicorn.Server(make_config(self.app))
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],), daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def connect(self):
        return socket.create_connection((ADDRESS, self.keys.port), timeout=60)

    def head(self, method, path, **headers):
        lines = {
            "host": self.keys.host,
            "origin": self.keys.origin,
            "cookie": f"{self.keys.cookie}={self.keys.session}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        listed = [f"{name}: {value}" for name, value in lines.items() if value is not None]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *listed, "", ""]).encode("latin-1")

    def ask(self, *words, **headers):
        """Return status, headers and body of the answer to one request."""
        with self.connect() as made:
            made.sendall(self.head(*words, **{"connection": "close", **headers}))
            return parse(read_all(made))

    def stop(self):
        self.server.should_exit = True
        self.thread.join(60)
        return not self.thread.is_alive()


def read_all(made):
    parts = []
    while part := made.recv(65536):
        parts.append(part)
    return b"".join(parts)


def read_until(made, words):
    found = b""
    while words not in found:
        part = made.recv(65536)
        assert part, "the connection was closed"
        found += part


def parse(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines), body


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    write_rows(root / "points.csv", ["a", "b", "c", "d"], POINTS.tolist())
    made = Site(root)
    yield made
    assert made.stop()
    made.listener.close()


@pytest.fixture(autouse=True)
def alive(site, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", SHORT)
    monkeypatch.setattr(server, "STALL_SECONDS", SHORT)
    yield
    assert site.ask("GET", "/api/tables")[0] == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
def test_a_head_that_does_not_arrive_ends_the_connection(site, sent):
    with site.connect() as made:
        made.sendall(sent)
        assert read_all(made) == b""


def test_a_head_that_drips_ends_the_connection_too(site):
    with site.connect() as made:
        made.sendall(site.head("GET", "/")[:-2])
        while not is_closed(made):
            made.sendall(b"x: 1\r\n")
            time.sleep(0.02)


def is_closed(made):
    made.setblocking(False)
    try:
        return made.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        made.settimeout(60)


def test_a_second_request_of_a_connection_has_its_time_and_an_answer_may_take_longer(site):
    with site.connect() as made:
        made.sendall(site.head("GET", "/api/tables"))
        read_until(made, b'"first":null}')
        made.sendall(site.head("GET", "/api/events"))
        read_until(made, b"data: [")
        time.sleep(3 * SHORT)
        site.workspace.jobs._change()
        read_until(made, b"data: [")
    with site.connect() as made:
        made.sendall(site.head("GET", "/api/tables"))
        read_until(made, b'"first":null}')
        made.sendall(b"GET / HT")
        assert read_all(made) == b""


def test_a_huge_head_is_refused(site):
    try:
        status = site.ask("GET", "/", padding="x" * 200_000)[0]
    except ConnectionResetError:
        # Closed before all of it was read.
        return
    assert status in (400, 431)


@pytest.mark.parametrize("path", ["/api/session", "/api/tables", "/api/uploads?name=x.csv"])
def test_a_body_that_stops_arriving_is_refused_and_leaves_no_file(site, path):
    before = set(site.workspace.files.rglob("*"))
    with site.connect() as made:
        made.sendall(site.head("POST", path, content_length=1000, connection="close") + b"{")
        status, _, body = parse(read_all(made))
    assert status == 408
    assert "no part of the request arrived" in json.loads(body)["error"]
    assert set(site.workspace.files.rglob("*")) == before


@pytest.mark.parametrize("path", ["/api/tables", "/api/uploads?name=x.csv"])
def test_a_client_that_goes_away_leaves_no_file(site, path):
    before = set(site.workspace.files.rglob("*"))
    with site.connect() as made:
        made.sendall(site.head("POST", path, content_length=1000) + b"{")
    while len(site.server.server_state.tasks):
        time.sleep(0.01)
    assert set(site.workspace.files.rglob("*")) == before


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}", "127.0.0.1:{port}.", "", "0"]
)
def test_other_spellings_of_the_host_are_refused(site, host):
    assert site.ask("GET", "/", host=host.format(port=site.keys.port))[0] == 403


def test_requests_without_a_host_or_with_two_are_refused(site):
    with site.connect() as made:
        made.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert parse(read_all(made))[0] == 403
    with site.connect() as made:
        twice = f"GET / HTTP/1.1\r\nhost: {site.keys.host}\r\nhost: evil.example\r\n\r\n"
        made.sendall(twice.encode())
        assert parse(read_all(made))[0] in (400, 403)


@pytest.mark.parametrize(
    "path",
    [
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/..\\..\\etc\\passwd",
        "/app.js%00.txt",
        "/app.js/",
        "//etc/passwd",
        "http://evil.example/api/tables",
        "/api/embeddings/x/files/..%2f..%2f..%2fetc%2fpasswd",
        "/api/embeddings/%00/coordinates",
        "/api/tables/..%5c/columns/0",
        "/api/tables/%ff/columns/0",
    ],
)
def test_paths_lead_nowhere_else(site, path):
    status, _, body = site.ask("GET", path)
    assert status in (307, 404)
    assert b"root:" not in body


@pytest.mark.parametrize(
    "path", ["/%61pi/tables", "/api%2ftables", "/api/./tables", "//api/tables"]
)
def test_no_spelling_of_the_api_goes_around_the_cookie(site, path):
    status, _, body = site.ask("GET", path, cookie=None)
    assert status in (401, 404)
    assert b"points" not in body


def test_the_cookie_of_another_port_opens_nothing(site):
    cookie = f"unbend-{site.keys.port + 1}={site.keys.session}"
    assert site.ask("GET", "/api/tables", cookie=cookie)[0] == 401
    both = f"{cookie}; {site.keys.cookie}=wrong; {site.keys.cookie}={site.keys.session[:-1]}"
    assert site.ask("GET", "/api/tables", cookie=both)[0] == 401


@pytest.mark.parametrize("path", ["/", "/api/tables", "/api/events"])
def test_a_websocket_is_never_opened(site, path):
    words = {"upgrade": "websocket", "sec_websocket_version": "13", "sec_websocket_key": "x" * 24}
    with site.connect() as made:
        made.sendall(site.head("GET", path, connection="Upgrade", cookie=None, **words))
        status = int(made.recv(65536).split()[1])
    assert status in (200, 401, 404)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_form_of_another_page_changes_nothing(site, kind):
    """Browsers send these without asking; the origin tells where they come from."""
    for origin in (None, "null", "http://evil.example"):
        assert site.ask("POST", "/api/tables", origin=origin, content_type=kind)[0] == 403


def test_so_many_pages_may_watch_and_one_that_is_closed_makes_room(site, monkeypatch):
    monkeypatch.setattr(server, "MOST_STREAMS", 5)
    opened = [site.connect() for _ in range(5)]
    for made in opened:
        made.sendall(site.head("GET", "/api/events"))
        assert made.recv(65536).startswith(b"HTTP/1.1 200")
    while site.app.state.streams < 5:
        time.sleep(0.01)
    status, _, body = site.ask("GET", "/api/events")
    assert status == 429
    assert "close some" in json.loads(body)["error"]
    for made in opened:
        made.close()
    while site.app.state.streams:
        time.sleep(0.01)


def test_the_server_ends_with_streams_stalled_requests_and_a_fit_open(site, tmp_path):
    write_rows(tmp_path / "points.csv", ["a", "b"], POINTS[:, :2].tolist())
    other = Site(tmp_path)
    held = [other.connect() for _ in range(4)]
    held[0].sendall(other.head("GET", "/api/events"))
    held[1].sendall(other.head("POST", "/api/uploads?name=x.csv", content_length=99) + b"a")
    held[2].sendall(other.head("POST", "/api/tables", content_length=22))
    files = other.workspace.files
    body = b'{"name": "points.csv"}'
    held[3].sendall(other.head("POST", "/api/tables", content_length=len(body)) + body)
    assert held[3].recv(65536).startswith(b"HTTP/1.1 200")
    other.server.should_exit = True
    # A request that arrives while the server ends is answered, or its connection is closed.
    try:
        held[2].sendall(body)
        answer = held[2].recv(65536)
    except OSError:
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
    assert other.stop()
    other.listener.close()
    assert not files.exists()
    for made in held:
        made.close()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_put_in_the_place_of_an_open_file_is_not_followed(tmp_path, what):
    """Between the check of a path and its reading, others may change the folder."""
    outside, root = tmp_path / "outside", tmp_path / "served"
    for folder in (outside, root / "inner"):
        folder.mkdir(parents=True)
        write_rows(folder / "points.csv", ["a", "b"], POINTS[:, :2].tolist())
    path = Folder.open(root).find("inner/points.csv")
    workspace = Workspace(Folder.open(root))
    try:
        table, _ = workspace.open_table("points.csv", path)
        if what == "file":
            path.unlink()
            path.symlink_to(outside / "points.csv")
        else:
            os.rename(root / "inner", root / "other")
            (root / "inner").symlink_to(outside)
        with pytest.raises(ValueError, match="is now a link"):
            open_file(str(path), str(tmp_path), table.version)
        with pytest.raises(ValueError, match="is now a link"):
            workspace.open_table("points.csv", path)
    finally:
        workspace.close()

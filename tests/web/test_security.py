"""Foreign requests get nothing, and answers carry the policies that hold browsers back."""

import re
import secrets
import stat
from pathlib import Path

import pytest

from tests.web.conftest import KEYS
from unbend.web import launch
from unbend.web.security import Keys
from unbend.web.server import PAGE
from unbend.web.tables import Folder, RefusedFile

DATA = ["/api/methods", "/api/tables", "/api/jobs", "/api/embeddings", "/api/events"]


def test_a_token_has_32_random_bytes_and_is_in_the_fragment():
    first, second = Keys(1), Keys(1)
    assert first.token != second.token
    assert len(first.token) >= 43  # 32 bytes in base 64
    assert first.address == f"http://127.0.0.1:1/#token={first.token}"
    assert first.token not in repr(first)
    assert first.session not in repr(first)


@pytest.mark.parametrize("path", DATA)
def test_without_the_token_there_is_nothing(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("path", DATA)
def test_a_forged_cookie_is_refused(stranger, path):
    cookie = f"{KEYS.cookie}={secrets.token_urlsafe(32)}"
    assert stranger.get(path, headers={"cookie": cookie}).status_code == 401


@pytest.mark.parametrize(
    "token", ["", "x", None, 3, KEYS.token[:-1], KEYS.token + "x"], ids=map(str, range(6))
)
def test_a_wrong_token_gives_no_cookie(stranger, token):
    answer = stranger.post("/api/session", json={"token": token}, headers={"origin": KEYS.origin})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_strict_and_named_after_the_port(stranger):
    headers = {"origin": KEYS.origin}
    answer = stranger.post("/api/session", json={"token": KEYS.token}, headers=headers)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"unbend-{KEYS.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert KEYS.token not in cookie
    stranger.cookies.clear()


@pytest.mark.parametrize(
    "host", ["evil.example", f"localhost:{KEYS.port}", "127.0.0.1", f"127.0.0.1:{KEYS.port + 1}"]
)
@pytest.mark.parametrize("path", ["/", "/api/session", *DATA])
def test_a_foreign_host_is_refused(browser, path, host):
    assert browser.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://127.0.0.1:{KEYS.port}", "http://127.0.0.1"]
)
@pytest.mark.parametrize("path", DATA)
def test_a_foreign_origin_is_refused(browser, path, origin):
    assert browser.get(path, headers={"origin": origin}).status_code == 403
    assert browser.post(path, headers={"origin": origin}, json={}).status_code == 403


def test_what_changes_something_needs_an_origin(browser):
    assert browser.client.post("/api/tables", json={"name": "points.csv"}).status_code == 403
    assert browser.client.delete("/api/jobs/x").status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_a_browser_calls_foreign_is_refused(browser, site):
    assert browser.get("/api/tables", headers={"sec-fetch-site": site}).status_code == 403


def test_there_are_no_cors_headers(browser):
    answer = browser.get("/api/tables", headers={"origin": KEYS.origin})
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [*PAGE, "/api/tables", "/api/nothing", "/nothing"])
def test_every_answer_has_a_strict_policy(stranger, path):
    headers = stranger.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    if path.startswith("/frame"):
        # The renderer needs eval: it has no origin, no network and only our page around it.
        assert policy.startswith("sandbox allow-scripts;")
        assert "allow-same-origin" not in policy
        assert "connect-src" not in policy
        assert f"frame-ancestors {KEYS.origin}" in policy
    else:
        assert "unsafe-eval" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "connect-src 'self'" in policy


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "../../etc/passwd",
        "/etc/passwd",
        "link.csv",
        "notes.py",
        "",
        ".",
        "points.csv/..",
        "points.csv\x00.csv",
        "nothing.csv",
        "a" * 5000 + ".csv",
    ],
)
def test_only_tables_inside_the_folder_are_opened(browser, folder, name):
    answer = browser.post("/api/tables", json={"name": name})
    assert answer.status_code == 400, name
    assert str(folder) not in answer.text
    with pytest.raises(RefusedFile):
        Folder.open(folder).find(name)


def test_links_are_not_listed(browser):
    names = [file["name"] for file in browser.get("/api/tables").json()["files"]]
    assert names == ["gaps.csv", "points.csv"]


def test_an_oversized_upload_is_refused_before_and_while_it_is_sent(browser, workspace):
    headers = {"content-type": "application/octet-stream"}
    body = b"a,b\n" + b"1,2\n" * 10_000
    before = set(workspace.files.rglob("*"))
    answer = browser.post("/api/uploads?name=big.csv", content=body, headers=headers)
    assert answer.status_code == 413

    def stream():
        for _ in range(100):
            yield body[:4000]

    answer = browser.post("/api/uploads?name=big.csv", content=stream(), headers=headers)
    assert answer.status_code == 413
    assert [path for path in set(workspace.files.rglob("*")) - before if path.is_file()] == []


@pytest.mark.parametrize("name", ["x.exe", "x", "", "x.csv.html", "../../x.py"])
def test_uploads_that_are_no_tables_are_refused(browser, name):
    answer = browser.post("/api/uploads", params={"name": name}, content=b"a,b\n1,2\n")
    assert answer.status_code == 400


def test_an_upload_gets_a_name_of_ours(browser, workspace):
    name = "../../<script>.csv"
    answer = browser.post("/api/uploads", params={"name": name}, content=b"a,b\n1,2\n3,4\n5,7\n")
    assert answer.json()["table"]["name"] == "<script>.csv"
    assert browser.wait(answer.json()["job"])["state"] == "done"
    assert not [path for path in workspace.files.rglob("*") if "script" in path.name]


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"PK\x03\x04broken", b'{"a":', b","])
def test_a_damaged_upload_fails_with_a_sentence(browser, content):
    answer = browser.post("/api/uploads?name=x.csv", content=content)
    job = browser.wait(answer.json()["job"])
    assert job["state"] == "failed"
    assert job["error"]
    assert "Traceback" not in job["error"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"\xff\xfe", b"null"])
@pytest.mark.parametrize("path", ["/api/session", "/api/tables", "/api/jobs"])
def test_a_request_that_is_no_object_is_refused(browser, path, body):
    answer = browser.post(path, content=body)
    assert answer.status_code in (400, 401)


def test_a_huge_request_is_refused(browser):
    assert browser.post("/api/jobs", content=b" " * 9_000_000).status_code == 413


def test_text_of_a_table_is_only_sent_as_json(browser):
    table = browser.open("points.csv")
    rows = browser.post(f"/api/tables/{table['id']}/rows", content=(55).to_bytes(4, "little"))
    assert rows.headers["content-type"] == "application/json"
    assert rows.json()["cells"][0][4] == "<script>alert(1)</script>"
    assert rows.json()["columns"][3] == "<b>d</b>"


def test_the_browser_is_opened_through_a_private_file(monkeypatch):
    opened = []
    monkeypatch.setattr(launch.webbrowser, "open", opened.append)
    monkeypatch.setattr(launch.threading, "Thread", _Now)
    with launch.redirect_file(KEYS.address, True):
        (address,) = opened
        assert KEYS.token not in address
        path = Path(address.removeprefix("file://"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert re.findall('url=([^"]+)"', path.read_text()) == [KEYS.address]
    assert not path.exists()


class _Now:
    """A thread that runs at once."""

    def __init__(self, target, args, daemon):
        self.start = lambda: target(*args)

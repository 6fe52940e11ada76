"""What a browser enforces: who sees the page, what its code may do, and what other pages may."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.web.browsing import Visit, needs_browser

pytestmark = [needs_browser, pytest.mark.timeout(600)]


def test_a_page_without_the_token_shows_nothing(chromium, address):
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(address.split("/#")[0])
    tab.locator("text=Open the address that unbend serve printed").wait_for()
    assert tab.locator("select").count() == 0
    context.close()


# Runs as code of the page, in a task of its own: the driver's evaluations bypass the policy.
ATTEMPTS = """() => new Promise((done) => setTimeout(async () => {
    const found = {};
    try { found.eval = new Function("return 'ran'")() } catch (error) { found.eval = error.name }
    window.ran = [];
    const inline = document.createElement("script");
    inline.textContent = "window.ran.push('inline')";
    document.body.append(inline);
    const link = document.createElement("a");
    link.setAttribute("onclick", "window.ran.push('handler')");
    document.body.append(link);
    link.click();
    const remote = document.createElement("script");
    remote.src = "http://localhost:9/x.js";
    const refused = (element) => new Promise((told) => {
        element.onload = () => told("loaded");
        element.onerror = () => told("refused");
        document.body.append(element);
    });
    found.remote = await refused(remote);
    const picture = document.createElement("img");
    picture.src = "http://localhost:9/x.png";
    found.picture = await refused(picture);
    const sent = fetch("http://localhost:9/");
    found.fetch = await sent.then(() => "sent", () => "refused");
    inline.remove(); link.remove(); remote.remove(); picture.remove();
    done({ ...found, ran: window.ran });
}))"""


def test_the_policy_holds_for_code_of_the_page(chromium, address):
    context = chromium.new_context()
    visit = Visit(context, address)
    visit.tab.locator("[aria-label=Table]").wait_for()
    violations = []
    visit.tab.on("console", lambda message: violations.append(message.text))
    assert visit.tab.evaluate(ATTEMPTS) == {
        "eval": "EvalError",
        "remote": "refused",
        "picture": "refused",
        "fetch": "refused",
        "ran": [],
    }
    told = [text for text in violations if "Content Security Policy" in text]
    for directive in ("script-src", "img-src", "connect-src"):
        assert any(directive in text for text in told), directive
    context.close()


@pytest.fixture
def stranger():
    """Serve an empty page at another port of the same address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title>")

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


FOREIGN = """async (origin) => {
    const body = JSON.stringify({ name: "digits.csv" });
    const tell = (promise) => promise.then((answer) => String(answer.status), () => "refused");
    const stream = new Promise((told) => {
        const events = new EventSource(`${origin}/api/events`, { withCredentials: true });
        events.onmessage = () => told("data");
        events.onerror = () => told("refused");
    });
    const frame = document.createElement("iframe");
    frame.src = origin;
    const framed = new Promise((told) => (frame.onload = () => {
        try { told(frame.contentDocument === null ? "opaque" : "open") } catch { told("opaque") }
    }));
    document.body.append(frame);
    const send = { method: "POST", body, credentials: "include" };
    return {
        read: await tell(fetch(`${origin}/api/tables`, { credentials: "include" })),
        write: await tell(fetch(`${origin}/api/tables`, send)),
        // Sent without asking first; the answer is kept even from being opaque.
        blind: await tell(fetch(`${origin}/api/tables`, { ...send, mode: "no-cors" })),
        stream: await stream,
        framed: await framed,
    };
}"""


def test_another_page_of_the_same_browser_reads_and_changes_nothing(visit, stranger):
    def tables():
        return visit.tab.context.request.get(f"{visit.origin}/api/tables").json()["tables"]

    before = len(tables())
    tab = visit.tab.context.new_page()
    tab.goto(stranger)
    found = tab.evaluate(FOREIGN, visit.origin)
    assert found == {
        "read": "refused",
        "write": "refused",
        "blind": "refused",
        "stream": "refused",
        "framed": "opaque",
    }
    assert len(tables()) == before
    (frame,) = tab.frames[1:]
    assert frame.url.startswith("chrome-error:"), "the page was shown inside another"
    tab.close()

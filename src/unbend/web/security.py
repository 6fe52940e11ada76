"""Who may ask the server, and what browsers may do with its answers."""

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ADDRESS = "127.0.0.1"
TOKEN_BYTES = 32
READING = ("GET", "HEAD")
API, SESSION, FRAME = "/api/", "/api/session", "/frame"

# Scripts, styles and requests of this server only: nothing inline, no eval, no other host.
PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)


def frame_policy(origin: str) -> str:
    """Return the policy of the frame that draws points.

    The renderer compiles its draw calls with eval and starts a worker from a blob, so it runs in a
    sandbox: an opaque origin without cookies, storage and network, which gets numbers by messages.
    """
    return "; ".join(
        (
            "sandbox allow-scripts",
            "default-src 'none'",
            f"script-src {origin} 'unsafe-eval'",
            "worker-src blob:",
            f"style-src {origin}",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {origin}",
        )
    )


@dataclass(frozen=True)
class Keys:
    """Secrets of one run of the server: the token of its address, and the value of its cookie."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)

    @property
    def host(self) -> str:
        """The only Host that is answered."""
        return f"{ADDRESS}:{self.port}"

    @property
    def origin(self) -> str:
        """The only Origin that is answered."""
        return f"http://{self.host}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers share cookies between the ports of a host."""
        return f"unbend-{self.port}"

    @property
    def address(self) -> str:
        """Address with the token in its fragment, which browsers do not send."""
        return f"{self.origin}/#token={self.token}"

    def admits(self, token: object) -> bool:
        """Whether a token is the right one."""
        return isinstance(token, str) and _equal(token, self.token)

    def set_cookie(self) -> str:
        """Return the header that gives a browser the session."""
        return f"{self.cookie}={self.session}; Path=/; HttpOnly; SameSite=Strict"

    def holds_session(self, headers: Headers) -> bool:
        """Whether the request carries the cookie of this run."""
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        given = cookies.get(self.cookie)
        return given is not None and _equal(given.value, self.session)


def _equal(first: str, second: str) -> bool:
    return hmac.compare_digest(first.encode(), second.encode())


class Guard:
    """Middleware that refuses foreign requests and adds the headers of every response.

    Host and Origin are compared by equality, which ends DNS rebinding and cross-site requests.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        path = str(scope["path"])

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._protect(MutableHeaders(scope=message), path)
            await send(message)

        refusal = self._refusal(scope["method"], path, Headers(scope=scope))
        app = self._app if refusal is None else refusal
        await app(scope, receive, send_guarded)

    def _refusal(self, method: str, path: str, headers: Headers) -> JSONResponse | None:
        keys, origin = self._keys, headers.get("origin")
        if headers.getlist("host") != [keys.host]:
            return _refuse(f"this server answers only to {keys.host}")
        if method in READING and not path.startswith(API):
            # The page itself holds no data, and the sandboxed frame has no origin to name.
            return None
        if origin != keys.origin and (origin is not None or method not in READING):
            return _refuse("requests of other pages are refused")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return _refuse("requests of other pages are refused")
        if path != SESSION and not keys.holds_session(headers):
            return _refuse("open the address that unbend serve printed", 401)
        return None

    def _protect(self, headers: MutableHeaders, path: str) -> None:
        framed = path.startswith(FRAME)
        headers["Content-Security-Policy"] = (
            frame_policy(self._keys.origin) if framed else PAGE_POLICY
        )
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "no-referrer"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        if not framed:
            # The sandboxed frame has another origin and loads its own script and style.
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
        headers["Cache-Control"] = "no-store" if path.startswith(API) else "no-cache"


def _refuse(sentence: str, status: int = 403) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status)

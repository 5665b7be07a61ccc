"""Who may speak to the page: this machine's browser, with the token of this session."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LARGEST = 2**30  # bytes of an upload; a larger file is named by its path
_LONGEST = 2**22  # bytes of a form without files


@final
@dataclass(frozen=True)
class Session:
    """The secrets of one run of the page, and the hosts by which it answers."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """Where the page is, token included."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Accepted Host headers."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    @property
    def cookie(self) -> str:
        """The cookie's name: two sessions on one machine do not disturb each other."""
        return f"geodp-{self.port}"

    @property
    def csrf(self) -> str:
        """What every form carries."""
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()

    def same(self, token: str) -> bool:
        """Whether this is the token, in constant time."""
        return hmac.compare_digest(token.encode(), self.token.encode())


@final
class Guard:
    """ASGI middleware: refuses other hosts, other origins, and no token; adds the headers."""

    def __init__(self, app: Any, session: Session) -> None:
        self._app, self._session = app, session

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, with_headers)

    def _refusal(self, scope: Any) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._session.hosts or len(headers.getlist("host")) != 1:
            return _no(421, f"This page answers as {self._session.hosts[0]} alone.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _no(405, "This page knows GET and POST.")
        if scope["path"].startswith("/static/"):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["method"] == "GET" and len(given) == 1 and self._session.same(given[0]):
            return self._welcome(scope["path"])
        if not self._session.same(self._token(headers)):
            return _no(
                403,
                "This page needs the token of its session: open the address that geodp serve "
                "printed as its first line.",
            )
        if scope["method"] == "POST":
            return self._cross(headers, host)
        return None

    def _cross(self, headers: Headers, host: str) -> Response | None:
        if headers.get("origin") != f"http://{host}":
            return _no(403, "This form was sent from another page; nothing was done.")
        length = headers.get("content-length", "")
        multipart = headers.get("content-type", "").startswith("multipart/")
        if not length.isdigit() or int(length) > (_LARGEST if multipart else _LONGEST):
            return _no(413, "The upload is too large; name the file by its path instead.")
        return None

    def _welcome(self, path: str) -> Response:
        """Keep the token in a cookie and drop it from the address."""
        response = RedirectResponse(path if path.startswith("/") and path[1:2] != "/" else "/", 303)
        response.set_cookie(
            self._session.cookie, self._session.token, httponly=True, samesite="strict", path="/"
        )
        return response

    def _token(self, headers: Headers) -> str:
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self._session.cookie)
        except CookieError:
            return ""
        return "" if kept is None else kept.value


def _no(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", status)

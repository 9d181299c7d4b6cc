"""Rules for requests to the page's server: its own pages and holders of its token may use it."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import parse_qs

TOKEN = "token"
"""Name of the parameter in the page's address."""

HOST = re.compile(r"[A-Za-z0-9.\-_\[\]:]+")


class Headers(Protocol):
    """Headers of a request."""

    def get_all(self, key: str) -> list[str]:
        """Return all values of a header."""
        ...


class Request(Protocol):
    """A request for a file, or for an upgrade to a websocket."""

    @property
    def path(self) -> str:
        """With the query."""
        ...

    @property
    def headers(self) -> Headers:
        """Of the request."""
        ...


def is_loopback(name: str) -> bool:
    """Return whether a host name or address is this computer's own, seen from itself alone."""
    bare = name.strip("[]").lower().rstrip(".")
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return bare == "localhost" or bare.endswith(".localhost")


class Access:
    """Rules for requests.

    A web site that the user visits elsewhere must not reach the server through the user's browser.
    It could do so under a name of its own that leads to this computer, or by a websocket from its
    pages. So a server on the loopback serves loopback names only, and a request with an origin must
    come from the page itself. Over a network a request carries the token: in the address at first,
    then in the cookie that the first response sets.
    """

    def __init__(self, *, loopback: bool, token: str | None) -> None:
        """Keep the rules; `token` is None where none is needed."""
        self._loopback = loopback
        self._token = token

    def refusal(self, request: Request) -> str:
        """Return why a request is refused, empty where it is not."""
        host = _single(request, "Host")
        if not HOST.fullmatch(host):
            return "The request does not name its host."
        if self._loopback and not is_loopback(_name(host)):
            return f"This page is served to this computer alone, not to {_name(host)}."
        if request.headers.get_all("Origin"):
            origin = _single(request, "Origin").partition("://")[2]
            if origin.lower() != host.lower():
                return "This page is closed to other web sites."
        if self._token and not any(self._fits(given) for given in _tokens(request, host)):
            return (
                "The access token is missing or wrong. Open the whole address that the program "
                f"printed when it started, with ?{TOKEN}=... at its end."
            )
        return ""

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers that are added to the response to an allowed request.

        The page may load and reach nothing but its own server, and no other site may frame it.
        """
        host = _single(request, "Host")
        own = f"'self' ws://{host} wss://{host} data: blob:"
        sources = "'self' 'unsafe-inline' data: blob:"
        policy = {
            "default-src": sources,
            "script-src": f"{sources} 'unsafe-eval' 'wasm-unsafe-eval'",
            "connect-src": own,
            "frame-ancestors": "'self'",
            "form-action": "'none'",
            "base-uri": "'none'",
        }
        added = {
            "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        if self._token and any(self._fits(given) for given in _query_tokens(request)):
            added["Set-Cookie"] = (
                f"{_cookie(host)}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            )
        return added

    def _fits(self, given: str) -> bool:
        # A character that cannot be encoded is in no token.
        return hmac.compare_digest(given.encode(errors="replace"), (self._token or "").encode())


def _single(request: Request, header: str) -> str:
    """Return a header that is given once, else nothing."""
    values = request.headers.get_all(header)
    return values[0] if len(values) == 1 else ""


def _name(host: str) -> str:
    """Return a host without its port."""
    return re.sub(r":\d*$", "", host)


def _cookie(host: str) -> str:
    """Return the cookie's name: browsers send cookies to all ports of a host alike."""
    port = host[len(_name(host)) + 1 :] or "80"
    return f"twin_{TOKEN}_{port}"


def _query_tokens(request: Request) -> list[str]:
    return parse_qs(request.path.partition("?")[2]).get(TOKEN, [])


def _tokens(request: Request, host: str) -> Iterator[str]:
    """Yield all tokens that come with a request."""
    yield from _query_tokens(request)
    for header in request.headers.get_all("Cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == _cookie(host):
                yield value

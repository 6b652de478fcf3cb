"""Requests of this library as requests of httpx."""

from __future__ import annotations

from typing import Any

import httpx

from .errors import ConnectionFailed
from .exchange import Request
from .retries import Attempts
from .settings import Settings


class _Remaining(dict[str, Any]):
    """Time-outs that end at the deadline. httpx reads them when each phase of a request begins."""

    def __init__(self, attempts: Attempts) -> None:
        super().__init__()
        self._attempts = attempts

    def get(self, _phase: str, _default: Any = None, /) -> float:
        return self._attempts.remaining()


def http_request(settings: Settings, request: Request, attempts: Attempts | None) -> httpx.Request:
    """The request for httpx. Without attempts, something else holds it to its deadline."""
    return httpx.Request(
        request.method,
        settings.url + request.path,
        headers=settings.headers(request),
        content=None if request.body is None else request.body.encode(),
        extensions={"timeout": {} if attempts is None else _Remaining(attempts)},
    )


def connection_failed(settings: Settings, error: httpx.RequestError) -> ConnectionFailed:
    """The error for a failure of httpx. Its text can contain an answer, except if there was no connection."""
    reason = str(error) if isinstance(error, httpx.ConnectError) else type(error).__name__
    return ConnectionFailed(f"no complete answer from {settings.origin}: {reason}")

"""Requests and answers, without any input or output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

from . import rawjson
from .errors import DecryptionFailed, InvalidRequest, Problem, SealwardError, UnexpectedAnswer, error_type
from .rawjson import Json, RawJson

__version__ = version("sealward")
USER_AGENT = f"sealward-python/{__version__}"


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    method: str
    path: str
    body: str | None = field(repr=False, default=None)
    opening: bool = False
    """Whether the call opens an envelope, so that an `INTERNAL_ERROR` is final."""
    anonymous: bool = False
    """Whether the request carries no credential."""
    result_statuses: tuple[int, ...] = (200,)
    request_id: str | None = None
    deadline: float | None = None

    def headers(self, authorization: str | None, traceparent: str | None) -> dict[str, str]:
        """The headers of the request."""
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        if authorization is not None:
            headers["Authorization"] = authorization
        if self.request_id is not None:
            if not self.request_id.isascii() or not self.request_id.isprintable():
                raise InvalidRequest("the request ID has characters other than printable ones of ASCII")
            headers["X-Request-Id"] = self.request_id
        if traceparent is not None:
            headers["traceparent"] = traceparent
        return headers


@dataclass(frozen=True, slots=True)
class Part:
    """A JSON object of an answer: all of it, or an item of a batch."""

    text: str = field(repr=False)
    json: dict[str, Json] = field(repr=False)
    status: int
    request_id: str

    def raw(self, *path: str) -> RawJson | None:
        """The text of a member, to the letter."""
        start, end = 0, len(self.text)
        for name in path:
            span = rawjson.members(self.text, start).get(name)
            if span is None:
                return None
            start, end = span
        return RawJson(self.text[start:end])

    def items(self) -> list[Part]:
        """The items of a batch."""
        text = self.text
        spans = rawjson.elements(text, rawjson.members(text)["items"][0])
        pairs = zip(spans, self.json["items"], strict=True)
        return [Part(text[start:end], _object(item), self.status, self.request_id) for (start, end), item in pairs]

    def unexpected(self, reason: str) -> UnexpectedAnswer:
        """The error for an answer that the API does not document."""
        text = f"the answer is not what the API documents: {reason}"
        return UnexpectedAnswer(text, status=self.status, request_id=self.request_id)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turns a `ValueError` into `UnexpectedAnswer`."""
        try:
            yield
        except ValueError as error:
            raise self.unexpected(str(error)) from None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def retry_after(self) -> float | None:
        """The seconds that the service asks to wait. Dates are not supported."""
        text = self.headers.get("Retry-After", "")
        return float(text) if text.isascii() and text.isdigit() else None

    def result(self, request: Request) -> Part | None:
        """The result that the answer carries, or `None` if it carries an error."""
        if self.status not in request.result_statuses:
            return None
        part = self._part()
        return None if "error" in part.json else part

    def error(self, request: Request) -> SealwardError:
        """The error that the answer carries."""
        request_id = self.headers.get("X-Request-Id", "")
        if self.status < 400:
            return Part("", {}, self.status, request_id).unexpected("the status is not documented")
        try:
            part = self._part()
        except UnexpectedAnswer:
            part = Part("", {}, self.status, request_id)
        error = part.json.get("error")
        return api_error(self.status, error, part.request_id, request.opening, self.retry_after)

    def _part(self) -> Part:
        request_id = self.headers.get("X-Request-Id", "")
        try:
            text = self.body.decode()
            document = _object(rawjson.decode(text))
        except (ValueError, RecursionError):
            raise Part("", {}, self.status, request_id).unexpected("it is not a JSON object") from None
        return Part(text, document, self.status, str(document.get("requestId", request_id)))


def api_error(
    status: int, error: Json, request_id: str, opening: bool, retry_after: float | None = None
) -> SealwardError:
    """The error for an error object of the API, or for an answer without one."""
    error = error if isinstance(error, dict) else {}
    code = error.get("code")
    code = code if isinstance(code, str) else None
    kind = error_type(status, code, opening)
    if kind is DecryptionFailed:
        message = "it cannot be opened; this is final, so do not repeat the call"
    else:
        message = error.get("message") if code else f"status {status} of a server that is not Sealward"
    details = error.get("details")
    return kind(
        str(message),
        status=status,
        code=code,
        request_id=request_id or None,
        details=tuple(_problem(each) for each in details) if isinstance(details, list) else (),
        retry_after=retry_after,
    )


def _problem(value: Json) -> Problem:
    value = value if isinstance(value, dict) else {}
    return Problem(*(str(value.get(name, "")) for name in ("field", "code", "message")))


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value

"""JSON to the letter: text that is sent and received without a change."""

from __future__ import annotations

import base64
import binascii
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .errors import InvalidRequest

Json = Any
"""A value that `json` represents: `None`, `bool`, `int`, `float`, `str`, lists and dictionaries.

Opened payloads have a `decimal.Decimal` for an integer of more than 4300 digits."""

Span = tuple[int, int]

MAX_DIGITS = 4300
"""The most digits of an `int`. The time to convert text to an `int` grows with the square of its digits."""

_SPACE = re.compile(r"[ \t\n\r]*")


def _integer(text: str) -> int | Decimal:
    if len(text.removeprefix("-")) <= MAX_DIGITS:
        # A process can lower the limit of `int`.
        with suppress(ValueError):
            return int(text)
    return Decimal(text)


_DECODER = json.JSONDecoder(parse_int=_integer)


@dataclass(frozen=True, slots=True)
class RawJson:
    """JSON text, sent exactly as it is: member order, `1.0`, big numbers and escapes do not change.

    Raises `InvalidRequest` if the text is not one JSON value.
    """

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _is_json(self.text):
            raise InvalidRequest("the text is not one JSON value")

    def __repr__(self) -> str:
        return "RawJson([redacted])"


def _is_json(text: str) -> bool:
    # The error of the decoder has the text.
    try:
        value_end(text, 0)
        text.encode()
    except (ValueError, RecursionError):
        return False
    return True


Payload = Json | bytes | RawJson
"""What can be protected: a JSON value, bytes (sent as base64), or JSON text."""


def encode(payload: Payload) -> str:
    """The JSON text of a payload. Raises `InvalidRequest` for values that JSON cannot represent."""
    match payload:
        case RawJson():
            return payload.text
        case bytes() | bytearray() | memoryview():
            return json.dumps(base64.b64encode(payload).decode())
    try:
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_refuse)
        text.encode()
    except UnicodeEncodeError:
        refused = InvalidRequest("JSON cannot represent a lone surrogate")
    except TypeError:
        # The encoder refuses keys itself, and other values with the function.
        refused = InvalidRequest("JSON cannot represent a dictionary whose keys are not strings")
    except ValueError:
        refused = InvalidRequest("JSON cannot represent NaN, infinity, or a value that contains itself")
    except RecursionError:
        refused = InvalidRequest("the value has too many levels")
    else:
        return text
    raise refused


def _refuse(value: object) -> None:
    raise InvalidRequest(f"JSON cannot represent a value of the type {type(value).__name__}")


def encode_object(members: dict[str, str]) -> str:
    """An object of members that are already JSON text."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in members.items()) + "}"


def decode(text: str) -> Json:
    """The value of JSON text. An integer of more than `MAX_DIGITS` digits is a `Decimal`. Raises `ValueError`."""
    return _DECODER.decode(text)


def decode_bytes(value: Json) -> bytes:
    """The bytes of a base64 string. Raises `ValueError`."""
    if not isinstance(value, str):
        raise ValueError("the value is not a base64 string")
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("the value is not a base64 string") from None


def members(text: str, start: int = 0) -> dict[str, Span]:
    """Where the values of an object's members stand. Raises `ValueError`."""
    at, spans = _opening(text, start, "{"), {}
    while (at := _skip(text, at)) < len(text) and text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _expect(text, _skip(text, at), ":"))
        _, end = _DECODER.raw_decode(text, at)
        spans[name] = (at, end)
        at = _next(text, end)
    return spans


def elements(text: str, start: int) -> list[Span]:
    """Where the elements of an array stand. Raises `ValueError`."""
    at, spans = _opening(text, start, "["), []
    while (at := _skip(text, at)) < len(text) and text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        at = _next(text, end)
    return spans


def value_end(text: str, start: int) -> int:
    """The end of a text that is one JSON value. Raises `ValueError`."""
    _, end = _DECODER.raw_decode(text, _skip(text, start))
    if _skip(text, end) != len(text):
        raise ValueError("the text is more than one JSON value")
    return end


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _opening(text: str, start: int, bracket: str) -> int:
    return _expect(text, _skip(text, start), bracket)


def _next(text: str, end: int) -> int:
    at = _skip(text, end)
    return at + 1 if text[at : at + 1] == "," else at


def _expect(text: str, at: int, character: str) -> int:
    if text[at : at + 1] != character:
        raise ValueError(f"the text has no {character} at {at}")
    return at + 1

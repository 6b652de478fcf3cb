"""The canonical form of JSON (RFC 8785), which the service signs, verifies and hashes."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from .errors import InvalidRequest
from .rawjson import Json, Payload, RawJson, encode


def signed_bytes(data: Payload) -> bytes:
    """The bytes that are signed: those of bytes and strings, and the canonical form of other values."""
    if isinstance(data, bytes):
        return data
    text = data.text if isinstance(data, RawJson) else encode(data)
    value = json.loads(
        text,
        parse_float=_number,
        parse_int=_number,
        parse_constant=_refuse_constant,
        object_pairs_hook=_unique,
    )
    try:
        return value.encode() if isinstance(value, str) else _write(value).encode()
    except UnicodeEncodeError:
        raise _refused("a lone surrogate has no canonical form") from None


def _write(value: Json) -> str:
    match value:
        case dict():
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return "{" + ",".join(f"{_string(name)}:{_write(value[name])}" for name in names) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case str():
            return _string(value)
        case None | True | False:
            return json.dumps(value)
        case _:
            return _ecmascript(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> float:
    """A number that is written with the same value. The service refuses others too."""
    number = float(text)
    try:
        exact = number not in (float("inf"), float("-inf")) and Decimal(text) == Decimal(_ecmascript(number))
    except InvalidOperation:  # Decimals have a limit for exponents.
        exact = False
    if not exact:
        raise _refused("a number loses digits as a double; send it as a string")
    return number


def _ecmascript(number: float) -> str:
    """The text that ECMAScript writes. Python finds the same digits and places them differently."""
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    if number == 0:
        return "0"
    if len(text) <= point <= 21:
        body = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        body = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        body = f"{text[0]}{fraction}e{point - 1:+d}"
    return "-" * sign + body


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _refused("a member occurs twice")
    return members


def _refuse_constant(_text: str) -> NoReturn:
    raise _refused("the text is not JSON")


def _refused(reason: str) -> InvalidRequest:
    return InvalidRequest(f"the data cannot be signed: {reason}")

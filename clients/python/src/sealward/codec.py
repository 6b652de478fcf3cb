"""The objects of the API as JSON."""

from __future__ import annotations

import base64
import json
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from . import rawjson
from .models import JWE_MEMBERS, Jwe
from .rawjson import Json

T = TypeVar("T")


def camel(name: str) -> str:
    """The name of the API for a name of Python. The members of a JWE have the same name in both."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def to_json(request: Any) -> str:
    """The JSON text of a request. Omits what is `None`, except a payload."""
    texts = {}
    for each in fields(request):
        value = getattr(request, each.name)
        if each.name in ("payload", "data"):
            texts[each.name] = rawjson.encode(value)
        elif isinstance(value, bytes):
            texts[camel(each.name)] = json.dumps(base64.b64encode(value).decode())
        elif value is not None:
            texts[camel(each.name)] = rawjson.encode(value)
    return rawjson.encode_object(texts)


def from_json(kind: type[T], value: Json) -> T:
    """Reads a value of the API, and ignores unknown members. Raises `ValueError`."""
    result: T = _read(kind, value, kind.__name__)
    return result


@cache
def _hints(kind: type) -> dict[str, tuple[str, Any, bool]]:
    hints = get_type_hints(kind)
    missing = type(fields(kind)[0].default)
    return {each.name: (camel(each.name), hints[each.name], isinstance(each.default, missing)) for each in fields(kind)}


def _read(kind: Any, value: Json, at: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        (inner,) = (each for each in get_args(kind) if each is not NoneType)
        return _read(inner, value, at)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(get_args(kind)[0], each, at) for each in value)
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        return kind(**_read_members(kind, value, at))
    if kind is bytes:
        return rawjson.decode_bytes(value)
    if kind is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    if kind is Jwe:
        return read_jwe(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, type) and isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise ValueError(f"{at} has the wrong type")


def _read_members(kind: type, value: dict[str, Json], at: str) -> dict[str, Any]:
    read = {}
    for name, (wire, hint, required) in _hints(kind).items():
        if wire in value:
            read[name] = _read(hint, value[wire], f"{at}.{wire}")
        elif required and NoneType in get_args(hint):
            read[name] = None
        elif required:
            raise ValueError(f"{at}.{wire} is missing")
    return read


def read_jwe(value: Json) -> Jwe:
    """An envelope with its five members. Raises `ValueError`."""
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in JWE_MEMBERS):
        raise ValueError("jwe is not an envelope")
    return cast(Jwe, value)

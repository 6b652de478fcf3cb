"""The arguments and results of the conformance cases, in terms of this library."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from typing import Any

from sealward import (
    Dropped,
    Encrypted,
    Envelope,
    PassedThrough,
    Plaintext,
    ProtectRequest,
    RawJson,
    RewrapRequest,
    SealwardError,
    UnprotectRequest,
)
from sealward.codec import camel

Json = Any

ITEMS = {"protectBatch": ProtectRequest, "unprotectBatch": UnprotectRequest, "rewrapBatch": RewrapRequest}
BYTES = ("aad", "ciphertext", "iv", "tag", "signature")
RENAMED = {"deadlineSeconds": "deadline", "bytes": "size"}
KINDS = {Envelope: "protected", PassedThrough: "passedThrough", Dropped: "dropped"}


def method(call: str) -> str:
    """The name of a call in Python."""
    return "unprotect" if call == "unprotectBytes" else snake(call)


def arguments(call: str, wanted: Json) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call in Python."""
    if call in ITEMS:
        return [[request(ITEMS[call], item) for item in items(wanted)]], {}
    keywords = named(wanted)
    if call in ("decrypt", "decryptBytes"):
        members = [each.name for each in dataclasses.fields(Encrypted)]
        return [Encrypted(**{name: keywords.pop(name) for name in members})], keywords
    first = ("payload", "data", "jwe")
    return [keywords.pop(name) for name in first if name in keywords], keywords


def items(wanted: Json) -> list[Json]:
    repeat = wanted.get("repeat")
    return [repeat["item"]] * repeat["count"] if repeat else wanted["items"]


def request(kind: type[Any], item: Json) -> Any:
    return kind(**named(item))


def named(wanted: Json) -> dict[str, Any]:
    keywords: dict[str, Any] = {}
    for name, value in wanted.items():
        for kind, read in (("Json", RawJson), ("Bytes", base64.b64decode), ("OfLength", "x".__mul__)):
            if name.removesuffix(kind) in ("payload", "data") and name.endswith(kind):
                keywords[name.removesuffix(kind)] = read(value)
                break
        else:
            keywords[RENAMED.get(name) or snake(name)] = base64.b64decode(value) if name in BYTES else value
    return keywords


def result(call: str, value: Any) -> Json:
    """The result of a call, as the cases state it."""
    match call:
        case "protectBatch" | "unprotectBatch" | "rewrapBatch":
            return {"items": [item(each) for each in value], "count": len(value)}
        case "unprotectBytes":
            return {"bytes": text(value.data)}
        case "decrypt":
            return {"dataJson": value.raw.text}
        case "decryptBytes":
            return {"bytes": text(value)}
        case "verify" | "verifyLocally":
            return {"valid": value}
        case "openDataKey":
            return {"key": text(value)}
        case "sealLocally":
            header = json.loads(base64.urlsafe_b64decode(value["protected"] + "=="))
            return {"header": header, "headerNames": sorted(header), "jwe": value}
        case _:
            return members(value)


def item(value: Any) -> Json:
    return {"error": error(value)} if isinstance(value, SealwardError) else members(value)


def members(value: Any) -> Json:
    """The members of a dataclass, with the names of the API."""
    if isinstance(value, bytes):
        return text(value)
    if isinstance(value, tuple):
        return [members(each) for each in value]
    if not dataclasses.is_dataclass(value):
        return value
    found = {camel(each.name): members(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Plaintext | PassedThrough):
        found["payloadJson"] = value.raw.text
    if type(value) in KINDS:
        found["kind"] = KINDS[type(value)]
    return {name: each for name, each in found.items() if name not in ("raw", "timestamp")}


def error(value: SealwardError) -> Json:
    """An error, as the cases state it."""
    return {
        "type": type(value).__name__,
        "code": value.code,
        "status": value.status,
        "requestId": value.request_id,
        "details": [dataclasses.asdict(problem) for problem in value.details],
        "retryable": value.retryable,
        "retryAfterSeconds": value.retry_after,
    }


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: "_" + match[0].lower(), name)

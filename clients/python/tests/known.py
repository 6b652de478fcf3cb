"""What the library knows of the OpenAPI document, as it finds it in its own types."""

from __future__ import annotations

import dataclasses
import typing

from sealward import Client, models
from sealward.codec import camel
from sealward.errors import Problem

# Calls whose names differ from those of the operations of the API.
OPERATIONS = {
    "caller": "readCaller",
    "data_key": "makeDataKey",
    "policy": "readProtectionPolicy",
    "encrypt": "operate",
}

# Objects that functions read or write, instead of a class of the same name: `operations.read_protected`,
# `read_plaintext`, `read_envelope`, `operation` and `_batch`, and `exchange.api_error`.
PROTECTED = ["messageType", "operations", "jwe", "payload", "warning", "dropped", "message"]
WITHOUT_CLASS = {
    "ProtectedPayload": ["requestId", *PROTECTED],
    "ProtectedItem": ["status", "error", *PROTECTED],
    "Unprotected": ["requestId", "operations", "payload"],
    "UnprotectedItem": ["status", "error", "operations", "payload"],
    "RewrappedPayload": ["requestId", "messageType", "operations", "jwe"],
    "RewrappedItem": ["status", "error", "messageType", "operations", "jwe"],
    **{f"{kind}Batch": ["items"] for kind in ("Protect", "Unprotect", "Rewrap")},
    **{f"{kind}Batch": ["requestId", "items"] for kind in ("Protected", "Unprotected", "Rewrapped")},
    **{f"{kind}Request": ["operation", "payload"] for kind in ("Encrypt", "Decrypt", "Sign", "Verify", "Hash")},
    "OperationAnswer": ["requestId", "result", "timestamp"],
    "ErrorResponse": ["requestId", "error"],
    "ErrorObject": ["code", "message", "details"],
}

RESULTS = (models.Encrypted, models.Signature, models.Digest, models.Verification)
ITEMS = {"UnprotectItem": models.UnprotectRequest, "RewrapItem": models.RewrapRequest}


def known() -> dict[str, object]:
    """What `POST /_conformance/known/LANGUAGE` takes."""
    calls = [OPERATIONS.get(name) or camel(name) for name in vars(Client) if not name.startswith("_")]
    schemas = {name: members(each) for name, each in vars(models).items() if isinstance(each, type)}
    schemas |= {name: members(each) for name, each in ITEMS.items()}
    schemas["Problem"] = members(Problem)
    schemas["OperationResult"] = ["data", *(name for each in RESULTS for name in members(each))]
    return {"operations": calls, "schemas": schemas | WITHOUT_CLASS}


def members(kind: type) -> list[str]:
    """The names of a class's members in the API."""
    if dataclasses.is_dataclass(kind):
        return [camel(each.name) for each in dataclasses.fields(kind)]
    return list(kind.__annotations__) if typing.is_typeddict(kind) else []

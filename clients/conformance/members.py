"""Finds what a client does not know of the OpenAPI document."""

from typing import Any

Json = Any
OPEN_TO_ALL = ("/.well-known/",)
MANAGEMENT = "/admin"
RUNTIME = "/api/v1"

# The service ignores these members, so that its answers can be sent back whole. Clients need not send them.
IGNORED = {
    **dict.fromkeys(("UnprotectRequest", "RewrapRequest"), {"requestId", "messageType", "operations"}),
    **dict.fromkeys(("UnprotectItem", "RewrapItem"), {"messageType", "operations", "status"}),
    **dict.fromkeys(("UnprotectBatch", "RewrapBatch"), {"requestId"}),
}


def unknown(document: Json, known: Json, management: bool) -> list[str]:
    """The operations, and the members of their schemas, that `known` does not name."""
    found, schemas = [], {}
    for path, item in document["paths"].items():
        if not path.startswith((RUNTIME, *OPEN_TO_ALL, *((MANAGEMENT,) if management else ()))):
            continue
        for operation in item.values():
            if operation["operationId"] not in known["operations"]:
                found.append(f"operation {operation['operationId']}")
            collect(document, [operation.get("requestBody"), operation["responses"]], schemas)
    for name, members in sorted(schemas.items()):
        missing = sorted(set(members) - set(known["schemas"].get(name, [])) - IGNORED.get(name, set()))
        found += [f"{name}.{member}" for member in missing]
    return found


def collect(document: Json, part: Json, schemas: dict[str, list[str]]) -> None:
    """Adds the members of every object schema that a part of the document refers to."""
    if isinstance(part, list):
        for each in part:
            collect(document, each, schemas)
    if not isinstance(part, dict):
        return
    if reference := part.get("$ref"):
        *folder, name = reference.removeprefix("#/").split("/")
        target = document
        for step in [*folder, name]:
            target = target[step]
        if folder[-1] != "schemas":
            collect(document, target, schemas)
        elif name not in schemas:
            schemas[name] = list(target.get("properties", {}))
            collect(document, target, schemas)
    for name, each in part.items():
        if name not in ("$ref", "examples", "example", "discriminator"):
            collect(document, each, schemas)

#!/usr/bin/env python3
"""Prepares a service for the live cases: world.py > world.json

SEALWARD_URL and SEALWARD_ADMIN_KEY name the service, as ./dev up writes them. Each run makes services, policies and
keys of its own. server.py --service takes the result.
"""

import json
import os
import secrets
import time
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Json = Any
ATTEMPTS = 10
SUFFIX = secrets.token_hex(4)
GENEROUS = {"tier": "enterprise", "rateLimit": {"requestsPerSecond": 20_000, "burst": 20_000}}


def admin(path: str, body: Json) -> Json:
    """The resource that the service makes. A service that is busy is asked again."""
    headers = {
        "Authorization": f"Bearer {os.environ['SEALWARD_ADMIN_KEY']}",
        "Content-Type": "application/json",
        "Idempotency-Key": secrets.token_hex(16),
    }
    request = Request(os.environ["SEALWARD_URL"] + path, json.dumps(body).encode(), headers, method="POST")
    for _ in range(ATTEMPTS):
        try:
            with urlopen(request) as answer:
                return json.load(answer)
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            time.sleep(float(error.headers["Retry-After"]))
    raise SystemExit(f"{path}: the service is not available")


def service(name: str, **members: Json) -> str:
    return admin("/admin/services", {"name": f"{name} {SUFFIX}", **members})["id"]


def key(service_id: str, algorithm: str, **members: Json) -> str:
    body = {"serviceId": service_id, "name": algorithm, "algorithm": algorithm, "generate": True, **members}
    return admin("/admin/keys", body)["id"]


def policy(name: str, destination: str, **members: Json) -> str:
    body = {"policyNumber": f"{name}-{SUFFIX}", "name": name, "destinationServiceId": destination}
    return admin("/admin/policies", {**body, "allowedServiceIds": ["*"], **members})["policyNumber"]


def api_key(name: str, service_id: str, **members: Json) -> str:
    body = {"name": f"{name} {SUFFIX}", "type": "test", "serviceId": service_id, **members}
    return admin("/admin/api-keys", body)["secret"]


def policies() -> dict[str, str]:
    rsa = service("rsa")
    key(rsa, "RSA-3072")
    made = {
        "RSA": policy("RSA", rsa),
        "RSA-SHA1": policy("RSA-SHA1", rsa, alg="RSA-OAEP", enc="A128GCM"),
        "PASS": policy("PASS", rsa, status="inactive", failureMode="passthrough"),
        "DROP": policy("DROP", rsa, status="inactive", failureMode="drop"),
        "OFF": policy("OFF", rsa, status="inactive"),
        "CONTEXT": policy("CONTEXT", rsa, contextRequired=True),
        "BINDING": policy("BINDING", rsa, requireBinding=True),
        "KEYLESS": policy("KEYLESS", service("keyless")),
    }
    for curve, alg in (("P-256", "ECDH-ES+A256KW"), ("P-384", "ECDH-ES+A128KW"), ("P-521", "ECDH-ES+A256KW")):
        destination = service(curve)
        key(destination, curve)
        made[curve] = policy(curve, destination, alg=alg)
    frozen = service("frozen", status="frozen")
    return {**made, "FROZEN": policy("FROZEN", frozen)}


def main() -> None:
    numbers = policies()
    caller = service("caller", publishKeys=True, **GENEROUS)
    keys = {
        "keyRSA": key(caller, "RSA-2048", use="sig"),
        "keyAES": key(caller, "AES-256"),
        "keyEd25519": key(caller, "Ed25519"),
        **{f"key{curve}": key(caller, curve, use="sig") for curve in ("P-256", "P-384", "P-521")},
    }
    print(
        json.dumps(
            {
                "service": os.environ["SEALWARD_URL"],
                "apiKey": api_key("live", caller, policyNumber=numbers["RSA"]),
                "frozenApiKey": api_key("frozen", service("frozen caller", status="frozen")),
                "adminKey": os.environ["SEALWARD_ADMIN_KEY"],
                "serviceId": caller,
                **numbers,
                **keys,
            }
        )
    )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prepares a service for the live cases: world.py > world.json

SEALWARD_URL and SEALWARD_ADMIN_KEY name the service, as ./dev up writes them. Each run makes services, policies and
keys of its own. server.py --service takes the result.
"""

import json
import os
import secrets
from typing import Any
from urllib.request import Request, urlopen

Json = Any
SUFFIX = secrets.token_hex(4)
GENEROUS = {"tier": "enterprise", "rateLimit": {"requestsPerSecond": 20_000, "burst": 20_000}}


def admin(path: str, body: Json) -> Json:
    headers = {"Authorization": f"Bearer {os.environ['SEALWARD_ADMIN_KEY']}", "Content-Type": "application/json"}
    request = Request(os.environ["SEALWARD_URL"] + path, json.dumps(body).encode(), headers, method="POST")
    with urlopen(request) as answer:
        return json.load(answer)


def service(name: str, **members: Json) -> str:
    return admin("/admin/services", {"name": f"{name} {SUFFIX}", **members})["id"]


def key(service_id: str, algorithm: str, **members: Json) -> str:
    body = {"serviceId": service_id, "name": algorithm, "algorithm": algorithm, "generate": True, **members}
    return admin("/admin/keys", body)["id"]


def policy(name: str, destination: str, **members: Json) -> str:
    body = {"policyNumber": f"{name}-{SUFFIX}", "name": name, "destinationServiceId": destination}
    return admin("/admin/policies", {**body, "allowedServiceIds": ["*"], **members})["policyNumber"]


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
    api_key = {"name": f"live {SUFFIX}", "type": "test", "serviceId": caller, "policyNumber": numbers["RSA"]}
    print(
        json.dumps(
            {
                "service": os.environ["SEALWARD_URL"],
                "apiKey": admin("/admin/api-keys", api_key)["secret"],
                "adminKey": os.environ["SEALWARD_ADMIN_KEY"],
                "serviceId": caller,
                **numbers,
                **keys,
            }
        )
    )


if __name__ == "__main__":
    main()

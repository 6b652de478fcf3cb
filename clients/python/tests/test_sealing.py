"""Envelopes that are sealed locally open with a foreign JOSE library, for keys of every kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jwcrypto import jwe, jwk

from sealward.models import EnvelopeHeaders, PolicySummary, PublishedJwk
from sealward.sealing import seal

KEYS: dict[str, dict[str, Any]] = {
    "RSA": {"kty": "RSA", "size": 2048},
    **{curve: {"kty": "EC", "crv": curve} for curve in ("P-256", "P-384", "P-521")},
}
POLICIES = [
    ("RSA-OAEP-256", "A256GCM", "RSA"),
    ("RSA-OAEP", "A128GCM", "RSA"),
    *(("ECDH-ES+A256KW", "A256GCM", curve) for curve in ("P-256", "P-384", "P-521")),
    *(("ECDH-ES+A128KW", "A128GCM", curve) for curve in ("P-256", "P-384", "P-521")),
]


def policy(alg: str, enc: str, key: jwk.JWK, **members: Any) -> PolicySummary:
    public = key.export_public(as_dict=True)
    members_of_key = {name: public.get(name) for name in ("kty", "n", "e", "crv", "x", "y")}
    defaults: dict[str, Any] = {
        "id": "pol_1",
        "policy_number": "P",
        "status": "active",
        "failure_mode": "error",
        "key_ownership": "destination_managed",
        "context_required": False,
        "require_binding": False,
        "headers": EnvelopeHeaders(typ="JOSE", iat=True),
    }
    published = PublishedJwk(kid="partner", use="enc", alg=alg, **members_of_key)
    return PolicySummary(alg=alg, enc=enc, key=published, **(defaults | members))


@pytest.mark.parametrize(("alg", "enc", "kind"), POLICIES)
def test_foreign_library_opens_the_envelope(alg: str, enc: str, kind: str) -> None:
    key = jwk.JWK.generate(**KEYS[kind])
    envelope = seal(policy(alg, enc, key), b'{"n":1.0}', 1_700_000_000.9)
    opened = jwe.JWE()
    opened.allowed_algs = [alg, enc]
    opened.deserialize(json.dumps(envelope), key)
    header = json.loads(opened.objects["protected"])
    assert opened.payload == b'{"n":1.0}'
    assert (header["kid"], header["typ"], header["iat"]) == ("partner", "JOSE", 1_700_000_000)
    assert list(header) == sorted(header)

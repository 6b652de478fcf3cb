"""Local sealing: envelopes that this process makes with the public key of a policy.

The service does not record, limit or refuse such an envelope, and a freeze does not stop it.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

from .errors import (
    ContextRequired,
    Frozen,
    KeyUnavailable,
    PolicyNotActive,
    UnexpectedAnswer,
    UnsupportedAlgorithm,
)
from .jwk import base64url, coordinate_length, ec_key, rsa_key
from .models import Jwe, PolicySummary, PublishedJwk
from .primitives import AESGCM, SHA1, SHA256, ConcatKDFHash, aes_key_wrap, ec, padding

CONTENT_KEY_BYTES = {"A256GCM": 32, "A128GCM": 16}
RSA_HASHES = {"RSA-OAEP-256": SHA256, "RSA-OAEP": SHA1}
WRAPPING_KEY_BYTES = {"ECDH-ES+A256KW": 32, "ECDH-ES+A128KW": 16}


def seal(policy: PolicySummary, plaintext: bytes, now: float) -> Jwe:
    """An envelope under the policy. `now` is the time in seconds since 1970."""
    key = _usable_key(policy)
    content_key = os.urandom(CONTENT_KEY_BYTES[policy.enc])
    header = _header(policy, key, now)
    try:
        if policy.alg in RSA_HASHES:
            encrypted_key = _wrap_rsa(policy.alg, key, content_key)
        else:
            encrypted_key, header["epk"] = _wrap_ecdh(policy.alg, key, content_key)
    except ValueError as error:
        raise UnexpectedAnswer(f"the key of policy {policy.policy_number} does not fit: {error}") from None
    protected = base64url(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
    nonce = os.urandom(12)
    sealed = AESGCM(content_key).encrypt(nonce, plaintext, protected.encode())
    return Jwe(
        protected=protected,
        encrypted_key=base64url(encrypted_key),
        iv=base64url(nonce),
        ciphertext=base64url(sealed[:-16]),
        tag=base64url(sealed[-16:]),
    )


def _usable_key(policy: PolicySummary) -> PublishedJwk:
    name = f"policy {policy.policy_number}"
    if policy.status == "frozen":
        raise Frozen(f"{name} is frozen")
    if policy.status != "active":
        raise PolicyNotActive(f"{name} is not active")
    if policy.context_required:
        raise ContextRequired(f"{name} requires a context; use protect")
    if policy.alg not in RSA_HASHES and policy.alg not in WRAPPING_KEY_BYTES:
        raise UnsupportedAlgorithm(f"{name} uses {policy.alg}; use protect")
    if policy.enc not in CONTENT_KEY_BYTES:
        raise UnsupportedAlgorithm(f"{name} uses {policy.enc}; use protect")
    if policy.key is None:
        raise KeyUnavailable(f"{name} has no key")
    return policy.key


def _header(policy: PolicySummary, key: PublishedJwk, now: float) -> dict[str, Any]:
    header: dict[str, Any] = {"alg": policy.alg, "enc": policy.enc, "kid": key.kid}
    if policy.key_ownership != "destination_managed":
        header["pol"] = policy.id
    if policy.headers is None:
        return header | {"cty": "json"}
    if policy.headers.typ is not None:
        header["typ"] = policy.headers.typ
    if policy.headers.cty is not None:
        header["cty"] = policy.headers.cty
    if policy.headers.iat:
        header["iat"] = int(now)
    return header


def _wrap_rsa(alg: str, jwk: PublishedJwk, content_key: bytes) -> bytes:
    algorithm = RSA_HASHES[alg]
    oaep = padding.OAEP(padding.MGF1(algorithm()), algorithm(), None)
    return rsa_key(jwk).encrypt(content_key, oaep)


def _wrap_ecdh(alg: str, jwk: PublishedJwk, content_key: bytes) -> tuple[bytes, dict[str, str]]:
    recipient = ec_key(jwk)
    ephemeral = ec.generate_private_key(recipient.curve)
    point, length = ephemeral.public_key().public_numbers(), coordinate_length(recipient.curve)
    bits = WRAPPING_KEY_BYTES[alg] * 8
    name = alg.encode()
    info = struct.pack(">I", len(name)) + name + struct.pack(">III", 0, 0, bits)
    shared = ephemeral.exchange(ec.ECDH(), recipient)
    wrapping_key = ConcatKDFHash(SHA256(), bits // 8, info).derive(shared)
    x, y = (base64url(number.to_bytes(length, "big")) for number in (point.x, point.y))
    return aes_key_wrap(wrapping_key, content_key), {"crv": str(jwk.crv), "kty": "EC", "x": x, "y": y}

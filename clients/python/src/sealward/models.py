"""The objects of the API. Their names are those of the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NotRequired, TypedDict

from . import rawjson
from .errors import UnexpectedAnswer
from .rawjson import Json, Payload, RawJson


class EphemeralKey(TypedDict):
    """The public key that the creator of an envelope made for it."""

    kty: str
    crv: str
    x: str
    y: str


class UnprotectedHeader(TypedDict):
    """A header that the tag does not cover. Some JOSE libraries write it."""

    epk: EphemeralKey


class Jwe(TypedDict):
    """An envelope: JWE in flattened JSON serialization. Store it unchanged."""

    protected: str
    encrypted_key: str
    iv: str
    ciphertext: str
    tag: str
    header: NotRequired[UnprotectedHeader]
    unprotected: NotRequired[UnprotectedHeader]


JWE_MEMBERS = ("protected", "encrypted_key", "iv", "ciphertext", "tag")

Context = dict[str, str]
"""What an envelope belongs to, for example a tenant and a record."""


@dataclass(frozen=True, slots=True)
class ProtectRequest:
    """A payload to protect."""

    payload: Payload = field(repr=False)
    policy_number: str | None = None
    context: Context | None = None


@dataclass(frozen=True, slots=True)
class UnprotectRequest:
    """An envelope to open: `jwe`, or the legacy string `protected_payload`."""

    jwe: Jwe | None = None
    protected_payload: str | None = None
    policy_number: str | None = None
    context: Context | None = None


@dataclass(frozen=True, slots=True)
class RewrapRequest:
    """An envelope to seal again, under `to_policy_number` and `to_context` if given."""

    jwe: Jwe | None = None
    protected_payload: str | None = None
    policy_number: str | None = None
    to_policy_number: str | None = None
    context: Context | None = None
    to_context: Context | None = None


@dataclass(frozen=True, slots=True)
class DataKeyRequest:
    """A data key to make."""

    policy_number: str | None = None
    context: Context | None = None
    algorithm: str | None = None
    plaintext: bool | None = None


@dataclass(frozen=True, slots=True)
class EncryptPayload:
    """What `encrypt` takes."""

    data: Payload = field(repr=False)
    algorithm: str
    key_id: str | None = None
    aad: bytes | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class DecryptPayload:
    """What `decrypt` takes."""

    ciphertext: bytes
    iv: bytes
    tag: bytes
    algorithm: str
    key_id: str
    aad: bytes | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class SignPayload:
    """What `sign` takes."""

    data: Payload = field(repr=False)
    algorithm: str
    key_id: str | None = None
    prehashed: bool | None = None
    signature_format: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyPayload:
    """What `verify` takes."""

    data: Payload = field(repr=False)
    signature: bytes
    algorithm: str
    key_id: str
    prehashed: bool | None = None
    signature_format: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class HashPayload:
    """What `hash` takes."""

    data: Payload = field(repr=False)
    algorithm: str
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """A protected payload."""

    jwe: Jwe
    request_id: str


@dataclass(frozen=True, slots=True)
class PassedThrough:
    """A payload that the service returned **unprotected**, because its policy is inactive."""

    raw: RawJson = field(repr=False)
    warning: str
    request_id: str

    @property
    def payload(self) -> Json:
        """The unprotected payload."""
        return rawjson.decode(self.raw.text)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A payload that the service discarded, because its policy is inactive."""

    message: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Plaintext:
    """An opened payload, in three forms."""

    raw: RawJson = field(repr=False)
    """The JSON text exactly as it was protected."""
    request_id: str

    @property
    def value(self) -> Json:
        """The payload as a Python value. Fractions are floats, which are infinite beyond their range.

        Integers are exact. One of more than 4300 digits is a `decimal.Decimal`."""
        return rawjson.decode(self.raw.text)

    @property
    def data(self) -> bytes:
        """The bytes of a payload that was protected as bytes. Raises `UnexpectedAnswer` for others."""
        try:
            return rawjson.decode_bytes(self.value)
        except ValueError as error:
            raise UnexpectedAnswer(str(error), request_id=self.request_id) from None


@dataclass(frozen=True, slots=True)
class DataKey:
    """A data key, and the envelope to store beside what it encrypts."""

    algorithm: str
    jwe: Jwe
    key: bytes | None = field(repr=False, default=None)
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Encrypted:
    """What `encrypt` returns, and `decrypt` takes."""

    ciphertext: bytes
    iv: bytes
    tag: bytes
    algorithm: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Signature:
    """What `sign` returns."""

    signature: bytes
    algorithm: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` returns."""

    valid: bool


@dataclass(frozen=True, slots=True)
class Digest:
    """What `hash` returns."""

    hash: bytes
    algorithm: str


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A rate limit."""

    requests_per_second: int
    burst: int


@dataclass(frozen=True, slots=True)
class Credential:
    """How a caller authenticated."""

    type: str
    id: str


@dataclass(frozen=True, slots=True)
class CallerIdentity:
    """Who the caller is and what it can do. `allowed_operations` is `None` for all."""

    service_id: str
    credential: Credential
    policy_number: str | None
    allowed_operations: tuple[str, ...] | None
    rate_limit: RateLimit


@dataclass(frozen=True, slots=True)
class PublishedJwk:
    """A public key."""

    kty: str
    kid: str
    use: str
    alg: str
    n: str | None = None
    e: str | None = None
    crv: str | None = None
    x: str | None = None
    y: str | None = None
    pub: str | None = None


@dataclass(frozen=True, slots=True)
class JwkSet:
    """The public keys of a service."""

    keys: tuple[PublishedJwk, ...]


@dataclass(frozen=True, slots=True)
class EnvelopeHeaders:
    """The header members that a partner wants."""

    typ: str | None = None
    iat: bool = False
    cty: str | None = None


@dataclass(frozen=True, slots=True)
class PolicySummary:
    """A policy under which the caller can protect, with the key for new envelopes."""

    id: str
    policy_number: str
    status: str
    failure_mode: str
    key_ownership: str
    alg: str
    enc: str
    context_required: bool
    require_binding: bool
    headers: EnvelopeHeaders | None
    key: PublishedJwk | None


@dataclass(frozen=True, slots=True)
class HealthDatabase:
    """The state of the database."""

    status: str
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class HealthToken:
    """The state of a token."""

    label: str
    status: str
    workers: int
    configured_workers: int


@dataclass(frozen=True, slots=True)
class HealthHsm:
    """The state of the tokens."""

    status: str
    tokens: tuple[HealthToken, ...]
    latency_ms: float | None = None
    missing_keys: tuple[str, ...] = ()
    worn_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthAudit:
    """The state of the audit log."""

    status: str
    queued: int


@dataclass(frozen=True, slots=True)
class HealthRateLimiter:
    """The state of the rate limiter."""

    status: str


@dataclass(frozen=True, slots=True)
class HealthRecords:
    """The state of the rows of the database."""

    status: str


@dataclass(frozen=True, slots=True)
class HealthChecks:
    """The state of each part."""

    database: HealthDatabase
    hsm: HealthHsm
    audit: HealthAudit
    rate_limiter: HealthRateLimiter
    records: HealthRecords


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the service: `ok`, `degraded` or `unavailable`."""

    status: str
    version: str
    timestamp: datetime
    checks: HealthChecks

"""The runtime API: each call once, for both clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import quote

from . import codec, models, rawjson
from .batches import batches
from .errors import NotProtected, SealwardError
from .exchange import Part, Request, api_error
from .lookups import Lookups
from .models import (
    CallerIdentity,
    Context,
    DataKey,
    DataKeyRequest,
    DecryptPayload,
    Digest,
    Dropped,
    Encrypted,
    EncryptPayload,
    Envelope,
    HashPayload,
    Health,
    Jwe,
    JwkSet,
    PassedThrough,
    Plaintext,
    PolicySummary,
    ProtectRequest,
    RewrapRequest,
    Signature,
    SignPayload,
    UnprotectRequest,
    VerifyPayload,
)
from .rawjson import Payload, RawJson
from .steps import Steps, ask

T = TypeVar("T")
R = TypeVar("R", ProtectRequest, UnprotectRequest, RewrapRequest)

API = "/api/v1"


class Operations:
    """The calls, as steps that a client performs.

    Each call takes `request_id`, which the service logs, and `deadline`, the seconds for all its attempts.
    """

    def __init__(self) -> None:
        self.policies: Lookups[PolicySummary] = Lookups()
        self.key_sets: Lookups[JwkSet] = Lookups()

    def protect(
        self,
        payload: Payload,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Envelope]:
        """Protects a payload. Returns an envelope or raises, `NotProtected` under an inactive policy."""
        body = codec.to_json(ProtectRequest(payload, policy_number, context))
        part = yield from ask(post("/protect", body, request_id, deadline))
        result = read_protected(part)
        if isinstance(result, Envelope):
            return result
        raise not_protected(result)

    def protect_or_pass(
        self,
        payload: Payload,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Envelope | PassedThrough | Dropped]:
        """Protects a payload, or does what the failure mode of an inactive policy says."""
        body = codec.to_json(ProtectRequest(payload, policy_number, context))
        return read_protected((yield from ask(post("/protect", body, request_id, deadline))))

    def unprotect(
        self,
        jwe: Jwe | None = None,
        *,
        protected_payload: str | None = None,
        policy_number: str | None = None,
        context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Plaintext]:
        """Opens an envelope: `jwe`, or the legacy string `protected_payload`."""
        body = codec.to_json(UnprotectRequest(jwe, protected_payload, policy_number, context))
        return read_plaintext((yield from ask(post("/unprotect", body, request_id, deadline, opening=True))))

    def rewrap(
        self,
        jwe: Jwe | None = None,
        *,
        protected_payload: str | None = None,
        policy_number: str | None = None,
        to_policy_number: str | None = None,
        context: Context | None = None,
        to_context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Envelope]:
        """Seals the content of an envelope again, for example under the newest key."""
        request = RewrapRequest(jwe, protected_payload, policy_number, to_policy_number, context, to_context)
        body = codec.to_json(request)
        return read_envelope((yield from ask(post("/rewrap", body, request_id, deadline, opening=True))))

    def protect_batch(
        self,
        items: Iterable[ProtectRequest],
        *,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[list[Envelope | SealwardError]]:
        """Protects many payloads. Each result is an envelope or an error, in the order of the items."""

        def read(part: Part) -> Envelope | SealwardError:
            result = read_protected(part)
            return result if isinstance(result, Envelope) else not_protected(result)

        return (yield from _batch("/protect/batch", items, read, False, request_id, deadline))

    def unprotect_batch(
        self,
        items: Iterable[UnprotectRequest],
        *,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[list[Plaintext | SealwardError]]:
        """Opens many envelopes. Each result is a plaintext or an error, in the order of the items."""
        return (yield from _batch("/unprotect/batch", items, read_plaintext, True, request_id, deadline))

    def rewrap_batch(
        self,
        items: Iterable[RewrapRequest],
        *,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[list[Envelope | SealwardError]]:
        """Seals many envelopes again. Each result is an envelope or an error, in the order of the items."""
        return (yield from _batch("/rewrap/batch", items, read_envelope, True, request_id, deadline))

    def data_key(
        self,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        algorithm: str | None = None,
        plaintext: bool | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[DataKey]:
        """Makes a data key. With `plaintext=False`, the result has only the envelope."""
        body = codec.to_json(DataKeyRequest(policy_number, context, algorithm, plaintext))
        return read(DataKey, (yield from ask(post("/data-keys", body, request_id, deadline))))

    def encrypt(
        self,
        data: Payload,
        *,
        algorithm: str = "AES-256-GCM",
        key_id: str | None = None,
        aad: bytes | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Encrypted]:
        """Encrypts with a key of the calling service."""
        payload = EncryptPayload(data, algorithm, key_id, aad, encoding_of(data))
        part = yield from ask(operation("encrypt", payload, request_id, deadline))
        return read_result(Encrypted, part)

    def decrypt(
        self,
        encrypted: Encrypted,
        *,
        aad: bytes | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Plaintext]:
        """Decrypts what `encrypt` returned for a JSON value."""
        part = yield from ask(operation("decrypt", _decrypt_payload(encrypted, aad, None), request_id, deadline))
        return Plaintext(_member(part, "result", "data"), part.request_id)

    def decrypt_bytes(
        self,
        encrypted: Encrypted,
        *,
        aad: bytes | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[bytes]:
        """Decrypts what `encrypt` returned, as bytes."""
        payload = _decrypt_payload(encrypted, aad, "base64")
        part = yield from ask(operation("decrypt", payload, request_id, deadline))
        with part.reading():
            return rawjson.decode_bytes(rawjson.decode(_member(part, "result", "data").text))

    def sign(
        self,
        data: Payload,
        *,
        algorithm: str,
        key_id: str | None = None,
        prehashed: bool | None = None,
        signature_format: str | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Signature]:
        """Signs with a key of the calling service."""
        payload = SignPayload(data, algorithm, key_id, prehashed, signature_format, encoding_of(data))
        return read_result(Signature, (yield from ask(operation("sign", payload, request_id, deadline))))

    def verify(
        self,
        data: Payload,
        signature: bytes,
        *,
        algorithm: str,
        key_id: str,
        prehashed: bool | None = None,
        signature_format: str | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[bool]:
        """Whether the signature is valid."""
        encoding = encoding_of(data)
        payload = VerifyPayload(data, signature, algorithm, key_id, prehashed, signature_format, encoding)
        part = yield from ask(operation("verify", payload, request_id, deadline))
        return read_result(models.Verification, part).valid

    def hash(
        self,
        data: Payload,
        *,
        algorithm: str = "SHA-256",
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Digest]:
        """Hashes data."""
        payload = HashPayload(data, algorithm, encoding_of(data))
        return read_result(Digest, (yield from ask(operation("hash", payload, request_id, deadline))))

    def caller(self, *, request_id: str | None = None, deadline: float | None = None) -> Steps[CallerIdentity]:
        """Who the caller is and what it can do."""
        return read(CallerIdentity, (yield from ask(get(f"{API}/caller", request_id, deadline))))

    def policy(
        self, policy_number: str, *, request_id: str | None = None, deadline: float | None = None
    ) -> Steps[PolicySummary]:
        """A policy under which the caller can protect."""
        path = f"{API}/policies/{quote(policy_number, safe='')}"
        return read(PolicySummary, (yield from ask(get(path, request_id, deadline))))

    def health(self, *, request_id: str | None = None, deadline: float | None = None) -> Steps[Health]:
        """The state of the service, also if it is unavailable."""
        request = Request("GET", f"{API}/health", result_statuses=(200, 503), request_id=request_id, deadline=deadline)
        return read(Health, (yield from ask(request)))

    def jwks(self, service_id: str, *, request_id: str | None = None, deadline: float | None = None) -> Steps[JwkSet]:
        """The public keys of a service that publishes them. Needs no credential."""
        path = f"/.well-known/jwks/{quote(service_id, safe='')}"
        request = Request("GET", path, anonymous=True, request_id=request_id, deadline=deadline)
        return read(JwkSet, (yield from ask(request)))


def post(path: str, body: str, request_id: str | None, deadline: float | None, *, opening: bool = False) -> Request:
    """A request of the runtime API with a body."""
    return Request("POST", API + path, body, opening=opening, request_id=request_id, deadline=deadline)


def get(path: str, request_id: str | None, deadline: float | None) -> Request:
    """A request without a body."""
    return Request("GET", path, request_id=request_id, deadline=deadline)


def operation(name: str, payload: object, request_id: str | None, deadline: float | None) -> Request:
    """A request of a generic operation."""
    body = rawjson.encode_object({"operation": json.dumps(name), "payload": codec.to_json(payload)})
    return post("/operations", body, request_id, deadline)


def encoding_of(data: Payload) -> str | None:
    """How the service reads the data."""
    return "base64" if isinstance(data, bytes) else None


def _decrypt_payload(encrypted: Encrypted, aad: bytes | None, encoding: str | None) -> DecryptPayload:
    return DecryptPayload(
        encrypted.ciphertext,
        encrypted.iv,
        encrypted.tag,
        encrypted.algorithm,
        encrypted.key_id,
        aad,
        encoding,
    )


def _batch(
    path: str,
    items: Iterable[R],
    read_item: Callable[[Part], T],
    opening: bool,
    request_id: str | None,
    deadline: float | None,
) -> Steps[list[T | SealwardError]]:
    results: list[T | SealwardError] = []
    for body, count in batches(map(codec.to_json, items)):
        part = yield from ask(post(path, body, request_id, deadline))
        with part.reading():
            parts = part.items()
        if len(parts) != count:
            raise part.unexpected(f"it has {len(parts)} items instead of {count}")
        results += (_item(each, read_item, opening) for each in parts)
    return results


def _item(part: Part, read_item: Callable[[Part], T], opening: bool) -> T | SealwardError:
    status = part.json.get("status")
    if status == 200:
        return read_item(part)
    if not isinstance(status, int):
        raise part.unexpected("an item has no status")
    return api_error(status, part.json.get("error"), part.request_id, opening)


def read(kind: type[T], part: Part) -> T:
    """Reads an object of the API."""
    with part.reading():
        return codec.from_json(kind, part.json)


def read_result(kind: type[T], part: Part) -> T:
    """Reads the result of an operation."""
    with part.reading():
        return codec.from_json(kind, part.json.get("result"))


def read_envelope(part: Part) -> Envelope:
    """Reads an envelope."""
    with part.reading():
        return Envelope(codec.read_jwe(part.json.get("jwe")), part.request_id)


def read_protected(part: Part) -> Envelope | PassedThrough | Dropped:
    """Reads an envelope, or what the failure mode of the policy left of the payload."""
    answer = part.json
    if answer.get("operations") == ["encrypt"]:
        return read_envelope(part)
    if answer.get("operations") == [] and "jwe" not in answer:
        if answer.get("dropped") is True:
            return Dropped(str(answer.get("message", "")), part.request_id)
        if "payload" in answer:
            return PassedThrough(_member(part, "payload"), str(answer.get("warning", "")), part.request_id)
    raise part.unexpected("it neither contains an envelope nor says that there is none")


def not_protected(result: PassedThrough | Dropped) -> NotProtected:
    """The error for a payload that was not protected."""
    what = "passed it through unprotected" if isinstance(result, PassedThrough) else "dropped it"
    text = f"the payload is not protected: its policy is inactive and the service {what}"
    return NotProtected(text, request_id=result.request_id)


def read_plaintext(part: Part) -> Plaintext:
    """Reads an opened payload."""
    return Plaintext(_member(part, "payload"), part.request_id)


def _member(part: Part, *path: str) -> RawJson:
    with part.reading():
        raw = part.raw(*path)
    if raw is None:
        raise part.unexpected(f"it has no {'.'.join(path)}")
    return raw

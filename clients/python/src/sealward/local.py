"""Calls that do their cryptography in this process."""

from __future__ import annotations

import time

from .canonical import signed_bytes
from .errors import KeyUnavailable
from .models import Jwe, JwkSet, PolicySummary
from .operations import Operations
from .rawjson import Payload, encode
from .steps import Steps


class LocalOperations(Operations):
    """Local sealing and local verification. Both need `sealward[crypto]`."""

    def seal_locally(
        self,
        payload: Payload,
        policy_number: str,
        *,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[Jwe]:
        """Protects a payload in this process, with a policy looked up at most 60 s ago.

        The service does not record or limit this, and a freeze does not stop it. Raises
        `UnsupportedAlgorithm`, `PolicyNotActive`, `Frozen`, `ContextRequired` or `KeyUnavailable`
        where it is not possible. It never sends the payload to the service.
        """
        from .sealing import seal

        def look_up() -> Steps[PolicySummary]:
            return self.policy(policy_number, request_id=request_id, deadline=deadline)

        policy, _ = yield from self.policies.get(policy_number, look_up)
        return seal(policy, encode(payload).encode(), time.time())

    def verify_locally(
        self,
        data: Payload,
        signature: bytes,
        *,
        service_id: str,
        algorithm: str,
        key_id: str,
        prehashed: bool = False,
        signature_format: str = "p1363",
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[bool]:
        """Whether the signature is valid, checked with the keys that the service publishes."""
        from . import signatures

        signatures.require_supported(algorithm, signature_format)
        signed = signed_bytes(data)

        def look_up() -> Steps[JwkSet]:
            return self.jwks(service_id, request_id=request_id, deadline=deadline)

        keys, fresh = yield from self.key_sets.get(service_id, look_up)
        try:
            key = signatures.find_key(keys, key_id, algorithm)
        except KeyUnavailable:
            if fresh:
                raise
            self.key_sets.forget(service_id)
            keys, _ = yield from self.key_sets.get(service_id, look_up)
            key = signatures.find_key(keys, key_id, algorithm)
        return signatures.is_valid(
            key, algorithm, signed, signature, prehashed=prehashed, signature_format=signature_format
        )

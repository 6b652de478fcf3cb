"""Signatures, checked locally with the published keys of a service."""

from __future__ import annotations

from .errors import KeyUnavailable, UnsupportedAlgorithm
from .jwk import CURVES, coordinate_length, ec_key, ed25519_key, rsa_key
from .models import JwkSet, PublishedJwk
from .primitives import SHA256, SHA384, SHA512, HashAlgorithm, InvalidSignature, ec, padding, utils

HASHES: dict[str, HashAlgorithm] = {"SHA256": SHA256(), "SHA384": SHA384(), "SHA512": SHA512()}
ECDSA_CURVES = {"ECDSA-SHA256": "P-256", "ECDSA-SHA384": "P-384", "ECDSA-SHA512": "P-521"}
ALGORITHMS = {
    **{f"RSA-{name}": "RSA" for name in HASHES},
    **{f"RSA-PSS-{name}": "RSA" for name in HASHES},
    **dict.fromkeys(ECDSA_CURVES, "EC"),
    "Ed25519": "OKP",
}


def require_supported(algorithm: str, signature_format: str) -> None:
    """Raises `UnsupportedAlgorithm` for an algorithm or a format that this library cannot check."""
    if signature_format not in ("p1363", "der"):
        raise UnsupportedAlgorithm(f"{signature_format} is not a format of signatures")
    if algorithm not in ALGORITHMS:
        raise UnsupportedAlgorithm(f"{algorithm} is not supported; use verify")


def find_key(keys: JwkSet, key_id: str, algorithm: str) -> PublishedJwk:
    """The published signing key. Raises `KeyUnavailable`."""
    for key in keys.keys:
        fits = key.use == "sig" and key.kty == ALGORITHMS[algorithm]
        if key.kid == key_id and fits and ECDSA_CURVES.get(algorithm, key.crv) == key.crv:
            return key
    raise KeyUnavailable(f"the service publishes no key {key_id} for {algorithm}")


def is_valid(
    key: PublishedJwk,
    algorithm: str,
    data: bytes,
    signature: bytes,
    *,
    prehashed: bool,
    signature_format: str,
) -> bool:
    """Whether the signature of the data, or of the digest if `prehashed`, is valid. Raises `ValueError`."""
    try:
        if algorithm == "Ed25519":
            ed25519_key(key).verify(signature, data)
        elif algorithm in ECDSA_CURVES:
            _verify_ecdsa(key, algorithm, data, signature, prehashed, signature_format)
        else:
            _verify_rsa(key, algorithm, data, signature, prehashed)
    except InvalidSignature:
        return False
    return True


def _verify_rsa(key: PublishedJwk, algorithm: str, data: bytes, signature: bytes, prehashed: bool) -> None:
    digest = HASHES[algorithm.rsplit("-", 1)[1]]
    scheme: padding.PKCS1v15 | padding.PSS = padding.PKCS1v15()
    if "PSS" in algorithm:
        scheme = padding.PSS(padding.MGF1(digest), digest.digest_size)
    rsa_key(key).verify(signature, data, scheme, utils.Prehashed(digest) if prehashed else digest)


def _verify_ecdsa(
    key: PublishedJwk, algorithm: str, data: bytes, signature: bytes, prehashed: bool, signature_format: str
) -> None:
    digest = HASHES[algorithm.removeprefix("ECDSA-")]
    if signature_format == "p1363":
        length = coordinate_length(CURVES[ECDSA_CURVES[algorithm]])
        if len(signature) != 2 * length:
            raise InvalidSignature
        r, s = (int.from_bytes(half, "big") for half in (signature[:length], signature[length:]))
        signature = utils.encode_dss_signature(r, s)
    ec_key(key).verify(signature, data, ec.ECDSA(utils.Prehashed(digest) if prehashed else digest))

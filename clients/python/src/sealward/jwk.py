"""Public keys of the service, as keys of the package `cryptography`."""

from __future__ import annotations

import base64
import binascii

from .models import PublishedJwk
from .primitives import ec, ed25519, rsa

CURVES: dict[str, ec.EllipticCurve] = {
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
}


def base64url(data: bytes) -> str:
    """The text of bytes in base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def coordinate_length(curve: ec.EllipticCurve) -> int:
    """The number of bytes of a coordinate."""
    return (curve.key_size + 7) // 8


def rsa_key(jwk: PublishedJwk) -> rsa.RSAPublicKey:
    """An RSA key of 2048 to 8192 bits. Raises `ValueError`."""
    key = rsa.RSAPublicNumbers(_number(jwk.e), _number(jwk.n)).public_key()
    if jwk.kty != "RSA" or not 2048 <= key.key_size <= 8192:
        raise ValueError("the key is not an RSA key of 2048 to 8192 bits")
    return key


def ec_key(jwk: PublishedJwk) -> ec.EllipticCurvePublicKey:
    """A key on P-256, P-384 or P-521. Raises `ValueError` for a point that is not on the curve."""
    curve = CURVES.get(jwk.crv or "")
    if jwk.kty != "EC" or curve is None:
        raise ValueError("the key is not on a supported curve")
    return ec.EllipticCurvePublicNumbers(_number(jwk.x), _number(jwk.y), curve).public_key()


def ed25519_key(jwk: PublishedJwk) -> ed25519.Ed25519PublicKey:
    """An Ed25519 key. Raises `ValueError`."""
    if jwk.kty != "OKP" or jwk.crv != "Ed25519":
        raise ValueError("the key is not an Ed25519 key")
    return ed25519.Ed25519PublicKey.from_public_bytes(_bytes(jwk.x))


def _number(text: str | None) -> int:
    return int.from_bytes(_bytes(text), "big")


def _bytes(text: str | None) -> bytes:
    if text is None:
        raise ValueError("the key lacks a member")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("the key is not base64url") from None

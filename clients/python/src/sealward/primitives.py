"""The package `cryptography`, which local operations need."""

from __future__ import annotations

try:
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA384, SHA512, Hash, HashAlgorithm
    from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.keywrap import aes_key_wrap
except ImportError as error:
    raise ImportError("this call needs the package cryptography: pip install 'sealward[crypto]'") from error

__all__ = [
    "AESGCM",
    "HKDF",
    "SHA1",
    "SHA256",
    "SHA384",
    "SHA512",
    "ConcatKDFHash",
    "Hash",
    "HashAlgorithm",
    "InvalidSignature",
    "InvalidTag",
    "aes_key_wrap",
    "ec",
    "ed25519",
    "padding",
    "rsa",
    "utils",
]

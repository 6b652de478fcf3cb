"""PyPI cryptography as a peer for ML-DSA: one request and one answer per line."""

import hashlib
import json
import struct
import sys
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import mldsa

PRIVATE = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey,
    "ML-DSA-65": mldsa.MLDSA65PrivateKey,
    "ML-DSA-87": mldsa.MLDSA87PrivateKey,
}
PUBLIC = {
    "ML-DSA-44": mldsa.MLDSA44PublicKey,
    "ML-DSA-65": mldsa.MLDSA65PublicKey,
    "ML-DSA-87": mldsa.MLDSA87PublicKey,
}


def sign(request):
    """A signature of a new key, and the public key as JWK and PEM."""
    key = PRIVATE[request["algorithm"]].generate()
    public = key.public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    text = urlsafe_b64encode(public.public_bytes_raw()).decode().rstrip("=")
    return {
        "jwk": {"kty": "AKP", "alg": request["algorithm"], "pub": text},
        "pem": pem.decode(),
        "signature": b64encode(key.sign(request["message"].encode())).decode(),
    }


def verify(request):
    """Whether a signature is valid for a public JWK."""
    jwk = request["jwk"]
    public = urlsafe_b64decode(jwk["pub"] + "=" * (-len(jwk["pub"]) % 4))
    key = PUBLIC[jwk["alg"]].from_public_bytes(public)
    try:
        key.verify(b64decode(request["signature"]), request["message"].encode())
    except InvalidSignature:
        return {"valid": False}
    return {"valid": True}


def verify_cosignature(request):
    """Whether a note has a valid cosignature of a key (C2SP tlog-cosignature, signature type 0x06)."""
    name, key_id, encoded = request["key"].split("+", 2)
    kind_and_key = b64decode(encoded)
    digest = hashlib.sha256(name.encode() + b"\n" + kind_and_key).digest()
    if kind_and_key[0] != 6 or digest[:4].hex() != key_id:
        return {"valid": False}
    text, signatures = request["note"].split("\n\n", 1)
    origin, size, root = text.split("\n")[:3]
    for line in signatures.splitlines():
        _, signer, signature = line.split(" ")
        signature = b64decode(signature)
        if signer != name or signature[:4] != digest[:4]:
            continue
        message = b"".join((
            b"subtree/v1\n\0",
            struct.pack("B", len(name)) + name.encode(),
            signature[4:12],
            struct.pack("B", len(origin)) + origin.encode(),
            struct.pack(">QQ", 0, int(size)),
            b64decode(root),
        ))
        key = mldsa.MLDSA44PublicKey.from_public_bytes(kind_and_key[1:])
        try:
            key.verify(signature[12:], message)
        except InvalidSignature:
            return {"valid": False}
        return {"valid": True}
    return {"valid": False}


REQUESTS = {"sign": sign, "verify": verify, "verify_cosignature": verify_cosignature}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(REQUESTS[request["do"]](request)), flush=True)

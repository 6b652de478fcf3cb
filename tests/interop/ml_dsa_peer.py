"""PyPI cryptography as a peer for ML-DSA: one request and one answer per line."""

import json
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


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(sign(request) if request["do"] == "sign" else verify(request)), flush=True)

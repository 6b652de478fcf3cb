"""PyPI cryptography and jwcrypto generate and read keys: one request and one answer per line."""

import json
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwcrypto.jwk import JWK

MAKERS = {
    "RSA-2048": lambda: rsa.generate_private_key(65537, 2048),
    "P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "P-384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "P-521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "Ed25519": ed25519.Ed25519PrivateKey.generate,
}


def make(request):
    """A key in every import format, and its thumbprint."""
    key = MAKERS[request["algorithm"]]()

    def private(encryption):
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        ).decode()

    pem = private(serialization.NoEncryption())
    jwk = JWK.from_pem(pem.encode())
    return {
        "pem": pem,
        "locked": private(serialization.BestAvailableEncryption(request["passphrase"].encode())),
        "public": key.public_key()
        .public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        .decode(),
        "jwk": json.loads(jwk.export_private()),
        "publicJwk": json.loads(jwk.export_public()),
        "thumbprint": jwk.thumbprint(),
    }


def read(request):
    """The thumbprint of a public JWK."""
    return {"thumbprint": JWK(**request["jwk"]).thumbprint()}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(make(request) if request["do"] == "make" else read(request)), flush=True)

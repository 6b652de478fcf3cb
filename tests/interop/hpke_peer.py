"""PyPI cryptography as a peer for HPKE: one request and one answer per line."""

import json
import os
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import mlkem
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

PRIVATE = {"HPKE-12-KE": mlkem.MLKEM768PrivateKey, "HPKE-13-KE": mlkem.MLKEM1024PrivateKey}
PUBLIC = {"HPKE-12-KE": mlkem.MLKEM768PublicKey, "HPKE-13-KE": mlkem.MLKEM1024PublicKey}
KEM = {"HPKE-12-KE": hpke.KEM.MLKEM768, "HPKE-13-KE": hpke.KEM.MLKEM1024}
CIPHERTEXT = {"HPKE-12-KE": 1088, "HPKE-13-KE": 1568}
KEY = {"A128GCM": 16, "A256GCM": 32}
private_keys = {}


def encode(data):
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def suite(alg):
    return hpke.Suite(KEM[alg], hpke.KDF.SHAKE256, hpke.AEAD.AES_256_GCM)


def info(enc):
    return b"JOSE-HPKE rcpt\xff" + enc.encode() + b"\xff"


def generate(request):
    """The public JWK of a new key."""
    alg = request["alg"]
    private_keys[alg] = PRIVATE[alg].generate()
    public = private_keys[alg].public_key().public_bytes_raw()
    return {"kty": "AKP", "alg": alg, "pub": encode(public)}


def seal(request):
    """An envelope for a public JWK."""
    jwk, enc = request["jwk"], request["enc"]
    alg = jwk["alg"]
    content_key, iv = os.urandom(KEY[enc]), os.urandom(12)
    public = PUBLIC[alg].from_public_bytes(decode(jwk["pub"]))
    sealed = suite(alg).encrypt(content_key, public, info(enc))
    ek, encrypted_key = sealed[: CIPHERTEXT[alg]], sealed[CIPHERTEXT[alg] :]
    header = {"alg": alg, "enc": enc, "kid": request["kid"], "ek": encode(ek)}
    protected = encode(json.dumps(header).encode())
    content = AESGCM(content_key).encrypt(iv, request["plaintext"].encode(), protected.encode())
    return {
        "protected": protected,
        "encrypted_key": encode(encrypted_key),
        "iv": encode(iv),
        "ciphertext": encode(content[:-16]),
        "tag": encode(content[-16:]),
    }


def unseal(request):
    """The plaintext of an envelope for the generated key."""
    jwe = request["jwe"]
    header = json.loads(decode(jwe["protected"]))
    alg = header["alg"]
    sealed = decode(header["ek"]) + decode(jwe["encrypted_key"])
    content_key = suite(alg).decrypt(sealed, private_keys[alg], info(header["enc"]))
    content = decode(jwe["ciphertext"]) + decode(jwe["tag"])
    plaintext = AESGCM(content_key).decrypt(decode(jwe["iv"]), content, jwe["protected"].encode())
    return {"plaintext": plaintext.decode()}


ANSWERS = {"generate": generate, "seal": seal, "open": unseal}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(ANSWERS[request["do"]](request)), flush=True)

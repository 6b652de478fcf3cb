"""PyPI cryptography as a peer for HPKE: one request and one answer per line.

It has no MLKEM768-P256, which is composed here of its ML-KEM-768 and its ECDH.
"""

import hashlib
import json
import os
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import ec, mlkem
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HYBRID = "HPKE-8-KE"
PRIVATE = {"HPKE-12-KE": mlkem.MLKEM768PrivateKey, "HPKE-13-KE": mlkem.MLKEM1024PrivateKey}
PUBLIC = {"HPKE-12-KE": mlkem.MLKEM768PublicKey, "HPKE-13-KE": mlkem.MLKEM1024PublicKey}
KEM = {"HPKE-12-KE": hpke.KEM.MLKEM768, "HPKE-13-KE": hpke.KEM.MLKEM1024}
CIPHERTEXT = {HYBRID: 1088 + 65, "HPKE-12-KE": 1088, "HPKE-13-KE": 1568}
KEY = {"A128GCM": 16, "A256GCM": 32}
private_keys = {}


def encode(data):
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point_of(public):
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class HybridPublic:
    """ML-KEM-768 and P-256: draft-irtf-cfrg-concrete-hybrid-kems with HPKE."""

    def __init__(self, data):
        self.ml_kem = mlkem.MLKEM768PublicKey.from_public_bytes(data[:1184])
        self.ec = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data[1184:])

    def public_bytes_raw(self):
        return self.ml_kem.public_bytes_raw() + point_of(self.ec)

    def encrypt(self, plaintext, info):
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        point = point_of(ephemeral.public_key())
        secret, ciphertext = self.ml_kem.encapsulate()
        agreed = ephemeral.exchange(ec.ECDH(), self.ec)
        key, nonce = schedule(combine(secret, agreed, point, point_of(self.ec)), info)
        return ciphertext + point + AESGCM(key).encrypt(nonce, plaintext, b"")


class HybridPrivate:
    def __init__(self):
        self.ml_kem = mlkem.MLKEM768PrivateKey.generate()
        self.ec = ec.generate_private_key(ec.SECP256R1())

    def public_key(self):
        return HybridPublic(self.ml_kem.public_key().public_bytes_raw() + point_of(self.ec.public_key()))

    def decrypt(self, sealed, info):
        ciphertext, point, wrapped = sealed[:1088], sealed[1088 : 1088 + 65], sealed[1088 + 65 :]
        ephemeral = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        secret, agreed = self.ml_kem.decapsulate(ciphertext), self.ec.exchange(ec.ECDH(), ephemeral)
        key, nonce = schedule(combine(secret, agreed, point, point_of(self.ec.public_key())), info)
        return AESGCM(key).decrypt(nonce, wrapped, b"")


def combine(secret, agreed, sender, recipient):
    return hashlib.sha3_256(secret + agreed + sender + recipient + b"MLKEM768-P256").digest()


def schedule(secret, info):
    """The key and the nonce of base mode with SHAKE256 and AES-256-GCM."""

    def prefixed(data):
        return len(data).to_bytes(2, "big") + data

    suite_id = b"HPKE" + bytes([0x00, 0x50, 0x00, 0x11, 0x00, 0x02])
    secrets = prefixed(b"") + prefixed(secret)
    context = bytes([0]) + prefixed(b"") + prefixed(info)
    length = (32 + 12 + 64).to_bytes(2, "big")
    derived = hashlib.shake_256(
        secrets + b"HPKE-v1" + suite_id + prefixed(b"secret") + length + context
    ).digest(44)
    return derived[:32], derived[32:]


def suite(alg):
    return hpke.Suite(KEM[alg], hpke.KDF.SHAKE256, hpke.AEAD.AES_256_GCM)


def private_key(alg):
    return HybridPrivate() if alg == HYBRID else PRIVATE[alg].generate()


def encrypt(alg, public, plaintext, info):
    if alg == HYBRID:
        return HybridPublic(public).encrypt(plaintext, info)
    return suite(alg).encrypt(plaintext, PUBLIC[alg].from_public_bytes(public), info)


def decrypt(alg, private, sealed, info):
    if alg == HYBRID:
        return private.decrypt(sealed, info)
    return suite(alg).decrypt(sealed, private, info)


def info(enc):
    return b"JOSE-HPKE rcpt\xff" + enc.encode() + b"\xff"


def generate(request):
    """The public JWK of a new key."""
    alg = request["alg"]
    private_keys[alg] = private_key(alg)
    public = private_keys[alg].public_key().public_bytes_raw()
    return {"kty": "AKP", "alg": alg, "pub": encode(public)}


def seal(request):
    """An envelope for a public JWK."""
    jwk, enc = request["jwk"], request["enc"]
    alg = jwk["alg"]
    content_key, iv = os.urandom(KEY[enc]), os.urandom(12)
    sealed = encrypt(alg, decode(jwk["pub"]), content_key, info(enc))
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
    content_key = decrypt(alg, private_keys[alg], sealed, info(header["enc"]))
    content = decode(jwe["ciphertext"]) + decode(jwe["tag"])
    plaintext = AESGCM(content_key).decrypt(decode(jwe["iv"]), content, jwe["protected"].encode())
    return {"plaintext": plaintext.decode()}


ANSWERS = {"generate": generate, "seal": seal, "open": unseal}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(ANSWERS[request["do"]](request)), flush=True)

"""PyPI jwcrypto as a peer: reads one order a line and answers each with one line."""

import json
import sys

from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

ALGORITHMS = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A128KW", "ECDH-ES+A256KW", "A128GCM", "A256GCM"]


def seal(order):
    """The object, in which jwcrypto puts epk into an unprotected header."""
    header = {"alg": order["alg"], "enc": order["enc"], **order["header"]}
    envelope = JWE(order["plaintext"].encode(), json.dumps(header), algs=ALGORITHMS)
    envelope.add_recipient(JWK.from_pem(order["publicKey"].encode()))
    return json.loads(envelope.serialize())


def unseal(order):
    envelope = JWE(algs=ALGORITHMS)
    text = order["jwe"] if isinstance(order["jwe"], str) else json.dumps(order["jwe"])
    envelope.deserialize(text, JWK.from_pem(order["privateKey"].encode()))
    return envelope.payload.decode()


for line in sys.stdin:
    order = json.loads(line)
    done = seal(order) if order["do"] == "seal" else unseal(order)
    print(json.dumps(done), flush=True)

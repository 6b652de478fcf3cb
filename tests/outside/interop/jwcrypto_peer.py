"""PyPI jwcrypto as a peer: reads one request per line and answers each with one line."""

import json
import sys

from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

ALGORITHMS = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A128KW", "ECDH-ES+A256KW", "A128GCM", "A256GCM"]


def seal(request):
    """The object. jwcrypto puts epk into an unprotected header."""
    header = {"alg": request["alg"], "enc": request["enc"], **request["header"]}
    envelope = JWE(request["plaintext"].encode(), json.dumps(header), algs=ALGORITHMS)
    envelope.add_recipient(JWK.from_pem(request["publicKey"].encode()))
    return json.loads(envelope.serialize())


def unseal(request):
    envelope = JWE(algs=ALGORITHMS)
    text = request["jwe"] if isinstance(request["jwe"], str) else json.dumps(request["jwe"])
    envelope.deserialize(text, JWK.from_pem(request["privateKey"].encode()))
    return envelope.payload.decode()


for line in sys.stdin:
    request = json.loads(line)
    result = seal(request) if request["do"] == "seal" else unseal(request)
    print(json.dumps(result), flush=True)

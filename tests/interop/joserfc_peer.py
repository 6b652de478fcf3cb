"""PyPI joserfc as a peer: reads one order a line and answers each with one line."""

import json
import sys

from joserfc import jwe
from joserfc.jwk import ECKey, RSAKey

ALGORITHMS = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A128KW", "ECDH-ES+A256KW", "A128GCM", "A256GCM"]

# By default joserfc refuses header members that RFC 7516 does not name, such as iat.
REGISTRY = jwe.JWERegistry(algorithms=ALGORITHMS, strict_check_header=False)


def key(order, pem):
    return (RSAKey if order["alg"].startswith("RSA") else ECKey).import_key(pem)


def seal(order):
    header = {"alg": order["alg"], "enc": order["enc"], **order["header"]}
    plaintext = order["plaintext"].encode()
    return jwe.encrypt_compact(header, plaintext, key(order, order["publicKey"]), ALGORITHMS)


def unseal(order):
    private = key(order, order["privateKey"])
    decrypt = jwe.decrypt_compact if isinstance(order["jwe"], str) else jwe.decrypt_json
    return decrypt(order["jwe"], private, registry=REGISTRY).plaintext.decode()


for line in sys.stdin:
    order = json.loads(line)
    done = seal(order) if order["do"] == "seal" else unseal(order)
    print(json.dumps(done), flush=True)

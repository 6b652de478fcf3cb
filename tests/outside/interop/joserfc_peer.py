"""PyPI joserfc as a peer: reads one request per line and answers each with one line."""

import json
import sys

from joserfc import jwe
from joserfc.jwk import ECKey, RSAKey

ALGORITHMS = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A128KW", "ECDH-ES+A256KW", "A128GCM", "A256GCM"]

# By default joserfc refuses header members that RFC 7516 does not name, such as iat.
REGISTRY = jwe.JWERegistry(algorithms=ALGORITHMS, strict_check_header=False)


def key(request, pem):
    return (RSAKey if request["alg"].startswith("RSA") else ECKey).import_key(pem)


def seal(request):
    header = {"alg": request["alg"], "enc": request["enc"], **request["header"]}
    plaintext = request["plaintext"].encode()
    return jwe.encrypt_compact(header, plaintext, key(request, request["publicKey"]), ALGORITHMS)


def unseal(request):
    private = key(request, request["privateKey"])
    decrypt = jwe.decrypt_compact if isinstance(request["jwe"], str) else jwe.decrypt_json
    return decrypt(request["jwe"], private, registry=REGISTRY).plaintext.decode()


for line in sys.stdin:
    request = json.loads(line)
    result = seal(request) if request["do"] == "seal" else unseal(request)
    print(json.dumps(result), flush=True)

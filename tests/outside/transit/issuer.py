"""The issuer of the workload's tokens.

issuer.py serve FOLDER         publishes the key of FOLDER, and writes its address to FOLDER/url
issuer.py token FOLDER SECONDS prints a token that is valid for some seconds
"""

import http.server
import json
import ssl
import sys
import time
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

ISSUER = "https://issuer.example.com"
AUDIENCE = "sealward"


def token(folder: Path, seconds: int) -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "app", "iat": now, "exp": now + seconds, "jti": str(time.time_ns())}
    return jwt.encode(claims, (folder / "key.pem").read_text(), algorithm="ES256", headers={"kid": "1"})


def serve(folder: Path) -> None:
    key = load_pem_private_key((folder / "key.pem").read_bytes(), None).public_key()
    jwk = jwt.algorithms.ECAlgorithm.to_jwk(key, as_dict=True) | {"kid": "1", "alg": "ES256", "use": "sig"}
    body = json.dumps({"keys": [jwk]}).encode()

    class Keys(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    (folder / "url.new").write_text(f"https://localhost:{server.server_port}/keys")
    (folder / "url.new").rename(folder / "url")
    server.serve_forever()


match sys.argv[1:]:
    case ["serve", folder]:
        serve(Path(folder))
    case ["token", folder, seconds]:
        print(token(Path(folder), int(seconds)))

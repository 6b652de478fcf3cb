"""A later release: a proxy that adds to the responses of the service what later releases can add. It prints
its address and then runs until its input ends.

usage: later.py URL
"""

import http.client
import http.server
import json
import sys
import threading
import urllib.parse

FOREIGN = {"payload", "data", "jwe", "publicKey", "context"}
"""Members with content of clients, or in a format of a standard."""

HOP = {"connection", "content-length", "host", "transfer-encoding"}
"""Headers of one connection."""

NEW_VALUES = {"origin": "grown", "outcome": "done_later", "failureMode": "retry"}
"""Values of responses that no release has."""

ADDED = "addedLater"

service = urllib.parse.urlsplit(sys.argv[1])


def later(value):
    if isinstance(value, list):
        return [later(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {name: member if name in FOREIGN else later(member) for name, member in value.items()}
    members.update({name: new for name, new in NEW_VALUES.items() if name in members})
    return {**members, ADDED: {"by": ["a", "later", "release"]}}


def earlier(value):
    """Without what `later` added: a later release takes back its own members."""
    if isinstance(value, list):
        return [earlier(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: earlier(member) for name, member in value.items() if name != ADDED}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.body()
        connection = http.client.HTTPConnection(service.hostname, service.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        if body:
            body = json.dumps(earlier(json.loads(body))).encode()
        connection.request(self.command, self.path, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        if is_json and self.path != "/openapi.json":
            content = json.dumps(later(json.loads(content))).encode()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_port}", flush=True)
sys.stdin.read()

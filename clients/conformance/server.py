#!/usr/bin/env python3
"""The scripted server of the conformance cases: server.py [--port PORT] [--openapi FILE] [--service WORLD]

It prints its address and then serves until its standard input closes. README.md describes the cases
and what a runner sends.
"""

import argparse
import base64
import json
import secrets
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time
import tomllib
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certificates
import judge
import members

HERE = Path(__file__).parent
CONTROL = "/_conformance"
Json = Any


class Session:
    """One run of one case: the answers that are left, and the requests so far."""

    def __init__(self, number: int, language: str, case: Json):
        self.number, self.language, self.case = number, language, case
        self.answers = list(case.get("answers", []))
        self.requests: list[Json] = []
        self.lock = threading.Lock()
        self.answered_at = time.monotonic()

    def take(self, request: Json) -> Json:
        """Records a request and returns its answer."""
        with self.lock:
            request["after"] = time.monotonic() - self.answered_at
            self.requests.append(request)
            if self.answers:
                return self.answers.pop(0)
            if self.case["part"].startswith("live"):
                return {"forward": True}
            return {"status": 500, "text": "no answer is left"}

    def answered(self) -> None:
        self.answered_at = time.monotonic()


class Conformance:
    """All cases, the sessions, and what each language passed."""

    def __init__(self, openapi: Json, world: Json):
        self.world = world
        self.cases = json.loads((HERE / "cases.json").read_text())
        self.by_name = {case["name"]: case for case in self.cases["cases"]}
        self.version = tomllib.loads((HERE / "../../Cargo.toml").read_text())["workspace"]["package"]["version"]
        self.openapi = openapi
        self.sessions: dict[int, Session] = {}
        self.results: dict[str, dict[str, list[str]]] = {}
        self.lock = threading.Lock()
        self.address = self.tls_address = self.closed = ""
        self.certificates: dict[str, str] = {}

    def start(self, language: str, name: str) -> Json:
        with self.lock:
            number = len(self.sessions) + 1
            case = self.filled(self.by_name[name])
            self.sessions[number] = Session(number, language, case)
        base = self.tls_address if case.get("tls") else self.address
        base = base.replace("127.0.0.1", case.get("host", "127.0.0.1"))
        return {"session": number, "url": f"{base}/s/{number}", "case": case, **self.certificates}

    def filled(self, case: Json) -> Json:
        """The case, with the names of the service of the live cases, and a unique one, in place of `{NAME}`."""
        text = json.dumps(case).replace("{closed}", self.closed)
        if not case["part"].startswith("live"):
            return json.loads(text)
        for name, value in {**self.world, "unique": f"live-{secrets.token_hex(8)}"}.items():
            text = text.replace("{" + name + "}", value)
        return json.loads(text)

    def parts(self, language: str) -> list[str]:
        """The parts that a language runs: with a service, those against it too."""
        parts = self.cases["languages"][language]
        live = ["live" if part == "runtime" else f"live-{part}" for part in parts]
        return parts + live if self.world else parts

    def finish(self, number: int, report: Json) -> Json:
        session = self.sessions[number]
        facts = {"language": session.language.split("-")[0], "version": self.version}
        problems = judge.problems(session.case, session.requests, report, facts)
        if session.answers:
            problems.append(f"{len(session.answers)} answers are left")
        with self.lock:
            self.results.setdefault(session.language, {})[session.case["name"]] = problems
        return {"passed": not problems, "problems": problems}

    def known(self, language: str, known: Json) -> Json:
        """Compares what a client knows with the OpenAPI document."""
        parts = self.parts(language)
        problems = members.unknown(self.openapi, known, "management" in parts)
        with self.lock:
            self.results.setdefault(language, {})["OpenAPI members"] = problems
        return {"passed": not problems, "problems": problems}

    def report(self, language: str) -> Json:
        """The cases that failed, and those that did not run."""
        parts = self.parts(language)
        results = self.results.get(language, {})
        due = [case["name"] for case in self.cases["cases"] if case["part"] in parts]
        if self.openapi:
            due.append("OpenAPI members")
        missing = [name for name in due if name not in results]
        failed = {name: problems for name, problems in results.items() if problems}
        passed = sum(1 for name in due if results.get(name) == [])
        return {"passed": not missing and not failed, "count": passed, "missing": missing, "failed": failed}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    conformance: Conformance

    def serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.read_chunks() if self.headers.get("Transfer-Encoding") else self.rfile.read(length)
        if self.path.startswith(CONTROL):
            self.control(self.path.removeprefix(CONTROL), body)
        else:
            self.scripted(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def read_chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def control(self, path: str, body: bytes) -> None:
        document = json.loads(body) if body else None
        match path.strip("/").split("/"):
            case ["cases"]:
                answer = self.conformance.cases
            case ["start", language, name]:
                answer = self.conformance.start(language, name)
            case ["finish", number]:
                answer = self.conformance.finish(int(number), document)
            case ["known", language]:
                answer = self.conformance.known(language, document)
            case ["report", language]:
                answer = self.conformance.report(language)
            case _:
                answer = {"error": "unknown path"}
        self.answer_with(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())

    def scripted(self, body: bytes) -> None:
        _, _, number, *rest = self.path.split("/", 3)
        session = self.conformance.sessions[int(number)]
        answer = session.take(
            {
                "method": self.command,
                "path": "/" + "/".join(rest),
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": body.decode(errors="replace"),
                "certificate": self.certificate(),
            }
        )
        time.sleep(answer.get("delay", 0))
        try:
            if answer.get("forward"):
                answer = {**self.forwarded("/" + "/".join(rest), body), **answer}
            self.play(answer)
        except OSError:
            self.close_connection = True
        session.answered()

    def forwarded(self, path: str, body: bytes) -> Json:
        """The answer of the real service."""
        address = urlsplit(self.conformance.world["service"])
        names = [name for name in self.headers if name.lower() not in ("host", "connection", "content-length")]
        with closing(HTTPConnection(address.netloc)) as connection:
            connection.request(self.command, path, body or None, {name: self.headers[name] for name in names})
            response = connection.getresponse()
            content = base64.b64encode(response.read()).decode()
        headers = {
            name: value
            for name, value in response.getheaders()
            if name.lower() not in ("date", "content-length", "transfer-encoding")
        }
        return {"status": response.status, "headers": headers, "base64": content}

    def play(self, answer: Json) -> None:
        headers = {"Content-Type": "application/json", "X-Request-Id": "req_conformance", **answer.get("headers", {})}
        body = judge.expanded(answer)
        match answer.get("fault"):
            case "close":
                self.close_connection = True
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
            case "truncate":
                self.answer_with(answer.get("status", 200), headers, body, keep=len(body) // 2)
                self.close_connection = True
            case "garbage":
                self.wfile.write(b"\x00\x01 this is not HTTP\r\n\r\n")
                self.close_connection = True
            case "trickle":
                self.answer_with(answer.get("status", 200), headers, body, pause=answer["pause"])
            case _:
                self.answer_with(answer["status"], headers, body)

    def answer_with(
        self, status: int, headers: dict[str, str], body: bytes, keep: int | None = None, pause: float = 0
    ) -> None:
        self.send_response_only(status, HTTPStatus(status).phrase)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not pause:
            self.wfile.write(body[:keep])
        for at in range(0, len(body) if pause else 0):
            self.wfile.write(body[at : at + 1])
            self.wfile.flush()
            time.sleep(pause)

    def certificate(self) -> str | None:
        """The common name of the client's certificate."""
        if not isinstance(self.connection, ssl.SSLSocket):
            return None
        subject = (self.connection.getpeercert() or {}).get("subject", ())
        return next((value for ((name, value),) in subject if name == "commonName"), None)

    def log_message(self, *_: object) -> None:
        """The runners print what failed."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Connections that break are part of the cases."""


def start(port: int, context: ssl.SSLContext | None = None) -> str:
    server = Server(("127.0.0.1", port), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--openapi", type=Path)
    parser.add_argument("--service", type=Path)
    arguments = parser.parse_args()
    openapi, world = (json.loads(file.read_text()) if file else None for file in (arguments.openapi, arguments.service))
    conformance = Handler.conformance = Conformance(openapi, world)
    with tempfile.TemporaryDirectory() as folder:
        conformance.certificates = certificates.make(Path(folder))
        conformance.address = start(arguments.port)
        conformance.tls_address = start(0, certificates.context(Path(folder)))
        # A socket that does not listen keeps its port and refuses connections.
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            conformance.closed = f"http://127.0.0.1:{closed.getsockname()[1]}"
            print(conformance.address, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()

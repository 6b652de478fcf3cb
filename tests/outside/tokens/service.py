"""The service under test, with its database and its settings."""

import json, os, socket, subprocess, time, urllib.error, urllib.parse, urllib.request

PATIENCE = 60

url = urllib.parse.urlsplit(os.environ["SEALWARD_TEST_POSTGRES"])
psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", url.hostname, "-p", str(url.port), "-U", url.username,
        "-d", "postgres"]


class Failure(Exception):
    """An exercise failed because of the service."""


class Cannot(Exception):
    """The service answered that the token lacks the ability."""


def free_port():
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def within(what, attempt, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := attempt()):
        if time.monotonic() > end:
            raise Failure(f"{what} took too long")
        time.sleep(0.1)
    return found


class Service:
    """`sealward serve` with one token."""

    def __init__(self, program, token, folder):
        self.program, self.token, self.folder, self.process = program, token, folder, None
        self.folder.mkdir()
        self.port, self.database = free_port(), f"sealward_tokens_{os.getpid()}_{folder.name}".replace("-", "_")
        subprocess.run([*psql, "-c", f"create database {self.database}"], check=True,
                       env={**os.environ, "PGPASSWORD": url.password or ""})
        self.environment = {**os.environ, **token.environment, "SEALWARD_CONFIG": str(self.folder / "sealward.toml")}
        self.write(token.pin, token.module)

    def write(self, pin, module):
        """Writes the settings."""
        (self.folder / "pin").write_text(pin)
        parameters = self.token.parameters
        token = [f'module = "{module}"', 'label = "sealward"', f'pin = {{ file = "{self.folder}/pin" }}']
        if parameters:
            token.append(f"module_parameters = {json.dumps(parameters)}")
        (self.folder / "password").write_text(url.password or "x")
        database = f"postgres://{url.username}@{url.hostname}:{url.port}/{self.database}"
        password = f'password = {{ file = "{self.folder}/password" }}'
        (self.folder / "sealward.toml").write_text("\n".join([
            'environment = "development"', "[http]", f'listen = "127.0.0.1:{self.port}"', 'drain_delay = "0s"',
            # A loaded machine takes long for large RSA keys in software.
            "[limits]", 'request_timeout = "2min"', "[metrics]", 'listen = "127.0.0.1:0"', "[database]", f'url = "{database}"', password,
            "[migrate]", f'url = "{database}"', password, "[keys]", 'destruction_delay = "1s"', "[envelopes]",
            "post_quantum = true", "[hsm]", f"allow_raw_rsa = {str(self.token.raw_rsa).lower()}",
            "[[hsm.tokens]]", *token]))

    def command(self, *words, **options):
        return subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True,
                              extra_groups=self.token.groups(), **options)

    def succeed(self, *words, **options):
        ended = self.command(*words, **options)
        if ended.returncode:
            raise Failure(f"sealward {words[0]}: {ended.stderr}")
        return ended.stdout

    def start(self, patience=PATIENCE, ready=True):
        words = [self.program, "serve"]
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log,
                                            extra_groups=self.token.groups())
        within("the start", lambda: self.status("/livez") == 200 or self.check_alive(), patience)
        if ready:
            within("readiness", lambda: self.status("/readyz") == 200 or self.check_alive(), patience)

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"the service ended: {(self.folder / 'serve.log').read_text()[-2000:]}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def answer(self, path, body=None, key=None, method=None):
        """The status, the body and the headers of a response; status 0 without one."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        data = None if body is None else json.dumps(body).encode()
        sent = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(sent, timeout=150) as response:
                return response.status, json.loads(response.read() or b"null"), response.headers
        except urllib.error.HTTPError as refused:
            text = refused.read()
            try:
                return refused.code, json.loads(text or b"null"), refused.headers
            except ValueError:
                return refused.code, None, refused.headers
        except OSError:
            return 0, None, {}

    def status(self, path):
        return self.answer(path)[0]

    def call(self, path, body=None, key=None, method=None):
        status, found, _ = self.answer(path, body, key or self.admin, method)
        if 200 <= status < 300:
            return found
        details = (found or {}).get("error", {}).get("details", [])
        if status == 400 and any(detail.get("code") == "unsupported" for detail in details):
            raise Cannot(json.dumps(found))
        raise Failure(f"{method or ''} {path}: {status} {json.dumps(found)[:500]}")

    def prepare(self):
        for words in [["migrate"], ["init"]]:
            self.succeed(*words)
        self.start()
        made = self.succeed("api-key", "create", "--type", "admin", "--name", "check", "--json")
        self.admin = json.loads(made)["secret"]
        self.service = self.call("/admin/services", {"name": "exercises", "tier": "enterprise",
            "rateLimit": {"requestsPerSecond": 10000, "burst": 10000}})["id"]
        made = self.call("/admin/api-keys", {"name": "exercises", "type": "test", "serviceId": self.service})
        self.key = made["secret"]

    def operate(self, operation, payload):
        return self.call("/api/v1/operations", {"operation": operation, "payload": payload}, self.key)["result"]

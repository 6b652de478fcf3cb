"""Runs one catalogue of exercises against the service with each token, and prints the matrix.

check.py PROGRAM FAULTY_MODULE WORK [--write] [NAME...]
"""

import base64, json, os, re, signal, subprocess, sys, threading, time, traceback, urllib.error, urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tokens

program, faulty, work, *arguments = sys.argv[1:]
work, write = Path(work), "--write" in arguments
names = [name for name in arguments if name != "--write"] or list(tokens.ALL)
README = Path("docs/hsm/README.md")
BEGIN, END = "<!-- matrix: made by ./dev verify tokens --write -->", "<!-- end of the matrix -->"
PATIENCE = 60
PARALLEL = 3
YES, NO = "yes", "no"
SIZES = [20, 100_000]

url = urllib.parse.urlsplit(os.environ["SEALWARD_TEST_POSTGRES"])
psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", url.hostname, "-p", str(url.port), "-U", url.username,
        "-d", "postgres"]


class Failure(Exception):
    """An exercise failed because of the service."""


class Cannot(Exception):
    """The service answered that the token lacks the ability."""


def free_port():
    import socket
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

    def __init__(self, token, folder, **settings):
        self.token, self.folder, self.process = token, folder, None
        self.folder.mkdir()
        self.port, self.database = free_port(), f"sealward_tokens_{os.getpid()}_{folder.name}".replace("-", "_")
        subprocess.run([*psql, "-c", f"create database {self.database}"], check=True,
                       env={**os.environ, "PGPASSWORD": url.password or ""})
        self.environment = {**os.environ, **token.environment, "SEALWARD_CONFIG": str(self.folder / "sealward.toml")}
        self.write({"pin": token.pin, "module": token.module, **settings})

    def write(self, settings):
        (self.folder / "pin").write_text(settings["pin"])
        parameters = self.token.parameters
        token = [f'module = "{settings["module"]}"', 'label = "sealward"', f'pin = {{ file = "{self.folder}/pin" }}']
        if parameters:
            token.append(f"module_parameters = {json.dumps(parameters)}")
        (self.folder / "password").write_text(url.password or "x")
        database = f"postgres://{url.username}@{url.hostname}:{url.port}/{self.database}"
        password = f'password = {{ file = "{self.folder}/password" }}'
        (self.folder / "sealward.toml").write_text("\n".join([
            'environment = "development"', "[http]", f'listen = "127.0.0.1:{self.port}"', 'drain_delay = "0s"',
            "[metrics]", 'listen = "127.0.0.1:0"', "[database]", f'url = "{database}"', password,
            "[migrate]", f'url = "{database}"', password, "[keys]", 'destruction_delay = "1s"', "[envelopes]",
            "post_quantum = true", "[hsm]", f"allow_raw_rsa = {str(self.token.raw_rsa).lower()}",
            "[[hsm.tokens]]", *token]))

    def command(self, *words, **options):
        return subprocess.run([program, *words], env=self.environment, capture_output=True, text=True,
                              extra_groups=self.token.groups(), **options)

    def succeed(self, *words, **options):
        ended = self.command(*words, **options)
        if ended.returncode:
            raise Failure(f"sealward {words[0]}: {ended.stderr}")
        return ended.stdout

    def start(self, patience=PATIENCE, ready=True):
        words = [program, "serve"]
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


class Exercises:
    """The catalogue. Each method fails, or says that the token cannot."""

    def __init__(self, service, folder):
        self.service, self.folder, self.made, self.policies = service, folder, {}, 0
        self.damaged_key = None

    def generate(self, algorithm, use):
        body = {"serviceId": self.service.service, "name": f"{algorithm} {use}", "algorithm": algorithm,
                "use": use, "generate": True}
        self.made[algorithm, use] = self.service.call("/admin/keys", body)["id"]

    def needs(self, algorithm, use):
        if (algorithm, use) not in self.made:
            raise Cannot("there is no such key")
        return self.made[algorithm, use]

    def envelope_service(self, algorithm, jwe):
        """A service with a key of this kind, and a policy for it."""
        self.needs(algorithm, "enc")
        self.policies += 1
        number, call = f"P{self.policies}", self.service.call
        destination = call("/admin/services", {"name": f"destination {number}"})["id"]
        key = call("/admin/keys", {"serviceId": destination, "name": "first", "algorithm": algorithm,
                                   "generate": True})
        self.damaged_key = key["id"]
        call("/admin/policies", {"policyNumber": number, "name": number, "destinationServiceId": destination,
                                 "allowedServiceIds": ["*"], **jwe})
        return number

    def envelopes(self, algorithm, jwe):
        number = self.envelope_service(algorithm, jwe)
        for size in SIZES:
            payload = {"text": "x" * size}
            envelope = self.protect(number, payload)
            self.opens(number, envelope, payload)
        self.damaged(number)

    def protect(self, number, payload):
        body = {"payload": payload, "policyNumber": number}
        return self.service.call("/api/v1/protect", body, self.service.key)["jwe"]

    def opens(self, number, envelope, payload):
        body = {"jwe": envelope, "policyNumber": number}
        if self.service.call("/api/v1/unprotect", body, self.service.key)["payload"] != payload:
            raise Failure("another payload")

    def damaged(self, number):
        """Damaged envelopes are refused alike, and do not disturb the token."""
        whole = self.protect(number, "payload")
        refusals = set()
        for member in ["encrypted_key", "ciphertext", "tag"] * 3:
            bytes_of = bytearray(base64.urlsafe_b64decode(whole.get(member, "") + "=="))
            if not bytes_of:
                continue
            bytes_of[len(bytes_of) // 2] ^= 1
            envelope = {**whole, member: base64.urlsafe_b64encode(bytes_of).decode().rstrip("=")}
            body = {"jwe": envelope, "policyNumber": number}
            status, found, _ = self.service.answer("/api/v1/unprotect", body, self.service.key)
            refusals.add((status, (found or {}).get("error", {}).get("code")))
        if len(refusals) != 1 or next(iter(refusals))[0] in (200, 503, 0):
            raise Failure(f"damaged envelopes: {refusals}")
        self.opens(number, whole, "payload")

    def data(self, algorithm):
        key = self.needs(algorithm, "data")
        for size in SIZES:
            data = "x" * size
            sealed = self.service.operate("encrypt", {"data": data, "algorithm": "AES-256-GCM"
                if algorithm == "AES-256" else "AES-128-GCM", "keyId": key})
            if self.service.operate("decrypt", sealed)["data"] != data:
                raise Failure("another plaintext")

    def sign(self, kind, algorithm):
        key = self.needs(kind, "sig")
        for size in SIZES:
            payload = {"data": "x" * size, "algorithm": algorithm, "keyId": key}
            body = {"operation": "sign", "payload": payload}
            if self.service.answer("/api/v1/operations", body, self.service.key)[0] == 503:
                raise Cannot("the token refuses the operation whatever its input")
            signed = self.service.operate("sign", payload)
            if not self.service.operate("verify", {**payload, "signature": signed["signature"]})["valid"]:
                raise Failure("the signature does not verify")

    def file(self, kind):
        """A key outside the token, and how `sealward key import` reads it."""
        place = self.folder / f"{kind}.key"
        if kind in ("AES-256", "HMAC-SHA256"):
            place.write_bytes(os.urandom(32))
            return ["--secret", str(place), "--algorithm", kind]
        options = {"RSA-2048": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "Ed25519": ["ED25519"]}
        curve = ["EC", "-pkeyopt", f"ec_paramgen_curve:{kind}"]
        tokens.run("openssl", "genpkey", "-algorithm", *options.get(kind, curve), "-out", place)
        return ["--key", str(place)]

    def plaintext(self, kind):
        source, place = self.file(kind), self.folder / f"{kind}.key"
        body = {"serviceId": self.service.service, "name": f"{kind} plaintext", "use": "sig"}
        if source[0] == "--secret":
            body |= {"secretKey": base64.b64encode(place.read_bytes()).decode(), "algorithm": kind}
            body["use"] = "data" if kind == "AES-256" else "sig"
        else:
            body["privateKey"] = place.read_text()
        self.service.call("/admin/keys", body)

    def wrapped(self, kind, mechanism):
        use = [] if kind == "AES-256" else ["--use", "sig"]
        ended = self.service.command(
            "key", "import", "--url", f"http://127.0.0.1:{self.service.port}", "--admin-key-file", "-",
            "--service", self.service.service, "--mechanism", mechanism, *self.file(kind), *use,
            input=self.service.admin)
        refusals = "a kind of key that the token imports|a key that the token can keep|the token lacks"
        if ended.returncode and re.search(refusals, ended.stderr):
            raise Cannot(ended.stderr)
        if ended.returncode:
            raise Failure(ended.stderr)

    def adopt(self):
        if not self.service.token.has_foreign_key:
            raise Cannot("pkcs11-tool does not start this module")
        name = "made elsewhere"
        adopted = self.service.call("/admin/keys", {"serviceId": self.service.service, "name": name, "use": "sig",
                                                    "tokenObject": {"ckaId": "4711"}})
        if not adopted["hasPrivate"]:
            raise Failure(json.dumps(adopted))

    def destroy(self):
        """A key that has seen damaged envelopes is destroyed, without a restart."""
        if not self.damaged_key:
            raise Failure("there is no key")
        path = f"/admin/keys/{self.damaged_key}"
        self.service.call(path, method="DELETE")
        within("the destruction", lambda: self.service.call(path)["status"] == "destroyed", 150)


def outage(service, number, begin, end, seconds, patience):
    """Opens an envelope all the time while the daemon is out. Wrong answers and an end of the process fail."""
    exercises = Exercises(service, work)
    envelope = exercises.protect(number, "payload")
    stop, answers, failures, began = threading.Event(), [], [], [None]

    def client():
        while not stop.is_set():
            body = {"jwe": envelope, "policyNumber": number}
            status, found, headers = service.answer("/api/v1/unprotect", body, service.key)
            now = time.monotonic()
            answers.append((now, status))
            if status == 200 and found["payload"] != "payload":
                failures.append("another payload")
            # Until the canary has noticed the outage, a failure can be that of the envelope.
            is_early = status == 500 and began[0] and now < began[0] + 3
            if status != 200 and not is_early and (status != 503 or "Retry-After" not in headers):
                failures.append(f"{status} {found}")
            time.sleep(0.05)

    threads = [threading.Thread(target=client, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    began[0] = time.monotonic()
    begin()
    # Envelopes are made without the token.
    while time.monotonic() - began[0] < seconds:
        exercises.protect(number, "made during the outage")
        time.sleep(0.5)
    end()
    ended = time.monotonic()
    time.sleep(patience + 3)
    stop.set()
    for thread in threads:
        thread.join()
    service.check_alive()
    if failures:
        raise Failure(f"{len(failures)} answers: {failures[0]}")
    late = [at - ended for at, status in answers if at > ended + patience and status != 200]
    if late:
        raise Failure(f"still 503 after {max(late):.1f} s")
    if not any(status == 200 for at, status in answers if at > ended):
        raise Failure("no envelope is opened afterwards")


CURVES, RSA = ["P-256", "P-384", "P-521"], ["RSA-2048", "RSA-3072", "RSA-4096"]
IMPORTED = ["RSA-2048", *CURVES, "Ed25519", "AES-256", "HMAC-SHA256"]
SIGNATURES = [
    *[("RSA-2048", f"RSA-{padding}SHA{bits}") for padding in ["", "PSS-"] for bits in [256, 384, 512]],
    *[(curve, f"ECDSA-SHA{bits}") for curve, bits in zip(CURVES, [256, 384, 512])],
    ("Ed25519", "Ed25519"), ("ML-DSA-44", "ML-DSA-44"), ("ML-DSA-65", "ML-DSA-65"), ("ML-DSA-87", "ML-DSA-87"),
    ("HMAC-SHA256", "HMAC-SHA256")]


def catalogue(service, exercises):
    """The exercises: group, title, what doctor shows of the ability, and the exercise."""
    scheme = {**dict(SIGNATURES), "RSA-2048": "RSA-PSS-SHA256"}
    for kind in RSA:
        yield "Generate a key", f"{kind}, envelopes", [("generate", kind), ("decrypt", "RSA-OAEP-256")], \
            lambda kind=kind: exercises.generate(kind, "enc")
    for kind in CURVES:
        yield "Generate a key", f"{kind}, envelopes", [("derive", f"ECDH {kind}")], \
            lambda kind=kind: exercises.generate(kind, "enc")
    for kind in ["ML-KEM-768", "ML-KEM-1024"]:
        yield "Generate a key", f"{kind}, envelopes", [("decapsulate", kind)], \
            lambda kind=kind: exercises.generate(kind, "enc")
    for kind in ["RSA-2048", *CURVES, "Ed25519", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87", "HMAC-SHA256"]:
        yield "Generate a key", f"{kind}, signatures", [("sign", scheme[kind])], \
            lambda kind=kind: exercises.generate(kind, "sig")
    for kind in ["AES-128", "AES-256"]:
        yield "Generate a key", f"{kind}, data", [("encrypt, decrypt", f"{kind}-GCM")], \
            lambda kind=kind: exercises.generate(kind, "data")
    for title, kind, jwe, needed in [
            ("RSA-OAEP-256", "RSA-2048", {}, ("decrypt", "RSA-OAEP-256")),
            ("RSA-OAEP", "RSA-2048", {"alg": "RSA-OAEP"}, ("decrypt", "RSA-OAEP")),
            ("HPKE-12-KE", "ML-KEM-768", {"alg": "HPKE-12-KE"}, ("decapsulate", "ML-KEM-768")),
            *[(f"ECDH-ES+A256KW, {kind}", kind, {"alg": "ECDH-ES+A256KW"}, ("derive", f"ECDH {kind}"))
              for kind in CURVES]]:
        yield "Open envelopes, damaged ones too", title, [needed], \
            lambda kind=kind, jwe=jwe: exercises.envelopes(kind, jwe)
    for kind in ["AES-128", "AES-256"]:
        yield "Operations", f"{kind}-GCM", [("encrypt, decrypt", f"{kind}-GCM")], lambda kind=kind: exercises.data(kind)
    for kind, algorithm in SIGNATURES:
        yield "Operations", f"Sign with {algorithm}", [("sign", algorithm)], \
            lambda kind=kind, algorithm=algorithm: exercises.sign(kind, algorithm)
    for kind in IMPORTED:
        yield "Import in plaintext", kind, [("plaintext", kind)], lambda kind=kind: exercises.plaintext(kind)
    for mechanism in ["RSA_OAEP_SHA256_AES_KWP", "RSA_OAEP_SHA1_AES_KWP"]:
        for kind in IMPORTED:
            yield f"Import with {mechanism}", kind, [(mechanism, kind)], \
                lambda kind=kind, mechanism=mechanism: exercises.wrapped(kind, mechanism)
    yield "Life of a key", "Adopt a key of `pkcs11-tool`", None, exercises.adopt
    yield "Life of a key", "Destroy a key", None, exercises.destroy


def judge(exercise, needed, abilities):
    """The cell of an exercise: yes, or no where the service and doctor say so. Everything else fails."""
    works = needed is None or all(abilities.get(row, False) for row in needed)
    try:
        exercise()
    except Cannot as answer:
        return NO if needed is None or not works else f"FAILS: doctor says that it works: {answer}"
    except Failure as failure:
        return f"FAILS: {failure}"
    except Exception as error:
        return f"FAILS: {error!r}"
    return YES if works else "FAILS: doctor says that it is missing"


def doctor(service):
    """What doctor shows as working."""
    ended = service.command("doctor", "--json")
    [report] = json.loads(ended.stdout)["tokens"]
    if "operations" not in report:
        raise Failure(f"doctor has no table: {report}")
    rows = {(row["operation"], row["algorithm"]): row["works"] != "missing"
            for row in report["operations"] + report["imports"]}
    return rows


def outages(service, exercises, rows):
    """What happens to the service when its daemon does not answer, and at its start."""
    daemon, group = service.token.daemon, "Outages"
    kinds = [("P-256", {"alg": "ECDH-ES+A256KW"}), ("RSA-2048", {}), ("RSA-2048", {"alg": "RSA-OAEP"})]

    def number():
        for kind, jwe in kinds:
            try:
                found = exercises.envelope_service(kind, jwe)
                exercises.opens(found, exercises.protect(found, "payload"), "payload")
                return found
            except (Cannot, Failure):
                pass
        raise Failure("no envelope can be opened")

    def killed():
        outage(service, number(), daemon.end, daemon.start, 8, 35)

    def stopped():
        outage(service, number(), lambda: daemon.send(signal.SIGSTOP), lambda: daemon.send(signal.SIGCONT), 15, 2)

    def late():
        service.stop()
        daemon.end()
        service.start(ready=False)
        if service.status("/readyz") != 503:
            raise Failure("ready without a token")
        daemon.start()
        within("readiness", lambda: service.status("/readyz") == 200 or service.check_alive(), 40)

    for title, exercise in [("Daemon killed for 8 s", killed), ("Daemon stopped for 15 s", stopped),
                            ("Start while the daemon is down", late)]:
        rows[group, title] = judge(exercise, None, {}) if daemon else "–"


def settings(service, rows):
    """Limits and mistakes of an installation."""
    def wrong_pin():
        service.stop()
        service.write({"pin": "87654329", "module": service.token.module})
        ended = service.command("serve", timeout=PATIENCE)
        if ended.returncode != 78:
            raise Failure(f"exit code {ended.returncode}: {ended.stderr}")
        service.write({"pin": service.token.pin, "module": service.token.module})
        service.start()

    def limited():
        """The token gives four sessions: the anchor, the monitor and two workers."""
        service.stop()
        control = service.folder / "faults"
        control.mkdir()
        (control / "module").write_text(str(service.token.module))
        (control / "calls").write_text("")
        (control / "rules").write_text("0\nC_OpenSession 1 18446744073709551615 * * * session-limit 4\n")
        service.environment["FAULTY_TOKEN"] = str(control)
        service.write({"pin": service.token.pin, "module": faulty})
        service.start()
        def health():
            [token] = service.call("/api/v1/health")["checks"]["hsm"]["tokens"]
            return token

        try:
            within("two workers", lambda: health()["workers"] == 2, 20)
        except Failure as failure:
            raise Failure(f"{failure}: {health()}")
        if health()["status"] != "degraded":
            raise Failure(json.dumps(health()))
        listed = service.call(f"/admin/keys?serviceId={service.service}&limit=200")["items"]
        for kind, algorithm in [("RSA-2048", "RSA-PSS-SHA256"), *SIGNATURES]:
            usable = [key["id"] for key in listed if key["algorithm"] == kind and key.get("use") == "sig"
                      and key["status"] == "active" and key["origin"] == "generated"]
            if usable:
                break
        body = {"operation": "sign", "payload": {"data": "x", "algorithm": algorithm, "keyId": usable[0]}}
        first = service.answer("/api/v1/operations", body, service.key)
        if first[0] != 200:
            raise Failure(f"{first[0]} {first[1]}")
        # More at once than two workers, and fewer than a slow token cannot do within the deadline.
        with ThreadPoolExecutor(8) as pool:
            sent = [pool.submit(service.answer, "/api/v1/operations", body, service.key) for _ in range(60)]
            answers = [answer.result()[0] for answer in sent]
        if answers.count(200) != 60:
            raise Failure(f"{answers.count(200)} of 60 signatures")

    for title, exercise in [("A wrong PIN once, then the right one", wrong_pin),
                            ("Four sessions, 60 signatures", limited)]:
        rows["Settings", title] = judge(exercise, None, {})


def examine(name):
    """The column of one token."""
    token, rows = tokens.ALL[name](work), {}
    service = Service(token, work / f"{name}-service")
    try:
        # Before the start, because tpm2-pkcs11 reads its store only then.
        token.make_foreign_key()
        service.prepare()
        abilities = doctor(service)
        exercises = Exercises(service, work)
        for group, title, needed, exercise in catalogue(service, exercises):
            rows[group, title] = judge(exercise, needed, abilities)
        outages(service, exercises, rows)
        settings(service, rows)
    except Exception as error:
        rows["Start", "`sealward init` and `sealward serve`"] = f"FAILS: {error}"
        traceback.print_exc()
    finally:
        service.stop()
        token.end()
        log = service.folder / "serve.log"
        if log.exists() and any(cell.startswith("FAILS") for cell in rows.values()):
            lines = [line for line in log.read_text().splitlines() if '"level":"INFO"' not in line]
            print(f"--- {name}: the log", *lines[-20:], sep="\n", file=sys.stderr)
        subprocess.run([*psql, "-c", f"drop database if exists {service.database} with (force)"],
                       env={**os.environ, "PGPASSWORD": url.password or ""})
    return rows


def matrix(columns):
    titles = [tokens.ALL[name].title for name in columns]
    lines = [f"| Exercise | {' | '.join(titles)} |", f"|---{'|---' * len(titles)}|"]
    order = list(dict.fromkeys(row for rows in columns.values() for row in rows))
    group = None
    for row in order:
        if row[0] != group:
            group = row[0]
            lines.append(f"| **{group}** |{' |' * len(titles)}")
        cells = [rows.get(row, "").partition(":")[0] for rows in columns.values()]
        lines.append(f"| {row[1]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def column(table, title):
    """The column of a token in a matrix that was printed before."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    if not cells or title not in cells[0]:
        sys.exit(f"the matrix has no column for {title}: run the check without names")
    place, group, rows = cells[0].index(title), "", {}
    for first, *rest in cells[2:]:
        if first.startswith("**"):
            group = first.strip("*")
        else:
            rows[group, first] = rest[place - 1]
    return rows


def timed(name):
    began = time.monotonic()
    return examine(name), time.monotonic() - began


# The tokens do not depend on each other, and most of the time passes in outages.
with ThreadPoolExecutor(PARALLEL) as pool:
    columns = {}
    for name, (rows, took) in zip(names, pool.map(timed, names)):
        columns[name] = rows
        failed = [row for row, cell in rows.items() if cell.startswith("FAILS")]
        print(f"{name}: {len(rows)} exercises, {len(failed)} fail, {took:.0f} s", flush=True)
        for row in failed:
            print(f"  {row[0]}, {row[1]}: {rows[row]}", flush=True)
print(matrix(columns))
if any(cell.startswith("FAILS") for rows in columns.values() for cell in rows.values()):
    sys.exit(1)
if write:
    page = README.read_text()
    before, _, rest = page.partition(BEGIN)
    former, _, after = rest.partition(END)
    columns = {name: columns.get(name) or column(former, tokens.ALL[name].title) for name in tokens.ALL}
    README.write_text(f"{before}{BEGIN}\n{matrix(columns)}\n{END}{after}")

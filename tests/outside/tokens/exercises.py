"""The catalogue of exercises of a token."""

import base64, json, os, re

from service import Cannot, Failure, within
from tokens import run

SIZES = [20, 100_000]
CURVES, RSA = ["P-256", "P-384", "P-521"], ["RSA-2048", "RSA-3072", "RSA-4096"]
ENCAPSULATIONS = {"ML-KEM-768": "HPKE-12-KE", "ML-KEM-1024": "HPKE-13-KE", "P-256+ML-KEM-768": "HPKE-8-KE"}
IMPORTED = ["RSA-2048", *CURVES, "Ed25519", "AES-256", "HMAC-SHA256"]
SIGNATURES = [
    *[("RSA-2048", f"RSA-{padding}SHA{bits}") for padding in ["", "PSS-"] for bits in [256, 384, 512]],
    *[(curve, f"ECDSA-SHA{bits}") for curve, bits in zip(CURVES, [256, 384, 512])],
    ("Ed25519", "Ed25519"), ("ML-DSA-44", "ML-DSA-44"), ("ML-DSA-65", "ML-DSA-65"), ("ML-DSA-87", "ML-DSA-87"),
    ("HMAC-SHA256", "HMAC-SHA256")]


class Exercises:
    """The catalogue. Each method fails, or says that the token cannot."""

    def __init__(self, service, foreign_key):
        self.service, self.made, self.policies = service, {}, 0
        self.foreign_key, self.damaged_key = foreign_key, None

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
        if refusals != {(500, "INTERNAL_ERROR")}:
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
            signed = self.service.operate("sign", payload)
            if not self.service.operate("verify", {**payload, "signature": signed["signature"]})["valid"]:
                raise Failure("the signature does not verify")

    def file(self, kind):
        """A key outside the token, and how `sealward key import` reads it."""
        place = self.service.folder / f"{kind}.key"
        if kind in ("AES-256", "HMAC-SHA256"):
            place.write_bytes(os.urandom(32))
            return ["--secret", str(place), "--algorithm", kind]
        options = {"RSA-2048": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "Ed25519": ["ED25519"]}
        curve = ["EC", "-pkeyopt", f"ec_paramgen_curve:{kind}"]
        run("openssl", "genpkey", "-algorithm", *options.get(kind, curve), "-out", place)
        return ["--key", str(place)]

    def plaintext(self, kind):
        source, place = self.file(kind), self.service.folder / f"{kind}.key"
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
        body = {"serviceId": self.service.service, "name": "made elsewhere", "use": "sig",
                "tokenObject": {"ckaId": self.foreign_key}}
        adopted = self.service.call("/admin/keys", body)
        if not adopted["hasPrivate"]:
            raise Failure(json.dumps(adopted))

    def destroy(self):
        """A key that has seen damaged envelopes is destroyed, without a restart."""
        if not self.damaged_key:
            raise Failure("there is no key")
        path = f"/admin/keys/{self.damaged_key}"
        self.service.call(path, method="DELETE")
        within("the destruction", lambda: self.service.call(path)["status"] == "destroyed", 150)


def catalogue(exercises):
    """The exercises: group, title, what doctor shows of the ability, and the exercise."""
    scheme = {**dict(SIGNATURES), "RSA-2048": "RSA-PSS-SHA256"}
    for kind in RSA:
        yield "Generate a key", f"{kind}, envelopes", [("generate", kind), ("decrypt", "RSA-OAEP-256")], \
            lambda kind=kind: exercises.generate(kind, "enc")
    for kind in CURVES:
        yield "Generate a key", f"{kind}, envelopes", [("derive", f"ECDH {kind}")], \
            lambda kind=kind: exercises.generate(kind, "enc")
    for kind in ENCAPSULATIONS:
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
            *[(alg, kind, {"alg": alg}, ("decapsulate", kind)) for kind, alg in ENCAPSULATIONS.items()],
            *[(f"{alg}, {kind}", kind, {"alg": alg}, ("derive", f"ECDH {kind}"))
              for alg in ["ECDH-ES+A128KW", "ECDH-ES+A256KW"] for kind in CURVES]]:
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
    yield "Life of a key", "Adopt a key of another tool", [], exercises.adopt
    yield "Life of a key", "Destroy a key", [], exercises.destroy

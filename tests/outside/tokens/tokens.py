"""The tokens: how each is set up, and which daemon it depends on."""

import os, re, signal, socket, subprocess, time
from pathlib import Path

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
PATIENCE = 20


def run(*words, **options):
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert ended.returncode == 0, f"{words[0]}: {ended.stdout}{ended.stderr}"
    return ended.stdout


def wait(what, attempt):
    end = time.monotonic() + PATIENCE
    while not attempt():
        assert time.monotonic() < end, f"{what} took too long"
        time.sleep(0.1)


class Daemon:
    """A process without which the token does not answer. Its children belong to it."""

    def __init__(self, words, log, environment=None):
        self.words, self.log = [str(word) for word in words], log
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.words, env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def send(self, number):
        os.killpg(self.process.pid, number)

    def end(self):
        if self.process:
            try:
                self.send(signal.SIGCONT)
                self.send(signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()


class Token:
    """A token in software without a daemon."""

    label, pin = "sealward", "Ab1sealward"
    parameters, raw_rsa, daemon = None, False, None

    def __init__(self, work):
        self.work, self.environment, self.started = work / self.name, {}, []
        self.work.mkdir()
        self.make()

    @staticmethod
    def groups():
        """The groups that processes with the token need."""
        return []

    def begin(self, daemon):
        daemon.start()
        self.started.append(daemon)
        return daemon

    def end(self):
        for daemon in reversed(self.started):
            daemon.end()

    def make_foreign_key(self):
        """Makes a key with another tool, to be adopted. Returns its id."""
        run("pkcs11-tool", "--module", self.module, "--token-label", self.label, "--login", "--pin", self.pin,
            "--keypairgen", "--key-type", "rsa:2048", "--label", "made elsewhere", "--id", "4711", "--usage-sign",
            env={**os.environ, **self.environment}, extra_groups=self.groups())
        return "4711"


class SoftHsm(Token):
    name, title, module, raw_rsa = "softhsm2", "SoftHSM2", SOFTHSM, True

    def make(self):
        run("softhsm/make-token", self.work / "token", self.label)
        self.pin = (self.work / "token/pin").read_text()
        self.environment = {"SOFTHSM2_CONF": str(self.work / "token/softhsm2.conf")}


class Kryoptic(Token):
    name, title = "kryoptic", "kryoptic"
    module = os.environ.get("SEALWARD_TEST_KRYOPTIC", "")

    def make(self):
        (self.work / "conf").write_text(
            f'[[slots]]\nslot = 0\ndbtype = "sqlite"\ndbargs = "{self.work}/kryoptic.sql"\n')
        self.environment = {"KRYOPTIC_CONF": str(self.work / "conf")}
        variables, tool = {**os.environ, **self.environment}, ["pkcs11-tool", "--module", self.module]
        run(*tool, "--slot", "0", "--init-token", "--label", self.label, "--so-pin", "87654321", env=variables)
        run(*tool, "--slot", "0", "--login", "--login-type", "so", "--so-pin", "87654321", "--init-pin",
            "--pin", self.pin, env=variables)


class Nss(Token):
    name, title, module = "nss", "NSS softokn", LIBRARIES / "libsoftokn3.so"

    def make(self):
        (self.work / "pin").write_text(self.pin)
        run("certutil", "-N", "-d", f"sql:{self.work}", "-f", self.work / "pin")
        self.parameters = (f"configdir='sql:{self.work}' certPrefix='' keyPrefix='' secmod='secmod.db' flags= "
                           f"dbTokenDescription='{self.label}'")

    def make_foreign_key(self):
        """With the tool of NSS, because pkcs11-tool gives a module no parameters."""
        (self.work / "noise").write_bytes(os.urandom(64))
        tool = ["-d", f"sql:{self.work}", "-f", self.work / "pin"]
        run("certutil", "-G", *tool, "-k", "rsa", "-g", "2048", "-z", self.work / "noise")
        return re.search(r"rsa +([0-9a-f]{40})", run("certutil", "-K", *tool))[1]


class OpenCryptoki(Token):
    name, title, pin = "opencryptoki", "openCryptoki", "56781234"
    module = LIBRARIES / "opencryptoki/libopencryptoki.so.0"

    def make(self):
        Path("/etc/opencryptoki/opencryptoki.conf").write_text(
            "version opencryptoki-3.8\nslot 3\n{\nstdll = libpkcs11_sw.so\n}\n")
        for folder in ["/var/lib/opencryptoki/swtok/TOK_OBJ", "/var/lock/opencryptoki/swtok"]:
            Path(folder).mkdir(parents=True)
            run("chgrp", "-R", "pkcs11", Path(folder).parents[1])
        self.daemon = self.begin(Daemon(["pkcsslotd", "-f"], self.work / "pkcsslotd.log"))
        time.sleep(2)
        self.config("-I", "-S", "87654321", input=f"{self.label}\n")
        self.config("-P", "-S", "87654321", "-n", "11223344")
        self.config("-u", "-S", "11223344", "-n", "87651234")
        self.config("-p", "-U", "87651234", "-n", self.pin)

    @staticmethod
    def groups():
        return ["pkcs11"]

    def config(self, *words, **options):
        said = run("pkcsconf", "-c", "3", *words, extra_groups=self.groups(), **options)
        assert "Error" not in said, said


class Tpm(Token):
    name, title, module = "tpm", "TPM 2.0", LIBRARIES / "pkcs11/libtpm2_pkcs11.so"

    def make(self):
        state, store = self.work / "state", self.work / "store"
        state.mkdir(), store.mkdir()
        port = self.port()
        self.begin(Daemon(["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={state}", "--server",
                           f"type=tcp,port={port},bindaddr=127.0.0.1,disconnect", "--ctrl",
                           f"type=tcp,port={port + 1},bindaddr=127.0.0.1", "--flags",
                           "not-need-init,startup-clear", "--seccomp", "action=none"], self.work / "swtpm.log"))
        bus = f"unix:path={self.work}/bus"
        self.begin(Daemon(["dbus-daemon", "--session", "--nofork", f"--address={bus}"], self.work / "bus.log"))
        wait("the bus", (self.work / "bus").exists)
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": bus, "TPM2_PKCS11_STORE": str(store),
            "TPM2_PKCS11_TCTI": "tabrmd:bus_type=session", "TSS2_LOG": "all+NONE", "TPM2_PKCS11_LOG_LEVEL": "0"}
        self.daemon = self.begin(Daemon(
            ["tpm2-abrmd", "--allow-root", "--session", "--tcti", f"swtpm:host=127.0.0.1,port={port}"],
            self.work / "abrmd.log", self.environment))
        time.sleep(2)
        variables = {**os.environ, **self.environment, "TPM2TOOLS_TCTI": "tabrmd:bus_type=session"}
        run("tpm2_ptool", "init", "--path", store, env=variables)
        run("tpm2_ptool", "addtoken", "--pid", "1", "--label", self.label, "--sopin", "so-secret", "--userpin",
            self.pin, "--path", store, env=variables)

    @staticmethod
    def port():
        with socket.socket() as tried:
            tried.bind(("127.0.0.1", 0))
            return tried.getsockname()[1]


class P11Kit(Token):
    name, title, module = "p11-kit", "p11-kit client, SoftHSM2 behind it", LIBRARIES / "pkcs11/p11-kit-client.so"
    raw_rsa = True

    def make(self):
        run("softhsm/make-token", self.work / "token", self.label)
        self.pin, place = (self.work / "token/pin").read_text(), self.work / "socket"
        self.daemon = self.begin(Daemon(
            ["p11-kit", "server", "-f", "--provider", SOFTHSM, "--name", place, f"pkcs11:token={self.label}"],
            self.work / "server.log", {"SOFTHSM2_CONF": str(self.work / "token/softhsm2.conf")}))
        wait("the server", place.exists)
        self.environment = {"P11_KIT_SERVER_ADDRESS": f"unix:path={place}"}


ALL = {kind.name: kind for kind in [SoftHsm, Kryoptic, Nss, OpenCryptoki, Tpm, P11Kit]}

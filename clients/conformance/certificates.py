"""The certificates of the scripted server: a CA, a server and a client."""

import ssl
import subprocess
from pathlib import Path

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def make(folder: Path) -> dict[str, str]:
    """Makes the certificates and returns the files that a client needs."""
    openssl(folder, "req", "-x509", *CURVE, "-subj", "/CN=conformance", "-keyout", "ca.key", "-out", "ca.pem")
    for name in ("server", "client"):
        (folder / f"{name}.ext").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl(folder, "req", *CURVE, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-extfile", f"{name}.ext", "-out", f"{name}.pem")  # fmt: skip
    return {
        "caFile": str(folder / "ca.pem"),
        "certificateFile": str(folder / "client.pem"),
        "certificateKeyFile": str(folder / "client.key"),
    }


def context(folder: Path) -> ssl.SSLContext:
    """TLS that asks for a client certificate and accepts none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.load_verify_locations(folder / "ca.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

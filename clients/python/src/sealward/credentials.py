"""Credentials: where a client finds them for each request."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from .errors import CredentialUnavailable

T = TypeVar("T")

Stamp = tuple[int, int, int]


class Credential(Protocol):
    """Something that authenticates requests. A class of your own can implement it."""

    def authorization(self) -> str | None:
        """The value of the header `Authorization` for the next request."""


class ApiKey:
    """An API key."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def authorization(self) -> str:
        """The value of the header `Authorization`."""
        return _bearer(self._secret, "the API key")

    def __repr__(self) -> str:
        return "ApiKey([redacted])"


class _File(Generic[T]):
    """What was read from files, read again when one of them changes."""

    def __init__(self, paths: tuple[Path, ...], read: Callable[[], T]) -> None:
        self._paths = paths
        self._read = read
        self._known: tuple[tuple[Stamp, ...], T] | None = None

    def current(self) -> T:
        try:
            stamps = tuple(_stamp(path) for path in self._paths)
            if self._known is None or self._known[0] != stamps:
                self._known = stamps, self._read()
            return self._known[1]
        except OSError as error:
            raise CredentialUnavailable(f"cannot read {error.filename}: {error.strerror}") from None


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


class _SecretFile:
    """A secret in a file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._file = _File((self._path,), self._path.read_text)

    def authorization(self) -> str:
        """The value of the header `Authorization`. Reads the file again when it changes."""
        return _bearer(self._file.current().strip(), f"the content of {self._path}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._path)!r})"


class ApiKeyFile(_SecretFile):
    """An API key in a file, which is read again when it changes."""


class TokenFile(_SecretFile):
    """A JWT in a file, which is read again when it changes, for example a projected token."""


class ClientCertificate:
    """A client certificate and its private key in PEM files, which are read again when they change."""

    def __init__(self, certificate: str | os.PathLike[str], private_key: str | os.PathLike[str]) -> None:
        self._certificate = Path(certificate)
        self._private_key = Path(private_key)
        self._loaded: dict[int, tuple[Stamp, ...]] = {}

    def load_into(self, context: ssl.SSLContext) -> None:
        """Makes new connections of the context use the present certificate."""
        try:
            stamps = _stamp(self._certificate), _stamp(self._private_key)
            if self._loaded.get(id(context)) != stamps:
                context.load_cert_chain(self._certificate, self._private_key)
                self._loaded[id(context)] = stamps
        except OSError as error:
            raise CredentialUnavailable(f"cannot use {self._certificate}: {error.strerror}") from None

    def __repr__(self) -> str:
        return f"ClientCertificate({str(self._certificate)!r}, {str(self._private_key)!r})"


def _bearer(secret: str, what: str) -> str:
    if not secret:
        raise CredentialUnavailable(f"{what} is empty")
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialUnavailable(f"{what} is not a credential: it contains spaces, line breaks or other characters")
    return f"Bearer {secret}"

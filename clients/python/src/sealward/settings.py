"""Where the service is and how a client reaches it."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx

from .credentials import ApiKey, ApiKeyFile, ClientCertificate, Credential, TokenFile
from .errors import CredentialUnavailable, InvalidConfiguration
from .exchange import Request
from .tracing import traceparent


@dataclass(frozen=True)
class Settings:
    """The address of the service, and what authenticates to it."""

    url: str
    credential: Credential | None = None
    certificate: ClientCertificate | None = None
    ca_file: str | os.PathLike[str] | None = None
    allow_plaintext: bool = False
    tls: ssl.SSLContext = field(init=False, repr=False)
    origin: str = field(init=False)
    """The scheme, the host and the port of the address."""

    def __post_init__(self) -> None:
        address = _parsed(self.url)
        origin = f"{address.scheme}://{address.netloc.decode()}"
        if address.scheme == "http" and not self.allow_plaintext and not _is_this_machine(address.host):
            raise InvalidConfiguration(f"{origin} must begin with https://, except for this machine")
        object.__setattr__(self, "url", self.url.rstrip("/"))
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "tls", _trusting(self.ca_file))

    def headers(self, request: Request) -> dict[str, str]:
        """The headers of a request, with the present credential."""
        authorization = None
        if not request.anonymous:
            if self.certificate is not None:
                self.certificate.load_into(self.tls)
            if self.credential is not None:
                authorization = self.credential.authorization()
            elif self.certificate is None:
                raise CredentialUnavailable("the client has neither a credential nor a client certificate")
        return request.headers(authorization, traceparent())


def _parsed(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise InvalidConfiguration("the address of the service is not an http or https address") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise InvalidConfiguration("the address of the service is not an http or https address")
    if address.userinfo or address.query or address.fragment:
        raise InvalidConfiguration("the address of the service has credentials, a query or a fragment")
    return address


def _is_this_machine(host: str) -> bool:
    """Whether nobody else can read requests to this host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _trusting(ca_file: str | os.PathLike[str] | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise InvalidConfiguration(f"cannot use the CA file {ca_file}: {error.strerror}") from None


@dataclass(frozen=True)
class Environment:
    """The variables that name the service and the credential."""

    url: str
    credential: Credential
    ca_file: str | None

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> Environment:
        """Reads the variables. Raises `InvalidConfiguration` for those that are missing or exclude each other."""
        url = variables.get("SEALWARD_URL")
        if not url:
            raise InvalidConfiguration("SEALWARD_URL is not set")
        return cls(url, _credential(variables), variables.get("SEALWARD_CA_FILE") or None)


_CREDENTIALS: dict[str, Callable[[str], Credential]] = {
    "SEALWARD_API_KEY": ApiKey,
    "SEALWARD_API_KEY_FILE": ApiKeyFile,
    "SEALWARD_TOKEN_FILE": TokenFile,
}


def _credential(variables: Mapping[str, str]) -> Credential:
    found = [kind(variables[name]) for name, kind in _CREDENTIALS.items() if variables.get(name)]
    if len(found) != 1:
        raise InvalidConfiguration("set exactly one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE")
    return found[0]

"""Where the service is and how a client reaches it."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from .credentials import ApiKey, ApiKeyFile, ClientCertificate, Credential, TokenFile
from .errors import CredentialUnavailable
from .exchange import Request
from .tracing import traceparent


@dataclass(frozen=True)
class Settings:
    """The address of the service, and what authenticates to it."""

    url: str
    credential: Credential | None = None
    certificate: ClientCertificate | None = None
    ca_file: str | os.PathLike[str] | None = None
    tls: ssl.SSLContext = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.url.rstrip("/"))
        object.__setattr__(self, "tls", ssl.create_default_context(cafile=self.ca_file))

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


@dataclass(frozen=True)
class Environment:
    """The variables that name the service and the credential."""

    url: str
    credential: Credential
    ca_file: str | None

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> Environment:
        """Reads the variables. Raises `CredentialUnavailable` for those that are missing."""
        url = variables.get("SEALWARD_URL")
        if not url:
            raise CredentialUnavailable("SEALWARD_URL is not set")
        return cls(url, _credential(variables), variables.get("SEALWARD_CA_FILE"))


def _credential(variables: Mapping[str, str]) -> Credential:
    if path := variables.get("SEALWARD_API_KEY_FILE"):
        return ApiKeyFile(path)
    if path := variables.get("SEALWARD_TOKEN_FILE"):
        return TokenFile(path)
    if secret := variables.get("SEALWARD_API_KEY"):
        return ApiKey(secret)
    raise CredentialUnavailable("set SEALWARD_API_KEY, SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE")

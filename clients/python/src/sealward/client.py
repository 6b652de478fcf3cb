"""The client for threads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from .all_operations import AllOperations
from .credentials import ApiKey, ClientCertificate, Credential
from .data_keys import DataKeyCache
from .errors import ClientClosed, ConnectionFailed
from .exchange import Answer, Part, Request
from .methods import like
from .retries import Attempts, Retries, deadline_exceeded
from .settings import Environment, Settings
from .steps import Steps, Work
from .transport import connection_failed, http_request

P = ParamSpec("P")
T = TypeVar("T")


def blocking(
    operation: Callable[Concatenate[AllOperations, P], Steps[T]],
) -> Callable[Concatenate[Client, P], T]:
    """A method that performs the steps of a call."""

    @like(operation)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.perform(operation(self.operations, *args, **kwargs))

    return method


class Client:
    """A client for programs without `async`. Threads can share it. Close it, or use it in a `with` block.

    `credential` is an API key, or one of `ApiKeyFile`, `TokenFile` and classes of your own. `deadline` is the
    number of seconds for a call with all its attempts. `allow_plaintext` allows `http://` also to other machines;
    whoever reads the network then reads the credential and the payloads.
    """

    def __init__(
        self,
        url: str,
        credential: str | Credential | None = None,
        *,
        certificate: ClientCertificate | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        deadline: float = 30.0,
        max_attempts: int = 3,
        max_retry_after: float = 10.0,
        data_key_cache: DataKeyCache | None = None,
        allow_plaintext: bool = False,
    ) -> None:
        credential = ApiKey(credential) if isinstance(credential, str) else credential
        self._settings = Settings(url, credential, certificate, ca_file, allow_plaintext)
        self._retries = Retries(deadline, max_attempts, max_retry_after)
        self._http = httpx.Client(verify=self._settings.tls, trust_env=False, follow_redirects=False)
        self.operations = AllOperations(data_key_cache, threading.Event)

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ, **options: Any) -> Self:
        """A client from `SEALWARD_URL`, the variable of a credential, and `SEALWARD_CA_FILE`."""
        found = Environment.read(variables)
        return cls(found.url, found.credential, ca_file=found.ca_file, **options)

    protect = blocking(AllOperations.protect)
    protect_or_pass = blocking(AllOperations.protect_or_pass)
    unprotect = blocking(AllOperations.unprotect)
    rewrap = blocking(AllOperations.rewrap)
    protect_batch = blocking(AllOperations.protect_batch)
    unprotect_batch = blocking(AllOperations.unprotect_batch)
    rewrap_batch = blocking(AllOperations.rewrap_batch)
    data_key = blocking(AllOperations.data_key)
    cached_data_key = blocking(AllOperations.cached_data_key)
    open_data_key = blocking(AllOperations.open_data_key)
    encrypt_file = blocking(AllOperations.encrypt_file)
    decrypt_file = blocking(AllOperations.decrypt_file)
    sealed_writer = blocking(AllOperations.sealed_writer)
    sealed_reader = blocking(AllOperations.sealed_reader)
    open_all = blocking(AllOperations.open_all)
    encrypt = blocking(AllOperations.encrypt)
    decrypt = blocking(AllOperations.decrypt)
    decrypt_bytes = blocking(AllOperations.decrypt_bytes)
    sign = blocking(AllOperations.sign)
    verify = blocking(AllOperations.verify)
    hash = blocking(AllOperations.hash)
    seal_locally = blocking(AllOperations.seal_locally)
    verify_locally = blocking(AllOperations.verify_locally)
    caller = blocking(AllOperations.caller)
    policy = blocking(AllOperations.policy)
    health = blocking(AllOperations.health)
    jwks = blocking(AllOperations.jwks)

    def perform(self, steps: Steps[T]) -> T:
        """Performs the steps of a call. All its requests share one deadline."""
        attempts: Attempts | None = None
        try:
            step = next(steps)
            while True:
                if isinstance(step, Work):
                    step = steps.send(step.function())
                    continue
                attempts = attempts or self._retries.begin(step.deadline)
                if isinstance(step, Request):
                    step = steps.send(self._ask(step, attempts.next_request()))
                elif step.event.wait(attempts.remaining()):
                    step = next(steps)
                else:
                    raise deadline_exceeded()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def _ask(self, request: Request, attempts: Attempts) -> Part:
        while True:
            outcome = self._send(request, attempts)
            if isinstance(outcome, Answer) and (part := outcome.result(request)) is not None:
                return part
            wait = attempts.wait_after(outcome)
            if wait is None:
                raise outcome.error(request) if isinstance(outcome, Answer) else outcome
            time.sleep(wait)

    def _send(self, request: Request, attempts: Attempts) -> Answer | ConnectionFailed:
        attempts.remaining()
        if self._http.is_closed:
            raise ClientClosed("the client is closed")
        try:
            response = self._http.send(http_request(self._settings, request, attempts), stream=True)
            try:
                body = bytearray()
                for chunk in response.iter_raw():
                    body += chunk
                    attempts.remaining()
            finally:
                response.close()
        except httpx.TimeoutException:
            raise deadline_exceeded() from None
        except httpx.RequestError as error:
            return connection_failed(self._settings, error)
        return Answer(response.status_code, response.headers, bytes(body))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._settings.url!r}, {self._settings.credential!r})"

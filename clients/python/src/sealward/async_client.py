"""The client for tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import anyio
import httpx

from .all_operations import AllOperations
from .credentials import ApiKey, ClientCertificate, Credential
from .data_keys import DataKeyCache
from .errors import ClientClosed, ConnectionFailed
from .exchange import Answer, Part, Request
from .methods import like
from .retries import Attempts, Retries, deadline_exceeded
from .settings import Environment, Settings
from .steps import Steps, Wait, Work
from .transport import connection_failed, http_request

P = ParamSpec("P")
T = TypeVar("T")


def asynchronous(
    operation: Callable[Concatenate[AllOperations, P], Steps[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """A method that performs the steps of a call."""

    @like(operation)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.perform(operation(self.operations, *args, **kwargs))

    return method


class AsyncClient:
    """A client for programs with asyncio. Close it, or use it in an `async with` block.

    It has the calls and the parameters of `Client`. Work with files runs in a thread.
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
        self._http = httpx.AsyncClient(verify=self._settings.tls, trust_env=False, follow_redirects=False)
        self.operations = AllOperations(data_key_cache, anyio.Event)

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ, **options: Any) -> Self:
        """A client from `SEALWARD_URL`, the variable of a credential, and `SEALWARD_CA_FILE`."""
        found = Environment.read(variables)
        return cls(found.url, found.credential, ca_file=found.ca_file, **options)

    protect = asynchronous(AllOperations.protect)
    protect_or_pass = asynchronous(AllOperations.protect_or_pass)
    unprotect = asynchronous(AllOperations.unprotect)
    rewrap = asynchronous(AllOperations.rewrap)
    protect_batch = asynchronous(AllOperations.protect_batch)
    unprotect_batch = asynchronous(AllOperations.unprotect_batch)
    rewrap_batch = asynchronous(AllOperations.rewrap_batch)
    data_key = asynchronous(AllOperations.data_key)
    cached_data_key = asynchronous(AllOperations.cached_data_key)
    open_data_key = asynchronous(AllOperations.open_data_key)
    encrypt_file = asynchronous(AllOperations.encrypt_file)
    decrypt_file = asynchronous(AllOperations.decrypt_file)
    sealed_writer = asynchronous(AllOperations.sealed_writer)
    sealed_reader = asynchronous(AllOperations.sealed_reader)
    open_all = asynchronous(AllOperations.open_all)
    encrypt = asynchronous(AllOperations.encrypt)
    decrypt = asynchronous(AllOperations.decrypt)
    decrypt_bytes = asynchronous(AllOperations.decrypt_bytes)
    sign = asynchronous(AllOperations.sign)
    verify = asynchronous(AllOperations.verify)
    hash = asynchronous(AllOperations.hash)
    seal_locally = asynchronous(AllOperations.seal_locally)
    verify_locally = asynchronous(AllOperations.verify_locally)
    caller = asynchronous(AllOperations.caller)
    policy = asynchronous(AllOperations.policy)
    health = asynchronous(AllOperations.health)
    jwks = asynchronous(AllOperations.jwks)

    async def perform(self, steps: Steps[T]) -> T:
        """Performs the steps of a call. All its requests share one deadline."""
        attempts: Attempts | None = None
        try:
            step = next(steps)
            while True:
                if isinstance(step, Work):
                    step = steps.send(await anyio.to_thread.run_sync(step.function))
                    continue
                attempts = attempts or self._retries.begin(step.deadline)
                if isinstance(step, Request):
                    step = steps.send(await self._ask(step, attempts.next_request()))
                else:
                    await self._wait(step, attempts)
                    step = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def _wait(self, step: Wait, attempts: Attempts) -> None:
        try:
            with anyio.fail_after(attempts.remaining()):
                await step.event.wait()
        except TimeoutError:
            raise deadline_exceeded() from None

    async def _ask(self, request: Request, attempts: Attempts) -> Part:
        while True:
            outcome = await self._send(request, attempts)
            if isinstance(outcome, Answer) and (part := outcome.result(request)) is not None:
                return part
            wait = attempts.wait_after(outcome)
            if wait is None:
                raise outcome.error(request) if isinstance(outcome, Answer) else outcome
            await anyio.sleep(wait)

    async def _send(self, request: Request, attempts: Attempts) -> Answer | ConnectionFailed:
        if self._http.is_closed:
            raise ClientClosed("the client is closed")
        try:
            with anyio.fail_after(attempts.remaining()):
                response = await self._http.send(http_request(self._settings, request, None))
        except TimeoutError:
            raise deadline_exceeded() from None
        except httpx.RequestError as error:
            return connection_failed(self._settings, error)
        return Answer(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._settings.url!r}, {self._settings.credential!r})"

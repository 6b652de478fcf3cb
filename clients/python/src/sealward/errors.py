"""The errors that a client raises. None contains a payload, a key or a credential."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ApiError",
    "AuthenticationFailed",
    "ClientClosed",
    "Conflict",
    "ConnectionFailed",
    "ContextRequired",
    "CredentialUnavailable",
    "DeadlineExceeded",
    "DecryptionFailed",
    "FileNotAuthentic",
    "Frozen",
    "InvalidConfiguration",
    "InvalidRequest",
    "KeyUnavailable",
    "MalformedFile",
    "NotAllowed",
    "NotFound",
    "NotProtected",
    "PayloadTooLarge",
    "PolicyNotActive",
    "PreconditionFailed",
    "Problem",
    "RateLimited",
    "SealwardError",
    "ServerError",
    "Unavailable",
    "UnexpectedAnswer",
    "UnsupportedAlgorithm",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one member of a request."""

    field: str
    code: str
    message: str


class SealwardError(Exception):
    """The base of all errors.

    Errors of responses have the status, the code, the request ID and the details of the response.
    """

    #: Whether the same call can succeed later without a change. The client already repeated it.
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        details: tuple[Problem, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.details = details
        #: The seconds that the service asked to wait.
        self.retry_after = retry_after

    def __str__(self) -> str:
        facts = [str(fact) for fact in (self.status, self.code, self.request_id) if fact is not None]
        problems = [f"{problem.field or 'body'} {problem.message}" for problem in self.details]
        text = self.message + "".join(f"; {problem}" for problem in problems)
        return f"{text} ({', '.join(facts)})" if facts else text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ApiError(SealwardError):
    """The service refused the request or failed."""


class InvalidRequest(ApiError):
    """The request is not valid; `details` names each problem. Without `status`, the client found it itself."""


class AuthenticationFailed(ApiError):
    """The service does not accept the credential."""


class NotAllowed(ApiError):
    """The credential, the policy or the state of a key does not allow the call."""


class PolicyNotActive(NotAllowed):
    """The policy is not active."""


class Frozen(NotAllowed):
    """An administrator froze the calling service, the destination, or everything."""


class NotFound(ApiError):
    """The policy, key or resource does not exist."""


class Conflict(ApiError):
    """The request conflicts with the state of a resource."""


class PreconditionFailed(ApiError):
    """The resource changed in the meantime."""


class PayloadTooLarge(ApiError):
    """The body exceeds a limit of the service."""


class RateLimited(ApiError):
    """The rate limit is exceeded."""

    retryable = True


class DecryptionFailed(ApiError):
    """The envelope, ciphertext or file cannot be opened. This is final: repeating does not help."""


class ServerError(ApiError):
    """The service failed."""


class Unavailable(ApiError):
    """The service, or a proxy before it, is temporarily unavailable."""

    retryable = True


class ConnectionFailed(SealwardError):
    """No complete answer arrived."""

    retryable = True


class DeadlineExceeded(SealwardError):
    """The deadline passed before an answer arrived."""

    retryable = True


class UnexpectedAnswer(SealwardError):
    """The answer is not what the API documents, for example a page of a proxy."""


class NotProtected(SealwardError):
    """The policy is inactive, and the service passed the payload through or dropped it."""


class InvalidConfiguration(SealwardError):
    """No client can be made with these options."""


class ClientClosed(SealwardError):
    """The client was closed before the call."""


class CredentialUnavailable(SealwardError):
    """A credential cannot be read, or is not valid in a request."""


class KeyUnavailable(SealwardError):
    """The policy or the service has no key that fits."""


class UnsupportedAlgorithm(SealwardError):
    """This library does not implement the algorithm."""


class ContextRequired(SealwardError):
    """The policy requires a context, which local sealing does not support."""


class MalformedFile(SealwardError):
    """The file does not begin as a sealed file does. This is final."""


class FileNotAuthentic(SealwardError):
    """The sealed file was truncated, extended or changed. This is final."""


_BY_CODE: dict[str, type[ApiError]] = {
    "POLICY_NOT_ACTIVE": PolicyNotActive,
    "SERVICE_FROZEN": Frozen,
    "DECRYPTION_FAILED": DecryptionFailed,
}

_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: PayloadTooLarge,
    429: RateLimited,
    500: ServerError,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_type(status: int, code: str | None, opening: bool) -> type[ApiError]:
    """The type of an error. `opening` says that the call opens an envelope."""
    if opening and status == 500 and code == "INTERNAL_ERROR":
        return DecryptionFailed
    return _BY_CODE.get(code or "") or _BY_STATUS.get(status, ApiError)

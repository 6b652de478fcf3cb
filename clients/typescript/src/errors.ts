/** The errors of all calls. None contains a payload, a key or a credential. */

/** A problem with one member of a request. */
export interface Problem {
    readonly field: string;
    readonly code: string;
    readonly message: string;
}

/** What an answer says about an error. */
export interface ErrorFacts {
    readonly status?: number | undefined;
    readonly code?: string | undefined;
    readonly requestId?: string | undefined;
    readonly details?: readonly Problem[] | undefined;
    readonly retryAfterSeconds?: number | undefined;
}

/** The base of all errors. Errors of answers have the status, the code, the request ID and the details of the answer. */
export class SealwardError extends Error {
    readonly status: number | undefined;
    readonly code: string | undefined;
    readonly requestId: string | undefined;
    readonly details: readonly Problem[];
    /** The seconds that the service asked to wait. */
    readonly retryAfterSeconds: number | undefined;
    /** Whether the same call can succeed later without a change. The client already repeated it. */
    readonly retryable: boolean = false;

    constructor(message: string, facts: ErrorFacts = {}) {
        super(described(message, facts));
        this.name = new.target.name;
        this.status = facts.status;
        this.code = facts.code;
        this.requestId = facts.requestId;
        this.details = facts.details ?? [];
        this.retryAfterSeconds = facts.retryAfterSeconds;
    }
}

function described(message: string, facts: ErrorFacts): string {
    const problems = (facts.details ?? []).map(({ field, message }) => `; ${field || "body"} ${message}`).join("");
    const known = [facts.status, facts.code, facts.requestId].filter((fact) => fact !== undefined);
    return message + problems + (known.length > 0 ? ` (${known.join(", ")})` : "");
}

/** The service refused the request or failed. */
export class ApiError extends SealwardError {}

/** The request is not valid; `details` names each problem. Without `status`, the client found it itself. */
export class InvalidRequest extends ApiError {}

/** The service does not accept the credential. */
export class AuthenticationFailed extends ApiError {}

/** The credential, the policy or the state of a key does not allow the call. */
export class NotAllowed extends ApiError {}

/** The policy is not active. */
export class PolicyNotActive extends NotAllowed {}

/** An administrator froze the calling service, the destination, or everything. */
export class Frozen extends NotAllowed {}

/** The policy, key or resource does not exist. */
export class NotFound extends ApiError {}

/** The request conflicts with the state of a resource. */
export class Conflict extends ApiError {}

/** The resource changed in the meantime. */
export class PreconditionFailed extends ApiError {}

/** The body exceeds a limit of the service. */
export class PayloadTooLarge extends ApiError {}

/** The rate limit is exceeded. */
export class RateLimited extends ApiError {
    override readonly retryable = true;
}

/** The envelope or ciphertext cannot be opened. This is final: repeating does not help. */
export class DecryptionFailed extends ApiError {}

/** The service failed. */
export class ServerError extends ApiError {}

/** The service, or a proxy before it, is temporarily unavailable. */
export class Unavailable extends ApiError {
    override readonly retryable = true;
}

/** No complete answer arrived. */
export class ConnectionFailed extends SealwardError {
    override readonly retryable = true;
}

/** The deadline passed before an answer arrived. */
export class DeadlineExceeded extends SealwardError {
    override readonly retryable = true;
}

/** The answer is not what the API documents, for example a page of a proxy. */
export class UnexpectedAnswer extends SealwardError {}

/** The policy is inactive, and the service passed the payload through or dropped it. */
export class NotProtected extends SealwardError {}

/** No client can be made with these options. */
export class InvalidConfiguration extends SealwardError {}

/** A credential cannot be read, or is not valid in a request. */
export class CredentialUnavailable extends SealwardError {}

/** The policy or the service has no key that fits. */
export class KeyUnavailable extends SealwardError {}

/** This library does not implement the algorithm. */
export class UnsupportedAlgorithm extends SealwardError {}

/** The policy requires a context, which local sealing does not support. */
export class ContextRequired extends SealwardError {}

/** The file does not begin as a sealed file does. This is final. */
export class MalformedFile extends SealwardError {}

/** The sealed file was truncated, extended or changed. This is final. */
export class FileNotAuthentic extends SealwardError {}

const BY_CODE: Readonly<Record<string, typeof ApiError>> = {
    POLICY_NOT_ACTIVE: PolicyNotActive,
    SERVICE_FROZEN: Frozen,
    DECRYPTION_FAILED: DecryptionFailed,
};

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
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
};

/** The type of an error. `opening` says that the call opens an envelope. */
export function errorType(status: number, code: string | undefined, opening: boolean): typeof ApiError {
    if (opening && status === 500 && code === "INTERNAL_ERROR") return DecryptionFailed;
    return BY_CODE[code ?? ""] ?? BY_STATUS[status] ?? ApiError;
}

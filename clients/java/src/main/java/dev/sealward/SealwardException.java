package dev.sealward;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The failure of a call. It contains neither credentials nor payloads. Each kind has a class of its own. */
public abstract sealed class SealwardException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * One problem of a request.
     *
     * @param field the member of the body, or empty for the body as a whole
     * @param code for example {@code required}
     * @param message a sentence about it
     */
    public record Detail(String field, String code, String message) {}

    final transient Refusal refusal;

    SealwardException(Refusal refusal, Throwable cause) {
        super(refusal.describe(cause), cause);
        this.refusal = refusal;
    }

    /**
     * The code of the service.
     *
     * @return for example {@code POLICY_NOT_FOUND}
     */
    public final Optional<String> code() {
        return Optional.ofNullable(refusal.code());
    }

    /**
     * The HTTP status.
     *
     * @return empty without an answer
     */
    public final OptionalInt status() {
        return refusal.status() == 0 ? OptionalInt.empty() : OptionalInt.of(refusal.status());
    }

    /**
     * The ID of the request, which the audit log has too.
     *
     * @return empty without an answer
     */
    public final Optional<String> requestId() {
        return Optional.ofNullable(refusal.requestId());
    }

    /**
     * The problems of the request.
     *
     * @return empty unless the service refused members
     */
    public final List<Detail> details() {
        return refusal.details();
    }

    /**
     * The time after which the service accepts a repeat.
     *
     * @return empty if the service states none
     */
    public final Optional<Duration> retryAfter() {
        return Optional.ofNullable(refusal.retryAfter());
    }

    /**
     * Whether the same call can succeed later. The client has already repeated it.
     *
     * @return true for {@link RateLimited}, {@link Unavailable}, {@link ConnectionFailed} and {@link DeadlineExceeded}
     */
    public final boolean isRetryable() {
        return this instanceof RateLimited || this instanceof Unavailable
                || this instanceof ConnectionFailed || this instanceof DeadlineExceeded;
    }

    /** Status 400, or a problem of the request that this library finds itself. */
    public static final class InvalidRequest extends SealwardException {
        private static final long serialVersionUID = 1;

        InvalidRequest(Refusal refusal) {
            super(refusal, null);
        }

        InvalidRequest(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** Status 401. */
    public static final class AuthenticationFailed extends SealwardException {
        private static final long serialVersionUID = 1;

        AuthenticationFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 403. */
    public static final class NotAllowed extends SealwardException {
        private static final long serialVersionUID = 1;

        NotAllowed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** The policy is not active. */
    public static final class PolicyNotActive extends SealwardException {
        private static final long serialVersionUID = 1;

        PolicyNotActive(Refusal refusal) {
            super(refusal, null);
        }

        PolicyNotActive(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** The service, the destination or everything is frozen. */
    public static final class Frozen extends SealwardException {
        private static final long serialVersionUID = 1;

        Frozen(Refusal refusal) {
            super(refusal, null);
        }

        Frozen(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** Status 404. */
    public static final class NotFound extends SealwardException {
        private static final long serialVersionUID = 1;

        NotFound(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 409. */
    public static final class Conflict extends SealwardException {
        private static final long serialVersionUID = 1;

        Conflict(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 412. */
    public static final class PreconditionFailed extends SealwardException {
        private static final long serialVersionUID = 1;

        PreconditionFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 413. */
    public static final class PayloadTooLarge extends SealwardException {
        private static final long serialVersionUID = 1;

        PayloadTooLarge(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 429. */
    public static final class RateLimited extends SealwardException {
        private static final long serialVersionUID = 1;

        RateLimited(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** An envelope or a ciphertext cannot be opened. This is final: a repeat does not help. */
    public static final class DecryptionFailed extends SealwardException {
        private static final long serialVersionUID = 1;

        DecryptionFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Another failure with status 500. */
    public static final class ServerError extends SealwardException {
        private static final long serialVersionUID = 1;

        ServerError(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 502, 503 or 504. */
    public static final class Unavailable extends SealwardException {
        private static final long serialVersionUID = 1;

        Unavailable(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Any other error status. */
    public static final class ApiError extends SealwardException {
        private static final long serialVersionUID = 1;

        ApiError(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** No complete answer arrived. */
    public static final class ConnectionFailed extends SealwardException {
        private static final long serialVersionUID = 1;

        ConnectionFailed(String origin, Throwable cause) {
            super(Refusal.of("no complete answer from " + origin), cause);
        }
    }

    /** The deadline passed before an answer. */
    public static final class DeadlineExceeded extends SealwardException {
        private static final long serialVersionUID = 1;

        DeadlineExceeded(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** An answer is not of the documented form. */
    public static final class UnexpectedAnswer extends SealwardException {
        private static final long serialVersionUID = 1;

        UnexpectedAnswer(Refusal refusal) {
            super(refusal, null);
        }

        UnexpectedAnswer(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** An inactive policy passed the payload through or dropped it, so there is no envelope. */
    public static final class NotProtected extends SealwardException {
        private static final long serialVersionUID = 1;

        NotProtected(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** No client can be made with these options. */
    public static final class InvalidConfiguration extends SealwardException {
        private static final long serialVersionUID = 1;

        InvalidConfiguration(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A credential cannot be read or cannot be sent. */
    public static final class CredentialUnavailable extends SealwardException {
        private static final long serialVersionUID = 1;

        CredentialUnavailable(String message) {
            super(Refusal.of(message), null);
        }

        CredentialUnavailable(String message, Throwable cause) {
            super(Refusal.of(message), cause);
        }
    }

    /** A policy has no key, or a service publishes no fitting key. */
    public static final class KeyUnavailable extends SealwardException {
        private static final long serialVersionUID = 1;

        KeyUnavailable(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** This library does not have an algorithm. The service may have it. */
    public static final class UnsupportedAlgorithm extends SealwardException {
        private static final long serialVersionUID = 1;

        UnsupportedAlgorithm(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** Local sealing is not possible, because the envelope needs a context. */
    public static final class ContextRequired extends SealwardException {
        private static final long serialVersionUID = 1;

        ContextRequired(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A file does not begin as a sealed file does. */
    public static final class MalformedFile extends SealwardException {
        private static final long serialVersionUID = 1;

        MalformedFile(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A sealed file was truncated, extended or changed. */
    public static final class FileNotAuthentic extends SealwardException {
        private static final long serialVersionUID = 1;

        FileNotAuthentic(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** The thread was interrupted while it waited for an answer. */
    public static final class Interrupted extends SealwardException {
        private static final long serialVersionUID = 1;

        Interrupted(String message) {
            super(Refusal.of(message), null);
        }
    }
}

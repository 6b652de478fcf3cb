package dev.sealward;

import java.io.Serial;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The failure of a call. It contains neither credentials nor payloads. Each kind has a class of its own. */
public abstract sealed class SealwardException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * One problem of a request.
     *
     * @param field the member of the body, or empty for the body as a whole
     * @param code for example {@code required}
     * @param message a sentence about it
     */
    public record Detail(String field, String code, String message) {}

    /** What an answer of the service says about its refusal. */
    record Refusal(int status, String code, String message, String requestId, List<Detail> details, Duration retryAfter) {
        static Refusal of(String message) {
            return new Refusal(0, null, message, null, List.of(), null);
        }

        Refusal withRequestId(String id) {
            return new Refusal(status, code, message, id, details, retryAfter);
        }
    }

    private final transient Refusal refusal;

    SealwardException(Refusal refusal, Throwable cause) {
        super(describe(refusal, cause), cause);
        this.refusal = refusal;
    }

    private static String describe(Refusal refusal, Throwable cause) {
        var text = new StringBuilder();
        if (refusal.status != 0) {
            text.append(refusal.status).append(' ');
        }
        if (refusal.code != null) {
            text.append(refusal.code).append(": ");
        }
        text.append(refusal.message == null ? "no message" : refusal.message);
        for (Detail detail : refusal.details) {
            text.append("; ").append(detail.field).append(": ").append(detail.message);
        }
        if (cause != null && cause.getMessage() != null) {
            text.append(": ").append(cause.getMessage());
        }
        if (refusal.requestId != null) {
            text.append(" [request ").append(refusal.requestId).append(']');
        }
        return text.toString();
    }

    /**
     * The code of the service.
     *
     * @return for example {@code POLICY_NOT_FOUND}
     */
    public final Optional<String> code() {
        return Optional.ofNullable(refusal.code);
    }

    /**
     * The HTTP status.
     *
     * @return empty without an answer
     */
    public final OptionalInt status() {
        return refusal.status == 0 ? OptionalInt.empty() : OptionalInt.of(refusal.status);
    }

    /**
     * The ID of the request, which the audit log has too.
     *
     * @return empty without an answer
     */
    public final Optional<String> requestId() {
        return Optional.ofNullable(refusal.requestId);
    }

    /**
     * The problems of the request.
     *
     * @return empty unless the service refused members
     */
    public final List<Detail> details() {
        return refusal.details;
    }

    /**
     * The time after which the service accepts a repeat.
     *
     * @return empty if the service states none
     */
    public final Optional<Duration> retryAfter() {
        return Optional.ofNullable(refusal.retryAfter);
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

    static SealwardException of(Refusal refusal) {
        if (refusal.code != null) {
            switch (refusal.code) {
                case "POLICY_NOT_ACTIVE":
                    return new PolicyNotActive(refusal);
                case "SERVICE_FROZEN":
                    return new Frozen(refusal);
                case "DECRYPTION_FAILED":
                    return new DecryptionFailed(refusal);
                default:
            }
        }
        return switch (refusal.status) {
            case 400 -> new InvalidRequest(refusal);
            case 401 -> new AuthenticationFailed(refusal);
            case 403 -> new NotAllowed(refusal);
            case 404 -> new NotFound(refusal);
            case 409 -> new Conflict(refusal);
            case 412 -> new PreconditionFailed(refusal);
            case 413 -> new PayloadTooLarge(refusal);
            case 429 -> new RateLimited(refusal);
            case 500 -> new ServerError(refusal);
            case 502, 503, 504 -> new Unavailable(refusal);
            default -> refusal.status < 400 ? new UnexpectedAnswer(refusal) : new ApiError(refusal);
        };
    }

    /** The failure of a call that opens an envelope, where INTERNAL_ERROR says that it cannot be opened. */
    static SealwardException opening(SealwardException failure) {
        boolean closed = failure instanceof ServerError && failure.code().equals(Optional.of("INTERNAL_ERROR"));
        return closed ? new DecryptionFailed(failure.refusal) : failure;
    }

    /** Status 400, or a problem of the request that this library finds itself. */
    public static final class InvalidRequest extends SealwardException {
        @Serial
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
        @Serial
        private static final long serialVersionUID = 1;

        AuthenticationFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 403. */
    public static final class NotAllowed extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        NotAllowed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** The policy is not active. */
    public static final class PolicyNotActive extends SealwardException {
        @Serial
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
        @Serial
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
        @Serial
        private static final long serialVersionUID = 1;

        NotFound(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 409. */
    public static final class Conflict extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        Conflict(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 412. */
    public static final class PreconditionFailed extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        PreconditionFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 413. */
    public static final class PayloadTooLarge extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        PayloadTooLarge(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 429. */
    public static final class RateLimited extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        RateLimited(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** An envelope or a ciphertext cannot be opened. This is final: a repeat does not help. */
    public static final class DecryptionFailed extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        DecryptionFailed(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Another failure with status 500. */
    public static final class ServerError extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        ServerError(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Status 502, 503 or 504. */
    public static final class Unavailable extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        Unavailable(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** Any other error status. */
    public static final class ApiError extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        ApiError(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** No complete answer arrived. */
    public static final class ConnectionFailed extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        ConnectionFailed(String origin, Throwable cause) {
            super(Refusal.of("no complete answer from " + origin), cause);
        }
    }

    /** The deadline passed before an answer. */
    public static final class DeadlineExceeded extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        DeadlineExceeded(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** An answer is not of the documented form. */
    public static final class UnexpectedAnswer extends SealwardException {
        @Serial
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
        @Serial
        private static final long serialVersionUID = 1;

        NotProtected(Refusal refusal) {
            super(refusal, null);
        }
    }

    /** No client can be made with these options. */
    public static final class InvalidConfiguration extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        InvalidConfiguration(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A credential cannot be read or cannot be sent. */
    public static final class CredentialUnavailable extends SealwardException {
        @Serial
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
        @Serial
        private static final long serialVersionUID = 1;

        KeyUnavailable(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** This library does not have an algorithm. The service may have it. */
    public static final class UnsupportedAlgorithm extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        UnsupportedAlgorithm(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** Local sealing is not possible, because the envelope needs a context. */
    public static final class ContextRequired extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        ContextRequired(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A file does not begin as a sealed file does. */
    public static final class MalformedFile extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        MalformedFile(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** A sealed file was truncated, extended or changed. */
    public static final class FileNotAuthentic extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        FileNotAuthentic(String message) {
            super(Refusal.of(message), null);
        }
    }

    /** The thread was interrupted while it waited for an answer. */
    public static final class Interrupted extends SealwardException {
        @Serial
        private static final long serialVersionUID = 1;

        Interrupted(String message) {
            super(Refusal.of(message), null);
        }
    }
}

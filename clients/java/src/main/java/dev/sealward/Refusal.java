package dev.sealward;

import dev.sealward.SealwardException.Detail;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What an answer of the service says about its refusal, or this library about a call that it refuses. */
record Refusal(int status, String code, String message, String requestId, List<Detail> details, Duration retryAfter) {
    static Refusal of(String message) {
        return new Refusal(0, null, message, null, List.of(), null);
    }

    Refusal withRequestId(String id) {
        return new Refusal(status, code, message, id, details, retryAfter);
    }

    /** The message of an exception. */
    String describe(Throwable cause) {
        var text = new StringBuilder();
        if (status != 0) {
            text.append(status).append(' ');
        }
        if (code != null) {
            text.append(code).append(": ");
        }
        text.append(message == null ? "no message" : message);
        for (Detail detail : details) {
            text.append("; ").append(detail.field()).append(": ").append(detail.message());
        }
        if (cause != null && cause.getMessage() != null) {
            text.append(": ").append(cause.getMessage());
        }
        if (requestId != null) {
            text.append(" [request ").append(requestId).append(']');
        }
        return text.toString();
    }

    SealwardException exception() {
        if (code != null) {
            switch (code) {
                case "POLICY_NOT_ACTIVE":
                    return new SealwardException.PolicyNotActive(this);
                case "SERVICE_FROZEN":
                    return new SealwardException.Frozen(this);
                case "DECRYPTION_FAILED":
                    return new SealwardException.DecryptionFailed(this);
                default:
            }
        }
        return switch (status) {
            case 400 -> new SealwardException.InvalidRequest(this);
            case 401 -> new SealwardException.AuthenticationFailed(this);
            case 403 -> new SealwardException.NotAllowed(this);
            case 404 -> new SealwardException.NotFound(this);
            case 409 -> new SealwardException.Conflict(this);
            case 412 -> new SealwardException.PreconditionFailed(this);
            case 413 -> new SealwardException.PayloadTooLarge(this);
            case 429 -> new SealwardException.RateLimited(this);
            case 500 -> new SealwardException.ServerError(this);
            case 502, 503, 504 -> new SealwardException.Unavailable(this);
            default -> status < 400 ? new SealwardException.UnexpectedAnswer(this) : new SealwardException.ApiError(this);
        };
    }

    /** The failure of a call that opens an envelope, where INTERNAL_ERROR says that it cannot be opened. */
    static SealwardException opening(SealwardException failure) {
        boolean closed = failure instanceof SealwardException.ServerError && failure.code().equals(Optional.of("INTERNAL_ERROR"));
        return closed ? new SealwardException.DecryptionFailed(failure.refusal) : failure;
    }
}

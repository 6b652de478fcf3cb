package dev.sealward;

import dev.sealward.SealwardException.Detail;
import java.util.List;
import java.util.Map;

/** Reads the refusals of the service. */
final class Refusals {
    /** The member error of a refused request, or of a refused item of a batch. */
    record ErrorObject(String code, String message, List<Detail> details) {
        Refusal refusal(int status, String requestId) {
            return new Refusal(status, code, message, requestId, details == null ? List.of() : List.copyOf(details), null);
        }
    }

    private Refusals() {}

    static SealwardException of(Transport.Answer answer) {
        if (answer.status() < 400) {
            return answer.unexpected("a redirection");
        }
        String requestId = answer.requestId().orElse(null);
        var error = new ErrorObject(null, null, null);
        try {
            Map<String, String> members = Json.members(answer.body());
            error = Json.read(members.getOrDefault("error", "{}"), ErrorObject.class);
            requestId = members.containsKey("requestId") ? Json.read(members.get("requestId"), String.class) : requestId;
        } catch (SealwardException.UnexpectedAnswer notJson) {
            // A proxy in front of the service answers something else, which has no code.
        }
        Refusal refusal = error.refusal(answer.status(), requestId);
        return new Refusal(refusal.status(), refusal.code(), refusal.message(), refusal.requestId(),
                refusal.details(), answer.retryAfter().orElse(null)).exception();
    }
}

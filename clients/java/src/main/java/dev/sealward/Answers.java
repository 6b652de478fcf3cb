package dev.sealward;

import dev.sealward.Protection.Dropped;
import dev.sealward.Protection.PassedThrough;
import dev.sealward.Protection.Protected;
import dev.sealward.Transport.Answer;
import java.util.List;
import java.util.Map;

/** Reads the answers of the service and the items of batches. */
final class Answers {
    private Answers() {}

    /** The members of a successful answer. */
    static Map<String, String> members(Answer answer) {
        try {
            return Json.members(answer.body());
        } catch (SealwardException.UnexpectedAnswer failure) {
            throw answer.unexpected("not the documented JSON");
        }
    }

    static <T> T read(Answer answer, Class<T> type) {
        try {
            return Json.read(answer.body(), type);
        } catch (SealwardException.UnexpectedAnswer failure) {
            throw answer.unexpected("not the documented JSON");
        }
    }

    static String text(Map<String, String> members, String name) {
        return Json.read(members.get(name), String.class);
    }

    static Protection protection(Map<String, String> members, Answer answer, String requestId) {
        boolean performed = !members.getOrDefault("operations", "[]").replaceAll("\\s", "").equals("[]");
        if (performed != members.containsKey("jwe")) {
            throw answer.unexpected("an operation without an envelope, or an envelope without an operation");
        }
        if (performed) {
            return new Protected(Envelope.parse(members.get("jwe")), requestId);
        }
        if ("true".equals(members.get("dropped"))) {
            return new Dropped(text(members, "message"), requestId);
        }
        if (members.containsKey("payload")) {
            return new PassedThrough(new Payload(members.get("payload"), requestId), text(members, "warning"), requestId);
        }
        throw answer.unexpected("neither jwe, payload nor dropped");
    }

    static Protected onlyProtected(Protection outcome) {
        if (outcome instanceof Protected made) {
            return made;
        }
        boolean dropped = outcome instanceof Dropped;
        String message = dropped ? ((Dropped) outcome).message() : ((PassedThrough) outcome).warning();
        String requestId = dropped ? ((Dropped) outcome).requestId() : ((PassedThrough) outcome).requestId();
        throw new SealwardException.NotProtected(Refusal.of(message).withRequestId(requestId));
    }

    static Payload payload(Map<String, String> members, Answer answer, String requestId) {
        if (!members.containsKey("payload")) {
            throw answer.unexpected("payload is missing");
        }
        return new Payload(members.get("payload"), requestId);
    }

    /** Returns the outcome of an item from its members, the answer of the batch and its request ID. */
    @FunctionalInterface
    interface Reading<T> {
        T read(Map<String, String> members, Answer answer, String requestId);
    }

    static <T> List<BatchResult<T>> items(Answer answer, int count, Reading<T> reading) {
        Map<String, String> members = members(answer);
        String requestId = text(members, "requestId");
        List<String> items = Json.items(members.get("items"));
        if (items.size() != count) {
            throw answer.unexpected("a batch with another number of items");
        }
        return items.stream().map(item -> item(item, answer, requestId, reading)).toList();
    }

    private static <T> BatchResult<T> item(String text, Answer answer, String requestId, Reading<T> reading) {
        try {
            Map<String, String> members = Json.members(text);
            if (members.containsKey("error")) {
                var error = Json.read(members.get("error"), Refusals.ErrorObject.class);
                int status = Json.read(members.get("status"), Integer.class);
                return BatchResult.failed(error.refusal(status, requestId).exception());
            }
            return BatchResult.of(reading.read(members, answer, requestId));
        } catch (SealwardException failure) {
            return BatchResult.failed(failure);
        }
    }
}

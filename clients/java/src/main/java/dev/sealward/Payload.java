package dev.sealward;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.Base64;

/** A plaintext that the service returned. It prints as [redacted]. */
public final class Payload {
    private final String json;
    private final String requestId;

    Payload(String json, String requestId) {
        this.json = json;
        this.requestId = requestId;
    }

    /**
     * The text of the plaintext, to the letter.
     *
     * @return one JSON value
     */
    public String json() {
        return json;
    }

    /**
     * The plaintext as a value that Jackson reads. It fails for a number of more than 1000 digits, which {@link #json()} returns.
     *
     * @param type the type of the value
     * @param <T> the type of the value
     * @return the value
     */
    public <T> T as(Class<T> type) {
        try {
            return Json.MAPPER.readValue(json, type);
        } catch (JsonProcessingException failure) {
            // Its message contains the plaintext.
            throw new SealwardException.UnexpectedAnswer(refusal("the payload is no " + type.getSimpleName()));
        }
    }

    /**
     * The bytes of a payload that was {@link Content#bytes(byte[])}.
     *
     * @return the bytes
     */
    public byte[] bytes() {
        try {
            if (json.startsWith("\"")) {
                return Base64.getDecoder().decode(json.substring(1, json.length() - 1));
            }
        } catch (IllegalArgumentException notBase64) {
            // The same failure as for another value.
        }
        throw new SealwardException.UnexpectedAnswer(refusal("the payload is not a string in base64"));
    }

    /**
     * The ID of the request that returned the payload.
     *
     * @return the ID
     */
    public String requestId() {
        return requestId;
    }

    private Refusal refusal(String message) {
        return Refusal.of(message).withRequestId(requestId);
    }

    @Override
    public String toString() {
        return Secret.REDACTED;
    }
}

package dev.sealward;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.Base64;
import java.util.Objects;

/** A plaintext that is given to a call: a value, raw JSON or bytes. It prints as [redacted]. */
public final class Content {
    private final String json;
    private final boolean bytes;

    private Content(String json, boolean bytes) {
        this.json = json;
        this.bytes = bytes;
    }

    /**
     * A value that Jackson writes as JSON.
     *
     * @param value a record, a map, a string, a number, null and so on
     * @return the plaintext
     */
    public static Content of(Object value) {
        try {
            return new Content(Json.MAPPER.writeValueAsString(value), false);
        } catch (JsonProcessingException failure) {
            // Its message contains the value.
            throw new SealwardException.InvalidRequest("a " + failure.getClass().getSimpleName() + " occurred when the value was written");
        }
    }

    /**
     * Raw JSON, which is sent to the letter: 12345678901234567890 and 1.0 stay what they are.
     *
     * @param text one JSON value
     * @return the plaintext
     */
    public static Content json(String text) {
        Json.requireValue(Objects.requireNonNull(text));
        return new Content(text, false);
    }

    /**
     * Bytes, which are sent in base64. {@link Payload#bytes()} returns them.
     *
     * @param content the bytes
     * @return the plaintext
     */
    public static Content bytes(byte[] content) {
        return new Content('"' + Base64.getEncoder().encodeToString(content) + '"', true);
    }

    String json() {
        return json;
    }

    boolean isBytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return Secret.REDACTED;
    }
}

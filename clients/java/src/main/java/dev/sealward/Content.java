package dev.sealward;

import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import dev.sealward.LosslessGenerator.NotFinite;
import java.io.IOException;
import java.util.Base64;
import java.util.Objects;
import java.util.concurrent.Future;

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
     * @param value a record, a map, a string, a finite number, null and so on
     * @return the plaintext
     * @throws SealwardException.InvalidRequest if JSON cannot represent the value, for example NaN or a future
     */
    public static Content of(Object value) {
        if (value instanceof Future) {
            throw refused("the future " + value.getClass().getSimpleName());
        }
        try {
            return new Content(requireComplete(Json.writeLossless(value)), false);
        } catch (InvalidDefinitionException failure) {
            throw refused("a value of the type " + failure.getType().getRawClass().getSimpleName());
        } catch (IOException failure) {
            // Its message contains the value.
            boolean infinite = failure instanceof NotFinite || failure.getCause() instanceof NotFinite;
            throw refused(infinite ? "NaN or infinity" : "the value: " + failure.getClass().getSimpleName());
        }
    }

    /** Refuses a text that UTF-8 cannot represent. It would arrive with question marks. */
    private static String requireComplete(String text) {
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (!Character.isSurrogate(character)) {
                continue;
            }
            index++;
            if (index == text.length() || !Character.isSurrogatePair(character, text.charAt(index))) {
                throw refused("a lone surrogate");
            }
        }
        return text;
    }

    private static SealwardException.InvalidRequest refused(String what) {
        return new SealwardException.InvalidRequest("JSON cannot represent " + what);
    }

    /**
     * Raw JSON, which is sent to the letter: 12345678901234567890 and 1.0 stay what they are.
     *
     * @param text one JSON value
     * @return the plaintext
     */
    public static Content json(String text) {
        Json.requireValue(Objects.requireNonNull(text, "text"));
        return new Content(requireComplete(text), false);
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

package dev.sealward;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;

/**
 * An encrypted payload: a JWE in flattened JSON serialization, or a legacy string. Its content is opaque. It is not secret
 * and can be stored and printed. Jackson writes and reads it as the API does.
 */
public final class Envelope {
    private final String text;

    private Envelope(String text) {
        this.text = text;
    }

    /**
     * Reads the text of an envelope.
     *
     * @param text that of {@link #toString()}, a JWE of another program for the same key, a JWE in compact serialization, or
     *     a legacy string
     * @return the envelope
     */
    public static Envelope parse(String text) {
        String trimmed = text.trim();
        if (trimmed.startsWith("{")) {
            return new Envelope(Json.compact(trimmed));
        }
        if (trimmed.isEmpty() || trimmed.chars().anyMatch(character -> "\"{}[] \t\r\n".indexOf(character) >= 0)) {
            throw new SealwardException.InvalidRequest("not an envelope");
        }
        return new Envelope(trimmed);
    }

    @JsonCreator
    static Envelope of(JsonNode node) {
        return parse(node.isTextual() ? node.textValue() : node.toString());
    }

    /** The JWE as an object, and a legacy string as a string. */
    @JsonValue
    @JsonRawValue
    String json() {
        return isLegacy() ? Json.write(text) : text;
    }

    boolean isLegacy() {
        return !text.startsWith("{");
    }

    /**
     * The text of the envelope.
     *
     * @return text without white space
     */
    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Envelope envelope && envelope.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}

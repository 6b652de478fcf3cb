package dev.sealward;

import java.util.Arrays;

/** A symmetric key. It prints as [redacted]. */
public final class Secret implements AutoCloseable {
    static final String REDACTED = "[redacted]";

    private final byte[] content;

    Secret(byte[] content) {
        this.content = content;
    }

    /**
     * The key. {@link #close()} changes these bytes.
     *
     * @return the bytes, which are not a copy
     */
    public byte[] bytes() {
        return content;
    }

    Secret copy() {
        return new Secret(content.clone());
    }

    /** Overwrites the key in memory. */
    @Override
    public void close() {
        Arrays.fill(content, (byte) 0);
    }

    @Override
    public String toString() {
        return REDACTED;
    }
}

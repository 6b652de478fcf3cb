package dev.sealward;

import java.util.Arrays;

/** A symmetric key. It prints as [redacted]. */
public final class Secret implements AutoCloseable {
    static final String REDACTED = "[redacted]";

    private final byte[] content;
    private volatile boolean closed;

    Secret(byte[] content) {
        this.content = content;
    }

    /**
     * The key. {@link #close()} overwrites these bytes.
     *
     * @return the bytes, which are not a copy
     * @throws IllegalStateException if the secret is closed
     */
    public byte[] bytes() {
        if (closed) {
            throw new IllegalStateException("the secret is closed");
        }
        return content;
    }

    Secret copy() {
        return new Secret(bytes().clone());
    }

    /** Overwrites the key in memory. */
    @Override
    public void close() {
        closed = true;
        Arrays.fill(content, (byte) 0);
    }

    @Override
    public String toString() {
        return REDACTED;
    }
}

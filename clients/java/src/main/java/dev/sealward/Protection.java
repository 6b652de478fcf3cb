package dev.sealward;

/** The outcome of {@link SealwardClient#protectOrPass}. */
public sealed interface Protection {
    /**
     * A payload in an envelope.
     *
     * @param envelope the envelope
     * @param requestId the ID of the request
     */
    record Protected(Envelope envelope, String requestId) implements Protection {}

    /**
     * A payload that an inactive policy returned unencrypted.
     *
     * @param payload the payload
     * @param warning a sentence of the service about it
     * @param requestId the ID of the request
     */
    record PassedThrough(Payload payload, String warning, String requestId) implements Protection {}

    /**
     * A payload that an inactive policy discarded.
     *
     * @param message a sentence of the service about it
     * @param requestId the ID of the request
     */
    record Dropped(String message, String requestId) implements Protection {}
}

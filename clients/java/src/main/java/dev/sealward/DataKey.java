package dev.sealward;

import java.util.Optional;

/**
 * A symmetric key and the envelope that contains it.
 *
 * @param algorithm AES-256 or AES-128
 * @param envelope the envelope, which {@link SealwardClient#openDataKey} opens
 * @param key the key, or empty if only the envelope was requested
 * @param requestId the ID of the request
 */
public record DataKey(String algorithm, Envelope envelope, Optional<Secret> key, String requestId) {
    DataKey copy() {
        return new DataKey(algorithm, envelope, key.map(Secret::copy), requestId);
    }
}

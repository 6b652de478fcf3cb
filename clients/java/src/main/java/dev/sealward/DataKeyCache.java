package dev.sealward;

import java.time.Duration;

/**
 * Bounds the reuse of a data key by {@link SealwardClient#cachedDataKey}, {@link SealwardClient#openDataKey}, sealed files and
 * streams. A key is used again until one of the bounds is met. Whoever loses the right to open a key can use it until then.
 *
 * @param maxAge how long a key is used
 * @param maxMessages how many messages share a key
 * @param maxBytes how many bytes share a key
 */
public record DataKeyCache(Duration maxAge, long maxMessages, long maxBytes) {
    /**
     * What a cache saved. Each miss was a call.
     *
     * @param hits the number of keys that were used again
     * @param misses the number of calls
     */
    public record Counters(long hits, long misses) {}
}

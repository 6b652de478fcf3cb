package dev.sealward;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Look-ups that are at most 60 seconds old. Concurrent callers of one name make one call.
 *
 * @param <T> what is looked up
 */
final class FreshLookUps<T> {
    private static final long MAX_AGE_NANOS = Duration.ofSeconds(60).toNanos();

    /** A look-up, and the time before it was made. */
    private record LookUp<T>(CompletableFuture<T> found, long at) {
        boolean isFresh() {
            return System.nanoTime() - at < MAX_AGE_NANOS && !found.isCompletedExceptionally();
        }
    }

    private final Map<String, LookUp<T>> lookUps = new HashMap<>();

    CompletableFuture<T> get(String name, Supplier<CompletableFuture<T>> call) {
        var made = new LookUp<T>(new CompletableFuture<>(), System.nanoTime());
        synchronized (this) {
            LookUp<T> known = lookUps.get(name);
            if (known != null && known.isFresh()) {
                return known.found;
            }
            lookUps.put(name, made);
        }
        Promise.keep(made.found, call);
        return made.found;
    }
}

package dev.sealward;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** A future that others wait for while its maker makes the call. */
final class Promise {
    private Promise() {}

    static <T> void keep(CompletableFuture<T> promise, Supplier<CompletableFuture<T>> call) {
        call.get().whenComplete((result, failure) -> {
            if (failure == null) {
                promise.complete(result);
            } else {
                promise.completeExceptionally(failure instanceof CompletionException ? failure.getCause() : failure);
            }
        });
    }
}

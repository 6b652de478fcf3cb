package dev.sealward;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The data keys that a cache allows to use again. Concurrent callers of one key make one call. */
final class DataKeyStore {
    private static final int MAX_KEYS = 1000;

    private final DataKeyCache bounds;
    private final Map<Object, Slot> slots = new LinkedHashMap<>();
    private long hits;
    private long misses;

    DataKeyStore(DataKeyCache bounds) {
        this.bounds = bounds;
    }

    /** A copy of the key that a name has, or else of the key that the call returns. */
    CompletableFuture<DataKey> use(Object name, long size, Supplier<CompletableFuture<DataKey>> call) {
        if (bounds == null) {
            return call.get();
        }
        var made = new Slot();
        CompletableFuture<DataKey> lent = lend(name, size, made);
        if (made.isUsed()) {
            made.key.whenComplete((key, failure) -> {
                if (failure != null) {
                    forget(name, made);
                }
            });
            Promise.keep(made.key, call);
        }
        return lent;
    }

    /** A copy of the key that a name has, or else of the key that the new slot will have. */
    private synchronized CompletableFuture<DataKey> lend(Object name, long size, Slot made) {
        Slot known = slots.get(name);
        if (known != null && known.allows(bounds, size)) {
            hits++;
            return known.lend(size);
        }
        misses++;
        if (known != null) {
            slots.remove(name).wipe();
        }
        slots.values().removeIf(slot -> {
            boolean old = slot.key.isDone() && !slot.allows(bounds, 0);
            if (old) {
                slot.wipe();
            }
            return old;
        });
        if (slots.size() >= MAX_KEYS) {
            var oldest = slots.entrySet().iterator();
            oldest.next().getValue().wipe();
            oldest.remove();
        }
        slots.put(name, made);
        return made.lend(size);
    }

    private synchronized void forget(Object name, Slot slot) {
        slots.remove(name, slot);
    }

    synchronized DataKeyCache.Counters counters() {
        return new DataKeyCache.Counters(hits, misses);
    }

    synchronized void wipe() {
        slots.values().forEach(Slot::wipe);
        slots.clear();
    }

    private static final class Slot {
        private final CompletableFuture<DataKey> key = new CompletableFuture<>();
        private final long madeAt = System.nanoTime();
        private CompletableFuture<?> lent = CompletableFuture.completedFuture(null);
        private long messages;
        private long bytes;

        boolean isUsed() {
            return messages > 0;
        }

        boolean allows(DataKeyCache bounds, long size) {
            return System.nanoTime() - madeAt < bounds.maxAge().toNanos()
                    && messages < bounds.maxMessages()
                    && bytes + size <= bounds.maxBytes();
        }

        CompletableFuture<DataKey> lend(long size) {
            messages++;
            bytes += size;
            CompletableFuture<DataKey> copy = key.thenApply(DataKey::copy);
            lent = CompletableFuture.allOf(lent, copy);
            return copy;
        }

        /** Wipes the key after the callers who wait for it have their copies. */
        void wipe() {
            lent.thenRun(() -> key.join().key().ifPresent(Secret::close));
        }
    }
}

package dev.sealward;

import dev.sealward.Transport.Answer;
import dev.sealward.Transport.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Splits lists into as few batches as the limits of the service allow. */
final class Batches {
    private static final int MAX_ITEMS = 1000;

    /** Leaves room below the limit of 16 MiB for the frame of the body. */
    private static final int MAX_BYTES = 15 << 20;

    private Batches() {}

    /** A part of a list: the text of its items without the brackets. */
    private static final class Part {
        private final StringBuilder text = new StringBuilder();
        private int count;
        private long bytes;

        boolean accepts(long size) {
            return count == 0 || (count < MAX_ITEMS && bytes + size <= MAX_BYTES);
        }

        void add(String item, long size) {
            text.append(count == 0 ? "" : ",").append(item);
            count++;
            bytes += size;
        }
    }

    static <T> CompletableFuture<List<BatchResult<T>>> send(
            String path,
            List<? extends RequestBody> items,
            Function<Request, CompletableFuture<Answer>> send,
            Answers.Reading<T> reading) {
        CompletableFuture<List<BatchResult<T>>> results = CompletableFuture.completedFuture(new ArrayList<>());
        for (Part part : parts(items)) {
            results = results.thenCompose(before -> send.apply(Request.post(path, "{\"items\":[" + part.text + "]}"))
                    .thenApply(answer -> {
                        before.addAll(Answers.items(answer, part.count, reading));
                        return before;
                    }));
        }
        return results;
    }

    private static List<Part> parts(List<? extends RequestBody> items) {
        var parts = new ArrayList<Part>();
        Part current = null;
        for (RequestBody item : items) {
            String body = item.body();
            long size = utf8Length(body);
            if (current == null || !current.accepts(size)) {
                current = new Part();
                parts.add(current);
            }
            current.add(body, size);
        }
        return parts;
    }

    private static long utf8Length(String text) {
        return text.chars().mapToLong(character -> character < 0x80 ? 1 : character < 0x800 ? 2 : 3).sum();
    }
}

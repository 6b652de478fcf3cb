package dev.sealward;

import java.util.Optional;

/**
 * The outcome of one item of a batch. A refused item does not affect the others.
 *
 * @param <T> the result of the single call
 */
public final class BatchResult<T> {
    private final T value;
    private final SealwardException failure;

    private BatchResult(T value, SealwardException failure) {
        this.value = value;
        this.failure = failure;
    }

    static <T> BatchResult<T> of(T value) {
        return new BatchResult<>(value, null);
    }

    static <T> BatchResult<T> failed(SealwardException failure) {
        return new BatchResult<>(null, failure);
    }

    /**
     * The result of the item.
     *
     * @return the result
     * @throws SealwardException that of the single call, if the item was refused
     */
    public T get() {
        if (failure != null) {
            throw failure;
        }
        return value;
    }

    /**
     * Why the item was refused.
     *
     * @return empty if it was not
     */
    public Optional<SealwardException> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public String toString() {
        return failure != null ? failure.toString() : String.valueOf(value);
    }
}

package dev.sealward;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/** The body of an answer, which must arrive in time. The timeout of java.net.http ends with the head of an answer. */
final class BoundedBody implements BodySubscriber<byte[]> {
    private final BodySubscriber<byte[]> content = BodySubscribers.ofByteArray();
    private final long nanos;
    private volatile Flow.Subscription subscription;

    BoundedBody(long nanos) {
        this.nanos = Math.max(nanos, 1);
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        CompletableFuture<byte[]> body = content.getBody().toCompletableFuture();
        return body.orTimeout(nanos, TimeUnit.NANOSECONDS).whenComplete((complete, failure) -> {
            if (failure != null && subscription != null) {
                subscription.cancel();
            }
        });
    }

    @Override
    public void onSubscribe(Flow.Subscription made) {
        subscription = made;
        content.onSubscribe(made);
    }

    @Override
    public void onNext(List<ByteBuffer> part) {
        content.onNext(part);
    }

    @Override
    public void onError(Throwable failure) {
        content.onError(failure);
    }

    @Override
    public void onComplete() {
        content.onComplete();
    }
}

package dev.sealward;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Sends requests, and repeats them within one deadline. */
final class Transport {
    private static final String USER_AGENT = "sealward-java/" + version();
    private static final long FIRST_PAUSE_MILLIS = 100;

    private final String base;
    private final ClientOptions options;
    private final HttpClient http;

    Transport(ClientOptions options) {
        options.requirePrivateWay();
        this.options = options;
        this.base = options.url;
        HttpClient.Builder builder = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER);
        if (base.startsWith("https:")) {
            Tls.context(options).ifPresent(builder::sslContext);
        } else {
            // Without TLS, HTTP/2 begins with an upgrade that each new connection would ask for.
            builder.version(HttpClient.Version.HTTP_1_1);
        }
        this.http = builder.build();
    }

    /**
     * A request to an endpoint.
     *
     * @param body JSON, or null for GET
     * @param anonymous whether the credential is left out
     */
    record Request(String path, String body, boolean anonymous) {
        static Request get(String path) {
            return new Request(path, null, false);
        }

        static Request post(String path, String body) {
            return new Request(path, body, false);
        }
    }

    /** What a client adds to its requests. */
    record Scope(Duration timeout, String requestId) {
        Scope {
            if (requestId != null && !requestId.chars().allMatch(character -> character >= ' ' && character <= '~')) {
                throw new SealwardException.InvalidRequest("the request ID has characters other than printable ones of ASCII");
            }
        }
    }

    /** A complete answer. */
    record Answer(int status, String body, Optional<String> requestId, Optional<Duration> retryAfter) {
        SealwardException.UnexpectedAnswer unexpected(String message) {
            return new SealwardException.UnexpectedAnswer(
                    new Refusal(status, null, message, requestId.orElse(null), java.util.List.of(), null));
        }
    }

    /** Sends a request until its outcome is final. Only a success is an answer. */
    interface Sending {
        CompletableFuture<Answer> send(Request request, Scope scope);
    }

    /** Sends without blocking. */
    CompletableFuture<Answer> send(Request request, Scope scope) {
        return new Call(request, scope).send(1);
    }

    /**
     * Sends in this thread, so the future is complete. This needs half of the CPU time, because java.net.http then makes no
     * tasks of its own.
     */
    CompletableFuture<Answer> sendBlocking(Request request, Scope scope) {
        try {
            return CompletableFuture.completedFuture(new Call(request, scope).sendBlocking());
        } catch (SealwardException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    /** Sends a request once. The answer can have any status. */
    CompletableFuture<Answer> sendOnce(Request request, Scope scope) {
        return new Call(request, scope).once();
    }

    /** The time at which a call ends, and what its requests carry. */
    private final class Call {
        private final Request request;
        private final Scope scope;
        private final long deadline;
        private final Optional<String> traceparent = OpenTelemetry.traceparent();

        Call(Request request, Scope scope) {
            this.request = request;
            this.scope = scope;
            this.deadline = System.nanoTime() + scope.timeout().toNanos();
        }

        CompletableFuture<Answer> send(int attempt) {
            return once().handle((answer, failure) -> {
                        SealwardException refused = failure == null ? refusal(answer) : asException(failure);
                        if (refused == null) {
                            return CompletableFuture.completedFuture(answer);
                        }
                        Duration pause = pause(attempt, refused);
                        if (!isRepeated(attempt, refused, pause)) {
                            return CompletableFuture.<Answer>failedFuture(refused);
                        }
                        var later = CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS);
                        return CompletableFuture.supplyAsync(() -> send(attempt + 1), later).thenCompose(next -> next);
                    })
                    .thenCompose(next -> next);
        }

        Answer sendBlocking() {
            for (int attempt = 1; ; attempt++) {
                try {
                    SealwardException refused;
                    try {
                        Answer answer = answer(http.send(outgoing(), this::body));
                        refused = refusal(answer);
                        if (refused == null) {
                            return answer;
                        }
                    } catch (IOException failure) {
                        refused = asException(failure);
                    }
                    Duration pause = pause(attempt, refused);
                    if (!isRepeated(attempt, refused, pause)) {
                        throw refused;
                    }
                    TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw new SealwardException.Interrupted("the thread was interrupted while it waited for an answer");
                }
            }
        }

        CompletableFuture<Answer> once() {
            try {
                return http.sendAsync(outgoing(), this::body).handle((response, failure) -> {
                    if (failure != null) {
                        throw asException(failure);
                    }
                    return answer(response);
                });
            } catch (SealwardException failure) {
                return CompletableFuture.failedFuture(failure);
            }
        }

        private boolean isRepeated(int attempt, SealwardException refused, Duration pause) {
            return refused.isRetryable() && !(refused instanceof SealwardException.DeadlineExceeded)
                    && attempt < options.maxAttempts && pause.toNanos() < remaining();
        }

        private HttpRequest outgoing() {
            HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(base + request.path))
                    .timeout(Duration.ofNanos(Math.max(remaining(), 1)))
                    .header("User-Agent", USER_AGENT);
            if (request.body != null) {
                builder.header("Content-Type", "application/json").POST(BodyPublishers.ofString(request.body));
            }
            if (!request.anonymous && (options.credential != null || options.certificateFile == null)) {
                builder.header("Authorization", "Bearer " + bearer());
            }
            if (scope.requestId() != null) {
                builder.header("X-Request-Id", scope.requestId());
            }
            traceparent.ifPresent(parent -> builder.header("traceparent", parent));
            return builder.build();
        }

        private BodySubscriber<byte[]> body(ResponseInfo head) {
            return new BoundedBody(remaining());
        }

        private long remaining() {
            return deadline - System.nanoTime();
        }
    }

    private String bearer() {
        if (options.credential == null) {
            throw new SealwardException.CredentialUnavailable("the client has neither a credential nor a client certificate", null);
        }
        String bearer;
        try {
            bearer = options.credential.bearer();
        } catch (IOException failure) {
            throw new SealwardException.CredentialUnavailable("the credential cannot be read", failure);
        }
        if (bearer == null || bearer.isEmpty() || !bearer.chars().allMatch(character -> character > ' ' && character <= '~')) {
            throw new SealwardException.CredentialUnavailable(
                    "the credential is null or empty, or has a character that no credential has", null);
        }
        return bearer;
    }

    private static Answer answer(HttpResponse<byte[]> response) {
        return new Answer(
                response.statusCode(),
                new String(response.body(), StandardCharsets.UTF_8),
                response.headers().firstValue("X-Request-Id"),
                RetryAfter.of(response.headers(), Instant.now()));
    }

    private Duration pause(int attempt, SealwardException refused) {
        Duration random = Duration.ofMillis(ThreadLocalRandom.current().nextLong(FIRST_PAUSE_MILLIS << (attempt - 1)));
        Duration stated = refused.retryAfter().orElse(random);
        return stated.compareTo(options.maxRetryAfter) > 0 ? options.maxRetryAfter : stated;
    }

    /** The refusal in an answer, or null. */
    static SealwardException refusal(Answer answer) {
        return answer.status < 300 ? null : Refusals.of(answer);
    }

    private SealwardException asException(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SealwardException known) {
                return known;
            }
            if (cause instanceof TimeoutException || cause instanceof HttpTimeoutException) {
                return new SealwardException.DeadlineExceeded("the deadline passed before an answer");
            }
        }
        boolean wrapped = failure instanceof CompletionException && failure.getCause() != null;
        return new SealwardException.ConnectionFailed(options.origin(), wrapped ? failure.getCause() : failure);
    }

    private static String version() {
        var properties = new Properties();
        try (var file = Transport.class.getResourceAsStream("version.properties")) {
            properties.load(file);
        } catch (IOException failure) {
            throw new ExceptionInInitializerError(failure);
        }
        return properties.getProperty("version");
    }
}

package dev.sealward;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
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
    record Scope(Duration timeout, String requestId) {}

    /** A complete answer. */
    record Answer(int status, String body, Optional<String> requestId, Optional<Duration> retryAfter) {
        SealwardException.UnexpectedAnswer unexpected(String message) {
            return new SealwardException.UnexpectedAnswer(
                    new SealwardException.Refusal(status, null, message, requestId.orElse(null), java.util.List.of(), null));
        }
    }

    /** The time at which a call ends, and what its requests carry. */
    final class Call {
        private final Request request;
        private final Scope scope;
        private final long deadline;
        private final Optional<String> traceparent = OpenTelemetry.traceparent();

        Call(Request request, Scope scope) {
            this.request = request;
            this.scope = scope;
            this.deadline = System.nanoTime() + scope.timeout().toNanos();
        }

        /** Sends the request until its outcome is final. Only a success or a redirection is an answer. */
        CompletableFuture<Answer> send(int attempt) {
            return once().handle((answer, failure) -> {
                        SealwardException refused = failure == null ? refusal(answer) : asException(failure);
                        if (refused == null) {
                            return CompletableFuture.completedFuture(answer);
                        }
                        Duration pause = pause(attempt, refused);
                        boolean repeat = refused.isRetryable() && !(refused instanceof SealwardException.DeadlineExceeded)
                                && attempt < options.maxAttempts && pause.toNanos() < remaining();
                        if (!repeat) {
                            return CompletableFuture.<Answer>failedFuture(refused);
                        }
                        var later = CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS);
                        return CompletableFuture.supplyAsync(() -> send(attempt + 1), later).thenCompose(next -> next);
                    })
                    .thenCompose(next -> next);
        }

        /** Sends the request once. */
        CompletableFuture<Answer> once() {
            HttpRequest outgoing;
            try {
                outgoing = outgoing();
            } catch (SealwardException failure) {
                return CompletableFuture.failedFuture(failure);
            }
            CompletableFuture<HttpResponse<byte[]>> sent = http.sendAsync(outgoing, BodyHandlers.ofByteArray());
            return sent.copy().orTimeout(Math.max(remaining(), 1), TimeUnit.NANOSECONDS).handle((response, failure) -> {
                if (failure == null) {
                    return answer(response);
                }
                sent.cancel(true);
                throw asException(failure);
            });
        }

        private HttpRequest outgoing() {
            HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(base + request.path)).header("User-Agent", USER_AGENT);
            if (request.body != null) {
                builder.header("Content-Type", "application/json").POST(BodyPublishers.ofString(request.body));
            }
            if (options.credential != null && !request.anonymous) {
                builder.header("Authorization", "Bearer " + bearer());
            }
            if (scope.requestId() != null) {
                builder.header("X-Request-Id", scope.requestId());
            }
            traceparent.ifPresent(parent -> builder.header("traceparent", parent));
            return builder.build();
        }

        private long remaining() {
            return deadline - System.nanoTime();
        }
    }

    CompletableFuture<Answer> send(Request request, Scope scope) {
        return new Call(request, scope).send(1);
    }

    /** Sends a request once. The answer can have any status. */
    CompletableFuture<Answer> sendOnce(Request request, Scope scope) {
        return new Call(request, scope).once();
    }

    private String bearer() {
        String bearer;
        try {
            bearer = options.credential.bearer();
        } catch (IOException failure) {
            throw new SealwardException.CredentialUnavailable("the credential cannot be read", failure);
        }
        if (bearer.isEmpty() || !bearer.chars().allMatch(character -> character > ' ' && character <= '~')) {
            throw new SealwardException.CredentialUnavailable(
                    "the credential is empty, or has a character that no credential has", null);
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

    private static SealwardException asException(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof SealwardException known) {
            return known;
        }
        return cause instanceof TimeoutException
                ? new SealwardException.DeadlineExceeded("the deadline passed before an answer")
                : new SealwardException.ConnectionFailed(cause);
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

package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/** One run of a case: its calls, what they return and how it prints. */
final class CaseRun {
    private final JsonNode session;
    private final List<Map<String, Object>> outcomes = new ArrayList<>();
    private final List<String> texts = new ArrayList<>();
    private Path credentialFile;

    CaseRun(JsonNode session, UnaryOperator<SealwardClient> variant) throws Exception {
        this.session = session;
        JsonNode one = session.get("case");
        Scope span = span(one.path("client").path("traceparent").asText(null));
        try (SealwardClient client = variant.apply(client(one))) {
            print(client);
            for (JsonNode step : one.get("steps")) {
                perform(step, client);
            }
        } catch (SealwardException.InvalidConfiguration refused) {
            outcomes.add(Map.of("error", error(refused), "seconds", 0));
        } finally {
            span.close();
        }
    }

    Map<String, Object> report() {
        return Map.of("outcomes", outcomes, "texts", texts);
    }

    private void perform(JsonNode step, SealwardClient client) throws Exception {
        if (step.has("write")) {
            Files.writeString(credentialFile, step.get("write").asText());
            return;
        }
        int count = step.path("concurrent").asInt(1);
        var arguments = (ObjectNode) step.get("arguments");
        step.path("use").fields().forEachRemaining(use -> {
            Object result = outcomes.get(use.getValue().get(0).asInt()).get("result");
            arguments.set(use.getKey(), Json.MAPPER.valueToTree(result).get(use.getValue().get(1).asText()));
        });
        Callable<Map<String, Object>> call = () -> outcome(step.get("call").asText(), arguments, client);
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            // The span is that of this thread.
            if (count == 1) {
                outcomes.add(call.call());
                return;
            }
            for (var outcome : threads.invokeAll(Collections.nCopies(count, call))) {
                outcomes.add(outcome.get());
            }
        } finally {
            threads.shutdown();
        }
    }

    private Map<String, Object> outcome(String call, JsonNode arguments, SealwardClient client) {
        long start = System.nanoTime();
        var outcome = new HashMap<String, Object>();
        try {
            outcome.put("result", new Calls(this, client, arguments).perform(call));
        } catch (SealwardException failure) {
            outcome.put("error", error(failure));
        } catch (Exception failure) {
            outcome.put("error", Map.of("type", failure.toString()));
        }
        outcome.put("seconds", (System.nanoTime() - start) / 1e9);
        return outcome;
    }

    private Map<String, Object> error(SealwardException failure) {
        var trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        print(trace);
        return describe(failure);
    }

    /** An error as clients/conformance/README.md defines it. */
    static Map<String, Object> describe(SealwardException failure) {
        var described = new HashMap<String, Object>();
        described.put("type", failure.getClass().getSimpleName());
        described.put("code", failure.code().orElse(null));
        described.put("status", failure.status().isPresent() ? failure.status().getAsInt() : null);
        described.put("requestId", failure.requestId().orElse(null));
        described.put("details", failure.details());
        described.put("retryable", failure.isRetryable());
        described.put("retryAfterSeconds", failure.retryAfter().map(Duration::toSeconds).orElse(null));
        return described;
    }

    /** Collects the text that a program would log of a value. */
    synchronized void print(Object value) {
        texts.add(String.valueOf(value));
    }

    private SealwardClient client(JsonNode one) throws IOException {
        JsonNode wanted = one.path("client");
        if (wanted.has("environment")) {
            return new SealwardClient(ClientOptions.fromEnvironment(environment(wanted.get("environment"))));
        }
        ClientOptions options = ClientOptions.of(session.get("url").asText());
        JsonNode credential = wanted.path("credential");
        if (credential.has("apiKey")) {
            options.credential(Credential.apiKey(credential.get("apiKey").asText()));
        } else if (credential.has("apiKeyFile")) {
            credentialFile = file(credential.get("apiKeyFile").asText());
            options.credential(Credential.apiKeyFile(credentialFile));
        } else if (credential.has("tokenFile")) {
            credentialFile = file(credential.get("tokenFile").asText());
            options.credential(Credential.tokenFile(credentialFile));
        }
        print(options.credential);
        if (credential.path("certificate").asBoolean()) {
            options.certificate(path("certificateFile"), path("certificateKeyFile"));
        }
        if (one.path("tls").asBoolean() && !wanted.path("caFile").isNull()) {
            options.caFile(path("caFile"));
        }
        if (wanted.path("allowPlaintext").asBoolean()) {
            options.allowPlaintext();
        }
        if (wanted.has("deadlineSeconds")) {
            options.timeout(Calls.seconds(wanted.get("deadlineSeconds")));
        }
        if (wanted.has("maxRetryAfterSeconds")) {
            options.maxRetryAfter(Calls.seconds(wanted.get("maxRetryAfterSeconds")));
        }
        options.maxAttempts(wanted.path("maxAttempts").asInt(3));
        if (wanted.has("dataKeyCache")) {
            JsonNode cache = wanted.get("dataKeyCache");
            options.dataKeyCache(new DataKeyCache(
                    Calls.seconds(cache.get("maxAgeSeconds")), cache.get("maxMessages").asLong(), cache.get("maxBytes").asLong()));
        }
        print(options);
        return new SealwardClient(options);
    }

    private Map<String, String> environment(JsonNode variables) throws IOException {
        var environment = new HashMap<String, String>();
        for (var names = variables.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            String value = variables.get(name).asText()
                    .replace("{url}", session.get("url").asText())
                    .replace("{caFile}", session.get("caFile").asText());
            boolean isFile = value.startsWith("{file:");
            environment.put(name, isFile ? file(value.substring(6, value.length() - 1)).toString() : value);
        }
        return environment;
    }

    private Path path(String member) {
        return Path.of(session.get(member).asText());
    }

    private static Path file(String content) throws IOException {
        Path file = Files.createTempFile("credential", "");
        file.toFile().deleteOnExit();
        return Files.writeString(file, content);
    }

    private static Scope span(String traceparent) {
        if (traceparent == null) {
            return Scope.noop();
        }
        String[] parts = traceparent.split("-");
        var context = SpanContext.create(parts[1], parts[2], TraceFlags.fromHex(parts[3], 0), TraceState.getDefault());
        return Span.wrap(context).makeCurrent();
    }
}

package dev.sealward;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Executor;

/** A service that answers each path with the same JSON. */
final class FakeService implements AutoCloseable {
    private final HttpServer server;

    FakeService(Map<String, Object> answers) throws IOException {
        this(answers, null);
    }

    FakeService(Map<String, Object> answers, Executor threads) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        answers.forEach((path, answer) -> server.createContext(path, exchange -> {
            byte[] body = Json.MAPPER.writeValueAsBytes(answer);
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (var output = exchange.getResponseBody()) {
                output.write(body);
            }
        }));
        server.setExecutor(threads);
        server.start();
    }

    /** A service of sealed files, whose data key is always the same. */
    static FakeService ofDataKey(byte[] key, String envelope) throws IOException {
        return new FakeService(Map.of(
                "/api/v1/data-keys",
                Map.of("requestId", "r", "algorithm", "AES-256", "key", key, "jwe", Json.MAPPER.readTree(envelope)),
                "/api/v1/unprotect",
                Map.of("requestId", "r", "operations", new String[] {"decrypt"}, "payload", key)));
    }

    ClientOptions options() {
        return ClientOptions.of("http://127.0.0.1:" + server.getAddress().getPort()).credential(Credential.apiKey("sk_test_fake"));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

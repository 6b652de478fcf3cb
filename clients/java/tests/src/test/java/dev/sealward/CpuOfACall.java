package dev.sealward;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

/**
 * Measures the CPU time of a call of protect against that of a bare {@link HttpClient}, which encodes the same body and decodes
 * the same answer. The server, whose CPU time does not count, runs in another process.
 */
final class CpuOfACall {
    private static final int CONNECTIONS = 16;
    private static final int CALLS = 20_000;
    private static final int ROUNDS = 6;
    private static final Map<String, String> PAYLOAD = Map.of("card", "4111 1111 1111 1111", "name", "A. Customer");

    private CpuOfACall() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            serve();
            return;
        }
        Process server = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(), "-Dsun.net.httpserver.nodelay=true", "-cp", System.getProperty("java.class.path"),
                        CpuOfACall.class.getName(), "server")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String url = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8)).readLine();
        var client = new SealwardClient(ClientOptions.of(url).credential(Credential.apiKey("sk_test_cpu")));
        for (int round = 0; round < ROUNDS; round++) {
            // The server closes connections that are idle for half a minute, which a bare client does not repair.
            HttpClient bare = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            double without = measure(() -> callBare(bare, url));
            double with = measure(() -> client.protect(ProtectRequest.of(PAYLOAD)));
            System.out.printf("bare %.1f µs, client %.1f µs: %+.1f %%%n", without, with, 100 * (with / without - 1));
        }
        server.getOutputStream().close();
    }

    private static Object callBare(HttpClient client, String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/api/v1/protect"))
                .header("Content-Type", "application/json")
                .header("Authorization", "Bearer sk_test_cpu")
                .POST(HttpRequest.BodyPublishers.ofString(Json.MAPPER.writeValueAsString(Map.of("payload", PAYLOAD))))
                .build();
        return Json.MAPPER.readTree(client.send(request, BodyHandlers.ofString()).body()).get("jwe").toString();
    }

    private static double measure(Callable<?> call) throws Exception {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var threads = Executors.newFixedThreadPool(CONNECTIONS);
        Callable<Void> worker = () -> {
            for (int count = 0; count < CALLS / CONNECTIONS; count++) {
                call.call();
            }
            return null;
        };
        long before = system.getProcessCpuTime();
        for (var done : threads.invokeAll(Collections.nCopies(CONNECTIONS, worker))) {
            done.get();
        }
        threads.shutdown();
        return (system.getProcessCpuTime() - before) / 1000.0 / CALLS;
    }

    private static void serve() throws Exception {
        var text = new char[512];
        Arrays.fill(text, 'A');
        String part = new String(text);
        Map<String, Object> jwe = Map.of("protected", part.substring(0, 150), "encrypted_key", part, "iv", part.substring(0, 16),
                "ciphertext", part.substring(0, 100), "tag", part.substring(0, 22));
        try (var service = new FakeService(Map.of("/api/v1/protect", Map.of("requestId", "req_1", "messageType", "ProtectedPayload",
                "operations", new String[] {"encrypt"}, "jwe", jwe)), Executors.newFixedThreadPool(CONNECTIONS))) {
            System.out.println(service.options().url);
            System.in.read();
        }
    }
}

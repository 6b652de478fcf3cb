package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The server of the conformance cases. SEALWARD_CONFORMANCE names its program if it is elsewhere, SEALWARD_OPENAPI the OpenAPI
 * document that it compares with, and SEALWARD_WORLD the real service of the live cases, as world.py writes it.
 */
final class ScriptedServer implements AutoCloseable {
    static final boolean LIVE = System.getenv("SEALWARD_WORLD") != null;
    static final boolean OPENAPI = System.getenv("SEALWARD_OPENAPI") != null;

    private final Process process;
    private final String address;
    private final HttpClient http = HttpClient.newHttpClient();

    ScriptedServer() throws IOException {
        String program = System.getenv().getOrDefault("SEALWARD_CONFORMANCE", "../../conformance/server.py");
        var command = new ArrayList<>(List.of("python3", program));
        Map.of("--openapi", "SEALWARD_OPENAPI", "--service", "SEALWARD_WORLD").forEach((option, variable) -> {
            if (System.getenv(variable) != null) {
                command.addAll(List.of(option, System.getenv(variable)));
            }
        });
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        address = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
    }

    JsonNode get(String path) throws IOException, InterruptedException {
        return send(request(path).GET().build());
    }

    JsonNode post(String path, Object body) throws IOException, InterruptedException {
        String text = Json.MAPPER.writeValueAsString(body);
        return send(request(path).POST(HttpRequest.BodyPublishers.ofString(text)).build());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + "/_conformance/" + path)).version(HttpClient.Version.HTTP_1_1);
    }

    private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
        return Json.MAPPER.readTree(http.send(request, BodyHandlers.ofString()).body());
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
    }
}

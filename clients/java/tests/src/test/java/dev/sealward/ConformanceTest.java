package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/** Every conformance case passes, with the client that blocks and with the one that does not. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConformanceTest {
    private static final String LANGUAGE = "java";

    private ScriptedServer server;

    @BeforeAll
    void start() throws Exception {
        server = new ScriptedServer();
    }

    /** Fails if a case was not run. */
    @AfterAll
    void reportIsComplete() throws Exception {
        try (var running = server) {
            JsonNode report = running.get("report/" + LANGUAGE);
            assertTrue(report.get("passed").asBoolean(), "missing: " + report.get("missing"));
        }
    }

    @TestFactory
    Stream<DynamicTest> cases() throws Exception {
        JsonNode document = server.get("cases");
        Set<String> parts = new HashSet<>();
        for (JsonNode part : document.get("languages").get(LANGUAGE)) {
            parts.add(part.asText());
            if (ScriptedServer.LIVE) {
                parts.add(part.asText().equals("runtime") ? "live" : "live-" + part.asText());
            }
        }
        return StreamSupport.stream(document.get("cases").spliterator(), false)
                .filter(one -> parts.contains(one.get("part").asText()))
                .map(one -> one.get("name").asText())
                .flatMap(name -> Stream.of(
                        DynamicTest.dynamicTest(name, () -> run(name, UnaryOperator.identity())),
                        DynamicTest.dynamicTest(name + " without blocking", () -> run(name, client -> new SealwardClient(client.async())))));
    }

    private void run(String name, UnaryOperator<SealwardClient> variant) throws Exception {
        JsonNode session = server.post("start/" + LANGUAGE + "/" + name, null);
        var run = new CaseRun(session, variant);
        JsonNode verdict = server.post("finish/" + session.get("session"), run.report());
        assertEquals(List.of(), Json.MAPPER.convertValue(verdict.get("problems"), List.class));
    }

    @TestFactory
    Stream<DynamicTest> openApiDocument() {
        return Stream.of("its members are known").filter(name -> ScriptedServer.OPENAPI).map(name -> DynamicTest.dynamicTest(name, () -> {
            JsonNode verdict = server.post("known/" + LANGUAGE, Known.members());
            assertEquals(List.of(), Json.MAPPER.convertValue(verdict.get("problems"), List.class));
        }));
    }
}

package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the library refuses itself, with one base class, and what its objects print. */
class RefusalTest {
    private static final String URL = "http://127.0.0.1:9";
    private static final String SECRET = "4111 1111 1111 1111";

    record Amount(double value) {}

    static Stream<Arguments> values() {
        var payload = new Payload("\"" + SECRET + "\"", "r");
        var key = new DataKey("AES-256", Envelope.parse("e30"), Optional.of(new Secret(new byte[32])), "r");
        return Stream.of(
                Arguments.of(Double.NaN, "NaN or infinity"),
                Arguments.of(Float.NEGATIVE_INFINITY, "NaN or infinity"),
                Arguments.of(new double[] {1, Double.POSITIVE_INFINITY}, "NaN or infinity"),
                Arguments.of(new float[] {Float.NaN}, "NaN or infinity"),
                Arguments.of(new Amount(Double.NaN), "NaN or infinity"),
                Arguments.of(Map.of("card", List.of(SECRET, Double.NaN)), "NaN or infinity"),
                Arguments.of(Json.MAPPER.getNodeFactory().numberNode(Double.NaN), "NaN or infinity"),
                Arguments.of(new Object(), "a value of the type Object"),
                Arguments.of(payload, "a value of the type Payload"),
                Arguments.of(Map.of("card", payload), "a value of the type Payload"),
                Arguments.of(Content.of(SECRET), "a value of the type Content"),
                Arguments.of(new Secret(new byte[32]), "a value of the type Secret"),
                Arguments.of(new Protection.PassedThrough(payload, "", "r"), "a value of the type Payload"),
                Arguments.of(List.of(key), "a value of the type Optional"),
                Arguments.of(CompletableFuture.completedFuture(SECRET), "the future CompletableFuture"),
                Arguments.of(SECRET + "\ud800", "a lone surrogate"),
                Arguments.of(List.of("\udc00\ud800"), "a lone surrogate"));
    }

    @ParameterizedTest
    @MethodSource("values")
    void aValueThatJsonCannotRepresentIsRefused(Object value, String what) {
        var refused = assertThrows(SealwardException.InvalidRequest.class, () -> Content.of(value));
        assertEquals("JSON cannot represent " + what, refused.getMessage());
        assertNull(refused.getCause());
    }

    @Test
    void otherValuesAreWrittenAsJacksonWritesThem() throws Exception {
        for (Object value : Arrays.asList(null, 1.5, 1f, new double[] {0.1}, Map.of("a", List.of(1, "\ud83d\ude00")), new Amount(2))) {
            assertEquals(Json.MAPPER.writeValueAsString(value), Content.of(value).json());
        }
    }

    @Test
    void rawJsonWithALoneSurrogateIsRefused() {
        assertThrows(SealwardException.InvalidRequest.class, () -> Content.json("\"\ud800\""));
    }

    @Test
    void aCredentialThatIsNullIsRefused() {
        for (Credential credential : List.of(Credential.apiKey(null), (Credential) () -> null)) {
            try (var client = new SealwardClient(ClientOptions.of(URL).credential(credential))) {
                assertThrows(SealwardException.CredentialUnavailable.class, client::caller);
                var stage = client.async().caller();
                var failure = assertThrows(CompletionException.class, stage::join);
                assertTrue(failure.getCause() instanceof SealwardException.CredentialUnavailable, failure.toString());
            }
        }
    }

    @Test
    void aRequestWithoutAPayloadIsRefused() {
        assertEquals("payload", assertThrows(NullPointerException.class, () -> ProtectRequest.of((Content) null)).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"})
    void filesThatAreNoCertificatesAreRefused(String content, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file.pem"), content);
        for (ClientOptions options : List.of(
                ClientOptions.of("https://localhost").caFile(file), ClientOptions.of("https://localhost").certificate(file, file))) {
            var refused = assertThrows(SealwardException.InvalidConfiguration.class, () -> new SealwardClient(options));
            assertTrue(refused.getMessage().startsWith("cannot use " + file), refused.getMessage());
        }
    }

    @Test
    void objectsAndFuturesDoNotPrintSecrets() throws Exception {
        byte[] key = "0123456789abcdef0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        String envelope = "{\"protected\":\"e30\",\"encrypted_key\":\"AA\",\"iv\":\"AA\",\"ciphertext\":\"AA\",\"tag\":\"AA\"}";
        try (var service = FakeService.ofDataKey(key, envelope); var client = new SealwardClient(service.options())) {
            var made = client.async().dataKey(DataKeyRequest.DEFAULT);
            var opened = client.async().unprotect(UnprotectRequest.of(Envelope.parse(envelope)));
            var request = ProtectRequest.of(SECRET);
            for (Object each : List.of(made, made.join(), made.join().key(), made.join().key().orElseThrow(), opened, opened.join(),
                    Optional.of(opened.join()), request, request.payload(), new EncryptRequest(Content.of(SECRET), "AES-256-GCM", null, null),
                    new SignRequest(Content.of(SECRET), "Ed25519"), new HashRequest(Content.of(SECRET), "SHA-256"),
                    new Protection.PassedThrough(opened.join(), "", "r"), BatchResult.of(opened.join()), client, client.async(),
                    service.options(), Credential.apiKey(SECRET))) {
                String text = each.toString();
                for (String secret : List.of(SECRET, "MDEyMzQ1Njc4", "0123456789abcdef", "48, 49, 50")) {
                    assertFalse(text.contains(secret), text);
                }
            }
        }
    }
}

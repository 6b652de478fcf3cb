package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.crypto.ECDHDecrypter;
import com.nimbusds.jose.crypto.RSADecrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Nimbus opens the envelopes that the client makes for a partner. */
class LocalSealingTest {
    static Stream<Arguments> algorithms() throws Exception {
        JWK rsa = new RSAKeyGenerator(2048).keyID("partner key").generate();
        Stream.Builder<Arguments> found = Stream.builder();
        for (String enc : List.of("A128GCM", "A256GCM")) {
            for (String alg : List.of("RSA-OAEP", "RSA-OAEP-256")) {
                found.add(Arguments.of(rsa, alg, enc));
            }
            for (Curve curve : List.of(Curve.P_256, Curve.P_384, Curve.P_521)) {
                JWK key = new ECKeyGenerator(curve).keyID("partner key").generate();
                found.add(Arguments.of(key, "ECDH-ES+A128KW", enc));
                found.add(Arguments.of(key, "ECDH-ES+A256KW", enc));
            }
        }
        return found.build();
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void nimbusOpensLocalEnvelopes(JWK key, String alg, String enc) throws Exception {
        var headers = new HashMap<String, Object>(Map.of("typ", "JOSE", "iat", true));
        headers.put("cty", null);
        Map<String, Object> policy = Map.of(
                "id", "pol_1", "policyNumber", "PARTNER", "status", "active", "keyOwnership", "destination_managed", "alg", alg,
                "enc", enc, "headers", headers, "key", key.toPublicJWK().toJSONObject());
        try (var service = new FakeService(Map.of("/api/v1/policies/PARTNER", policy)); var client = new SealwardClient(service.options())) {
            Envelope envelope = client.sealLocally(ProtectRequest.of(Content.json("{\"n\": 1.0}")).withPolicyNumber("PARTNER"));
            var members = Json.MAPPER.readTree(envelope.toString());
            var parts = Stream.of("protected", "encrypted_key", "iv", "ciphertext", "tag").map(name -> members.get(name).asText());
            JWEObject opened = JWEObject.parse(String.join(".", parts.toList()));
            opened.decrypt(key instanceof RSAKey rsa ? new RSADecrypter(rsa) : new ECDHDecrypter((ECKey) key));
            assertEquals("{\"n\": 1.0}", opened.getPayload().toString());
            assertEquals("partner key", opened.getHeader().getKeyID());
            assertEquals("JOSE", opened.getHeader().getType().toString());
        }
    }
}

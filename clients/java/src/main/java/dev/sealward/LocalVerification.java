package dev.sealward;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Verifies signatures in this process, with published keys that are at most 60 seconds old. */
final class LocalVerification {
    private final FreshLookUps<Map<String, Jwk>> lookUps = new FreshLookUps<>();

    CompletableFuture<Boolean> verify(String serviceId, VerifyRequest request, AsyncSealwardClient client) {
        SignatureAlgorithm algorithm;
        byte[] message;
        try {
            algorithm = SignatureAlgorithm.of(request);
            message = message(request.data());
        } catch (SealwardException failure) {
            return CompletableFuture.failedFuture(failure);
        }
        return keys(serviceId, client).thenApply(keys -> {
            Jwk key = keys.get(request.keyId());
            if (key == null) {
                throw new SealwardException.KeyUnavailable("the service publishes no signing key " + request.keyId());
            }
            if (!algorithm.fits(key)) {
                throw new SealwardException.KeyUnavailable("the key does not fit the algorithm " + request.algorithm());
            }
            try {
                return algorithm.verify(key, message, request);
            } catch (GeneralSecurityException failure) {
                throw new SealwardException.UnsupportedAlgorithm(request.algorithm() + " in this JVM");
            }
        });
    }

    private static byte[] message(Content data) {
        if (data.isBytes()) {
            return Base64.getDecoder().decode(Json.read(data.json(), String.class));
        }
        return Canonical.signed(data.json()).getBytes(StandardCharsets.UTF_8);
    }

    private CompletableFuture<Map<String, Jwk>> keys(String serviceId, AsyncSealwardClient client) {
        return lookUps.get(serviceId, () -> client.publishedKeys(serviceId).thenApply(LocalVerification::signing));
    }

    private static Map<String, Jwk> signing(PublishedKeys published) {
        return published.keys().stream()
                .map(Jwk::of)
                .filter(key -> "sig".equals(key.use()))
                .collect(Collectors.toMap(Jwk::kid, Function.identity(), (first, second) -> first));
    }
}

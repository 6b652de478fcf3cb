package dev.sealward;

import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** Makes envelopes in this process, with policies that are at most 60 seconds old. */
final class LocalSealing {
    private final FreshLookUps<Policy> policies = new FreshLookUps<>();

    /** The policy of a number, or the policy that is bound to the credential for null. */
    CompletableFuture<Policy> policy(String number, AsyncSealwardClient client) {
        return policies.get(number, () -> number == null ? bound(client) : client.policy(number));
    }

    private static CompletableFuture<Policy> bound(AsyncSealwardClient client) {
        return client.caller().thenCompose(caller -> {
            if (caller.policyNumber() == null) {
                throw new SealwardException.InvalidRequest("no policy is named, and none is bound to the credential");
            }
            return client.policy(caller.policyNumber());
        });
    }

    static Envelope seal(Policy policy, ProtectRequest request) {
        if ("frozen".equals(policy.status())) {
            throw new SealwardException.Frozen("policy " + policy.policyNumber());
        }
        if (!"active".equals(policy.status())) {
            throw new SealwardException.PolicyNotActive("policy " + policy.policyNumber());
        }
        if (policy.contextRequired() || request.context() != null) {
            throw new SealwardException.ContextRequired("an envelope with a context cannot be sealed locally");
        }
        if (!Jwe.wrapsWith(policy.alg())) {
            throw new SealwardException.UnsupportedAlgorithm(policy.alg());
        }
        if (!Jwe.encryptsWith(policy.enc())) {
            throw new SealwardException.UnsupportedAlgorithm(policy.enc());
        }
        if (policy.key() == null || policy.key().isNull()) {
            throw new SealwardException.KeyUnavailable("policy " + policy.policyNumber());
        }
        Jwk key = Jwk.of(policy.key());
        try {
            return Jwe.seal(header(policy, key), key, request.payload().json());
        } catch (GeneralSecurityException failure) {
            throw new SealwardException.UnsupportedAlgorithm(policy.alg() + " in this JVM");
        }
    }

    private static TreeMap<String, Object> header(Policy policy, Jwk key) {
        var header = new TreeMap<String, Object>(Map.of("alg", policy.alg(), "enc", policy.enc()));
        put(header, "kid", key.kid());
        Policy.Headers headers = policy.headers();
        if ("service_managed".equals(policy.keyOwnership()) || headers == null) {
            header.put("cty", "json");
        }
        if ("service_managed".equals(policy.keyOwnership())) {
            header.put("pol", policy.id());
        } else if (headers != null) {
            put(header, "cty", headers.cty());
            put(header, "typ", headers.typ());
            put(header, "iat", headers.iat() ? Instant.now().getEpochSecond() : null);
        }
        return header;
    }

    private static void put(Map<String, Object> header, String name, Object value) {
        if (value != null) {
            header.put(name, value);
        }
    }
}

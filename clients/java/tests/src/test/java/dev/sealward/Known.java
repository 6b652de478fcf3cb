package dev.sealward;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the client knows of the OpenAPI document. */
final class Known {
    private static final List<String> OPERATIONS = List.of(
            "jwks", "health", "readCaller", "readProtectionPolicy", "protect", "protectBatch", "unprotect", "unprotectBatch",
            "rewrap", "rewrapBatch", "makeDataKey", "operate");

    /** The records of the client for the schemas of the API. */
    private static final Map<String, Class<? extends Record>> RECORDS = Map.ofEntries(
            Map.entry("CallerIdentity", Caller.class),
            Map.entry("Credential", Caller.CredentialId.class),
            Map.entry("DataKeyRequest", DataKeyRequest.class),
            Map.entry("EnvelopeHeaders", Policy.Headers.class),
            Map.entry("ErrorObject", Refusals.ErrorObject.class),
            Map.entry("Health", Health.class),
            Map.entry("HealthAudit", Health.Audit.class),
            Map.entry("HealthChecks", Health.Checks.class),
            Map.entry("HealthDatabase", Health.Database.class),
            Map.entry("HealthHsm", Health.Hsm.class),
            Map.entry("HealthRateLimiter", Health.Check.class),
            Map.entry("HealthRecords", Health.Check.class),
            Map.entry("HealthToken", Health.Token.class),
            Map.entry("JwkSet", PublishedKeys.class),
            Map.entry("PolicySummary", Policy.class),
            Map.entry("Problem", SealwardException.Detail.class),
            Map.entry("ProtectRequest", ProtectRequest.class),
            Map.entry("RateLimit", Caller.RateLimit.class));

    /** What the client reads or writes as text. */
    private static final Map<String, String> MEMBERS = Map.ofEntries(
            Map.entry("DataKey", "algorithm jwe key requestId"),
            Map.entry("DecryptRequest", "operation payload"),
            Map.entry("EncryptRequest", "operation payload"),
            Map.entry("HashRequest", "operation payload"),
            Map.entry("SignRequest", "operation payload"),
            Map.entry("VerifyRequest", "operation payload"),
            Map.entry("EncryptPayload", "data encoding algorithm keyId aad"),
            Map.entry("DecryptPayload", "ciphertext iv tag algorithm keyId aad encoding"),
            Map.entry("HashPayload", "data encoding algorithm"),
            Map.entry("SignPayload", "data encoding algorithm keyId prehashed signatureFormat"),
            Map.entry("VerifyPayload", "data encoding signature algorithm keyId prehashed signatureFormat"),
            // The result also has a timestamp, which the audit log has too.
            Map.entry("OperationAnswer", "requestId result timestamp"),
            Map.entry("OperationResult", "ciphertext iv tag algorithm keyId data signature valid hash"),
            Map.entry("ErrorResponse", "error requestId"),
            Map.entry("ProtectBatch", "items"),
            Map.entry("UnprotectBatch", "items requestId"),
            Map.entry("RewrapBatch", "items requestId"),
            Map.entry("ProtectedBatch", "items requestId"),
            Map.entry("UnprotectedBatch", "items requestId"),
            Map.entry("RewrappedBatch", "items requestId"),
            Map.entry("ProtectedItem", "dropped error jwe message messageType operations payload status warning"),
            Map.entry("UnprotectedItem", "error operations payload status"),
            Map.entry("RewrappedItem", "error jwe messageType operations status"),
            Map.entry("ProtectedPayload", "dropped jwe message messageType operations payload requestId warning"),
            Map.entry("RewrappedPayload", "jwe messageType operations requestId"),
            Map.entry("Unprotected", "operations payload requestId"),
            // The API accepts and ignores messageType, operations, requestId and status, so that its answers can be sent back.
            Map.entry("UnprotectRequest", "jwe protectedPayload policyNumber context messageType operations requestId"),
            Map.entry("UnprotectItem", "jwe protectedPayload policyNumber context messageType operations status"),
            Map.entry("RewrapRequest",
                    "jwe protectedPayload policyNumber toPolicyNumber context toContext messageType operations requestId"),
            Map.entry("RewrapItem",
                    "jwe protectedPayload policyNumber toPolicyNumber context toContext messageType operations status"),
            // Envelopes and keys are texts that the client carries as they are.
            Map.entry("Jwe", "protected encrypted_key iv ciphertext tag header unprotected"),
            Map.entry("UnprotectedHeader", "epk"),
            Map.entry("EphemeralKey", "kty crv x y"),
            Map.entry("PublishedJwk", "kty crv kid use alg n e x y pub"));

    private Known() {}

    static Map<String, Object> members() {
        var schemas = new TreeMap<String, List<String>>();
        RECORDS.forEach((name, type) -> schemas.put(
                name, Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName).toList()));
        MEMBERS.forEach((name, members) -> schemas.put(name, List.of(members.split(" "))));
        return Map.of("operations", OPERATIONS, "schemas", schemas);
    }
}

import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ApiKeysApi;
import org.openapitools.client.api.AuditApi;
import org.openapitools.client.api.KeysApi;
import org.openapitools.client.api.PoliciesApi;
import org.openapitools.client.api.RuntimeApi;
import org.openapitools.client.api.ServicesApi;
import org.openapitools.client.model.*;

/** The round trip of a client that openapi-generator made for Java, with either HTTP library. */
public final class RoundTrip {
    private static final String REQUEST_ID = "java " + System.nanoTime();

    private static RuntimeApi runtime;

    public static void main(String[] arguments) throws Exception {
        String url = System.getenv("SEALWARD_URL");
        ApiClient admin = Connection.to(url, System.getenv("SEALWARD_ADMIN_KEY"));

        Service service = new ServicesApi(admin).createService(new NewService().name(REQUEST_ID), null, null);
        Key imported = createKeys(new KeysApi(admin), service);
        Policy policy = createPolicy(new PoliciesApi(admin), service);
        NewApiKey newApiKey = new NewApiKey().name(REQUEST_ID).type(ApiKeyType.fromValue("test"))
                .serviceId(service.getId()).policyNumber(policy.getPolicyNumber());
        CreatedApiKey apiKey = new ApiKeysApi(admin).createApiKey(newApiKey, null, null);

        runtime = new RuntimeApi(Connection.to(url, apiKey.getSecret()));
        protectAndUnprotect();
        encryptAndDecrypt();
        signAndVerify();
        hash();
        refuse(imported);
        update(new ServicesApi(admin), service);
        audit(new AuditApi(admin), service);
    }

    private static Key createKeys(KeysApi keys, Service service) throws ApiException {
        for (String algorithm : List.of("P-256", "AES-256", "Ed25519")) {
            NewKey generated = new NewKey().serviceId(service.getId()).generate(true)
                    .algorithm(KeyAlgorithm.fromValue(algorithm));
            Key key = keys.createKey(generated, null, null);
            check(key.getAlgorithm(), algorithm);
        }
        Jwk jwk = new Jwk().kty("EC").crv("P-256")
                .x("MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4")
                .y("4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM")
                .kid("partner-1");
        NewKey foreign = new NewKey().serviceId(service.getId()).use(KeyUse.fromValue("sig"))
                .publicKey(new PemOrJwk(jwk));
        Key imported = keys.createKey(foreign, null, null);
        check(imported.getPublicKey().getX(), jwk.getX());
        check(imported.getPartnerKid(), "partner-1");
        return imported;
    }

    private static Policy createPolicy(PoliciesApi policies, Service service) throws ApiException {
        NewPolicy policy = new NewPolicy().name(REQUEST_ID).destinationServiceId(service.getId())
                .alg(KeyWrappingAlgorithm.fromValue("ECDH-ES+A256KW"))
                .allowedServiceIds(List.of(service.getId()));
        return policies.createPolicy(policy, null, null);
    }

    private static void protectAndUnprotect() throws ApiException {
        Map<String, Object> payload = Map.of("card", "4111 1111 1111 1111");
        Map<String, String> context = Map.of("tenant", "acme");
        ProtectedPayload envelope = runtime.protect(
                new ProtectRequest().payload(payload).context(context), REQUEST_ID);
        Unprotected opened = runtime.unprotect(
                new UnprotectRequest().jwe(envelope.getJwe()).context(context), REQUEST_ID);
        check(opened.getPayload(), payload);
    }

    private static void encryptAndDecrypt() throws ApiException {
        EncryptPayload plain = new EncryptPayload().data("secret").algorithm(Cipher.fromValue("AES-256-GCM"));
        OperationResult encrypted = operate(new OperationRequest(new EncryptRequest()
                .operation(EncryptRequest.OperationEnum.ENCRYPT).payload(plain)));
        DecryptPayload cipher = new DecryptPayload().algorithm(plain.getAlgorithm())
                .ciphertext(encrypted.getCiphertext()).iv(encrypted.getIv()).tag(encrypted.getTag())
                .keyId(encrypted.getKeyId());
        OperationResult decrypted = operate(new OperationRequest(new DecryptRequest()
                .operation(DecryptRequest.OperationEnum.DECRYPT).payload(cipher)));
        check(decrypted.getData(), "secret");
    }

    private static void signAndVerify() throws ApiException {
        SignPayload message = new SignPayload().data("message").algorithm(SignatureAlgorithm.fromValue("Ed25519"));
        OperationResult signed = operate(new OperationRequest(new SignRequest()
                .operation(SignRequest.OperationEnum.SIGN).payload(message)));
        VerifyPayload signature = new VerifyPayload().data("message").algorithm(message.getAlgorithm())
                .signature(signed.getSignature()).keyId(signed.getKeyId());
        OperationResult verified = operate(new OperationRequest(new VerifyRequest()
                .operation(VerifyRequest.OperationEnum.VERIFY).payload(signature)));
        check(verified.getValid(), true);
    }

    private static void hash() throws ApiException {
        HashPayload data = new HashPayload().data("abc").algorithm(HashAlgorithm.fromValue("SHA-256"));
        OperationResult hashed = operate(new OperationRequest(new HashRequest()
                .operation(HashRequest.OperationEnum.HASH).payload(data)));
        check(hashed.getAlgorithm(), "SHA-256");
    }

    private static OperationResult operate(OperationRequest request) throws ApiException {
        return runtime.operate(request, REQUEST_ID).getResult();
    }

    /** An error has the one schema of all errors. */
    private static void refuse(Key imported) throws Exception {
        SignPayload message = new SignPayload().data("message").keyId(imported.getId())
                .algorithm(SignatureAlgorithm.fromValue("Ed25519"));
        try {
            operate(new OperationRequest(new SignRequest()
                    .operation(SignRequest.OperationEnum.SIGN).payload(message)));
            throw new AssertionError("an EC key signed as Ed25519");
        } catch (ApiException refusal) {
            check(refusal.getCode(), 400);
            ErrorResponse body = Connection.read(refusal.getResponseBody(), ErrorResponse.class);
            check(body.getError().getCode(), "INVALID_REQUEST");
            check(body.getError().getDetails().get(0).getField(), "payload.algorithm");
        }
    }

    /** The resource that GET returned is changed and sent back by PUT. */
    private static void update(ServicesApi services, Service created) throws Exception {
        Service service = services.readService(created.getId(), null);
        ServiceChanges changes = Connection.changes(service);
        check(changes.getId(), created.getId());
        changes.setDescription("edited");
        Service updated = services.updateService(created.getId(), changes, null, null);
        check(updated.getDescription(), "edited");
        check(updated.getName(), created.getName());
    }

    private static void audit(AuditApi audit, Service service) throws ApiException {
        AuditRecordPage page = audit.listAudit(20, null, REQUEST_ID, service.getId(), null, null, null, null, null, null,
                null, null, null, null, null);
        check(page.getItems().size(), 8);
        check(page.getItems().get(7).getOperationType(), "encrypt");
        check(page.getItems().get(0).getResponseStatus(), 400);
        check(page.getNextCursor(), null);
    }

    private static void check(Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new AssertionError("found " + found + " instead of " + expected);
        }
    }
}

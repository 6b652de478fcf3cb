package dev.sealward;

import dev.sealward.Protection.Protected;
import dev.sealward.Transport.Answer;
import dev.sealward.Transport.Request;
import dev.sealward.Transport.Scope;
import dev.sealward.Transport.Sending;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * The calls of {@link SealwardClient} without blocking. A stage that fails has a {@link SealwardException}, in a {@link
 * CompletionException} where the JDK wraps it.
 */
public final class AsyncSealwardClient {
    private final Core core;
    private final Sending sending;
    private final Scope scope;

    /** What the clients of one service share. */
    record Core(ClientOptions options, Transport transport, DataKeyStore dataKeys, LocalSealing sealing, LocalVerification verification) {
        static Core of(ClientOptions options) {
            return new Core(options, new Transport(options), new DataKeyStore(options.dataKeyCache), new LocalSealing(),
                    new LocalVerification());
        }
    }

    private AsyncSealwardClient(Core core, Sending sending, Scope scope) {
        this.core = core;
        this.sending = sending;
        this.scope = scope;
    }

    /** The calls of a new client that blocks: their futures are complete. */
    static AsyncSealwardClient blocking(ClientOptions options) {
        Core core = Core.of(options);
        return new AsyncSealwardClient(core, core.transport::sendBlocking, new Scope(options.timeout, null));
    }

    AsyncSealwardClient notBlocking() {
        return new AsyncSealwardClient(core, core.transport::send, scope);
    }

    AsyncSealwardClient withRequestId(String id) {
        return new AsyncSealwardClient(core, sending, new Scope(scope.timeout(), id));
    }

    AsyncSealwardClient withTimeout(Duration total) {
        return new AsyncSealwardClient(core, sending, new Scope(total, scope.requestId()));
    }

    Core core() {
        return core;
    }

    /**
     * Seals a payload.
     *
     * @param request what to seal
     * @return the envelope
     * @see SealwardClient#protect
     */
    public CompletableFuture<Protected> protect(ProtectRequest request) {
        return protectOrPass(request).thenApply(Answers::onlyProtected);
    }

    /**
     * Seals a payload, and accepts that an inactive policy passes it through or drops it.
     *
     * @param request what to seal
     * @return what happened
     * @see SealwardClient#protectOrPass
     */
    public CompletableFuture<Protection> protectOrPass(ProtectRequest request) {
        return post("/api/v1/protect", request.body(), Answers::protection);
    }

    /**
     * Opens an envelope.
     *
     * @param request what to open
     * @return the payload
     * @see SealwardClient#unprotect
     */
    public CompletableFuture<Payload> unprotect(UnprotectRequest request) {
        return opening(post("/api/v1/unprotect", request.body(), Answers::payload));
    }

    /**
     * Opens an envelope and seals its content again, inside the service.
     *
     * @param request what to seal again
     * @return the new envelope
     * @see SealwardClient#rewrap
     */
    public CompletableFuture<Protected> rewrap(RewrapRequest request) {
        return opening(post("/api/v1/rewrap", request.body(), AsyncSealwardClient::envelope));
    }

    /**
     * Seals payloads in batches.
     *
     * @param requests what to seal
     * @return the outcomes in the order of the requests
     */
    public CompletableFuture<List<BatchResult<Protected>>> protectBatch(List<ProtectRequest> requests) {
        return Batches.send("/api/v1/protect/batch", requests, withinOneDeadline(), AsyncSealwardClient::envelope);
    }

    /**
     * Seals payloads in batches, and accepts that an inactive policy passes them through or drops them.
     *
     * @param requests what to seal
     * @return the outcomes in the order of the requests
     */
    public CompletableFuture<List<BatchResult<Protection>>> protectBatchOrPass(List<ProtectRequest> requests) {
        return Batches.send("/api/v1/protect/batch", requests, withinOneDeadline(), Answers::protection);
    }

    /**
     * Opens envelopes in batches.
     *
     * @param requests what to open
     * @return the outcomes in the order of the requests
     */
    public CompletableFuture<List<BatchResult<Payload>>> unprotectBatch(List<UnprotectRequest> requests) {
        return openingItems(Batches.send("/api/v1/unprotect/batch", requests, withinOneDeadline(), Answers::payload));
    }

    /**
     * Seals envelopes again in batches.
     *
     * @param requests what to seal again
     * @return the outcomes in the order of the requests
     */
    public CompletableFuture<List<BatchResult<Protected>>> rewrapBatch(List<RewrapRequest> requests) {
        return openingItems(Batches.send("/api/v1/rewrap/batch", requests, withinOneDeadline(), AsyncSealwardClient::envelope));
    }

    /**
     * Makes a data key.
     *
     * @param request the key to make
     * @return the key and its envelope
     */
    public CompletableFuture<DataKey> dataKey(DataKeyRequest request) {
        return post("/api/v1/data-keys", request.body(), (members, answer, requestId) -> {
            var key = Optional.ofNullable(Json.read(members.get("key"), byte[].class)).map(Secret::new);
            if (!members.containsKey("jwe") || key.isPresent() != request.plaintext()) {
                throw answer.unexpected("not a data key");
            }
            return new DataKey(Answers.text(members, "algorithm"), Envelope.parse(members.get("jwe")), key, requestId);
        });
    }

    /**
     * Returns a data key for a message.
     *
     * @param request the key to make
     * @param size the size of the message in bytes
     * @return a key that the cache allows to use again, or else a new one
     * @see SealwardClient#cachedDataKey
     */
    public CompletableFuture<DataKey> cachedDataKey(DataKeyRequest request, long size) {
        return core.dataKeys.use(request, size, () -> dataKey(request));
    }

    /**
     * Returns the key in the envelope of a data key.
     *
     * @param request what to open
     * @return the key
     * @see SealwardClient#openDataKey
     */
    public CompletableFuture<Secret> openDataKey(UnprotectRequest request) {
        return core.dataKeys
                .use(request, 0, () -> unprotect(request).thenApply(payload -> new DataKey(
                        null, request.envelope(), Optional.of(new Secret(payload.bytes())), payload.requestId())))
                .thenApply(opened -> opened.key().orElseThrow());
    }

    /**
     * Encrypts data with a key of the calling service.
     *
     * @param request what to encrypt
     * @return the ciphertext
     */
    public CompletableFuture<Ciphertext> encrypt(EncryptRequest request) {
        return operate("encrypt", request.payload(), Ciphertext.class);
    }

    /**
     * Decrypts what {@link #encrypt} made of a JSON value.
     *
     * @param ciphertext what to decrypt
     * @param aad the authenticated data, or null
     * @return the value
     */
    public CompletableFuture<Payload> decrypt(Ciphertext ciphertext, byte[] aad) {
        return decrypt(ciphertext.payload(aad, null));
    }

    /**
     * Decrypts what {@link #encrypt} made of bytes.
     *
     * @param ciphertext what to decrypt
     * @param aad the authenticated data, or null
     * @return the bytes
     */
    public CompletableFuture<byte[]> decryptBytes(Ciphertext ciphertext, byte[] aad) {
        return decrypt(ciphertext.payload(aad, "base64")).thenApply(Payload::bytes);
    }

    private CompletableFuture<Payload> decrypt(String payload) {
        return opening(post("/api/v1/operations", Operations.body("decrypt", payload), (members, answer, requestId) -> {
            String data = Json.members(members.getOrDefault("result", "{}")).get("data");
            if (data == null) {
                throw answer.unexpected("data is missing");
            }
            return new Payload(data, requestId);
        }));
    }

    /**
     * Signs data with a key of the calling service.
     *
     * @param request what to sign
     * @return the signature
     */
    public CompletableFuture<Signed> sign(SignRequest request) {
        return operate("sign", request.payload(), Signed.class);
    }

    /**
     * Verifies a signature.
     *
     * @param request the signature
     * @return whether it is valid
     */
    public CompletableFuture<Boolean> verify(VerifyRequest request) {
        return operate("verify", request.payload(), Verified.class).thenApply(Verified::valid);
    }

    private record Verified(boolean valid) {}

    /**
     * Hashes data.
     *
     * @param request what to hash
     * @return the hash
     */
    public CompletableFuture<Digest> hash(HashRequest request) {
        return operate("hash", request.payload(), Digest.class);
    }

    /**
     * Returns what the credential of the client may do.
     *
     * @return the caller
     */
    public CompletableFuture<Caller> caller() {
        return get(Request.get("/api/v1/caller"), Caller.class);
    }

    /**
     * Returns a policy under which the caller may protect.
     *
     * @param policyNumber the policy
     * @return the policy
     */
    public CompletableFuture<Policy> policy(String policyNumber) {
        return get(Request.get("/api/v1/policies/" + segment(policyNumber)), Policy.class);
    }

    /**
     * Returns the keys that a service publishes. It needs no credential.
     *
     * @param serviceId the service
     * @return the keys
     */
    public CompletableFuture<PublishedKeys> publishedKeys(String serviceId) {
        return get(new Request("/.well-known/jwks/" + segment(serviceId), null, true), PublishedKeys.class);
    }

    /**
     * Asks once for the state of the service. A service that is unavailable has a state too, and no failure.
     *
     * @return the state
     */
    public CompletableFuture<Health> health() {
        return core.transport.sendOnce(Request.get("/api/v1/health"), scope).thenApply(answer -> {
            SealwardException refusal = Transport.refusal(answer);
            try {
                Health health = Answers.read(answer, Health.class);
                if (health.status() != null) {
                    return health;
                }
            } catch (SealwardException.UnexpectedAnswer failure) {
                throw refusal == null ? failure : refusal;
            }
            throw refusal == null ? answer.unexpected("not a state of the service") : refusal;
        });
    }

    /**
     * Makes an envelope in this process.
     *
     * @param request what to seal
     * @return the envelope
     * @see SealwardClient#sealLocally
     */
    public CompletableFuture<Envelope> sealLocally(ProtectRequest request) {
        return core.sealing.policy(request.policyNumber(), this).thenApply(policy -> LocalSealing.seal(policy, request));
    }

    /**
     * Verifies a signature in this process.
     *
     * @param serviceId the service that signed
     * @param request the signature
     * @return whether it is valid
     * @see SealwardClient#verifyLocally
     */
    public CompletableFuture<Boolean> verifyLocally(String serviceId, VerifyRequest request) {
        return core.verification.verify(serviceId, request, this);
    }

    private CompletableFuture<Answer> send(Request request) {
        return sending.send(request, scope);
    }

    /** The parts of a list share the deadline of the call. */
    private Function<Request, CompletableFuture<Answer>> withinOneDeadline() {
        long end = System.nanoTime() + scope.timeout().toNanos();
        return request -> sending.send(
                request, new Scope(Duration.ofNanos(end - System.nanoTime()), scope.requestId()));
    }

    private <T> CompletableFuture<T> post(String path, String body, Answers.Reading<T> reading) {
        return send(Request.post(path, body)).thenApply(answer -> {
            Map<String, String> members = Answers.members(answer);
            return reading.read(members, answer, Answers.text(members, "requestId"));
        });
    }

    private <T> CompletableFuture<T> get(Request request, Class<T> type) {
        return send(request).thenApply(answer -> Answers.read(answer, type));
    }

    private <T> CompletableFuture<T> operate(String operation, String payload, Class<T> type) {
        return post("/api/v1/operations", Operations.body(operation, payload), (members, answer, requestId) -> {
            T result = Json.read(members.get("result"), type);
            if (result == null) {
                throw answer.unexpected("result is missing");
            }
            return result;
        });
    }

    private static Protected envelope(Map<String, String> members, Answer answer, String requestId) {
        return Answers.onlyProtected(Answers.protection(members, answer, requestId));
    }

    private static <T> CompletableFuture<T> opening(CompletableFuture<T> call) {
        return call.handle((result, failure) -> {
            if (failure == null) {
                return result;
            }
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            throw cause instanceof SealwardException refused ? Refusal.opening(refused) : new CompletionException(cause);
        });
    }

    private static <T> CompletableFuture<List<BatchResult<T>>> openingItems(CompletableFuture<List<BatchResult<T>>> call) {
        Function<BatchResult<T>, BatchResult<T>> mark = item ->
                item.failure().map(failure -> BatchResult.<T>failed(Refusal.opening(failure))).orElse(item);
        return opening(call).thenApply(items -> items.stream().map(mark).toList());
    }

    private static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}

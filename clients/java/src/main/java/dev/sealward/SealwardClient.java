package dev.sealward;

import dev.sealward.Protection.Protected;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Calls the runtime API of one service. It is safe for concurrent use, repeats requests that the service refused for a
 * moment, within one total deadline, and never writes a log.
 */
public final class SealwardClient implements AutoCloseable {
    private final AsyncSealwardClient calls;

    /**
     * A client. It does not connect.
     *
     * @param options the address, the credential and the limits
     */
    public SealwardClient(ClientOptions options) {
        this(AsyncSealwardClient.blocking(options));
    }

    /** A client that waits for calls. */
    SealwardClient(AsyncSealwardClient calls) {
        this.calls = calls;
    }

    /**
     * A client as the environment describes it.
     *
     * @return the client
     * @see ClientOptions#fromEnvironment
     */
    public static SealwardClient fromEnvironment() {
        return new SealwardClient(ClientOptions.fromEnvironment(System.getenv()));
    }

    /**
     * The same client, whose calls carry an ID, so that the audit log of the service and the log of the application name a
     * request alike.
     *
     * @param id the ID
     * @return a client that shares everything with this one
     */
    public SealwardClient withRequestId(String id) {
        return new SealwardClient(calls.withRequestId(id));
    }

    /**
     * The same client with another deadline.
     *
     * @param total the time of a call with all its attempts
     * @return a client that shares everything with this one
     */
    public SealwardClient withTimeout(Duration total) {
        return new SealwardClient(calls.withTimeout(total));
    }

    /**
     * The same calls without blocking.
     *
     * @return a client that shares everything with this one
     */
    public AsyncSealwardClient async() {
        return calls.notBlocking();
    }

    /**
     * Seals a payload.
     *
     * @param request what to seal
     * @return the envelope
     * @throws SealwardException.NotProtected if an inactive policy passed the payload through or dropped it
     */
    public Protected protect(ProtectRequest request) {
        return await(calls.protect(request));
    }

    /**
     * Seals a payload, and accepts that an inactive policy passes it through or drops it.
     *
     * @param request what to seal
     * @return what happened
     */
    public Protection protectOrPass(ProtectRequest request) {
        return await(calls.protectOrPass(request));
    }

    /**
     * Opens an envelope.
     *
     * @param request what to open
     * @return the payload
     * @throws SealwardException.DecryptionFailed if the envelope cannot be opened
     */
    public Payload unprotect(UnprotectRequest request) {
        return await(calls.unprotect(request));
    }

    /**
     * Opens an envelope and seals its content again, inside the service. The plaintext does not leave the service.
     *
     * @param request what to seal again
     * @return the new envelope
     */
    public Protected rewrap(RewrapRequest request) {
        return await(calls.rewrap(request));
    }

    /**
     * Seals payloads. Requests beyond the limits of the service are sent in several batches.
     *
     * @param requests what to seal
     * @return the outcomes in the order of the requests
     */
    public List<BatchResult<Protected>> protectBatch(List<ProtectRequest> requests) {
        return await(calls.protectBatch(requests));
    }

    /**
     * Seals payloads like {@link #protectBatch}, with the outcomes of {@link #protectOrPass}.
     *
     * @param requests what to seal
     * @return the outcomes in the order of the requests
     */
    public List<BatchResult<Protection>> protectBatchOrPass(List<ProtectRequest> requests) {
        return await(calls.protectBatchOrPass(requests));
    }

    /**
     * Opens envelopes in batches.
     *
     * @param requests what to open
     * @return the outcomes in the order of the requests
     */
    public List<BatchResult<Payload>> unprotectBatch(List<UnprotectRequest> requests) {
        return await(calls.unprotectBatch(requests));
    }

    /**
     * Seals envelopes again in batches.
     *
     * @param requests what to seal again
     * @return the outcomes in the order of the requests
     */
    public List<BatchResult<Protected>> rewrapBatch(List<RewrapRequest> requests) {
        return await(calls.rewrapBatch(requests));
    }

    /**
     * Makes a data key.
     *
     * @param request the key to make
     * @return the key and its envelope
     */
    public DataKey dataKey(DataKeyRequest request) {
        return await(calls.dataKey(request));
    }

    /**
     * Returns a data key for a message: one that the {@link DataKeyCache} allows to use again, or else a new one. Closing its
     * key does not affect the cache.
     *
     * @param request the key to make
     * @param size the size of the message in bytes
     * @return the key and its envelope
     */
    public DataKey cachedDataKey(DataKeyRequest request, long size) {
        return await(calls.cachedDataKey(request, size));
    }

    /**
     * Returns the key in the envelope of a data key. With a {@link DataKeyCache}, it asks the service once.
     *
     * @param request what to open
     * @return the key
     */
    public Secret openDataKey(UnprotectRequest request) {
        return await(calls.openDataKey(request));
    }

    /**
     * What the cache of data keys saved.
     *
     * @return the counters since the client was made
     */
    public DataKeyCache.Counters dataKeyCacheCounters() {
        return calls.core().dataKeys().counters();
    }

    /**
     * Encrypts data with a key of the calling service.
     *
     * @param request what to encrypt
     * @return the ciphertext
     */
    public Ciphertext encrypt(EncryptRequest request) {
        return await(calls.encrypt(request));
    }

    /**
     * Decrypts what {@link #encrypt} made of a JSON value.
     *
     * @param ciphertext what to decrypt
     * @param aad the authenticated data, or null
     * @return the value
     */
    public Payload decrypt(Ciphertext ciphertext, byte[] aad) {
        return await(calls.decrypt(ciphertext, aad));
    }

    /**
     * Decrypts what {@link #encrypt} made of bytes.
     *
     * @param ciphertext what to decrypt
     * @param aad the authenticated data, or null
     * @return the bytes
     */
    public byte[] decryptBytes(Ciphertext ciphertext, byte[] aad) {
        return await(calls.decryptBytes(ciphertext, aad));
    }

    /**
     * Signs data with a key of the calling service.
     *
     * @param request what to sign
     * @return the signature
     */
    public Signed sign(SignRequest request) {
        return await(calls.sign(request));
    }

    /**
     * Verifies a signature.
     *
     * @param request the signature
     * @return whether it is valid
     */
    public boolean verify(VerifyRequest request) {
        return await(calls.verify(request));
    }

    /**
     * Hashes data.
     *
     * @param request what to hash
     * @return the hash
     */
    public Digest hash(HashRequest request) {
        return await(calls.hash(request));
    }

    /**
     * Returns what the credential of the client may do.
     *
     * @return the caller
     */
    public Caller caller() {
        return await(calls.caller());
    }

    /**
     * Returns a policy under which the caller may protect.
     *
     * @param policyNumber the policy
     * @return the policy
     */
    public Policy policy(String policyNumber) {
        return await(calls.policy(policyNumber));
    }

    /**
     * Returns the keys that a service publishes. It needs no credential.
     *
     * @param serviceId the service
     * @return the keys
     */
    public PublishedKeys publishedKeys(String serviceId) {
        return await(calls.publishedKeys(serviceId));
    }

    /**
     * Asks once for the state of the service. A service that is unavailable has a state too, and no failure.
     *
     * @return the state
     */
    public Health health() {
        return await(calls.health());
    }

    /**
     * Makes an envelope in this process with the public key of the policy, which it looks up at most once in 60 seconds. The
     * service does not record such an envelope, does not limit it, and cannot stop it by a freeze within those 60 seconds.
     *
     * <p>The policy must be active and must not require a context. Its alg must be RSA-OAEP, RSA-OAEP-256, ECDH-ES+A128KW or
     * ECDH-ES+A256KW. Nothing falls back to another way.
     *
     * @param request what to seal
     * @return the envelope
     * @throws SealwardException.UnsupportedAlgorithm for any other alg
     */
    public Envelope sealLocally(ProtectRequest request) {
        return await(calls.sealLocally(request));
    }

    /**
     * Verifies a signature of a service in this process, with the keys that the service publishes (publishKeys). The keys are
     * used for 60 seconds.
     *
     * @param serviceId the service that signed
     * @param request the signature
     * @return whether it is valid
     * @throws SealwardException.UnsupportedAlgorithm for HMAC and ML-DSA
     * @throws SealwardException.KeyUnavailable if the key is not published, or does not fit the algorithm
     */
    public boolean verifyLocally(String serviceId, VerifyRequest request) {
        return await(calls.verifyLocally(serviceId, request));
    }

    /**
     * Encrypts a file into another one. The target appears, or is replaced, when it is complete.
     *
     * @param source the file
     * @param target the sealed file
     * @param options the policy, the context and the progress
     * @throws IOException if a file cannot be read or written
     */
    public void encryptFile(Path source, Path target, FileOptions options) throws IOException {
        new SealedFiles(this).encrypt(source, target, options);
    }

    /**
     * Decrypts a sealed file into another one. It writes beside the target and renames after the last segment, so the target
     * never has plaintext that is not complete and authentic.
     *
     * @param source the sealed file
     * @param target the file
     * @param options the policy, the context and the progress
     * @throws IOException if a file cannot be read or written
     * @throws SealwardException.FileNotAuthentic if the file was truncated, extended or changed
     */
    public void decryptFile(Path source, Path target, FileOptions options) throws IOException {
        new SealedFiles(this).decrypt(source, target, options);
    }

    /**
     * Returns a stream that encrypts to a target what is written to it.
     *
     * @param target where the sealed stream goes
     * @param options the policy, the context and the progress
     * @return the stream, which {@link EncryptingStream#complete()} completes
     * @throws IOException if the target cannot be written
     */
    public EncryptingStream encryptingStream(OutputStream target, FileOptions options) throws IOException {
        return new SealedFiles(this).encrypting(target, options, -1);
    }

    /**
     * Returns the plaintext of a sealed stream. The bytes that it returns are authentic, but complete only at the end of the
     * stream. Reading a stream that was truncated or changed fails with {@link SealwardException.FileNotAuthentic}.
     *
     * @param source the sealed stream
     * @param options the policy, the context and the progress
     * @return the plaintext
     * @throws IOException if the source cannot be read
     */
    public InputStream decryptingStream(InputStream source, FileOptions options) throws IOException {
        return new SealedFiles(this).decrypting(source, options, -1);
    }

    /** Wipes cached data keys. Connections close when they are idle. */
    @Override
    public void close() {
        calls.core().dataKeys().wipe();
    }

    @Override
    public String toString() {
        return "SealwardClient[" + calls.core().options().url + "]";
    }

    private static <T> T await(CompletableFuture<T> call) {
        try {
            return call.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof SealwardException refused ? refused : new IllegalStateException(failure.getCause());
        } catch (InterruptedException interrupted) {
            call.cancel(true);
            Thread.currentThread().interrupt();
            throw new SealwardException.Interrupted("the thread was interrupted while it waited for an answer");
        }
    }
}

package dev.sealward;

/**
 * What {@link SealwardClient#encrypt} encrypts.
 *
 * @param data a value is encrypted as JSON, and {@link Content#bytes} as its bytes
 * @param algorithm AES-256-GCM or AES-128-GCM
 * @param keyId the key, or null for the key of the calling service that was activated last
 * @param aad authenticated data of at most 4 KiB, or null
 */
public record EncryptRequest(Content data, String algorithm, String keyId, byte[] aad) {
    String payload() {
        return Operations.data(data).value("algorithm", algorithm).value("keyId", keyId).value("aad", aad).toString();
    }
}

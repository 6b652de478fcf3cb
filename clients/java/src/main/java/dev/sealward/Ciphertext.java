package dev.sealward;

/**
 * The result of {@link SealwardClient#encrypt}.
 *
 * @param ciphertext the ciphertext
 * @param iv the initialization vector
 * @param tag the authentication tag
 * @param algorithm AES-256-GCM or AES-128-GCM
 * @param keyId the key
 */
public record Ciphertext(byte[] ciphertext, byte[] iv, byte[] tag, String algorithm, String keyId) {
    String payload(byte[] aad, String encoding) {
        return new Json.ObjectText()
                .value("ciphertext", ciphertext)
                .value("iv", iv)
                .value("tag", tag)
                .value("algorithm", algorithm)
                .value("keyId", keyId)
                .value("aad", aad)
                .value("encoding", encoding)
                .toString();
    }
}

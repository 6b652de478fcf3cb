package dev.sealward;

/**
 * What {@link SealwardClient#verify} and {@link SealwardClient#verifyLocally} verify.
 *
 * @param data what was signed
 * @param signature the signature
 * @param algorithm for example ECDSA-SHA256
 * @param keyId the key
 * @param prehashed whether data is the digest
 * @param signatureFormat p1363, der, or null for p1363. It concerns ECDSA
 */
public record VerifyRequest(
        Content data, byte[] signature, String algorithm, String keyId, boolean prehashed, String signatureFormat) {
    /**
     * A signature of data.
     *
     * @param data what was signed
     * @param signature the signature
     * @param algorithm for example ECDSA-SHA256
     * @param keyId the key
     */
    public VerifyRequest(Content data, byte[] signature, String algorithm, String keyId) {
        this(data, signature, algorithm, keyId, false, null);
    }

    String payload() {
        return Operations.data(data)
                .value("signature", signature)
                .value("algorithm", algorithm)
                .value("keyId", keyId)
                .value("prehashed", prehashed ? true : null)
                .value("signatureFormat", signatureFormat)
                .toString();
    }
}

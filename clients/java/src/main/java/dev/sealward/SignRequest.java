package dev.sealward;

/**
 * What {@link SealwardClient#sign} signs.
 *
 * @param data a value is signed in its canonical form (RFC 8785), a string as its UTF-8 bytes, and {@link Content#bytes} as
 *     its bytes
 * @param algorithm for example ECDSA-SHA256
 * @param keyId the key, or null for the key of the calling service that was activated last
 * @param prehashed whether data is the digest
 * @param signatureFormat p1363, der, or null for p1363. It concerns ECDSA
 */
public record SignRequest(Content data, String algorithm, String keyId, boolean prehashed, String signatureFormat) {
    /**
     * A signature of data.
     *
     * @param data what is signed
     * @param algorithm for example ECDSA-SHA256
     */
    public SignRequest(Content data, String algorithm) {
        this(data, algorithm, null, false, null);
    }

    String payload() {
        return Operations.data(data)
                .value("algorithm", algorithm)
                .value("keyId", keyId)
                .value("prehashed", prehashed ? true : null)
                .value("signatureFormat", signatureFormat)
                .toString();
    }
}

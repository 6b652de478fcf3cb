package dev.sealward;

/**
 * What {@link SealwardClient#hash} hashes.
 *
 * @param data hashed in the form in which {@link SealwardClient#sign} signs it
 * @param algorithm SHA-256, SHA-384 or SHA-512
 */
public record HashRequest(Content data, String algorithm) {
    String payload() {
        return Operations.data(data).value("algorithm", algorithm).toString();
    }
}

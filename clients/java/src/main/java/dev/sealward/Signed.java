package dev.sealward;

/**
 * The result of {@link SealwardClient#sign}.
 *
 * @param signature the signature
 * @param algorithm its algorithm
 * @param keyId its key
 */
public record Signed(byte[] signature, String algorithm, String keyId) {}

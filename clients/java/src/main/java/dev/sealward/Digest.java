package dev.sealward;

/**
 * The result of {@link SealwardClient#hash}.
 *
 * @param hash the hash
 * @param algorithm its algorithm
 */
public record Digest(byte[] hash, String algorithm) {}

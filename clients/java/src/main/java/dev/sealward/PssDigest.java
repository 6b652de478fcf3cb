package dev.sealward;

import java.math.BigInteger;
import java.security.DigestException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;

/** RSASSA-PSS of a digest (RFC 8017, section 9.1.2). The JDK has it for messages only. */
final class PssDigest {
    private static final int TRAILER = 0xbc;

    private PssDigest() {}

    /** Whether a signature is valid whose salt has the length of the digest. */
    static boolean verify(RSAPublicKey key, String hash, byte[] digest, byte[] signature) throws GeneralSecurityException {
        BigInteger modulus = key.getModulus();
        var number = new BigInteger(1, signature);
        int bits = modulus.bitLength() - 1;
        if (signature.length != (modulus.bitLength() + 7) / 8 || number.compareTo(modulus) >= 0) {
            return false;
        }
        byte[] encoded = encoded(number.modPow(key.getPublicExponent(), modulus), (bits + 7) / 8);
        if (encoded == null || encoded[encoded.length - 1] != (byte) TRAILER) {
            return false;
        }
        int blockLength = encoded.length - digest.length - 1;
        byte[] block = Arrays.copyOf(encoded, blockLength);
        byte[] stated = Arrays.copyOfRange(encoded, blockLength, encoded.length - 1);
        // The bits of the first byte that are beyond the length.
        byte surplus = (byte) (0xff << (8 - (8 * encoded.length - bits)));
        if ((block[0] & surplus) != 0) {
            return false;
        }
        MessageDigest state = MessageDigest.getInstance(hash);
        unmask(block, stated, state);
        block[0] &= (byte) ~surplus;
        int saltAt = blockLength - digest.length;
        if (block[saltAt - 1] != 1 || !isZero(block, saltAt - 1)) {
            return false;
        }
        state.update(new byte[8]);
        state.update(digest);
        state.update(block, saltAt, digest.length);
        return Arrays.equals(state.digest(), stated);
    }

    /** The number in so many bytes, or null if it needs more. */
    private static byte[] encoded(BigInteger number, int length) {
        if (number.bitLength() > 8 * length) {
            return null;
        }
        byte[] bytes = number.toByteArray();
        var encoded = new byte[length];
        int kept = Math.min(bytes.length, length);
        System.arraycopy(bytes, bytes.length - kept, encoded, length - kept, kept);
        return encoded;
    }

    /** Removes the mask MGF1 of a seed. */
    private static void unmask(byte[] block, byte[] seed, MessageDigest state) throws DigestException {
        var mask = new byte[state.getDigestLength()];
        for (int at = 0; at < block.length; at++) {
            int place = at % mask.length;
            if (place == 0) {
                int counter = at / mask.length;
                state.update(seed);
                state.update(new byte[] {0, 0, (byte) (counter >> 8), (byte) counter});
                state.digest(mask, 0, mask.length);
            }
            block[at] ^= mask[place];
        }
    }

    private static boolean isZero(byte[] block, int end) {
        for (int at = 0; at < end; at++) {
            if (block[at] != 0) {
                return false;
            }
        }
        return true;
    }
}

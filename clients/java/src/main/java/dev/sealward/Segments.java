package dev.sealward;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The segments of a sealed file in their order, as src/formats/envelope/FILE.md of Sealward defines them: the streaming AEAD
 * AES256_GCM_HKDF_1MB of Tink.
 */
final class Segments {
    static final int KEY_BYTES = 32;
    static final int SEGMENT_BYTES = 1 << 20;
    static final int SALT_BYTES = 32;
    static final int PREFIX_BYTES = 7;
    static final int HEADER_BYTES = 1 + SALT_BYTES + PREFIX_BYTES;
    static final int TAG_BYTES = 16;

    private static final long MAX_SEGMENTS = 1L << 32;

    private final SecretKeySpec key;
    private final byte[] prefix;
    private final int mode;
    private long next;

    /** Begins with the header of a file. The associated data covers the line before it. */
    Segments(int mode, byte[] dataKey, byte[] associated, byte[] salt, byte[] prefix) {
        this.mode = mode;
        this.prefix = prefix;
        try {
            this.key = new SecretKeySpec(derive(dataKey, salt, associated), "AES");
        } catch (GeneralSecurityException failure) {
            throw new IllegalStateException("each JVM has HMAC-SHA-256", failure);
        }
    }

    /** The length of the next segment in the file, unless it is a shorter last one. */
    int capacity() {
        return next == 0 ? SEGMENT_BYTES - HEADER_BYTES : SEGMENT_BYTES;
    }

    boolean isFirst() {
        return next == 0;
    }

    /** Encrypts or decrypts the next segment, and returns the length of the output. */
    int process(boolean last, byte[] input, int length, byte[] output) throws GeneralSecurityException {
        if (next == MAX_SEGMENTS) {
            throw new GeneralSecurityException("the plaintext is too long for a sealed file");
        }
        byte[] nonce = ByteBuffer.allocate(PREFIX_BYTES + 5).put(prefix).putInt((int) next).put((byte) (last ? 1 : 0)).array();
        next++;
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
        return cipher.doFinal(input, 0, length, output, 0);
    }

    /** HKDF-SHA256 (RFC 5869) for 32 bytes, which are its first block. */
    private static byte[] derive(byte[] key, byte[] salt, byte[] info) throws GeneralSecurityException {
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(salt, "HmacSHA256"));
        mac.init(new SecretKeySpec(mac.doFinal(key), "HmacSHA256"));
        mac.update(info);
        mac.update((byte) 1);
        return mac.doFinal();
    }
}

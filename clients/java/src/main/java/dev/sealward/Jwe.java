package dev.sealward;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.MGF1ParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;

/** Makes envelopes as RFC 7516, RFC 7518 and src/formats/envelope/FORMAT.md of Sealward define them. */
final class Jwe {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Map<String, Integer> CONTENT_KEY_SIZES = Map.of("A256GCM", 32, "A128GCM", 16);
    private static final Map<String, Integer> WRAPPING_KEY_SIZES = Map.of("ECDH-ES+A256KW", 32, "ECDH-ES+A128KW", 16);
    private static final Map<String, String> OAEP_DIGESTS = Map.of("RSA-OAEP", "SHA-1", "RSA-OAEP-256", "SHA-256");
    private static final int TAG_BYTES = 16;

    private Jwe() {}

    static boolean wrapsWith(String alg) {
        return WRAPPING_KEY_SIZES.containsKey(alg) || OAEP_DIGESTS.containsKey(alg);
    }

    static boolean encryptsWith(String enc) {
        return CONTENT_KEY_SIZES.containsKey(enc);
    }

    /** Encrypts a plaintext for a key. The header has alg and enc. */
    static Envelope seal(SortedMap<String, Object> header, Jwk key, String plaintext) throws GeneralSecurityException {
        var contentKey = new byte[CONTENT_KEY_SIZES.get((String) header.get("enc"))];
        var iv = new byte[12];
        RANDOM.nextBytes(contentKey);
        RANDOM.nextBytes(iv);
        try {
            byte[] wrapped = wrap(header, key, contentKey);
            String protectedHeader = encode(Json.write(header).getBytes(StandardCharsets.UTF_8));
            var cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(contentKey, "AES"), new GCMParameterSpec(8 * TAG_BYTES, iv));
            cipher.updateAAD(protectedHeader.getBytes(StandardCharsets.US_ASCII));
            byte[] sealed = cipher.doFinal(plaintext.getBytes(StandardCharsets.UTF_8));
            int end = sealed.length - TAG_BYTES;
            return Envelope.parse(new Json.ObjectText()
                    .value("protected", protectedHeader)
                    .value("encrypted_key", encode(wrapped))
                    .value("iv", encode(iv))
                    .value("ciphertext", encode(Arrays.copyOf(sealed, end)))
                    .value("tag", encode(Arrays.copyOfRange(sealed, end, sealed.length)))
                    .toString());
        } finally {
            Arrays.fill(contentKey, (byte) 0);
        }
    }

    private static byte[] wrap(SortedMap<String, Object> header, Jwk key, byte[] contentKey) throws GeneralSecurityException {
        String alg = (String) header.get("alg");
        PublicKey recipient = key.key().orElse(null);
        if (recipient instanceof RSAPublicKey && OAEP_DIGESTS.containsKey(alg)) {
            String digest = OAEP_DIGESTS.get(alg);
            var cipher = Cipher.getInstance("RSA/ECB/OAEPPadding");
            var parameters = new OAEPParameterSpec(digest, "MGF1", new MGF1ParameterSpec(digest), PSource.PSpecified.DEFAULT);
            cipher.init(Cipher.ENCRYPT_MODE, recipient, parameters);
            return cipher.doFinal(contentKey);
        }
        if (recipient instanceof ECPublicKey ecKey && WRAPPING_KEY_SIZES.containsKey(alg)) {
            return agree(header, ecKey, key.curve(), contentKey);
        }
        throw new SealwardException.UnexpectedAnswer("the key of the policy does not fit its algorithm");
    }

    /** Wraps the content key as RFC 7518, section 4.6 defines it, and puts the ephemeral key into the header. */
    private static byte[] agree(SortedMap<String, Object> header, ECPublicKey recipient, String curve, byte[] contentKey)
            throws GeneralSecurityException {
        var generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(Jwk.parameters(curve));
        KeyPair ephemeral = generator.generateKeyPair();
        var agreement = KeyAgreement.getInstance("ECDH");
        agreement.init(ephemeral.getPrivate());
        agreement.doPhase(recipient, true);
        byte[] secret = agreement.generateSecret();
        var point = ((ECPublicKey) ephemeral.getPublic()).getW();
        int size = (recipient.getParams().getCurve().getField().getFieldSize() + 7) / 8;
        header.put("epk", new TreeMap<>(Map.of(
                "crv", curve, "kty", "EC", "x", coordinate(point.getAffineX(), size), "y", coordinate(point.getAffineY(), size))));
        String alg = (String) header.get("alg");
        byte[] wrappingKey = deriveKey(secret, alg, WRAPPING_KEY_SIZES.get(alg));
        try {
            var cipher = Cipher.getInstance("AESWrap");
            cipher.init(Cipher.WRAP_MODE, new SecretKeySpec(wrappingKey, "AES"));
            return cipher.wrap(new SecretKeySpec(contentKey, "AES"));
        } finally {
            Arrays.fill(secret, (byte) 0);
            Arrays.fill(wrappingKey, (byte) 0);
        }
    }

    /** One round of the Concat KDF with empty apu and apv, which is enough for 32 bytes. */
    private static byte[] deriveKey(byte[] secret, String alg, int size) throws GeneralSecurityException {
        byte[] name = alg.getBytes(StandardCharsets.US_ASCII);
        var input = ByteBuffer.allocate(4 + secret.length + 4 + name.length + 12);
        input.putInt(1).put(secret).putInt(name.length).put(name).putInt(0).putInt(0).putInt(8 * size);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(input.array());
        Arrays.fill(input.array(), (byte) 0);
        return Arrays.copyOf(digest, size);
    }

    private static String coordinate(BigInteger value, int size) {
        byte[] bytes = value.toByteArray();
        var padded = new byte[size];
        int length = Math.min(bytes.length, size);
        System.arraycopy(bytes, bytes.length - length, padded, size - length, length);
        return encode(padded);
    }

    private static String encode(byte[] content) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(content);
    }
}

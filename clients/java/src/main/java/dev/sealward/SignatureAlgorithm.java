package dev.sealward;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * An algorithm whose signatures this library verifies.
 *
 * @param scheme how the digest is signed
 * @param bits the length of the digest
 */
record SignatureAlgorithm(Scheme scheme, int bits) {
    private static final Pattern NAME = Pattern.compile("(RSA|RSA-PSS|ECDSA)-SHA(256|384|512)");
    private static final Map<Integer, String> CURVES = Map.of(256, "P-256", 384, "P-384", 512, "P-521");

    /** DigestInfo of PKCS #1 up to the digest. */
    private static final Map<Integer, String> DIGEST_INFOS = Map.of(
            256, "3031300d060960864801650304020105000420",
            384, "3041300d060960864801650304020205000430",
            512, "3051300d060960864801650304020305000440");

    enum Scheme {
        RSA,
        RSA_PSS,
        ECDSA,
        ED25519
    }

    static SignatureAlgorithm of(VerifyRequest request) {
        SignatureAlgorithm algorithm = named(request.algorithm());
        String format = request.signatureFormat();
        if (format != null && !format.equals("p1363") && !format.equals("der")) {
            throw new SealwardException.UnsupportedAlgorithm(format + " is not a format of signatures");
        }
        if (format != null && algorithm.scheme != Scheme.ECDSA) {
            throw new SealwardException.InvalidRequest("the algorithm has no signature format " + format);
        }
        if (request.prehashed() && algorithm.scheme == Scheme.ED25519) {
            throw new SealwardException.InvalidRequest("the algorithm does not sign digests");
        }
        return algorithm;
    }

    private static SignatureAlgorithm named(String name) {
        if ("Ed25519".equals(name)) {
            return new SignatureAlgorithm(Scheme.ED25519, 0);
        }
        var matcher = NAME.matcher(String.valueOf(name));
        if (!matcher.matches()) {
            throw new SealwardException.UnsupportedAlgorithm(name);
        }
        return new SignatureAlgorithm(Scheme.valueOf(matcher.group(1).replace('-', '_')), Integer.parseInt(matcher.group(2)));
    }

    /** Whether a key can have made signatures of the algorithm. */
    boolean fits(Jwk key) {
        PublicKey found = key.key().orElse(null);
        return switch (scheme) {
            case RSA, RSA_PSS -> found instanceof RSAPublicKey;
            case ECDSA -> found instanceof ECPublicKey && CURVES.get(bits).equals(key.curve());
            case ED25519 -> found instanceof EdECPublicKey;
        };
    }

    boolean verify(Jwk key, byte[] message, VerifyRequest request) throws GeneralSecurityException {
        byte[] input = message;
        if (request.prehashed()) {
            if (message.length != bits / 8) {
                return false;
            }
            if (scheme == Scheme.RSA_PSS) {
                return PssDigest.verify((RSAPublicKey) key.key().orElseThrow(), "SHA-" + bits, message, request.signature());
            }
            input = scheme == Scheme.RSA ? digestInfo(message) : message;
        }
        Signature signature = signature(request);
        signature.initVerify(key.key().orElseThrow());
        signature.update(input);
        try {
            return signature.verify(request.signature());
        } catch (SignatureException malformed) {
            return false;
        }
    }

    private Signature signature(VerifyRequest request) throws GeneralSecurityException {
        String digest = request.prehashed() ? "NONE" : "SHA" + bits;
        return switch (scheme) {
            case RSA -> Signature.getInstance(digest + "withRSA");
            case RSA_PSS -> {
                var pss = Signature.getInstance("RSASSA-PSS");
                String hash = "SHA-" + bits;
                int salt = MessageDigest.getInstance(hash).getDigestLength();
                pss.setParameter(new PSSParameterSpec(hash, "MGF1", new MGF1ParameterSpec(hash), salt, 1));
                yield pss;
            }
            case ECDSA -> Signature.getInstance(
                    digest + "withECDSA" + ("der".equals(request.signatureFormat()) ? "" : "inP1363Format"));
            case ED25519 -> Signature.getInstance("Ed25519");
        };
    }

    private byte[] digestInfo(byte[] digest) {
        byte[] prefix = HexFormat.of().parseHex(DIGEST_INFOS.get(bits));
        return ByteBuffer.allocate(prefix.length + digest.length).put(prefix).put(digest).array();
    }
}

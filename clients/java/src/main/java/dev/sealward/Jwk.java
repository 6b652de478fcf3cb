package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.Optional;

/**
 * A public key of the service.
 *
 * @param kid the ID of the key
 * @param use enc or sig
 * @param curve the curve of an EC key, or null
 * @param key the key, or empty if it is of a kind that this library does not have
 */
record Jwk(String kid, String use, String curve, Optional<PublicKey> key) {
    private static final BigInteger TWO = BigInteger.TWO;

    static Jwk of(JsonNode jwk) {
        try {
            String curve = jwk.path("crv").asText(null);
            Optional<PublicKey> key = switch (jwk.path("kty").asText()) {
                case "RSA" -> Optional.of(rsa(number(jwk, "n"), number(jwk, "e")));
                case "EC" -> curve.matches("P-(256|384|521)") ? Optional.of(ec(curve, jwk)) : Optional.empty();
                case "OKP" -> curve.equals("Ed25519") ? Optional.of(ed25519(bytes(jwk, "x"))) : Optional.empty();
                default -> Optional.empty();
            };
            return new Jwk(jwk.path("kid").asText(null), jwk.path("use").asText(null), curve, key);
        } catch (GeneralSecurityException | IllegalArgumentException | NullPointerException failure) {
            throw new SealwardException.UnexpectedAnswer("a key is not a JWK");
        }
    }

    static ECParameterSpec parameters(String curve) throws GeneralSecurityException {
        var parameters = AlgorithmParameters.getInstance("EC");
        parameters.init(new ECGenParameterSpec("secp" + curve.substring(2) + "r1"));
        return parameters.getParameterSpec(ECParameterSpec.class);
    }

    private static PublicKey rsa(BigInteger modulus, BigInteger exponent) throws GeneralSecurityException {
        if (modulus.bitLength() < 2048) {
            throw new IllegalArgumentException("the modulus is too short");
        }
        return KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent));
    }

    private static PublicKey ec(String curve, JsonNode jwk) throws GeneralSecurityException {
        ECParameterSpec parameters = parameters(curve);
        var point = new ECPoint(number(jwk, "x"), number(jwk, "y"));
        // The JDK does not examine this everywhere.
        if (!isOnCurve(point, parameters)) {
            throw new IllegalArgumentException("the point is not on the curve");
        }
        return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, parameters));
    }

    private static boolean isOnCurve(ECPoint point, ECParameterSpec parameters) {
        BigInteger prime = ((ECFieldFp) parameters.getCurve().getField()).getP();
        BigInteger x = point.getAffineX();
        BigInteger y = point.getAffineY();
        BigInteger right = x.pow(3).add(parameters.getCurve().getA().multiply(x)).add(parameters.getCurve().getB());
        return x.compareTo(prime) < 0 && y.compareTo(prime) < 0 && y.modPow(TWO, prime).equals(right.mod(prime));
    }

    /** The encoding of RFC 8032: y in little endian, and the sign of x in the highest bit. */
    private static PublicKey ed25519(byte[] encoded) throws GeneralSecurityException {
        if (encoded.length != 32) {
            throw new IllegalArgumentException("not a key of Ed25519");
        }
        boolean odd = encoded[31] < 0;
        encoded[31] &= 0x7f;
        var reversed = new byte[encoded.length];
        for (int index = 0; index < encoded.length; index++) {
            reversed[index] = encoded[encoded.length - 1 - index];
        }
        var point = new EdECPoint(odd, new BigInteger(1, reversed));
        return KeyFactory.getInstance("Ed25519").generatePublic(new EdECPublicKeySpec(NamedParameterSpec.ED25519, point));
    }

    private static BigInteger number(JsonNode jwk, String member) {
        return new BigInteger(1, bytes(jwk, member));
    }

    private static byte[] bytes(JsonNode jwk, String member) {
        return Base64.getUrlDecoder().decode(jwk.path(member).asText());
    }
}

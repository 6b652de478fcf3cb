import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWEObjectJSON;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.UnprotectedHeader;
import com.nimbusds.jose.crypto.ECDHDecrypter;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.crypto.RSADecrypter;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** Maven com.nimbusds:nimbus-jose-jwt as a peer: reads one request per line and answers each with one line. */
final class Nimbus {
    public static void main(String[] arguments) throws Exception {
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = requests.readLine()) != null; ) {
            Map<String, Object> request = JSONObjectUtils.parse(line);
            var isSeal = request.get("do").equals("seal");
            System.out.println(isSeal ? seal(request) : JSONObjectUtils.toJSONString(Map.of("plaintext", open(request))));
        }
    }

    /**
     * The flattened object, with epk in protected or in unprotected.
     *
     * <p>JWEObjectJSON.encrypt authenticates a header that includes epk, but writes epk outside of protected. No library
     * opens the result, not even Nimbus. It authenticates protected alone if there is an unprotected header before, here a
     * kid. The kid is removed afterwards, as nothing authenticates it.
     */
    private static String seal(Map<String, Object> request) throws Exception {
        var builder =
                new JWEHeader.Builder(
                        JWEAlgorithm.parse((String) request.get("alg")),
                        EncryptionMethod.parse((String) request.get("enc")));
        var payload = new Payload((String) request.get("plaintext"));
        var key = new X509EncodedKeySpec(der((String) request.get("publicKey")));
        var encrypter =
                isRsa(request)
                        ? new RSAEncrypter((RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(key))
                        : new ECDHEncrypter((ECPublicKey) KeyFactory.getInstance("EC").generatePublic(key));
        if (request.get("epk").equals("protected")) {
            var envelope = new JWEObject(builder.keyID("theirs").contentType("json").build(), payload);
            envelope.encrypt(encrypter);
            return new JWEObjectJSON(envelope).serializeFlattened();
        }
        Map<String, Object> kid = new HashMap<>(Map.of("kid", "theirs"));
        var envelope = new JWEObjectJSON(builder.build(), payload, UnprotectedHeader.parse(kid), null);
        envelope.encrypt(encrypter);
        var object = envelope.toFlattenedJSONObject();
        ((Map<?, ?>) object.get("unprotected")).remove("kid");
        return JSONObjectUtils.toJSONString(object);
    }

    private static String open(Map<String, Object> request) throws Exception {
        var key = new PKCS8EncodedKeySpec(der((String) request.get("privateKey")));
        var decrypter =
                isRsa(request)
                        ? new RSADecrypter(KeyFactory.getInstance("RSA").generatePrivate(key))
                        : new ECDHDecrypter((ECPrivateKey) KeyFactory.getInstance("EC").generatePrivate(key));
        if (request.get("jwe") instanceof String compact) {
            var envelope = JWEObject.parse(compact);
            envelope.decrypt(decrypter);
            return envelope.getPayload().toString();
        }
        @SuppressWarnings("unchecked")
        var object = (Map<String, Object>) request.get("jwe");
        var envelope = JWEObjectJSON.parse(object);
        envelope.decrypt(decrypter);
        return envelope.getPayload().toString();
    }

    private static boolean isRsa(Map<String, Object> request) {
        return ((String) request.get("alg")).startsWith("RSA");
    }

    private static byte[] der(String pem) {
        return Base64.getMimeDecoder().decode(pem.replaceAll("-----.*-----", ""));
    }
}

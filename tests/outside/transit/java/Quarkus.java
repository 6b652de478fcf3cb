import io.quarkus.vault.client.VaultClient;
import io.quarkus.vault.client.VaultClientException;
import io.quarkus.vault.client.api.common.VaultHashAlgorithm;
import io.quarkus.vault.client.api.secrets.transit.VaultSecretsTransitDecryptParams;
import io.quarkus.vault.client.api.secrets.transit.VaultSecretsTransitEncryptParams;
import io.quarkus.vault.client.api.secrets.transit.VaultSecretsTransitSignParams;
import io.quarkus.vault.client.api.secrets.transit.VaultSecretsTransitVerifyParams;
import io.quarkus.vault.client.http.jdk.JDKVaultHttpClient;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** The client of Quarkus: Transit with a token, with AppRole and with the token of a workload. */
class Quarkus {
    static final byte[] CARD = "card".getBytes();

    public static void main(String[] arguments) throws Exception {
        var workload = Files.writeString(Files.createTempFile("workload", ""), System.getenv("VAULT_JWT"));
        try {
            operations(connect().clientToken(System.getenv("VAULT_TOKEN")).build());
            operations(connect().appRole(System.getenv("VAULT_ROLE_ID"), System.getenv("VAULT_SECRET_ID")).build());
            operations(connect().kubernetes("app", Path.of(workload.toString())).build());
        } finally {
            Files.delete(workload);
        }
    }

    static VaultClient.Builder connect() {
        var http = new JDKVaultHttpClient(HttpClient.newHttpClient());
        return VaultClient.builder().executor(http).baseUrl(System.getenv("VAULT_ADDR"));
    }

    static void operations(VaultClient vault) throws Exception {
        var transit = vault.secrets().transit();
        var sealed = get(transit.encrypt("data", new VaultSecretsTransitEncryptParams().setPlaintext(CARD)));
        var opened = get(transit.decrypt("data", new VaultSecretsTransitDecryptParams().setCiphertext(sealed.getCiphertext())));
        Check.equal(new String(opened), "card");
        var signed = get(transit.sign("ec", new VaultSecretsTransitSignParams().setInput(CARD)));
        var verification = new VaultSecretsTransitVerifyParams().setInput(CARD).setSignature(signed.getSignature());
        Check.that(get(transit.verify("ec", verification)), "the signature is not valid");
        Check.that(get(transit.hmac("mac", VaultHashAlgorithm.SHA2_256, CARD, null)).startsWith("vault:v1:"), "no version");
        Check.that(get(transit.listKeys()).contains("data"), "the list lacks a key");
        var missing = Check.fails(ExecutionException.class, () -> get(transit.readKey("missing")));
        Check.equal(((VaultClientException) missing.getCause()).getStatus(), 404);
    }

    static <T> T get(CompletionStage<T> answer) throws Exception {
        return answer.toCompletableFuture().get();
    }
}

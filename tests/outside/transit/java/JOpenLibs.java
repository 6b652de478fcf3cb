import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import java.util.Base64;
import java.util.Map;

/** The driver of jopenlibs: reads, writes and lists of Transit, log-ins and the token. */
class JOpenLibs {
    static final String CARD = Base64.getEncoder().encodeToString("card".getBytes());

    public static void main(String[] arguments) throws VaultException {
        var vault = connect(System.getenv("VAULT_TOKEN"));
        roundTrip(vault);
        var signed = vault.logical().write("transit/sign/ec", Map.of("input", CARD)).getData();
        var verified = vault.logical().write("transit/verify/ec", Map.of("input", CARD, "signature", signed.get("signature")));
        Check.equal(verified.getData().get("valid"), "true");
        Check.that(vault.logical().list("transit/keys").getListData().contains("data"), "the list lacks a key");
        Check.equal(vault.logical().read("transit/keys/ec").getData().get("type"), "ecdsa-p256");
        Check.equal(vault.logical().read("transit/keys/missing").getRestResponse().getStatus(), 404);
        Check.that(!vault.debug().health().getSealed(), "the server is sealed");
        Check.equal(vault.logical().write("transit/encrypt/missing", Map.of("plaintext", CARD)).getRestResponse().getStatus(), 400);

        var login = connect(null).auth().loginByAppRole(System.getenv("VAULT_ROLE_ID"), System.getenv("VAULT_SECRET_ID"));
        Check.that(login.getAuthLeaseDuration() > 0, "no lease");
        roundTrip(connect(login.getAuthClientToken()));
        var workload = connect(null).auth().loginByKubernetes("app", System.getenv("VAULT_JWT")).getAuthClientToken();
        roundTrip(connect(workload));
        Check.equal(connect(workload).auth().renewSelf().getAuthClientToken(), workload);
        Check.that(connect(workload).auth().lookupSelf().getTTL() > 0, "no time to live");
    }

    static Vault connect(String token) throws VaultException {
        var settings = new VaultConfig().address(System.getenv("VAULT_ADDR")).engineVersion(1);
        return Vault.create((token == null ? settings : settings.token(token)).build());
    }

    static void roundTrip(Vault vault) throws VaultException {
        var sealed = vault.logical().write("transit/encrypt/data", Map.of("plaintext", CARD)).getData();
        var opened = vault.logical().write("transit/decrypt/data", Map.of("ciphertext", sealed.get("ciphertext")));
        Check.equal(opened.getData().get("plaintext"), CARD);
    }
}

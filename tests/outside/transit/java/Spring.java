import java.net.URI;
import java.util.List;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.vault.VaultException;
import org.springframework.vault.authentication.AppRoleAuthentication;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions.RoleId;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions.SecretId;
import org.springframework.vault.authentication.ClientAuthentication;
import org.springframework.vault.authentication.KubernetesAuthentication;
import org.springframework.vault.authentication.KubernetesAuthenticationOptions;
import org.springframework.vault.authentication.LifecycleAwareSessionManager;
import org.springframework.vault.authentication.SimpleSessionManager;
import org.springframework.vault.authentication.TokenAuthentication;
import org.springframework.vault.client.VaultEndpoint;
import org.springframework.vault.client.VaultClients;
import org.springframework.vault.core.VaultTemplate;
import org.springframework.vault.core.VaultTransitOperations;
import org.springframework.vault.support.Plaintext;
import org.springframework.web.client.RestTemplate;

/** Spring Vault: its Transit operations with a token, and log-ins whose session it renews and revokes. */
class Spring {
    static final VaultEndpoint SERVER = VaultEndpoint.from(URI.create(System.getenv("VAULT_ADDR")));

    public static void main(String[] arguments) {
        var token = new TokenAuthentication(System.getenv("VAULT_TOKEN"));
        var requests = new JdkClientHttpRequestFactory();
        var vault = new VaultTemplate(SERVER, requests, new SimpleSessionManager(token));
        operations(vault.opsForTransit());
        Check.that(vault.opsForSys().health().isInitialized(), "the server is not ready");

        var rest = VaultClients.createRestTemplate(SERVER, requests);
        session(appRole(rest), rest);
        session(kubernetes(rest), rest);
    }

    static void operations(VaultTransitOperations transit) {
        var sealed = transit.encrypt("data", "card");
        Check.equal(transit.decrypt("data", sealed), "card");
        Check.equal(transit.decrypt("data", transit.rewrap("data", sealed)), "card");

        var batch = transit.encrypt("data", List.of(Plaintext.of("one"), Plaintext.of("two")));
        var opened = transit.decrypt("data", batch.stream().map(item -> item.get()).toList());
        Check.equal(opened.stream().map(item -> item.getAsString()).toList(), List.of("one", "two"));

        var contract = Plaintext.of("contract");
        for (var key : List.of("ec", "ed", "rsa")) {
            var signature = transit.sign(key, contract);
            Check.that(transit.verify(key, contract, signature), key + ": the signature is not valid");
            Check.that(!transit.verify(key, Plaintext.of("forgery"), signature), key + ": a forgery is valid");
        }
        Check.that(transit.getHmac("mac", contract).getHmac().startsWith("vault:v1:"), "no version");
        Check.equal(transit.getKey("data").getLatestVersion(), 1);
        Check.that(transit.getKeys().contains("data"), "the list lacks a key");
        Check.that(transit.getKey("missing") == null, "a missing key is there");
        Check.fails(VaultException.class, () -> transit.encrypt("missing", "card"));
    }

    static ClientAuthentication appRole(RestTemplate rest) {
        return new AppRoleAuthentication(AppRoleAuthenticationOptions.builder()
                .roleId(RoleId.provided(System.getenv("VAULT_ROLE_ID")))
                .secretId(SecretId.provided(System.getenv("VAULT_SECRET_ID"))).build(), rest);
    }

    static ClientAuthentication kubernetes(RestTemplate rest) {
        return new KubernetesAuthentication(KubernetesAuthenticationOptions.builder()
                .role("app").jwtSupplier(() -> System.getenv("VAULT_JWT")).build(), rest);
    }

    /** The session manager looks the token up, renews it before it ends and revokes it at the end. */
    static void session(ClientAuthentication method, RestTemplate rest) {
        var scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        var sessions = new LifecycleAwareSessionManager(method, scheduler, rest);
        operations(new VaultTemplate(SERVER, new JdkClientHttpRequestFactory(), sessions).opsForTransit());
        Check.that(sessions.renewToken(), "the token is not renewed");
        sessions.destroy();
        scheduler.shutdown();
    }
}

package dev.sealward;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/** The address, the credential and the limits of a client. */
public final class ClientOptions {
    final String url;
    Credential credential;
    Duration timeout = Duration.ofSeconds(30);
    int maxAttempts = 3;
    Duration maxRetryAfter = Duration.ofSeconds(10);
    Path caFile;
    Path certificateFile;
    Path keyFile;
    DataKeyCache dataKeyCache;

    private ClientOptions(String url) {
        this.url = url;
    }

    /**
     * A client of the service at an address.
     *
     * @param url for example {@code https://sealward.example}
     * @return the options
     */
    public static ClientOptions of(String url) {
        URI parsed = URI.create(Objects.requireNonNull(url, "the address is missing"));
        if (parsed.getHost() == null || !("https".equals(parsed.getScheme()) || "http".equals(parsed.getScheme()))) {
            throw new IllegalArgumentException("the address is not an http or https address");
        }
        if (parsed.getUserInfo() != null || parsed.getQuery() != null || parsed.getFragment() != null) {
            throw new IllegalArgumentException("the address has credentials, a query or a fragment");
        }
        return new ClientOptions(url.replaceAll("/+$", ""));
    }

    /**
     * A client as SEALWARD_URL, SEALWARD_CA_FILE and the variables of {@link Credential#fromEnvironment} describe it.
     *
     * @param environment the variables, for example {@link System#getenv()}
     * @return the options
     */
    public static ClientOptions fromEnvironment(Map<String, String> environment) {
        ClientOptions options = of(environment.get("SEALWARD_URL")).credential(Credential.fromEnvironment(environment));
        String path = environment.getOrDefault("SEALWARD_CA_FILE", "");
        return path.isEmpty() ? options : options.caFile(Path.of(path));
    }

    /**
     * Sets what authenticates each request. Without it, the client certificate authenticates.
     *
     * @param provider gives the API key or the token
     * @return these options
     */
    public ClientOptions credential(Credential provider) {
        credential = provider;
        return this;
    }

    /**
     * Sets the total deadline of a call with all its attempts. The default is 30 seconds.
     *
     * @param total the time
     * @return these options
     */
    public ClientOptions timeout(Duration total) {
        timeout = total;
        return this;
    }

    /**
     * Sets the number of times that a call is sent at most. The default is 3.
     *
     * @param count the number
     * @return these options
     */
    public ClientOptions maxAttempts(int count) {
        maxAttempts = count;
        return this;
    }

    /**
     * Bounds the pause that the service asks for. The default is 10 seconds.
     *
     * @param bound the time
     * @return these options
     */
    public ClientOptions maxRetryAfter(Duration bound) {
        maxRetryAfter = bound;
        return this;
    }

    /**
     * Sets the certificate authorities that the client trusts instead of those of the JVM.
     *
     * @param pem a file in PEM
     * @return these options
     */
    public ClientOptions caFile(Path pem) {
        caFile = pem;
        return this;
    }

    /**
     * Sets a client certificate. The files are read again when they change.
     *
     * @param certificates the certificate and its chain in PEM
     * @param key the private key as PKCS#8 in PEM
     * @return these options
     */
    public ClientOptions certificate(Path certificates, Path key) {
        certificateFile = certificates;
        keyFile = key;
        return this;
    }

    /**
     * Bounds the reuse of data keys. Without it, none is used again.
     *
     * @param bounds the bounds
     * @return these options
     */
    public ClientOptions dataKeyCache(DataKeyCache bounds) {
        dataKeyCache = bounds;
        return this;
    }

    @Override
    public String toString() {
        return "ClientOptions[" + url + "]";
    }
}

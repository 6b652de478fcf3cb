package dev.sealward;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** The address, the credential and the limits of a client. */
public final class ClientOptions {
    /** The hosts to which nobody else can read requests. */
    private static final Pattern THIS_MACHINE = Pattern.compile("localhost|\\[::1]|127(\\.\\d{1,3}){3}");

    final String url;
    Credential credential;
    Duration timeout = Duration.ofSeconds(30);
    int maxAttempts = 3;
    Duration maxRetryAfter = Duration.ofSeconds(10);
    Path caFile;
    Path certificateFile;
    Path keyFile;
    DataKeyCache dataKeyCache;
    private boolean allowPlaintext;

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
        URI parsed = parse(url);
        if (parsed.getHost() == null || !("https".equals(parsed.getScheme()) || "http".equals(parsed.getScheme()))) {
            throw new SealwardException.InvalidConfiguration("the address is not an http or https address");
        }
        if (parsed.getUserInfo() != null || parsed.getQuery() != null || parsed.getFragment() != null) {
            throw new SealwardException.InvalidConfiguration("the address has credentials, a query or a fragment");
        }
        return new ClientOptions(url.replaceAll("/+$", ""));
    }

    private static URI parse(String url) {
        try {
            return new URI(Objects.requireNonNullElse(url, ""));
        } catch (URISyntaxException failure) {
            throw new SealwardException.InvalidConfiguration("the address is not an address");
        }
    }

    /**
     * A client as SEALWARD_URL, SEALWARD_CA_FILE and the variables of {@link Credential#fromEnvironment} describe it.
     *
     * @param environment the variables, for example {@link System#getenv()}
     * @return the options
     * @throws SealwardException.InvalidConfiguration if variables are missing or exclude each other
     */
    public static ClientOptions fromEnvironment(Map<String, String> environment) {
        String url = environment.getOrDefault("SEALWARD_URL", "");
        if (url.isEmpty()) {
            throw new SealwardException.InvalidConfiguration("SEALWARD_URL is not set");
        }
        ClientOptions options = of(url).credential(Credential.fromEnvironment(environment));
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

    /**
     * Allows {@code http://} also to other machines, for example to a proxy in the same pod. Whoever reads the network then
     * reads the credential and the payloads.
     *
     * @return these options
     */
    public ClientOptions allowPlaintext() {
        allowPlaintext = true;
        return this;
    }

    /** Refuses an address to which others can read requests on the way. */
    void requirePrivateWay() {
        URI parsed = URI.create(url);
        if ("http".equals(parsed.getScheme()) && !allowPlaintext && !THIS_MACHINE.matcher(parsed.getHost()).matches()) {
            throw new SealwardException.InvalidConfiguration(origin() + " must begin with https://, except for this machine");
        }
    }

    /** The scheme, the host and the port of the address. */
    String origin() {
        URI parsed = URI.create(url);
        return parsed.getScheme() + "://" + parsed.getAuthority();
    }

    @Override
    public String toString() {
        return "ClientOptions[" + url + "]";
    }
}

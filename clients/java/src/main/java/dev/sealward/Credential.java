package dev.sealward;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Gives the bearer credential of a request: an API key or a JSON Web Token. Each attempt asks again. */
@FunctionalInterface
public interface Credential {
    /**
     * The credential.
     *
     * @return the text after {@code Bearer}
     * @throws IOException if the credential cannot be read
     */
    String bearer() throws IOException;

    /**
     * An API key.
     *
     * @param key the API key
     * @return the credential
     */
    static Credential apiKey(String key) {
        return new Credential() {
            @Override
            public String bearer() {
                return key;
            }

            @Override
            public String toString() {
                return Secret.REDACTED;
            }
        };
    }

    /**
     * An API key in a file, which is read again when it changes.
     *
     * @param path the file
     * @return the credential
     */
    static Credential apiKeyFile(Path path) {
        return ofFile(path);
    }

    /**
     * A JSON Web Token in a file, such as a projected token of Kubernetes. The file is read again when it changes.
     *
     * @param path the file
     * @return the credential
     */
    static Credential tokenFile(Path path) {
        return ofFile(path);
    }

    /**
     * The credential of the one variable that is set: SEALWARD_API_KEY, SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE.
     *
     * @param environment the variables, for example {@link System#getenv()}
     * @return the credential
     * @throws SealwardException.InvalidConfiguration if none or more than one is set
     */
    static Credential fromEnvironment(Map<String, String> environment) {
        var found = new ArrayList<Credential>();
        variable(environment, "SEALWARD_API_KEY").ifPresent(key -> found.add(apiKey(key)));
        variable(environment, "SEALWARD_API_KEY_FILE").ifPresent(path -> found.add(apiKeyFile(Path.of(path))));
        variable(environment, "SEALWARD_TOKEN_FILE").ifPresent(path -> found.add(tokenFile(Path.of(path))));
        if (found.size() != 1) {
            throw new SealwardException.InvalidConfiguration(
                    "set exactly one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE");
        }
        return found.get(0);
    }

    private static Optional<String> variable(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }

    private static Credential ofFile(Path path) {
        var file = new AtomicReference<>(WatchedFile.unread(path));
        return new Credential() {
            @Override
            public String bearer() throws IOException {
                WatchedFile current = file.get().refreshed();
                file.set(current);
                return new String(current.content(), StandardCharsets.UTF_8).strip();
            }

            @Override
            public String toString() {
                return Secret.REDACTED;
            }
        };
    }
}

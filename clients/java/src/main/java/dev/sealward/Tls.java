package dev.sealward;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** The certificate authorities and the client certificate of a client. */
final class Tls {
    private Tls() {}

    /** The context that the options need, or empty for that of the JVM. */
    static Optional<SSLContext> context(ClientOptions options) {
        if (options.caFile == null && options.certificateFile == null) {
            return Optional.empty();
        }
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(
                    read(options.certificateFile, file -> new KeyManager[] {new ClientCertificate(file, options.keyFile)}),
                    read(options.caFile, Tls::trusting),
                    null);
            return Optional.of(context);
        } catch (GeneralSecurityException failure) {
            throw new IllegalStateException("each JVM has TLS", failure);
        }
    }

    @FunctionalInterface
    private interface Reading<T> {
        T of(Path file) throws GeneralSecurityException, IOException;
    }

    private static <T> T read(Path file, Reading<T> reading) {
        try {
            return file == null ? null : reading.of(file);
        } catch (GeneralSecurityException | IOException | IllegalArgumentException failure) {
            // Its message can contain a part of a key.
            throw new SealwardException.InvalidConfiguration("cannot use " + file + ": " + failure.getClass().getSimpleName());
        }
    }

    private static TrustManager[] trusting(Path pem) throws GeneralSecurityException, IOException {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        for (X509Certificate certificate : certificates(Files.readAllBytes(pem))) {
            store.setCertificateEntry("ca-" + store.size(), certificate);
        }
        var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static X509Certificate[] certificates(byte[] pem) throws GeneralSecurityException {
        var found = CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
        if (found.isEmpty()) {
            throw new CertificateException("no certificate");
        }
        return found.stream().map(X509Certificate.class::cast).toArray(X509Certificate[]::new);
    }

    /** A client certificate and its key, which each handshake reads again if they changed. */
    private static final class ClientCertificate extends X509ExtendedKeyManager {
        private static final String ALIAS = "client";

        private record Pair(X509Certificate[] chain, PrivateKey key) {}

        private WatchedFile certificateFile;
        private WatchedFile keyFile;
        private Pair pair;

        ClientCertificate(Path certificates, Path key) throws GeneralSecurityException, IOException {
            certificateFile = WatchedFile.unread(certificates);
            keyFile = WatchedFile.unread(key);
            load();
        }

        private void load() throws GeneralSecurityException, IOException {
            WatchedFile certificates = certificateFile.refreshed();
            WatchedFile key = keyFile.refreshed();
            if (certificates != certificateFile || key != keyFile) {
                var chain = certificates(certificates.content());
                pair = new Pair(chain, privateKey(key.content(), chain[0].getPublicKey().getAlgorithm()));
                certificateFile = certificates;
                keyFile = key;
            }
        }

        private static PrivateKey privateKey(byte[] pem, String algorithm) throws GeneralSecurityException {
            String text = new String(pem, StandardCharsets.US_ASCII).replaceAll("-----[A-Z ]+-----|\\s", "");
            var encoded = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text));
            return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
        }

        private synchronized Pair current() {
            try {
                load();
            } catch (GeneralSecurityException | IOException | IllegalArgumentException unreadable) {
                // The two files change one after the other. The pair of before stays in use until both can be read.
            }
            return pair;
        }

        @Override
        public String chooseEngineClientAlias(String[] keyTypes, Principal[] issuers, SSLEngine engine) {
            return ALIAS;
        }

        @Override
        public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
            return ALIAS;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return current().chain;
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return current().key;
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return null;
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return null;
        }
    }
}

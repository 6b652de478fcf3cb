package dev.sealward;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Sealed files and streams: a line with the envelope of the data key, and segments under this key. */
final class SealedFiles {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int MAX_LINE = 16_384;
    private static final List<String> MEMBERS = List.of("protected", "encrypted_key", "iv", "ciphertext", "tag");
    private static final Pattern LINE = Pattern.compile("\\{"
            + String.join(",", MEMBERS.stream().map(name -> "\"" + name + "\":\"[A-Za-z0-9_-]+\"").toList())
            + "\\}\n");

    private final SealwardClient client;

    SealedFiles(SealwardClient client) {
        this.client = client;
    }

    EncryptingStream encrypting(OutputStream target, FileOptions options, long total) throws IOException {
        var request = new DataKeyRequest(options.policyNumber(), options.context(), "AES-256", true);
        DataKey made = client.cachedDataKey(request, Math.max(total, 0));
        try (Secret key = made.key().orElseThrow()) {
            byte[] line = line(made.envelope());
            target.write(line);
            return new EncryptingStream(target, RANDOM, require(key).bytes(), sha256(line), new Progress(options.progress(), total));
        }
    }

    /** The first line of a file, with its members in the order that the format defines. */
    private static byte[] line(Envelope envelope) {
        Map<String, String> members = Json.members(envelope.toString());
        var text = new Json.ObjectText();
        MEMBERS.forEach(name -> text.raw(name, members.get(name)));
        String line = text + "\n";
        if (line.length() > MAX_LINE || !LINE.matcher(line).matches()) {
            throw new SealwardException.UnexpectedAnswer("not a data key for a sealed file");
        }
        return line.getBytes(StandardCharsets.US_ASCII);
    }

    InputStream decrypting(InputStream source, FileOptions options, long total) throws IOException {
        var buffered = new PushbackInputStream(source);
        byte[] line = readLine(buffered);
        String text = new String(line, StandardCharsets.ISO_8859_1);
        if (!LINE.matcher(text).matches()) {
            throw new SealwardException.MalformedFile("the first line is not an envelope");
        }
        var request = new UnprotectRequest(Envelope.parse(text), options.policyNumber(), options.context());
        try (Secret key = client.openDataKey(request)) {
            return new DecryptingStream(buffered, require(key).bytes(), sha256(line), new Progress(options.progress(), total));
        }
    }

    private static byte[] readLine(InputStream source) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = source.read(); next >= 0 && line.size() < MAX_LINE; next = source.read()) {
            line.write(next);
            if (next == '\n') {
                break;
            }
        }
        return line.toByteArray();
    }

    private static Secret require(Secret key) {
        if (key.bytes().length != Segments.KEY_BYTES) {
            throw new SealwardException.MalformedFile("the envelope contains no key of 32 bytes");
        }
        return key;
    }

    void encrypt(Path source, Path target, FileOptions options) throws IOException {
        long total = Files.isRegularFile(source) ? Files.size(source) : -1;
        replace(target, output -> {
            try (InputStream input = Files.newInputStream(source); EncryptingStream sealing = encrypting(output, options, total)) {
                input.transferTo(sealing);
                sealing.complete();
            }
        });
    }

    void decrypt(Path source, Path target, FileOptions options) throws IOException {
        replace(target, output -> {
            try (InputStream opened = decrypting(new BufferedInputStream(Files.newInputStream(source)), options, -1)) {
                opened.transferTo(output);
            }
        });
    }

    @FunctionalInterface
    private interface Writing {
        void to(OutputStream output) throws IOException;
    }

    /** Writes a new file beside the target, and renames it if that succeeds. */
    private static void replace(Path target, Writing writing) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        Path temporary = Files.createTempFile(folder, "." + target.getFileName() + ".", "");
        try {
            try (var output = new FileOutputStream(temporary.toFile())) {
                writing.to(output);
                output.getFD().sync();
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (GeneralSecurityException failure) {
            throw new IllegalStateException("each JVM has SHA-256", failure);
        }
    }
}

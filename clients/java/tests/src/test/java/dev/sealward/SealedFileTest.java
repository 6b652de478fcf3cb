package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.crypto.tink.subtle.AesGcmHkdfStreaming;
import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Sealed files are those of src/formats/envelope/FILE.md: its vectors and Tink agree. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SealedFileTest {
    private static final Map<String, Class<? extends SealwardException>> ERRORS = Map.of(
            "malformed", SealwardException.MalformedFile.class, "notAuthentic", SealwardException.FileNotAuthentic.class);

    private JsonNode vectors;
    private byte[] key;
    private byte[] line;
    private FakeService service;
    private SealwardClient client;
    private final Map<String, byte[]> plaintexts = new HashMap<>();
    private final Map<String, byte[]> files = new HashMap<>();

    @BeforeAll
    void writeTheFiles() throws Exception {
        String folder = System.getenv().getOrDefault("SEALWARD_FILE_VECTORS", "../../conformance/files");
        vectors = Json.MAPPER.readTree(Files.readString(Path.of(folder, "vectors.json")));
        key = vectors.get("dataKey").binaryValue();
        line = (vectors.get("envelope").asText() + "\n").getBytes(StandardCharsets.US_ASCII);
        service = FakeService.ofDataKey(key, vectors.get("envelope").asText());
        client = new SealwardClient(service.options());
        for (JsonNode file : vectors.get("files")) {
            String name = file.get("name").asText();
            JsonNode plaintext = file.get("plaintext");
            String repeat = plaintext.get("repeat").asText();
            int length = plaintext.get("length").asInt();
            byte[] content = repeat.repeat(length / repeat.length() + 1).substring(0, length).getBytes(StandardCharsets.US_ASCII);
            plaintexts.put(name, content);
            files.put(name, written(content, file.get("salt").binaryValue(), file.get("noncePrefix").binaryValue()));
        }
    }

    @AfterAll
    void stop() {
        service.close();
    }

    private byte[] written(byte[] content, byte[] salt, byte[] prefix) throws Exception {
        var random = new Fixed(ByteBuffer.allocate(salt.length + prefix.length).put(salt).put(prefix).flip());
        var output = new ByteArrayOutputStream();
        output.write(line);
        try (var stream = new EncryptingStream(output, random, key, sha256(line), new Progress(null, -1))) {
            stream.write(content);
            stream.complete();
        }
        return output.toByteArray();
    }

    @Test
    void filesOfTheVectorsAreWritten() throws Exception {
        for (JsonNode file : vectors.get("files")) {
            byte[] written = files.get(file.get("name").asText());
            assertEquals(file.get("size").asInt(), written.length);
            assertEquals(file.get("sha256").asText(), HexFormat.of().formatHex(sha256(written)), file.get("name").asText());
        }
    }

    @Test
    void filesOfTheVectorsAreRead() throws Exception {
        for (var file : files.entrySet()) {
            assertArrayEquals(plaintexts.get(file.getKey()), read(file.getValue(), new ByteArrayOutputStream()), file.getKey());
        }
    }

    private byte[] read(byte[] file, ByteArrayOutputStream output) throws IOException {
        try (var stream = client.decryptingStream(new ByteArrayInputStream(file), FileOptions.DEFAULT)) {
            stream.transferTo(output);
        }
        return output.toByteArray();
    }

    @Test
    void brokenFilesAreRefused(@TempDir Path folder) throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "before");
        Path source = folder.resolve("source");
        for (JsonNode broken : vectors.get("broken")) {
            String name = broken.get("name").asText();
            byte[] file = files.get(broken.get("of").asText());
            for (JsonNode edit : broken.get("edits")) {
                file = edited(file, edit);
            }
            var output = new ByteArrayOutputStream();
            byte[] content = file;
            assertThrows(ERRORS.get(broken.get("error").asText()), () -> read(content, output), name);
            int authentic = broken.get("authentic").asInt();
            assertArrayEquals(Arrays.copyOf(plaintexts.get(broken.get("of").asText()), authentic), output.toByteArray(), name);
            Files.write(source, content);
            assertThrows(
                    ERRORS.get(broken.get("error").asText()), () -> client.decryptFile(source, target, FileOptions.DEFAULT), name);
            assertEquals("before", Files.readString(target));
            try (var entries = Files.list(folder)) {
                assertEquals(2, entries.count());
            }
        }
    }

    private static byte[] edited(byte[] file, JsonNode edit) throws IOException {
        var output = new ByteArrayOutputStream();
        JsonNode details = edit.elements().next();
        int at = details.get("at").asInt();
        output.write(file, 0, at);
        int following = at;
        if (edit.has("remove")) {
            following += details.get("length").asInt();
        } else if (edit.has("insert")) {
            output.write(Base64.getDecoder().decode(details.get("base64").asText()));
        } else {
            output.write(file[at] ^ 1);
            following++;
        }
        output.write(file, following, file.length - following);
        return output.toByteArray();
    }

    @Test
    void tinkReadsAndWrites() throws Exception {
        var tink = new AesGcmHkdfStreaming(key, "HmacSha256", 32, 1 << 20, 0);
        for (int size : List.of(0, 1, 1 << 10, 1_048_520, 1_048_521, 1_048_520 + 1_048_560, 3 << 20)) {
            var plaintext = new byte[size];
            Arrays.fill(plaintext, (byte) 'x');
            var ours = new ByteArrayOutputStream();
            try (var stream = client.encryptingStream(ours, FileOptions.DEFAULT)) {
                stream.write(plaintext);
                stream.complete();
            }
            var segments = new ByteArrayInputStream(ours.toByteArray(), line.length, ours.size() - line.length);
            assertArrayEquals(plaintext, tink.newDecryptingStream(segments, sha256(line)).readAllBytes());

            var theirs = new ByteArrayOutputStream();
            theirs.write(line);
            try (var stream = tink.newEncryptingStream(theirs, sha256(line))) {
                stream.write(plaintext);
            }
            assertArrayEquals(plaintext, read(theirs.toByteArray(), new ByteArrayOutputStream()));
        }
    }

    /** A failure of the program must not make a stream that looks complete. */
    @Test
    void aStreamThatIsNotCompletedIsRefused() throws Exception {
        var output = new ByteArrayOutputStream();
        try (var stream = client.encryptingStream(output, FileOptions.DEFAULT)) {
            stream.write(new byte[100]);
        }
        assertThrows(SealwardException.FileNotAuthentic.class, () -> read(output.toByteArray(), new ByteArrayOutputStream()));
    }

    @Test
    void filesNeedConstantMemory(@TempDir Path folder) throws Exception {
        int size = 64 << 20;
        Path plain = folder.resolve("plain");
        Files.write(plain, new byte[size]);
        var last = new AtomicReference<String>();
        var options = new FileOptions(null, null, (done, total) -> last.set(done + "/" + total));
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        client.encryptFile(plain, folder.resolve("sealed"), options);
        client.decryptFile(folder.resolve("sealed"), folder.resolve("opened"), FileOptions.DEFAULT);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(size + "/" + size, last.get());
        assertEquals(-1, Files.mismatch(plain, folder.resolve("opened")));
        assertTrue(allocated < 24 << 20, allocated + " bytes were allocated");
    }

    @Test
    void filesShareACachedDataKey() throws Exception {
        var cache = new DataKeyCache(Duration.ofMinutes(5), 10, 1 << 20);
        try (var caching = new SealwardClient(service.options().dataKeyCache(cache))) {
            for (int count = 0; count < 3; count++) {
                var output = new ByteArrayOutputStream();
                try (var stream = caching.encryptingStream(output, FileOptions.DEFAULT)) {
                    stream.write('x');
                    stream.complete();
                }
                var sealed = new ByteArrayInputStream(output.toByteArray());
                assertEquals("x", new String(caching.decryptingStream(sealed, FileOptions.DEFAULT).readAllBytes(), StandardCharsets.US_ASCII));
            }
            assertEquals(new DataKeyCache.Counters(4, 2), caching.dataKeyCacheCounters());
        }
    }

    private static byte[] sha256(byte[] content) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(content);
    }

    /** Random values that a vector states. */
    private static final class Fixed extends SecureRandom {
        private static final long serialVersionUID = 1;
        private final transient ByteBuffer values;

        Fixed(ByteBuffer values) {
            this.values = values;
        }

        @Override
        public void nextBytes(byte[] bytes) {
            values.get(bytes);
        }
    }
}

package dev.sealward;

import java.io.IOException;
import java.io.OutputStream;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.Cipher;

/**
 * Encrypts what is written to it. Only {@link #complete()} makes a complete stream: after a failure, {@link #close()} leaves a
 * stream that a reader refuses.
 */
public final class EncryptingStream extends OutputStream {
    private final OutputStream out;
    private final Segments segments;
    private final byte[] plaintext = new byte[Segments.SEGMENT_BYTES];
    private final byte[] segment = new byte[Segments.SEGMENT_BYTES];
    private final Progress progress;
    private int length;
    private boolean completed;

    /** Writes the header of a file, with a salt and a nonce prefix from random. */
    EncryptingStream(OutputStream target, SecureRandom random, byte[] key, byte[] associated, Progress progress) throws IOException {
        this.out = target;
        var salt = new byte[Segments.SALT_BYTES];
        var prefix = new byte[Segments.PREFIX_BYTES];
        random.nextBytes(salt);
        random.nextBytes(prefix);
        this.segments = new Segments(Cipher.ENCRYPT_MODE, key, associated, salt, prefix);
        this.progress = progress;
        out.write(Segments.HEADER_BYTES);
        out.write(salt);
        out.write(prefix);
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] content, int offset, int count) throws IOException {
        Objects.checkFromIndexSize(offset, count, content.length);
        if (completed) {
            throw new IOException("the stream is already complete");
        }
        int written = 0;
        while (written < count) {
            int free = segments.capacity() - Segments.TAG_BYTES - length;
            if (free == 0) {
                writeSegment(false);
                continue;
            }
            int part = Math.min(free, count - written);
            System.arraycopy(content, offset + written, plaintext, length, part);
            length += part;
            written += part;
        }
        progress.add(count);
    }

    /**
     * Writes the last segment. It does not close the target.
     *
     * @throws IOException if the target cannot be written
     */
    public void complete() throws IOException {
        if (!completed) {
            completed = true;
            writeSegment(true);
            out.flush();
        }
    }

    /** Wipes the plaintext that was not written. It neither completes the stream nor closes the target. */
    @Override
    public void close() {
        completed = true;
        Arrays.fill(plaintext, (byte) 0);
    }

    private void writeSegment(boolean last) throws IOException {
        try {
            out.write(segment, 0, segments.process(last, plaintext, length, segment));
        } catch (GeneralSecurityException failure) {
            throw new IOException(failure);
        } finally {
            Arrays.fill(plaintext, 0, length, (byte) 0);
            length = 0;
        }
    }
}

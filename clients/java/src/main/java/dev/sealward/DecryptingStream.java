package dev.sealward;

import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.Cipher;

/** Returns the bytes of a segment only after it has verified the tag, and the end only after the last segment. */
final class DecryptingStream extends InputStream {
    private final PushbackInputStream source;
    private final Segments segments;
    private final byte[] segment = new byte[Segments.SEGMENT_BYTES];
    private final byte[] plaintext = new byte[Segments.SEGMENT_BYTES];
    private final Progress progress;
    private int position;
    private int length;
    private boolean ended;
    private boolean broken;

    /** Reads the header of a file. The associated data covers the line before it. */
    DecryptingStream(PushbackInputStream source, byte[] key, byte[] associated, Progress progress) throws IOException {
        this.source = source;
        this.progress = progress;
        byte[] header = source.readNBytes(Segments.HEADER_BYTES);
        if (header.length != Segments.HEADER_BYTES || header[0] != Segments.HEADER_BYTES) {
            throw new SealwardException.MalformedFile("the header is not that of a sealed file");
        }
        byte[] salt = Arrays.copyOfRange(header, 1, 1 + Segments.SALT_BYTES);
        byte[] prefix = Arrays.copyOfRange(header, 1 + Segments.SALT_BYTES, header.length);
        this.segments = new Segments(Cipher.DECRYPT_MODE, key, associated, salt, prefix);
    }

    @Override
    public int read() throws IOException {
        var single = new byte[1];
        return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int count) throws IOException {
        Objects.checkFromIndexSize(offset, count, buffer.length);
        if (count == 0) {
            return 0;
        }
        while (position == length) {
            if (ended) {
                return -1;
            }
            readSegment();
        }
        int part = Math.min(count, length - position);
        System.arraycopy(plaintext, position, buffer, offset, part);
        position += part;
        progress.add(part);
        return part;
    }

    private void readSegment() throws IOException {
        if (broken) {
            throw notAuthentic();
        }
        boolean first = segments.isFirst();
        int read = source.readNBytes(segment, 0, segments.capacity());
        int following = source.read();
        boolean last = following < 0;
        if (!last) {
            source.unread(following);
        }
        position = 0;
        length = 0;
        try {
            if (read < Segments.TAG_BYTES || (read == Segments.TAG_BYTES && !first)) {
                throw new GeneralSecurityException("the segment is too short");
            }
            length = segments.process(last, segment, read, plaintext);
            ended = last;
        } catch (GeneralSecurityException failure) {
            broken = true;
            throw notAuthentic();
        }
    }

    private static SealwardException notAuthentic() {
        return new SealwardException.FileNotAuthentic("the file was truncated, extended or changed");
    }

    @Override
    public void close() throws IOException {
        Arrays.fill(plaintext, (byte) 0);
        source.close();
    }
}

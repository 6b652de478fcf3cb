package dev.sealward;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/** The content of a file, with what shows that it changed: its identity, size or time. */
record WatchedFile(Path path, byte[] content, Object identity, long size, FileTime time) {
    static WatchedFile unread(Path path) {
        return new WatchedFile(path, null, null, -1, null);
    }

    /** This content, or that of now if the file changed. */
    WatchedFile refreshed() throws IOException {
        var now = Files.readAttributes(path, BasicFileAttributes.class);
        boolean same = content != null && now.size() == size && now.lastModifiedTime().equals(time)
                && (identity == null || identity.equals(now.fileKey()));
        return same ? this : new WatchedFile(path, Files.readAllBytes(path), now.fileKey(), now.size(), now.lastModifiedTime());
    }
}

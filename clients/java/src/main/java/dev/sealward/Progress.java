package dev.sealward;

/** Reports how much of a file is done. */
final class Progress {
    private final FileOptions.Listener listener;
    private final long total;
    private long done;

    Progress(FileOptions.Listener listener, long total) {
        this.listener = listener;
        this.total = total;
    }

    void add(int count) {
        done += count;
        if (listener != null && count > 0) {
            listener.progress(done, total);
        }
    }
}

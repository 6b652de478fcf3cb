package dev.sealward;

import java.util.Map;

/**
 * Selects the data key of a sealed file or stream.
 *
 * @param policyNumber the policy, or null for the policy that is bound to the credential
 * @param context what the file belongs to, or null. Whoever opens the file states the same context
 * @param progress receives the progress, or null
 */
public record FileOptions(String policyNumber, Map<String, String> context, Listener progress) {
    /** The policy that is bound to the credential, without a context. */
    public static final FileOptions DEFAULT = new FileOptions(null, null, null);

    /** Receives the progress of a file. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Called after each part.
         *
         * @param done the bytes of plaintext so far
         * @param total the bytes of plaintext in total, or -1 if that is unknown
         */
        void progress(long done, long total);
    }
}

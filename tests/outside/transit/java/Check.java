import java.util.Objects;

/** What must hold. */
class Check {
    static void that(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }

    static void equal(Object actual, Object expected) {
        that(Objects.equals(actual, expected), actual + " is not " + expected);
    }

    static <E extends Exception> E fails(Class<E> kind, Call call) {
        try {
            call.run();
        } catch (Exception error) {
            return kind.cast(error);
        }
        throw new AssertionError("no " + kind.getSimpleName());
    }

    interface Call {
        void run() throws Exception;
    }
}

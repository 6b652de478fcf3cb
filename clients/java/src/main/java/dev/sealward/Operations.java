package dev.sealward;

/** The bodies of generic operations. */
final class Operations {
    private Operations() {}

    static Json.ObjectText data(Content data) {
        return new Json.ObjectText().raw("data", data.json()).value("encoding", data.isBytes() ? "base64" : null);
    }

    static String body(String operation, String payload) {
        return new Json.ObjectText().value("operation", operation).raw("payload", payload).toString();
    }
}

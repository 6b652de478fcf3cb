package dev.sealward;

/** A request of the runtime API, alone or as an item of a batch. */
interface RequestBody {
    /** The text of the request. */
    String body();

    /** Adds an envelope to the body of an opening call. */
    static Json.ObjectText opening(Envelope envelope) {
        var body = new Json.ObjectText();
        return body.raw(envelope.isLegacy() ? "protectedPayload" : "jwe", envelope.json());
    }
}

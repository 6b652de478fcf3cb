package dev.sealward;

import java.util.Map;

/**
 * What {@link SealwardClient#rewrap} seals again.
 *
 * @param envelope the envelope
 * @param policyNumber the policy that opens, or null for the policy that is bound to the credential
 * @param toPolicyNumber the policy that seals, or null for the first policy, under its newest key
 * @param context the context of the envelope, or null
 * @param toContext the new context, or null for the same one
 */
public record RewrapRequest(
        Envelope envelope, String policyNumber, String toPolicyNumber, Map<String, String> context, Map<String, String> toContext)
        implements RequestBody {
    /**
     * An envelope under the policy that is bound to the credential.
     *
     * @param envelope the envelope
     * @return the request
     */
    public static RewrapRequest of(Envelope envelope) {
        return new RewrapRequest(envelope, null, null, null, null);
    }

    /**
     * The same request with other policies.
     *
     * @param from the policy that opens, or null
     * @param to the policy that seals, or null
     * @return the request
     */
    public RewrapRequest withPolicyNumbers(String from, String to) {
        return new RewrapRequest(envelope, from, to, context, toContext);
    }

    /**
     * The same request with other contexts.
     *
     * @param from the context of the envelope, or null
     * @param to the new context, or null
     * @return the request
     */
    public RewrapRequest withContexts(Map<String, String> from, Map<String, String> to) {
        return new RewrapRequest(envelope, policyNumber, toPolicyNumber, from, to);
    }

    @Override
    public String body() {
        return RequestBody.opening(envelope)
                .value("policyNumber", policyNumber)
                .value("toPolicyNumber", toPolicyNumber)
                .value("context", context)
                .value("toContext", toContext)
                .toString();
    }
}

package dev.sealward;

import java.util.Map;

/**
 * What {@link SealwardClient#unprotect} opens.
 *
 * @param envelope the envelope
 * @param policyNumber the policy, or null for the policy that is bound to the credential
 * @param context the context of the envelope, or null
 */
public record UnprotectRequest(Envelope envelope, String policyNumber, Map<String, String> context) implements RequestBody {
    /**
     * An envelope under the policy that is bound to the credential.
     *
     * @param envelope the envelope
     * @return the request
     */
    public static UnprotectRequest of(Envelope envelope) {
        return new UnprotectRequest(envelope, null, null);
    }

    /**
     * The same request under a policy.
     *
     * @param number the policy number
     * @return the request
     */
    public UnprotectRequest withPolicyNumber(String number) {
        return new UnprotectRequest(envelope, number, context);
    }

    /**
     * The same request with a context.
     *
     * @param members the context of the envelope
     * @return the request
     */
    public UnprotectRequest withContext(Map<String, String> members) {
        return new UnprotectRequest(envelope, policyNumber, members);
    }

    @Override
    public String body() {
        return RequestBody.opening(envelope).value("policyNumber", policyNumber).value("context", context).toString();
    }
}

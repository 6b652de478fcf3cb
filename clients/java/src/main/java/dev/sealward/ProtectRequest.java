package dev.sealward;

import java.util.Map;
import java.util.Objects;

/**
 * What {@link SealwardClient#protect} seals.
 *
 * @param payload the plaintext
 * @param policyNumber the policy, or null for the policy that is bound to the credential
 * @param context what the envelope belongs to, such as a tenant and a record, or null. Whoever opens the envelope states the
 *     same context
 */
public record ProtectRequest(Content payload, String policyNumber, Map<String, String> context) implements RequestBody {
    /**
     * A payload under the policy that is bound to the credential. The value null of JSON is {@code Content.of(null)}.
     *
     * @param payload the plaintext
     * @return the request
     */
    public static ProtectRequest of(Content payload) {
        return new ProtectRequest(Objects.requireNonNull(payload, "payload"), null, null);
    }

    /**
     * A payload under the policy that is bound to the credential.
     *
     * @param value a value that Jackson writes as JSON
     * @return the request
     */
    public static ProtectRequest of(Object value) {
        return of(Content.of(value));
    }

    /**
     * The same request under a policy.
     *
     * @param number the policy number
     * @return the request
     */
    public ProtectRequest withPolicyNumber(String number) {
        return new ProtectRequest(payload, number, context);
    }

    /**
     * The same request with a context.
     *
     * @param members what the envelope belongs to
     * @return the request
     */
    public ProtectRequest withContext(Map<String, String> members) {
        return new ProtectRequest(payload, policyNumber, members);
    }

    @Override
    public String body() {
        return new Json.ObjectText()
                .raw("payload", payload.json())
                .value("policyNumber", policyNumber)
                .value("context", context)
                .toString();
    }
}

package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What a caller must know of a policy to protect under it.
 *
 * @param id the ID of the policy
 * @param policyNumber its number
 * @param status active, inactive or frozen
 * @param failureMode error, passthrough or drop
 * @param keyOwnership service_managed or destination_managed
 * @param alg how the content key is wrapped
 * @param enc how the content is encrypted
 * @param contextRequired whether an envelope needs a context
 * @param requireBinding whether only envelopes of a policy are opened
 * @param headers the headers of envelopes, or null
 * @param key the public key as a JWK with kid, or null
 */
public record Policy(
        String id, String policyNumber, String status, String failureMode, String keyOwnership, String alg, String enc,
        boolean contextRequired, boolean requireBinding, Headers headers, JsonNode key) {
    /**
     * The headers of the envelopes of a destination_managed policy.
     *
     * @param typ the member typ, or null for none
     * @param iat whether the time of creation is a member
     * @param cty the member cty, or null for none
     */
    public record Headers(String typ, boolean iat, String cty) {}
}

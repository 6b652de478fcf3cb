package dev.sealward;

import java.util.List;

/**
 * What a credential may do.
 *
 * @param serviceId the calling service
 * @param credential the credential
 * @param policyNumber the bound policy, or null
 * @param allowedOperations the allowed operations, or null if all are allowed
 * @param rateLimit the number of requests that the service may make
 */
public record Caller(
        String serviceId, CredentialId credential, String policyNumber, List<String> allowedOperations, RateLimit rateLimit) {
    /**
     * An API key or a workload identity.
     *
     * @param type api_key or identity
     * @param id its ID
     */
    public record CredentialId(String type, String id) {}

    /**
     * The number of requests that a service may make.
     *
     * @param requestsPerSecond how many in each second
     * @param burst how many at once
     */
    public record RateLimit(int requestsPerSecond, int burst) {}
}

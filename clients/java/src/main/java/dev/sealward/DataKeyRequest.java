package dev.sealward;

import java.util.Map;

/**
 * What {@link SealwardClient#dataKey} makes.
 *
 * @param policyNumber the policy, or null for the policy that is bound to the credential
 * @param context what the key belongs to, or null
 * @param algorithm AES-256, AES-128, or null for AES-256
 * @param plaintext false to get the envelope alone
 */
public record DataKeyRequest(String policyNumber, Map<String, String> context, String algorithm, boolean plaintext)
        implements RequestBody {
    /** A key of AES-256 under the policy that is bound to the credential. */
    public static final DataKeyRequest DEFAULT = new DataKeyRequest(null, null, null, true);

    @Override
    public String body() {
        return new Json.ObjectText()
                .value("policyNumber", policyNumber)
                .value("context", context)
                .value("algorithm", algorithm)
                .value("plaintext", plaintext ? null : false)
                .toString();
    }
}

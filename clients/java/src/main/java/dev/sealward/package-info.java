/**
 * The client of Sealward, a service that encrypts, opens, signs and hashes data under policies.
 *
 * <p>{@link SealwardClient} has all calls, {@link AsyncSealwardClient} the same calls without blocking. Their failures are
 * {@link SealwardException}.
 */
package dev.sealward;

/**
 * The client of Sealward, a service that encrypts, opens, signs and hashes data under policies.
 *
 * <p>{@link SealwardClient} has all calls, {@link AsyncSealwardClient} the same calls without blocking. Their failures are
 * {@link SealwardException}. As in the JDK, an argument that is null where its documentation does not allow it causes
 * {@link NullPointerException}.
 */
package dev.sealward;

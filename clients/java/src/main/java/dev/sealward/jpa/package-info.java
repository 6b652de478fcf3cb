/** Encrypted fields of JPA entities. This package needs {@code jakarta.persistence-api}. */
package dev.sealward.jpa;

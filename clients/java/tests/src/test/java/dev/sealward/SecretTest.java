package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** A symmetric key in memory. */
class SecretTest {
    @Test
    void aClosedSecretIsOverwrittenAndGivesNoBytes() {
        byte[] content = {1, 2, 3};
        var secret = new Secret(content);
        assertEquals("[redacted]", secret.toString());
        secret.close();
        assertArrayEquals(new byte[3], content);
        assertThrows(IllegalStateException.class, secret::bytes);
    }
}

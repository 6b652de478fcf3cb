package dev.sealward;

import java.util.Map;

/** What the client knows of the OpenAPI document. */
final class Known {
    private Known() {}

    static Map<String, Object> members() {
        return Map.of("operations", new String[0], "schemas", Map.of());
    }
}

package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * The keys that a service publishes.
 *
 * @param keys JWKs
 */
public record PublishedKeys(List<JsonNode> keys) {}

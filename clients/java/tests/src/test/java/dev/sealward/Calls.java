package dev.sealward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.StreamSupport;

/** The calls of the cases. Results have the members that clients/conformance/README.md names. */
final class Calls {
    private final CaseRun run;
    private final SealwardClient client;
    private final JsonNode given;

    Calls(CaseRun run, SealwardClient client, JsonNode given) {
        this.run = run;
        this.given = given;
        SealwardClient scoped = given.has("requestId") ? client.withRequestId(given.get("requestId").asText()) : client;
        this.client = given.has("deadlineSeconds") ? scoped.withTimeout(seconds(given.get("deadlineSeconds"))) : scoped;
    }

    Object perform(String call) throws IOException {
        return switch (call) {
            case "protect" -> result(client.protect(protect(given)));
            case "protectOrPass" -> outcome(client.protectOrPass(protect(given)));
            case "unprotect" -> result(client.unprotect(unprotect(given)));
            case "unprotectBytes" -> Map.of("bytes", client.unprotect(unprotect(given)).bytes());
            case "rewrap" -> result(client.rewrap(rewrap(given)));
            case "dataKey" -> result(client.dataKey(dataKey()));
            case "cachedDataKey" -> result(client.cachedDataKey(dataKey(), given.path("bytes").asLong()));
            case "openDataKey" -> Map.of("key", printed(client.openDataKey(unprotect(given))).bytes());
            case "dataKeyCacheCounters" -> client.dataKeyCacheCounters();
            case "protectBatch" -> results(client.protectBatch(items(Calls::protect)), this::result);
            case "unprotectBatch" -> results(client.unprotectBatch(items(Calls::unprotect)), this::result);
            case "rewrapBatch" -> results(client.rewrapBatch(items(Calls::rewrap)), this::result);
            case "encrypt" -> client.encrypt(new EncryptRequest(data(), text("algorithm"), text("keyId"), bytes("aad")));
            case "decrypt" -> Map.of("dataJson", printed(client.decrypt(ciphertext(), bytes("aad"))).json());
            case "decryptBytes" -> Map.of("bytes", client.decryptBytes(ciphertext(), bytes("aad")));
            case "sign" -> client.sign(new SignRequest(
                    data(), text("algorithm"), text("keyId"), given.path("prehashed").asBoolean(), text("signatureFormat")));
            case "verify" -> Map.of("valid", client.verify(verify()));
            case "hash" -> client.hash(new HashRequest(data(), text("algorithm")));
            case "caller" -> client.caller();
            case "policy" -> client.policy(text("policyNumber"));
            case "health" -> client.health();
            case "jwks" -> client.publishedKeys(text("serviceId"));
            case "sealLocally" -> header(client.sealLocally(protect(given)));
            case "verifyLocally" -> Map.of("valid", client.verifyLocally(text("serviceId"), verify()));
            default -> throw new IllegalArgumentException("unknown call " + call);
        };
    }

    static Duration seconds(JsonNode number) {
        return Duration.ofNanos((long) (number.asDouble() * 1e9));
    }

    private static ProtectRequest protect(JsonNode item) {
        Content payload = item.has("payloadOfLength")
                ? Content.of("x".repeat(item.get("payloadOfLength").asInt()))
                : content(item, "payload");
        return new ProtectRequest(payload, text(item, "policyNumber"), context(item, "context"));
    }

    private static UnprotectRequest unprotect(JsonNode item) {
        return new UnprotectRequest(envelope(item), text(item, "policyNumber"), context(item, "context"));
    }

    private static RewrapRequest rewrap(JsonNode item) {
        return new RewrapRequest(envelope(item), text(item, "policyNumber"), text(item, "toPolicyNumber"),
                context(item, "context"), context(item, "toContext"));
    }

    private DataKeyRequest dataKey() {
        return new DataKeyRequest(
                text("policyNumber"), context(given, "context"), text("algorithm"), given.path("plaintext").asBoolean(true));
    }

    private VerifyRequest verify() {
        return new VerifyRequest(data(), bytes("signature"), text("algorithm"), text("keyId"),
                given.path("prehashed").asBoolean(), text("signatureFormat"));
    }

    private Ciphertext ciphertext() {
        return new Ciphertext(bytes("ciphertext"), bytes("iv"), bytes("tag"), text("algorithm"), text("keyId"));
    }

    private Content data() {
        return content(given, "data");
    }

    /** A plaintext as the case gives it: as bytes, raw JSON or a value of the language. */
    private static Content content(JsonNode item, String name) {
        if (item.has(name + "Bytes")) {
            return Content.bytes(Base64.getDecoder().decode(item.get(name + "Bytes").asText()));
        }
        if (item.has(name + "Json")) {
            return Content.json(item.get(name + "Json").asText());
        }
        return Content.of(Json.MAPPER.convertValue(item.get(name), Object.class));
    }

    private static Envelope envelope(JsonNode item) {
        return Envelope.of(item.has("jwe") ? item.get("jwe") : item.get("protectedPayload"));
    }

    private static Map<String, String> context(JsonNode item, String name) {
        if (!item.has(name)) {
            return null;
        }
        var context = new HashMap<String, String>();
        item.get(name).fields().forEachRemaining(member -> context.put(member.getKey(), member.getValue().asText()));
        return context;
    }

    private String text(String name) {
        return text(given, name);
    }

    private static String text(JsonNode item, String name) {
        return item.path(name).asText(null);
    }

    private byte[] bytes(String name) {
        return given.has(name) ? Base64.getDecoder().decode(given.get(name).asText()) : null;
    }

    private <T> List<T> items(Function<JsonNode, T> convert) {
        if (given.has("repeat")) {
            JsonNode repeat = given.get("repeat");
            return Collections.nCopies(repeat.get("count").asInt(), convert.apply(repeat.get("item")));
        }
        return StreamSupport.stream(given.get("items").spliterator(), false).map(convert).toList();
    }

    private <T> T printed(T value) {
        run.print(value);
        return value;
    }

    private Object result(Protection.Protected made) {
        return Map.of("jwe", made.envelope(), "requestId", String.valueOf(printed(made).requestId()));
    }

    private Object result(Payload payload) {
        return Map.of("payloadJson", printed(payload).json(), "requestId", String.valueOf(payload.requestId()));
    }

    private Object result(DataKey made) {
        var result = new HashMap<String, Object>();
        result.put("key", printed(made).key().map(Secret::bytes).orElse(null));
        result.put("algorithm", made.algorithm());
        result.put("jwe", made.envelope());
        return result;
    }

    private Object outcome(Protection outcome) {
        run.print(outcome);
        if (outcome instanceof Protection.PassedThrough passed) {
            return Map.of("kind", "passedThrough", "payloadJson", passed.payload().json(), "warning", passed.warning());
        }
        if (outcome instanceof Protection.Dropped dropped) {
            return Map.of("kind", "dropped", "message", dropped.message());
        }
        return Map.of("kind", "protected", "jwe", ((Protection.Protected) outcome).envelope());
    }

    private <T> Object results(List<BatchResult<T>> results, Function<T, Object> describe) {
        var items = new ArrayList<Object>();
        for (BatchResult<T> result : results) {
            items.add(result.failure()
                    .map(failure -> (Object) Map.of("error", CaseRun.describe(failure)))
                    .orElseGet(() -> describe.apply(result.get())));
        }
        if (results.size() < 10) {
            run.print(results);
        }
        return Map.of("items", items, "count", items.size());
    }

    private static Object header(Envelope envelope) throws IOException {
        String text = Json.MAPPER.readTree(envelope.toString()).get("protected").asText();
        JsonNode header = Json.MAPPER.readTree(Base64.getUrlDecoder().decode(text));
        var names = new ArrayList<String>();
        header.fieldNames().forEachRemaining(names::add);
        Collections.sort(names);
        return Map.of("header", header, "headerNames", names, "jwe", envelope);
    }
}

package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No value fails the text around it. */
class JsonTest {
    private static final String DIGITS = "7".repeat(1_000_000);

    static Stream<String> values() {
        return Stream.of(
                DIGITS, "-" + DIGITS, "0." + DIGITS, "1e400", "1e" + "9".repeat(2000), "[1.0," + DIGITS + "]", "{\"a\":" + DIGITS + "}",
                "{\"" + "n".repeat(60_000) + "\":1}", "{\"a\":{\"" + "n".repeat(60_000) + "\":1}}",
                "\"" + "s".repeat(21_000_000) + "\"", "[".repeat(128) + "]".repeat(128), namesOfOneHash());
    }

    /** Jackson's hash of a name multiplies by 33 and adds the next character. */
    private static String namesOfOneHash() {
        return IntStream.range(0, 4096)
                .mapToObj(number -> IntStream.range(0, 12)
                        .mapToObj(bit -> (number >> bit & 1) == 0 ? "ab" : "bA")
                        .collect(Collectors.joining("", "\"", "\":0")))
                .collect(Collectors.joining(",", "{", "}"));
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("values")
    void textsDoNotChange(String value) {
        assertEquals(value, Content.json(value).json());
        String item = "{\"status\":200,\"payload\":" + value + "}";
        Map<String, String> answer = Json.members("{\"items\":[" + item + ", " + item + "],\"requestId\":\"r\"}");
        assertEquals(List.of(item, item), Json.items(answer.get("items")));
        assertEquals(Map.of("status", "200", "payload", value), Json.members(item));
    }

    @Test
    void aNumberIsExactOrNotConverted() {
        String digits = "7".repeat(1000);
        assertEquals(new BigInteger(digits), new Payload(digits, "r").as(BigInteger.class));
        assertEquals(new BigDecimal("0." + "7".repeat(998)), new Payload("0." + "7".repeat(998), "r").as(BigDecimal.class));
        for (String text : List.of(digits + 7, DIGITS, "{\"a\":" + DIGITS + "}")) {
            var payload = new Payload(text, "r");
            var refused = assertThrows(SealwardException.UnexpectedAnswer.class, () -> payload.as(JsonNode.class));
            assertEquals("the payload is no JsonNode [request r]", refused.getMessage());
            assertEquals(text, payload.json());
        }
    }

    @Test
    void longNamesAreConverted() {
        String name = "n".repeat(60_000);
        assertEquals(Map.of(name, 1), new Payload("{\"" + name + "\":1}", "r").as(Map.class));
        assertEquals("{\"" + name + "\":1}", Canonical.signed("{ \"" + name + "\": 1 }"));
    }
}

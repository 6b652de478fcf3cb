package dev.sealward;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.TreeMap;

/**
 * The form of JSON that signatures cover (RFC 8785). Different values have different forms, so duplicate names, lone
 * surrogates, and numbers that the shortest decimal of a double does not equal are refused.
 */
final class Canonical {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(Json.longTexts().build())
            .build();
    private static final int MAX_DIGITS = 17;

    private Canonical() {}

    /** What a signature covers: the content of a string, and otherwise the canonical form. */
    static String signed(String json) {
        try (JsonParser parser = FACTORY.createParser(json)) {
            if (parser.nextToken() == JsonToken.VALUE_STRING) {
                String content = complete(parser.getText());
                if (parser.nextToken() == null) {
                    return content;
                }
                throw new IOException();
            }
            var text = new StringBuilder(json.length());
            if (parser.currentToken() != null) {
                value(parser, text);
                if (parser.nextToken() == null) {
                    return text.toString();
                }
            }
        } catch (IOException | NumberFormatException failure) {
            // Its message contains the text.
        }
        throw new SealwardException.InvalidRequest("the data has no canonical form");
    }

    private static void value(JsonParser parser, StringBuilder text) throws IOException {
        switch (parser.currentToken()) {
            case START_OBJECT -> object(parser, text);
            case START_ARRAY -> {
                text.append('[');
                for (boolean first = true; parser.nextToken() != JsonToken.END_ARRAY; first = false) {
                    text.append(first ? "" : ",");
                    value(parser, text);
                }
                text.append(']');
            }
            case VALUE_STRING -> string(parser.getText(), text);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> text.append(number(parser.getText()));
            default -> text.append(parser.getText());
        }
    }

    /** The order of {@link String#compareTo} is that of UTF-16. */
    private static void object(JsonParser parser, StringBuilder text) throws IOException {
        var members = new TreeMap<String, String>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            var member = new StringBuilder();
            value(parser, member);
            members.put(name, member.toString());
        }
        text.append('{');
        String separator = "";
        for (var member : members.entrySet()) {
            text.append(separator);
            string(member.getKey(), text);
            text.append(':').append(member.getValue());
            separator = ",";
        }
        text.append('}');
    }

    private static void string(String value, StringBuilder text) {
        text.append('"');
        for (char character : complete(value).toCharArray()) {
            int place = "\b\f\n\r\t\"\\".indexOf(character);
            if (place >= 0) {
                text.append('\\').append("bfnrt\"\\".charAt(place));
            } else if (character < ' ') {
                text.append(String.format("\\u%04x", (int) character));
            } else {
                text.append(character);
            }
        }
        text.append('"');
    }

    private static String complete(String value) {
        if (value.codePoints().anyMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE)) {
            throw new SealwardException.InvalidRequest("a string contains a lone surrogate");
        }
        return value;
    }

    /** A number as ECMAScript writes it. */
    static String number(String text) {
        double value = Double.parseDouble(text);
        BigDecimal shortest = Double.isInfinite(value) ? null : shortest(value);
        if (shortest == null || new BigDecimal(text).compareTo(shortest) != 0) {
            throw new SealwardException.InvalidRequest("no IEEE double holds a number exactly");
        }
        if (value == 0) {
            return "0";
        }
        String sign = value < 0 ? "-" : "";
        String digits = shortest.unscaledValue().abs().toString();
        int point = digits.length() - shortest.scale();
        if (point > 0 && point <= 21) {
            String padded = digits + "0".repeat(Math.max(0, point - digits.length()));
            return sign + padded.substring(0, point) + (padded.length() > point ? "." + padded.substring(point) : "");
        }
        if (point > -6 && point <= 0) {
            return sign + "0." + "0".repeat(-point) + digits;
        }
        String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
        return sign + mantissa + "e" + (point > 0 ? "+" : "") + (point - 1);
    }

    /** The decimal with the fewest digits that is read as the same double. */
    private static BigDecimal shortest(double value) {
        var exact = new BigDecimal(value);
        for (int digits = 1; digits < MAX_DIGITS; digits++) {
            BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (rounded.doubleValue() == value) {
                return rounded.stripTrailingZeros();
            }
        }
        return exact.round(new MathContext(MAX_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
    }
}

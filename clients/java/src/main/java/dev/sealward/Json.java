package dev.sealward;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** JSON whose values keep the text that they have. */
final class Json {
    /** Converts values. It keeps Jackson's limit for digits, because Java needs quadratic time to convert them. */
    static final JsonMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(longTexts().build()).build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .findAndAddModules()
            .build();

    /**
     * Finds texts and converts nothing, so that no payload fails the answer around it. Jackson would refuse a table of many
     * names with the same hash.
     */
    private static final JsonFactory TEXTS = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .streamReadConstraints(longTexts().maxNumberLength(Integer.MAX_VALUE).build())
            .build();

    private Json() {}

    /** Limits for texts whose size the service bounds. It also bounds the levels, to fewer than Jackson does. */
    static StreamReadConstraints.Builder longTexts() {
        return StreamReadConstraints.builder().maxNameLength(Integer.MAX_VALUE).maxStringLength(Integer.MAX_VALUE);
    }

    static String write(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException failure) {
            throw new IllegalStateException("texts, maps and numbers are JSON");
        }
    }

    /** The text of a value that a caller gives. Nothing of the value is lost in it. */
    static String writeLossless(Object value) throws IOException {
        var text = new StringWriter();
        try (JsonGenerator generator = new LosslessGenerator(MAPPER.createGenerator(text))) {
            MAPPER.writeValue(generator, value);
        }
        return text.toString();
    }

    /** The members of an object, each as its text. */
    static Map<String, String> members(String object) {
        try (JsonParser parser = TEXTS.createParser(object)) {
            require(parser.nextToken() == JsonToken.START_OBJECT);
            var members = new HashMap<String, String>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                members.put(name, valueAt(parser, object));
            }
            require(parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null);
            return members;
        } catch (IOException failure) {
            throw unexpected();
        }
    }

    /** The items of an array, each as its text. */
    static List<String> items(String array) {
        if (array == null) {
            throw unexpected();
        }
        try (JsonParser parser = TEXTS.createParser(array)) {
            require(parser.nextToken() == JsonToken.START_ARRAY);
            var items = new ArrayList<String>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                items.add(valueAt(parser, array));
            }
            return items;
        } catch (IOException failure) {
            throw unexpected();
        }
    }

    private static String valueAt(JsonParser parser, String text) throws IOException {
        int start = (int) parser.currentTokenLocation().getCharOffset();
        parser.skipChildren();
        parser.finishToken();
        return text.substring(start, (int) parser.currentLocation().getCharOffset());
    }

    static <T> T read(String text, Class<T> type) {
        try {
            return text == null ? null : MAPPER.readValue(text, type);
        } catch (JsonProcessingException failure) {
            throw unexpected();
        }
    }

    /** Refuses what is not one JSON value. */
    static void requireValue(String text) {
        try (JsonParser parser = TEXTS.createParser(text)) {
            parser.nextToken();
            parser.skipChildren();
            parser.finishToken();
            if (parser.currentToken() != null && parser.nextToken() == null) {
                return;
            }
        } catch (IOException failure) {
            // Its message contains the text.
        }
        throw new SealwardException.InvalidRequest("the raw JSON is not valid");
    }

    /** An object without white space, and otherwise with the text that it has. */
    static String compact(String object) {
        requireValue(object);
        var text = new StringBuilder(object.length());
        boolean quoted = false;
        for (int index = 0; index < object.length(); index++) {
            char character = object.charAt(index);
            if (quoted && character == '\\') {
                text.append(character).append(object.charAt(++index));
                continue;
            }
            quoted ^= character == '"';
            if (quoted || character > ' ') {
                text.append(character);
            }
        }
        return text.toString();
    }

    static SealwardException.UnexpectedAnswer unexpected() {
        return new SealwardException.UnexpectedAnswer("not the documented JSON");
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw unexpected();
        }
    }

    /** Builds the text of an object, member by member. */
    static final class ObjectText {
        private final StringBuilder text = new StringBuilder(256).append('{');

        ObjectText raw(String name, String value) {
            if (value != null) {
                if (text.length() > 1) {
                    text.append(',');
                }
                text.append('"').append(name).append("\":").append(value);
            }
            return this;
        }

        ObjectText value(String name, Object value) {
            return value == null ? this : raw(name, write(value));
        }

        @Override
        public String toString() {
            return text + "}";
        }
    }
}

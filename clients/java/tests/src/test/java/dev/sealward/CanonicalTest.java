package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What signatures cover is the form of RFC 8785. */
class CanonicalTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            333333333.3333333 | 333333333.3333333
            1E30 | 1e+30
            4.50 | 4.5
            2e-3 | 0.002
            0.000000000000000000000000001 | 1e-27
            -0 | 0
            -0.0e7 | 0
            1e21 | 1e+21
            123456789012345680000 | 123456789012345680000
            -1.5e-6 | -0.0000015
            1e-7 | 1e-7
            5e-324 | 5e-324
            1.7976931348623157e308 | 1.7976931348623157e+308
            """)
    void numbersAreThoseOfEcmaScript(String text, String canonical) {
        assertEquals(canonical, Canonical.number(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"b": [null, true], "a": {}} | {"a":{},"b":[null,true]}
            {"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5} | {"\\r":2,"1":4,"€":1,"😀":5,"\uFB33":3}
            ["\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/"] | ["\\u000f\\nA'B\\"\\\\\\\\\\"/"]
            "a\\u00e9" | aé
            """)
    void valuesHaveOneForm(String text, String canonical) {
        assertEquals(canonical, Canonical.signed(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"a\":1,\"\\u0061\":2}", "\"\\ud800\"", "[\"\\ud800x\"]", "[\"\\udc00\\ud800\"]", "9007199254740993", "1e400", "-1e400",
        "1e-400", "0.1000000000000000001", "1180591620717411303424", "1e99999999999999999999",
        "0e99999999999999999999", "1e-99999999999999999999", "01", "", "{} {}", "\"a\" 1", "[1,]"
    })
    void whatTwoValuesWouldShareIsRefused(String text) {
        assertThrows(SealwardException.InvalidRequest.class, () -> Canonical.signed(text));
    }
}

use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> Result<String, NotCanonical> {
    let value = Text::parse(text.as_bytes()).unwrap();
    bytes(value).map(|bytes| String::from_utf8(bytes.into_owned()).unwrap())
}

#[test]
fn a_string_equals_its_text() {
    assert_eq!(canonical(r#""a\u00e9\n""#), Ok("aé\n".to_owned()));
    assert_eq!(canonical(r#""""#), Ok(String::new()));
    assert_eq!(canonical(r#""\udead""#), Err(NotATree::LoneSurrogate.into()));
}

#[test]
fn the_form_is_that_of_a_tree_with_sorted_members() {
    for text in [
        r#"{"b":[{},[],[[]],{"":{"":null}}],"a":{"z":true,"\u0000":"\u0007\\\"/é","y":-0.0}}"#,
        // In UTF-16, U+10000 precedes U+E000.
        r#"{"":1,"𐀀":2,"é":[1e1,-5,18014398509481984,0.1]}"#,
        r#"[{"b":1,"a":[{"d":1,"c":2}]},"text",false]"#,
    ] {
        let tree = Text::parse(text.as_bytes()).unwrap().tree().unwrap();
        let expected = serde_json_canonicalizer::to_string(&tree).unwrap();
        assert_eq!(canonical(text), Ok(expected), "{text}");
    }
}

/// RFC 8785, sections 3.2.2 and 3.2.4.
#[test]
fn the_example_of_the_rfc_is_written() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    // 333333333.33333329 has one digit more than its double and is refused.
    assert_eq!(canonical(text), Err(NotCanonical::Number));
    assert_eq!(
        canonical(&text.replace("333333333.33333329", "333333333.3333333")).unwrap().as_bytes(),
        [
            0x7b, 0x22, 0x6c, 0x69, 0x74, 0x65, 0x72, 0x61, 0x6c, 0x73, 0x22, 0x3a, 0x5b, 0x6e,
            0x75, 0x6c, 0x6c, 0x2c, 0x74, 0x72, 0x75, 0x65, 0x2c, 0x66, 0x61, 0x6c, 0x73, 0x65,
            0x5d, 0x2c, 0x22, 0x6e, 0x75, 0x6d, 0x62, 0x65, 0x72, 0x73, 0x22, 0x3a, 0x5b, 0x33,
            0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x2e, 0x33, 0x33, 0x33, 0x33, 0x33,
            0x33, 0x33, 0x2c, 0x31, 0x65, 0x2b, 0x33, 0x30, 0x2c, 0x34, 0x2e, 0x35, 0x2c, 0x30,
            0x2e, 0x30, 0x30, 0x32, 0x2c, 0x31, 0x65, 0x2d, 0x32, 0x37, 0x5d, 0x2c, 0x22, 0x73,
            0x74, 0x72, 0x69, 0x6e, 0x67, 0x22, 0x3a, 0x22, 0xe2, 0x82, 0xac, 0x24, 0x5c, 0x75,
            0x30, 0x30, 0x30, 0x66, 0x5c, 0x6e, 0x41, 0x27, 0x42, 0x5c, 0x22, 0x5c, 0x5c, 0x5c,
            0x5c, 0x5c, 0x22, 0x2f, 0x22, 0x7d
        ]
    );
}

/// RFC 8785, section 3.2.3.
#[test]
fn names_are_sorted_by_utf_16() {
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return",
        "\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face",
        "\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let written = canonical(text).unwrap();
    let places = ["Carriage Return", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
        .map(|value| written.find(value).unwrap());
    assert!(places.is_sorted(), "{written}");
}

/// Without `float_roundtrip`, serde_json reads these as a neighbour of the nearest double.
#[test]
fn numbers_are_read_as_the_nearest_double() {
    for number in
        ["51.248178375505404", "-93.3113703768803", "97.45365320034685", "7.101215824554616e+260"]
    {
        assert_eq!(canonical(&format!("[{number}]")), Ok(format!("[{number}]")));
    }
}

/// RFC 8785, appendix B.
#[test]
fn every_double_is_written_as_in_the_rfc() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let text = serde_json_canonicalizer::to_string(&f64::from_bits(bits)).unwrap();
        assert_eq!(text, expected, "{bits:x}");
        assert_eq!(canonical(expected).unwrap(), expected, "{bits:x}");
    }
}

#[test]
fn equal_values_have_one_text() {
    for text in ["1", "1.0", "1e0", "10E-1", "0.01e2", "1.000000000000000000000000000"] {
        assert_eq!(canonical(text).unwrap(), "1", "{text}");
    }
    for text in ["0", "-0", "0.0", "0e99999999999999999999", "-0e-5", "0.00000000000000000"] {
        assert_eq!(canonical(text).unwrap(), "0", "{text}");
    }
    for text in ["0.1", "0.10", "1e-1", "0.1000000000000000000000000000000000000e0"] {
        assert_eq!(canonical(text).unwrap(), "0.1", "{text}");
    }
    assert_eq!(canonical("100000000000000000000").unwrap(), "100000000000000000000");
    assert_eq!(canonical("-9007199254740994").unwrap(), "-9007199254740994");
}

#[test]
fn a_number_that_a_double_cannot_represent_is_refused() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "0.1000000000000000001",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "123456789012345678901",
        "1180591620717411303424",
        "3.14159265358979323846",
        "18446744073709551615",
    ] {
        assert_eq!(canonical(text), Err(NotCanonical::Number), "{text}");
        assert_eq!(canonical(&format!("[{{\"a\":{text}}}]")), Err(NotCanonical::Number));
    }
    assert_eq!(canonical(r#"["9007199254740993"]"#).unwrap(), r#"["9007199254740993"]"#);
}

/// A double half way between two shortest decimals is written as the even one, which alone is
/// representable.
#[test]
fn the_even_one_of_two_equally_near_decimals_is_used() {
    for (even, odd) in
        [("1424953923781206.2", "1424953923781206.3"), ("900172775555727.2", "900172775555727.3")]
    {
        assert_eq!(even.parse::<f64>(), odd.parse::<f64>());
        assert_eq!(canonical(even).unwrap(), even);
        assert_eq!(canonical(odd), Err(NotCanonical::Number));
    }
}

#[test]
fn ambiguous_members_are_refused_at_every_depth() {
    for (text, expected) in [
        (r#"[{"a":1,"\u0061":1}]"#, NotATree::DuplicateName),
        (r#"{"x":{"a":1,"b":2,"a":1}}"#, NotATree::DuplicateName),
        (r#"[["\ud800"]]"#, NotATree::LoneSurrogate),
        (r#"{"\udc00":1}"#, NotATree::LoneSurrogate),
    ] {
        assert_eq!(canonical(text), Err(expected.into()), "{text}");
    }
}

#[test]
fn the_maximum_depth_is_accepted() {
    let text = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(canonical(&text).unwrap(), text);
}

proptest! {
    #[test]
    fn every_double_is_written_as_its_shortest_decimal(bits: u64) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let written = serde_json_canonicalizer::to_string(&double).unwrap();
        prop_assert_eq!(written.parse::<f64>().unwrap(), double);
        prop_assert_eq!(canonical(&written).unwrap(), written);
    }

    #[test]
    fn a_represented_number_is_written_as_the_same_decimal(
        text in "-?[1-9][0-9]{0,17}(\\.[0-9]{1,4})?(e-?[0-9]{1,3})?",
    ) {
        if let Ok(written) = canonical(&text) {
            prop_assert_eq!(canonical(&written), Ok(written));
        }
    }

    #[test]
    fn different_integers_have_different_signatures(one: u64, other: u64) {
        let near = one.wrapping_add(other % 8);
        let texts = [one, near].map(|number| canonical(&number.to_string()));
        prop_assert!(one == near || texts[0] != texts[1] || texts[0].is_err());
    }
}

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

fn fault(text: &str) -> Option<NotJson> {
    scan(text, |_| {}).err()
}

#[test]
fn the_scanner_accepts_the_grammar() {
    for text in [
        "0",
        "-0",
        "1.0",
        "1e9",
        "-1.5E+300",
        "0.1e-7",
        "true",
        "false",
        "null",
        r#""""#,
        r#""a\"\\\/\b\f\n\r\té😀\ud800""#,
        "[]",
        "{}",
        "[ ]",
        "{ }",
        " [ 1 , [ ] , { } ] ",
        "{\"a\":{\"b\":[1,{\"c\":null}]},\"\":2}",
        "\t\r\n1\n",
    ] {
        assert_eq!(fault(text), None, "{text}");
    }
}

#[test]
fn refuses_other_texts_with_their_position() {
    for (text, at) in [
        ("", 0),
        (" ", 1),
        ("tru", 0),
        ("nul", 0),
        ("True", 0),
        ("NaN", 0),
        ("Infinity", 0),
        ("-", 1),
        ("01", 1),
        ("1.", 2),
        (".5", 0),
        ("1e", 2),
        ("1e+", 3),
        ("+1", 0),
        ("0x1", 1),
        ("\"", 1),
        ("\"\\", 2),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("\"\n\"", 1),
        ("\"\u{0}\"", 1),
        ("[", 1),
        ("[1", 2),
        ("[1,", 3),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1}", 2),
        ("{", 1),
        ("{]", 1),
        ("{\"a\"}", 4),
        ("{\"a\":}", 5),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{\"a\":1]", 6),
        ("{'a':1}", 1),
        ("1 2", 2),
        ("{} []", 3),
        ("[] // x", 3),
        ("]", 0),
        ("\u{feff}1", 0),
        ("\u{a0}1", 0),
        ("1\u{c}", 1),
    ] {
        assert_eq!(fault(text), Some(NotJson::Syntax { at }), "{text:?}");
    }
}

#[test]
fn levels_are_counted_up_to_the_maximum() {
    let filled =
        |levels: usize| format!("{}0{}", "[{\"a\":".repeat(levels / 2), "}]".repeat(levels / 2));
    assert_eq!(fault(&filled(128)), None);
    assert_eq!(fault(&filled(130)), Some(NotJson::Depth));
    assert_eq!(fault(&format!("{}{}", "[".repeat(128), "]".repeat(128))), None);
    assert_eq!(fault(&format!("{}{}", "[".repeat(129), "]".repeat(129))), Some(NotJson::Depth));
}

#[test]
fn only_members_and_elements_of_the_outermost_value_are_reported() {
    let text = r#"{ "a" : [{"x":1}, "}"] , "b":{"c":2}, "d":null }"#;
    let mut members = Vec::new();
    find_members(text, |member| members.push((&text[member.name], &text[member.value])));
    assert_eq!(
        members,
        [("\"a\"", r#"[{"x":1}, "}"]"#), ("\"b\"", r#"{"c":2}"#), ("\"d\"", "null")]
    );

    let text = r#"[{"a":1}, [2]]"#;
    let mut elements = Vec::new();
    find_members(text, |element| {
        elements.push((&text[element.name], &text[element.value]));
    });
    assert_eq!(elements, [("", r#"{"a":1}"#), ("", "[2]")]);
}

#[test]
fn a_special_byte_is_found_among_all_bytes() {
    for length in [1, 7, 8, 9, 33, 47] {
        for at in 0..length {
            for byte in 0..=u8::MAX {
                for other in [b'!', 0x80, 0xff] {
                    let mut bytes = vec![other; length];
                    bytes[at] = byte;
                    let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
                    assert_eq!(plain(&bytes), if is_special { at } else { length });
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_scanner_accepts_the_same_texts_as_serde_json(
        text in r#"([\[\]{}:,"\\ ]|-?[0-9]|[.eE+]|true|false|null|"a"|"\\u00e9"|\\u|\n){0,12}"#,
    ) {
        let theirs: Option<&RawValue> = serde_json::from_str(&text).ok();
        let ours = scan(&text, |_| {}).ok();
        prop_assert_eq!(ours.map(|value| &text[value]), theirs.map(RawValue::get));
    }

    #[test]
    fn the_members_of_a_checked_text_are_those_of_the_check(
        text in r#"\{("([a-c ]|\\["\\/bn]|\\u00e9|é){0,40}":(-?[1-9]|"([{},:\[ ]|\\["\\])*"|\[\{\}, "x"\]),?){0,4}\}"#,
    ) {
        let mut checked = Vec::new();
        if scan(&text, |member| checked.push((member.name, member.value))).is_ok() {
            let mut found = Vec::new();
            find_members(&text, |member| found.push((member.name, member.value)));
            prop_assert_eq!(found, checked);
        }
    }
}

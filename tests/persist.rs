//! The persistence rules against small cases and a slow reading of the same rules on values.

mod reference;

use omp_session::error::Result;
use omp_session::persist::{BlobSink, Limits, for_disk, for_disk_within};
use proptest::prelude::*;
use reference::persist::{NOTICE, hash, slow, spell, units};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::cell::RefCell;

#[derive(Default)]
struct Blobs(RefCell<Vec<Vec<u8>>>);

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> Result<String> {
        self.0.borrow_mut().push(bytes.to_vec());
        Ok(hash(bytes))
    }
}

fn stored(text: &str) -> String {
    let out = for_disk(text.as_bytes(), &Blobs::default()).expect("no failure");
    out.map_or(text.to_string(), |out| String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn ordinary_entries_keep_their_bytes() {
    for text in [r#"{"a":1.0,"b":"\u00e9","c":[{}, null ]}"#, "{}", r#"{"type":"image","x":1}"#, "not json"] {
        assert!(for_disk(text.as_bytes(), &Blobs::default()).expect("no failure").is_none(), "{text}");
    }
}

#[test]
fn transient_keys_go_at_any_depth_with_one_comma() {
    assert_eq!(stored(r#"{"partialJson":1}"#), "{}");
    assert_eq!(stored(r#"{"partialJson":1,"a":2}"#), r#"{"a":2}"#);
    assert_eq!(stored(r#"{"a":2,"jsonlEvents":[{"partialJson":1}]}"#), r#"{"a":2}"#);
    assert_eq!(stored(r#"{"partialJson":1,"jsonlEvents":2}"#), "{}");
    assert_eq!(
        stored(r#"{"a":1, "partialJson":1 , "jsonlEvents":2, "b":[{"jsonlEvents":0,"c":1.0}]}"#),
        r#"{"a":1 , "b":[{"c":1.0}]}"#
    );
    assert_eq!(stored(r#"{"\u0070artialJson":1,"a":2}"#), r#"{"a":2}"#);
}

#[test]
fn a_string_at_the_limit_stays_and_one_above_it_is_cut_to_the_limit() {
    for length in [499_999, 500_000] {
        let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
        assert_eq!(stored(&text), text);
    }
    let value: Value = serde_json::from_str(&stored(&format!(r#"{{"a":"{}"}}"#, "x".repeat(500_001)))).expect("JSON");
    let cut = value["a"].as_str().expect("a string");
    assert_eq!(units(cut), 500_000);
    assert!(cut.ends_with(NOTICE));
}

#[test]
fn a_pair_is_not_cut_in_two_whether_raw_or_escaped() {
    let head = "x".repeat(500_000 - NOTICE.len() - 1);
    for pair in ["\u{1f9ea}", r"\ud83e\uddea"] {
        let value: Value =
            serde_json::from_str(&stored(&format!(r#"{{"a":"{head}{}"}}"#, pair.repeat(100)))).expect("JSON");
        let cut = value["a"].as_str().expect("a string");
        assert_eq!(cut, format!("{head}{NOTICE}"));
    }
}

#[test]
fn signatures_above_the_limit_become_empty() {
    for key in ["thinkingSignature", "thoughtSignature", "textSignature"] {
        let text = format!(r#"{{"{key}":"{}"}}"#, "x".repeat(500_001));
        assert_eq!(stored(&text), format!(r#"{{"{key}":""}}"#));
    }
}

#[test]
fn line_counts_follow_a_change_in_their_object_only() {
    let long = "line\\n".repeat(110_000);
    let value: Value =
        serde_json::from_str(&stored(&format!(r#"{{"content":"{long}","lineCount":5}}"#))).expect("JSON");
    let lines = value["content"].as_str().expect("a string").split('\n').count();
    assert_eq!(value["lineCount"], json!(lines));
    assert_eq!(
        stored(r#"{"content":"a\nb","lineCount":7,"x":{"partialJson":1}}"#),
        r#"{"content":"a\nb","lineCount":2,"x":{}}"#
    );
    assert_eq!(
        stored(r#"{"partialJson":1,"x":{"content":"a\nb","lineCount":7}}"#),
        r#"{"x":{"content":"a\nb","lineCount":7}}"#
    );
}

#[test]
fn the_lines_of_an_image_block_are_counted_again_when_its_data_moves() {
    let block = |data: &str, lines: u32| {
        format!(r#"{{"content":[{{"content":"a\nb","data":"{data}","lineCount":{lines},"type":"image"}}]}}"#)
    };
    let reference = format!("blob:sha256:{}", hash("ABC".repeat(400).as_bytes()));
    assert_eq!(stored(&block(&"QUJD".repeat(400), 16)), block(&reference, 2));
}

#[test]
fn images_in_content_become_blobs_and_other_data_stays_whole() {
    let data = "QUJD".repeat(256);
    let bytes = "ABC".repeat(256);
    let reference = format!("blob:sha256:{}", hash(bytes.as_bytes()));
    let image = |data: &str| format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
    assert_eq!(
        stored(&format!(r#"{{"content":[{}]}}"#, image(&data))),
        format!(r#"{{"content":[{}]}}"#, image(&reference))
    );
    assert_eq!(
        stored(&format!(r#"{{"content":[[{}]]}}"#, image(&data))),
        format!(r#"{{"content":[[{}]]}}"#, image(&reference))
    );
    let small = format!(r#"{{"content":[{}]}}"#, image(&data[..1020]));
    assert_eq!(stored(&small), small);
    let loose = format!(r#"{{"content":[{}]}}"#, image(&format!("{}==", &data)));
    assert_eq!(stored(&loose), loose);
    let elsewhere = format!(r#"{{"frames":[{}]}}"#, image(&"QUJD".repeat(200_000)));
    assert_eq!(stored(&elsewhere), elsewhere);
    let known = format!(r#"{{"content":[{}]}}"#, image(&reference));
    assert_eq!(stored(&known), known);
}

#[test]
fn data_urls_are_stored_as_their_whole_text() {
    let url = "data:image/png;base64,AA==";
    let blobs = Blobs::default();
    let out = for_disk(format!(r#"{{"x":[{{"image_url":"{url}"}}]}}"#).as_bytes(), &blobs).expect("no failure");
    let expected = format!(r#"{{"x":[{{"image_url":"blob:sha256:{}"}}]}}"#, hash(url.as_bytes()));
    assert_eq!(out.as_deref(), Some(expected.as_bytes()));
    assert_eq!(blobs.0.borrow()[..], [url.as_bytes().to_vec()]);
    let link = r#"{"image_url":"https://example.org/a.png"}"#;
    assert_eq!(stored(link), link);
}

#[test]
fn depth_needs_no_stack() {
    let text = format!(r#"{{"partialJson":1,"d":{}1{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(stored(&text).len(), text.len() - r#""partialJson":1,"#.len());
}

#[test]
fn strings_at_every_level_of_deep_arrays_take_linear_time() {
    let text = format!(r#"{{"partialJson":1,"d":{}1{}}}"#, r#"["a","#.repeat(100_000), "]".repeat(100_000));
    assert_eq!(stored(&text).len(), text.len() - r#""partialJson":1,"#.len());
}

#[test]
fn the_cut_never_falls_into_an_escape_or_a_pair() {
    // Three units are kept besides the notice, fewer where they would end in the first half of a pair.
    let cases = [
        ("x", "xxx"),
        ("\\n", r"\n\n\n"),
        (r"\u00e9", r"\u00e9\u00e9\u00e9"),
        ("\\\\", r"\\\\\\"),
        ("\u{e9}", "\u{e9}\u{e9}\u{e9}"),
        ("\u{20ac}", "\u{20ac}\u{20ac}\u{20ac}"),
        ("\u{1f9ea}", "\u{1f9ea}"),
        (r"\ud83e\uddea", r"\ud83e\uddea"),
        (r"\uD83E\uDDEA", r"\uD83E\uDDEA"),
        (r"\ud83e", r"\ud83e\ud83e"),
        (r"\uddea", r"\uddea\uddea\uddea"),
    ];
    let limits = Limits { string_utf16: NOTICE.len() + 3, image_chars: 1024 };
    for (element, kept) in cases {
        let text = format!(r#"{{"a":"{}","b":1.0}}"#, element.repeat(2 * NOTICE.len()));
        let out = for_disk_within(text.as_bytes(), &Blobs::default(), limits).expect("no failure");
        let notice = NOTICE.replace('\n', "\\n");
        let expected = format!(r#"{{"a":"{kept}{notice}","b":1.0}}"#);
        assert_eq!(out.map(|out| String::from_utf8_lossy(&out).into_owned()), Some(expected), "{element}");
    }
}

#[test]
fn of_repeated_keys_the_last_decides() {
    let data = "QUJD".repeat(256);
    let reference = format!("blob:sha256:{}", hash("ABC".repeat(256).as_bytes()));
    let cases = [
        (r#"{"content":[{"type":"text","type":"image","data":"DATA"}]}"#, true),
        (r#"{"content":[{"type":"image","type":"text","data":"DATA"}]}"#, false),
        (r#"{"content":[{"data":5,"data":"DATA","type":"image"}]}"#, true),
        (r#"{"content":[{"data":"DATA","data":5,"type":"image"}]}"#, false),
    ];
    for (text, moves) in cases {
        let text = text.replace("DATA", &data);
        let expected = if moves { text.replace(&data, &reference) } else { text.clone() };
        assert_eq!(stored(&text), expected);
    }
    assert_eq!(stored(r#"{"partialJson":1,"a":2,"partialJson":3}"#), r#"{"a":2}"#);
    assert_eq!(
        stored(r#"{"content":"a\nb","content":"c","lineCount":8,"lineCount":9,"partialJson":3}"#),
        r#"{"content":"a\nb","content":"c","lineCount":8,"lineCount":1}"#
    );
}

#[test]
fn keys_and_values_may_be_spelled_with_escapes() {
    let data = "QUJD".repeat(256);
    let reference = format!("blob:sha256:{}", hash("ABC".repeat(256).as_bytes()));
    assert_eq!(
        stored(&format!(r#"{{"\u0063ontent":[{{"t\u0079pe":"im\u0061ge","data":"\u0051UJD{}"}}]}}"#, &data[4..])),
        format!(r#"{{"\u0063ontent":[{{"t\u0079pe":"im\u0061ge","data":"{reference}"}}]}}"#)
    );
    let url = format!("blob:sha256:{}", hash(b"data:image/png;base64,AA=="));
    assert_eq!(
        stored(r#"{"image\u005furl":"data:image\/png;base64,AA=="}"#),
        format!(r#"{{"image\u005furl":"{url}"}}"#)
    );
}

#[test]
fn a_data_url_that_utf8_cannot_hold_stays_in_its_line() {
    let text = r#"{"image_url":"data:image/png;base64,\ud83e"}"#;
    assert_eq!(stored(text), text);
}

fn any_value() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "type",
        "data",
        "mimeType",
        "content",
        "lineCount",
        "partialJson",
        "jsonlEvents",
        "image_url",
        "thinkingSignature",
        "x",
    ]);
    let strings = prop_oneof![
        "[a-z\n\"\\\\é\u{1f9ea}]{0,90}",
        Just("image".to_string()),
        Just("QUJD".repeat(20)),
        Just("data:image/png;base64,AA==".to_string()),
        Just("blob:sha256:00".to_string()),
    ];
    let leaf = prop_oneof![strings.prop_map(Value::from), any::<i32>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().map(|(k, v)| (k.to_string(), v)).collect())),
        ]
    })
}

const LOW: Limits = Limits { string_utf16: 70, image_chars: 64 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_splices_give_what_the_rules_say(value in any_value(), mut seed in any::<u32>()) {
        let mut odd = String::new();
        spell(&value, &mut seed, &mut odd);
        for text in [value.to_string(), odd] {
            let out = for_disk_within(text.as_bytes(), &Blobs::default(), LOW).expect("no failure");
            let out = out.map_or(text.clone(), |out| String::from_utf8(out).expect("UTF-8"));
            let parsed: Value = serde_json::from_str(&out)
                .map_err(|error| TestCaseError::fail(format!("{error}: {text} -> {out}")))?;
            prop_assert_eq!(parsed, slow(&value, "", LOW), "{}", text);
        }
    }

    #[test]
    fn damaged_text_stays_and_what_changes_is_json(value in any_value(), at in any::<usize>(), byte in any::<u8>()) {
        let mut text = value.to_string().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        for text in [&text[..], &text[..at]] {
            let out = for_disk_within(text, &Blobs::default(), LOW).expect("no failure");
            // Read without values: a number beyond all bounds is JSON too.
            let is_json = |text: &[u8]| serde_json::from_str::<&RawValue>(&String::from_utf8_lossy(text)).is_ok();
            prop_assert!(out.is_none_or(|out| is_json(&out) && is_json(text)), "{:?}", String::from_utf8_lossy(text));
        }
    }
}

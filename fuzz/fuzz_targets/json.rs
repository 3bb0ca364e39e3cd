//! What is accepted as JSON, and what is read from it, is what serde_json accepts and reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::entry::facts::{Facts, Field};
use omp_session::json::scan::{Scanner, is_json};
use omp_session::json::string::{decode, parse_literal, write};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Whether serde_json takes the text, at any depth.
fn accepted(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    <&RawValue>::deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

fn compare_members(text: &str) {
    let Ok(members) = serde_json::from_str::<HashMap<String, &RawValue>>(text) else { return };
    let start = text.find('{').expect("an object");
    let facts = Facts::scan(&mut Scanner::new(text.as_bytes(), start)).expect("serde_json took it");
    for (key, field) in [("id", facts.id), ("parentId", facts.parent_id)] {
        let expected = members.get(key).map(|value| serde_json::from_str::<serde_json::Value>(value.get()));
        match (expected, field) {
            (None, Field::Absent) | (Some(Ok(serde_json::Value::Null)), Field::Null) => {}
            (Some(Ok(serde_json::Value::String(value))), Field::Text(found)) => {
                assert_eq!(decode(text.as_bytes(), found).as_ref(), value.as_bytes());
            }
            // Half a pair, or a number that is too large for serde_json.
            (Some(Err(_)), Field::Text(_) | Field::Other) => {}
            (Some(Ok(value)), Field::Other) => assert!(!value.is_string() && !value.is_null()),
            (expected, found) => panic!("{key}: {expected:?} and {found:?} in {text}"),
        }
    }
    let message = facts.message.clone().map(|span| &text[span]);
    assert_eq!(message, members.get("message").map(|value| value.get()), "{text}");
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    assert_eq!(is_json(data), accepted(&text), "{text}");
    if !is_json(text.as_bytes()) {
        return;
    }
    compare_members(&text);
    if let Ok(value) = serde_json::from_str::<String>(&text) {
        assert_eq!(
            parse_literal(text.trim_matches([' ', '\t', '\r', '\n']).as_bytes()).as_deref(),
            Some(value.as_bytes())
        );
        let mut written = Vec::new();
        write(&mut written, value.as_bytes());
        assert_eq!(serde_json::from_slice::<String>(&written).expect("JSON"), value);
    }
});

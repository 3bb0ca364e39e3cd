//! The persistence rules as splices of text, against the same rules on values.
#![no_main]

#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use omp_session::error::Result;
use omp_session::persist::{BlobSink, Limits, for_disk_within};
use reference::persist::{hash, slow, spell};
use serde_json::{Value, json};

struct Blobs;

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> Result<String> {
        Ok(hash(bytes))
    }
}

const KEYS: [&str; 12] = [
    "type",
    "data",
    "mimeType",
    "content",
    "lineCount",
    "partialJson",
    "jsonlEvents",
    "image_url",
    "thinkingSignature",
    "textSignature",
    "details",
    "x",
];
const STRINGS: [&str; 6] = ["image", "text", "QUJD", "data:image/png;base64,AA==", "blob:sha256:00", "a\nb"];
const LOW: Limits = Limits { string_utf16: 70, image_chars: 64 };

/// A value made of the bytes, one after the other.
fn value(bytes: &mut std::slice::Iter<'_, u8>, depth: usize) -> Value {
    let mut next = || usize::from(bytes.next().copied().unwrap_or_default());
    match next() % 8 {
        0 => Value::Null,
        1 => json!(next() as i64 - 100),
        2 => json!(STRINGS[next() % STRINGS.len()]),
        3 => json!("QUJD".repeat(next() % 40)),
        4 => {
            let length = next() % 100;
            let units: Vec<char> = (0..length).map(|_| ['a', '"', '\\', '\n', 'é', '\u{1f9ea}'][next() % 6]).collect();
            json!(units.into_iter().collect::<String>())
        }
        5 if depth < 6 => {
            let count = next() % 5;
            (0..count).map(|_| value(bytes, depth + 1)).collect::<Vec<_>>().into()
        }
        6 | 7 if depth < 6 => {
            let count = next() % 6;
            let mut members = serde_json::Map::new();
            for _ in 0..count {
                let key = KEYS[usize::from(bytes.next().copied().unwrap_or_default()) % KEYS.len()];
                members.insert(key.into(), value(bytes, depth + 1));
            }
            Value::Object(members)
        }
        _ => json!(true),
    }
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.iter();
    let mut seed = u32::from(bytes.next().copied().unwrap_or_default());
    let value = value(&mut bytes, 0);
    let mut odd = String::new();
    spell(&value, &mut seed, &mut odd);
    for text in [value.to_string(), odd] {
        let out = for_disk_within(text.as_bytes(), &Blobs, LOW).expect("no failure");
        let out = out.map_or(text.clone(), |out| String::from_utf8(out).expect("UTF-8"));
        let parsed: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {text} -> {out}"));
        assert_eq!(parsed, slow(&value, "", LOW), "{text}");
    }
    // Bytes that are no JSON stay as they are.
    if let Some(out) = for_disk_within(data, &Blobs, LOW).expect("no failure") {
        assert!(omp_session::json::scan::is_json(data) && omp_session::json::scan::is_json(&out));
    }
});

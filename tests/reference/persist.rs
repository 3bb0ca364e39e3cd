//! The persistence rules on parsed values.

use omp_session::persist::Limits;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a cut string ends with.
pub const NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// SHA-256 in hex.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Length in UTF-16 units.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The rules once more, on values, without any care for speed.
pub fn slow(value: &Value, key: &str, limits: Limits) -> Value {
    match value {
        Value::String(text) => slow_string(text, key, limits),
        Value::Array(items) => Value::Array(items.iter().map(|item| slow_item(item, key, limits)).collect()),
        Value::Object(members) => {
            let mut out = serde_json::Map::new();
            for (name, member) in members {
                if name == "partialJson" || name == "jsonlEvents" {
                    continue;
                }
                let image_data = name == "data"
                    && member.is_string()
                    && (members.get("mimeType").is_some_and(Value::is_string)
                        || members.get("type") == Some(&json!("image")));
                let new = if image_data { member.clone() } else { slow(member, name, limits) };
                out.insert(name.clone(), new);
            }
            if Value::Object(out.clone()) != *value {
                return counted_again(Value::Object(out));
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// An object in which something changed: its lines are counted again.
fn counted_again(mut object: Value) -> Value {
    if let (Some(content), Some(true)) = (object["content"].as_str(), object.get("lineCount").map(Value::is_number)) {
        let lines = content.split('\n').count();
        object["lineCount"] = json!(lines);
    }
    object
}

fn slow_item(item: &Value, key: &str, limits: Limits) -> Value {
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    if key == "content"
        && item.get("type") == Some(&json!("image"))
        && let Some(data) = item.get("data").and_then(Value::as_str)
    {
        let bytes = engine.decode(data).ok().filter(|bytes| engine.encode(bytes) == data);
        if let (true, Some(bytes)) = (data.len() >= limits.image_chars, bytes) {
            let mut block = slow(item, key, limits);
            block["data"] = json!(format!("blob:sha256:{}", hash(&bytes)));
            return counted_again(block);
        }
    }
    slow(item, key, limits)
}

fn slow_string(text: &str, key: &str, limits: Limits) -> Value {
    if key == "image_url" && text.starts_with("data:image/") && text.contains(";base64,") {
        return json!(format!("blob:sha256:{}", hash(text.as_bytes())));
    }
    if units(text) <= limits.string_utf16 {
        return json!(text);
    }
    if ["thinkingSignature", "thoughtSignature", "textSignature"].contains(&key) {
        return json!("");
    }
    let mut cut = String::new();
    for char in text.chars() {
        if units(&cut) + char.len_utf16() > limits.string_utf16 - NOTICE.len() {
            break;
        }
        cut.push(char);
    }
    json!(format!("{cut}{NOTICE}"))
}

/// JSON in one of the many ways to write it: white space between tokens, characters as escapes.
pub fn spell(value: &Value, seed: &mut u32, out: &mut String) {
    let mut chance = |of: u32| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 16).is_multiple_of(of)
    };
    if chance(4) {
        out.push_str(" \t");
    }
    match value {
        Value::String(text) => {
            out.push('"');
            for char in text.chars() {
                if char.is_ascii_alphanumeric() && !chance(9) || char > '\u{7f}' && chance(2) {
                    out.push(char);
                } else {
                    char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
                }
            }
            out.push('"');
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                out.push(if at == 0 { '[' } else { ',' });
                spell(item, seed, out);
            }
            out.push_str(if items.is_empty() { "[ ]" } else { "\n]" });
        }
        Value::Object(members) => {
            for (at, (key, member)) in members.iter().enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
                spell(&json!(key), seed, out);
                out.push(':');
                spell(member, seed, out);
            }
            out.push_str(if members.is_empty() { "{}" } else { "}\r" });
        }
        other => out.push_str(&format!("{other} ")),
    }
}

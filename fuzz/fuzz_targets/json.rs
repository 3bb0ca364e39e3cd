//! What is accepted as JSON, and what is read from it, is what serde_json accepts and reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::entry::facts::{Facts, Field};
use omp_session::entry::kind::{Kind, Role};
use omp_session::json::scan::{Scanner, is_json};
use omp_session::json::string::{decode, parse_literal, to_utf16, write};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Whether serde_json takes the text, at any depth.
fn accepted(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    <&RawValue>::deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

/// The members of an object in their order, keys and values as they are written.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> serde::de::Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// UTF-16 units of a string literal, half surrogate pairs included.
fn units(literal: &str) -> Vec<u16> {
    let mut units = Vec::new();
    let mut chars = literal[1..literal.len() - 1].chars();
    while let Some(char) = chars.next() {
        let char = match char {
            '\\' => match chars.next().expect("an escape") {
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).expect("hex digits"));
                    continue;
                }
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            },
            other => other,
        };
        units.extend_from_slice(char.encode_utf16(&mut [0; 2]));
    }
    units
}

/// The value of the last member of that name.
fn last<'a>(members: &Members<'a>, name: &str) -> Option<&'a str> {
    let name: Vec<u16> = name.encode_utf16().collect();
    members.0.iter().rev().find(|(key, _)| units(key.get()) == name).map(|(_, value)| value.get())
}

fn same(text: &[u8], key: &str, expected: Option<&str>, found: Field) {
    let as_expected = match (expected, found) {
        (None, Field::Absent) | (Some("null"), Field::Null) => true,
        (Some(value), Field::Text(string)) => value.starts_with('"') && to_utf16(&decode(text, string)) == units(value),
        (Some(value), Field::Other) => value != "null" && !value.starts_with('"'),
        _ => false,
    };
    assert!(as_expected, "{key}: {expected:?} and {found:?} in {}", String::from_utf8_lossy(text));
}

/// What is read from `data`, which may have invalid UTF-8, is what is in `text`, its lossy copy.
fn compare_members(data: &[u8], text: &str) {
    let Ok(members) = serde_json::from_str::<Members<'_>>(text) else { return };
    let start = data.iter().position(|byte| *byte == b'{').expect("an object");
    let facts = Facts::scan(&mut Scanner::new(data, start)).expect("serde_json took it");
    for (key, field) in [("id", facts.id), ("parentId", facts.parent_id), ("timestamp", facts.timestamp)] {
        same(data, key, last(&members, key), field);
    }
    let name = |value: Option<&str>| {
        value.filter(|value| value.starts_with('"')).map(|value| String::from_utf16_lossy(&units(value)))
    };
    let kind = name(last(&members, "type"));
    assert_eq!(facts.has_type, kind.is_some());
    assert_eq!(facts.kind, Kind::from_type(kind.unwrap_or_default().as_bytes()));
    let message = facts.message.map(|span| String::from_utf8_lossy(&data[span]).into_owned());
    assert_eq!(message.as_deref(), last(&members, "message"), "{text}");
    let Ok(members) = serde_json::from_str::<Members<'_>>(message.as_deref().unwrap_or_default()) else { return };
    let role = name(last(&members, "role")).unwrap_or_default();
    assert_eq!(facts.role, Role::from_name(role.as_bytes()), "{text}");
    same(data, "provider", last(&members, "provider"), facts.provider);
    let content = facts.content.map(|span| String::from_utf8_lossy(&data[span]).into_owned());
    assert_eq!(content.as_deref(), last(&members, "content"), "{text}");
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    assert_eq!(is_json(data), accepted(&text), "{text}");
    if !is_json(text.as_bytes()) {
        return;
    }
    compare_members(data, &text);
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

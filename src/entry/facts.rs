//! Reads from one JSON object the fields that decide something, and validates it on the way.

use super::envelope::Envelope;
use super::kind::{Kind, Role};
use super::timestamp;
use super::usage::Usage;
use crate::json::scan::{JsonError, Scanner, Str};
use crate::json::string::decode;
use std::borrow::Cow;
use std::ops::Range;

/// A field that may be absent, `null`, a string or something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Field {
    /// The key does not occur.
    #[default]
    Absent,
    /// `null`
    Null,
    /// A string.
    Text(Str),
    /// Any other value.
    Other,
}

impl Field {
    /// The string, if it is one.
    pub fn text(self) -> Option<Str> {
        match self {
            Field::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The deciding fields of a line. Offsets are into the scanned text. Of repeated keys the last
/// counts, as in JavaScript.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The object itself.
    pub span: Range<usize>,
    /// What `type` names.
    pub kind: Kind,
    /// Whether `type` is a string at all.
    pub has_type: bool,
    /// `id`
    pub id: Field,
    /// `parentId`
    pub parent_id: Field,
    /// `timestamp`, if it is a string.
    pub timestamp: Field,
    /// Milliseconds of `timestamp`, or [`timestamp::NO_TIME`].
    pub time: i64,
    /// Exactly the keys type, id, parentId, timestamp, message, in that order, none repeated, and a
    /// canonical time: the object can be rebuilt from the index and its `message`.
    pub regular: bool,
    /// The value of `message`.
    pub message: Option<Range<usize>>,
    /// Whether `message` is an object.
    pub message_is_object: bool,
    /// `message.role`
    pub role: Role,
    /// `message.provider`
    pub provider: Field,
    /// `message.model` of a message, `model` of a model change.
    pub model: Field,
    /// `role` of a model change.
    pub model_role: Field,
    /// The value of `message.content`.
    pub content: Option<Range<usize>>,
    /// Of a message entry `message.usage`, or `message.details.usage` of a `task` result.
    pub usage: Option<Usage>,
    /// `targetId` of a label.
    pub target_id: Field,
    /// `label` of a label.
    pub label: Field,
    /// `shortSummary` of a compaction.
    pub short_summary: Field,
    /// `firstKeptEntryId` of a compaction.
    pub first_kept: Field,
    /// `firstKeptEntryIndex` of a version 1 compaction.
    pub first_kept_index: Option<f64>,
    /// `version` of a header: absent or `null` is version 1.
    pub version: Option<f64>,
    /// `cwd` of a header.
    pub cwd: Field,
    /// `title` of a header or title line.
    pub title: Field,
    /// `source` of a title line.
    pub source: Field,
    /// `parentSession` of a header.
    pub parent_session: Field,
}

/// A string to be compared with names of this format, which are ASCII: invalid UTF-8 may stay.
pub fn name(text: &[u8], key: Str) -> Cow<'_, [u8]> {
    if key.is_escaped() { decode(text, key) } else { Cow::Borrowed(key.raw(text)) }
}

pub(super) type Scan<T> = Result<T, JsonError>;

fn field(scanner: &mut Scanner<'_>) -> Scan<Field> {
    Ok(match scanner.peek() {
        Some(b'"') => Field::Text(scanner.string()?),
        Some(b'n') => {
            scanner.skip_value()?;
            Field::Null
        }
        _ => {
            scanner.skip_value()?;
            Field::Other
        }
    })
}

pub(super) fn number(scanner: &mut Scanner<'_>) -> Scan<Option<f64>> {
    let start = scanner.pos();
    scanner.skip_value()?;
    let text = &scanner.text()[start..scanner.pos()];
    if text.len() <= 15 && text.iter().all(u8::is_ascii_digit) {
        return Ok(Some(text.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0')) as f64));
    }
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    Ok(value.filter(|value| value.is_finite() && matches!(text[0], b'-' | b'0'..=b'9')))
}

/// Passes the value of `message.content`, and may take something from it.
pub trait ContentReader {
    /// The next byte of `scanner` is the first of the value. Called again if the key is repeated, or
    /// if the object is read once more; the last time counts.
    fn content(&mut self, scanner: &mut Scanner<'_>) -> Scan<()>;
}

/// Takes nothing.
#[derive(Debug)]
pub struct SkipContent;

impl ContentReader for SkipContent {
    fn content(&mut self, scanner: &mut Scanner<'_>) -> Scan<()> {
        scanner.skip_value()
    }
}

impl Facts {
    /// Scans the object at the scanner's position and leaves the position after it.
    pub fn scan(scanner: &mut Scanner<'_>) -> Scan<Facts> {
        Facts::scan_with(scanner, &mut SkipContent)
    }

    /// The same, with a reader for the content of the message.
    pub fn scan_with(scanner: &mut Scanner<'_>, content: &mut impl ContentReader) -> Scan<Facts> {
        let start = scanner.pos();
        if let Some(envelope) = Envelope::read(scanner.text(), start) {
            let mut facts = Facts {
                kind: Kind::Message,
                has_type: true,
                id: Field::Text(envelope.id),
                parent_id: envelope.parent_id,
                timestamp: Field::Text(envelope.timestamp),
                time: envelope.time,
                regular: true,
                ..Facts::default()
            };
            scanner.reset(envelope.message);
            facts.message(scanner, content)?;
            if scanner.peek() == Some(b'}') {
                scanner.step();
                facts.span = start..scanner.pos();
                return Ok(facts);
            }
            scanner.reset(start);
        }
        Facts::scan_members(scanner, content)
    }

    fn scan_members(scanner: &mut Scanner<'_>, content: &mut impl ContentReader) -> Scan<Facts> {
        let text = scanner.text();
        let mut facts = Facts { time: timestamp::NO_TIME, ..Facts::default() };
        let start = scanner.pos();
        // Counts keys while they come in the regular order; any other key leaves it short or long.
        let mut order = 0usize;
        let mut regular = true;
        scanner.object(|scanner, key| {
            let name = name(text, key);
            let expected: &[u8] = match order {
                0 => b"type",
                1 => b"id",
                2 => b"parentId",
                3 => b"timestamp",
                4 => b"message",
                _ => b"",
            };
            regular &= !key.is_escaped() && expected == name.as_ref() && order < 5;
            order += 1;
            facts.member(scanner, &name, content)
        })?;
        facts.span = start..scanner.pos();
        if facts.kind != Kind::Message {
            facts.usage = None;
        }
        if let Field::Text(time) = facts.timestamp {
            let raw = time.raw(text);
            match timestamp::parse_canonical(raw).filter(|_| !time.is_escaped()) {
                Some(ms) => facts.time = ms,
                None => {
                    regular = false;
                    facts.time = timestamp::parse(&decode(text, time)).unwrap_or(timestamp::NO_TIME);
                }
            }
        } else {
            regular = false;
        }
        let plain = |field: Field| match field {
            Field::Null => true,
            Field::Text(text) => !text.is_escaped(),
            _ => false,
        };
        facts.regular = regular
            && order == 5
            && facts.kind == Kind::Message
            && facts.id.text().is_some()
            && plain(facts.id)
            && plain(facts.parent_id);
        Ok(facts)
    }

    fn member(&mut self, scanner: &mut Scanner<'_>, key: &[u8], content: &mut impl ContentReader) -> Scan<()> {
        match key {
            b"type" => {
                let value = field(scanner)?;
                self.has_type = value.text().is_some();
                self.kind = value.text().map_or(Kind::Unknown, |value| Kind::from_type(&name(scanner.text(), value)));
            }
            b"id" => self.id = field(scanner)?,
            b"parentId" => self.parent_id = field(scanner)?,
            b"timestamp" => {
                if let Some(b'-' | b'0'..=b'9') = scanner.peek() {
                    self.time = number(scanner)?.map_or(timestamp::NO_TIME, |ms| ms as i64);
                    self.timestamp = Field::Other;
                } else {
                    self.timestamp = field(scanner)?;
                }
            }
            b"message" => self.message(scanner, content)?,
            b"model" if self.kind != Kind::Message => self.model = field(scanner)?,
            b"role" => self.model_role = field(scanner)?,
            b"targetId" => self.target_id = field(scanner)?,
            b"label" => self.label = field(scanner)?,
            b"shortSummary" => self.short_summary = field(scanner)?,
            b"firstKeptEntryId" => self.first_kept = field(scanner)?,
            b"firstKeptEntryIndex" => self.first_kept_index = number(scanner)?,
            b"version" => self.version = number(scanner)?,
            b"cwd" => self.cwd = field(scanner)?,
            b"title" => self.title = field(scanner)?,
            b"source" => self.source = field(scanner)?,
            b"parentSession" => self.parent_session = field(scanner)?,
            _ => scanner.skip_value()?,
        }
        Ok(())
    }

    fn message(&mut self, scanner: &mut Scanner<'_>, content: &mut impl ContentReader) -> Scan<()> {
        let start = scanner.pos();
        self.role = Role::Other;
        self.provider = Field::Absent;
        self.model = Field::Absent;
        self.content = None;
        self.usage = None;
        self.message_is_object = scanner.peek() == Some(b'{');
        if !self.message_is_object {
            scanner.skip_value()?;
            self.message = Some(start..scanner.pos());
            return Ok(());
        }
        let text = scanner.text();
        let (mut own, mut task, mut is_task) = (None, None, false);
        scanner.object(|scanner, key| {
            match name(text, key).as_ref() {
                b"role" => {
                    let role = field(scanner)?;
                    self.role = role.text().map_or(Role::Other, |role| Role::from_name(&name(text, role)));
                }
                b"provider" => self.provider = field(scanner)?,
                b"model" => self.model = field(scanner)?,
                b"content" => {
                    let start = scanner.pos();
                    content.content(scanner)?;
                    self.content = Some(start..scanner.pos());
                }
                b"usage" => own = Usage::read(scanner)?,
                b"toolName" => {
                    let tool = field(scanner)?;
                    is_task = tool.text().is_some_and(|tool| name(text, tool).as_ref() == b"task");
                }
                b"details" if scanner.peek() == Some(b'{') => {
                    task = None;
                    scanner.object(|scanner, key| {
                        if name(text, key).as_ref() == b"usage" {
                            task = Usage::read(scanner)?;
                            return Ok(());
                        }
                        scanner.skip_value()
                    })?;
                }
                _ => scanner.skip_value()?,
            }
            Ok(())
        })?;
        self.message = Some(start..scanner.pos());
        self.usage = match self.role {
            Role::Assistant => own,
            Role::ToolResult if is_task => task,
            _ => None,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        Facts::scan(&mut Scanner::new(text.as_bytes(), 0)).expect("an object")
    }

    const LINE: &str = r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2024-12-03T14:00:00.000Z","message":{"role":"assistant","usage":{"input":3,"cost":{"total":0.5}}}}"#;

    #[test]
    fn a_line_in_the_usual_form_is_regular() {
        let facts = facts(LINE);
        assert!(facts.regular);
        assert_eq!(facts.role, Role::Assistant);
        assert_eq!(facts.usage.map(|usage| (usage.input, usage.cost)), Some((3.0, 0.5)));
    }

    #[test]
    fn other_keys_order_repeats_escapes_and_times_are_not_regular() {
        for (from, to) in [
            (r#""parentId":null,"#, ""),
            (r#""id":"a0000001","parentId":null"#, r#""parentId":null,"id":"a0000001""#),
            (r#"{"type""#, r#"{"typ\u0065""#),
            ("14:00:00.000Z", "14:00:00Z"),
            (r#""message":{"#, r#""x":1,"message":{"#),
            (r#""id":"a0000001""#, r#""id":"a000000\u0031""#),
            (r#""id":"a0000001","#, r#""id":"a0000001","id":"a0000001","#),
        ] {
            let line = LINE.replace(from, to);
            assert_ne!(line, LINE);
            assert!(!facts(&line).regular, "{line}");
        }
    }

    #[test]
    fn the_quick_reading_of_usual_lines_sees_what_the_general_one_sees() {
        let users = LINE.replace("null", r#""a0000000""#).replace("assistant", "user");
        let mut lines = vec![LINE.to_string(), users, LINE.replace('}', " }"), LINE.replace(':', " : ")];
        for (from, to) in
            [("}}}}", r#"}}},"id":7}"#), ("}}}}", r#"}}},"message":null}"#), ("{\"role\"", "null,\"role\"")]
        {
            lines.push(LINE.replace(from, to));
        }
        // Every byte of a usual line damaged in a few ways.
        for at in 0..LINE.len() {
            for byte in [b'"', b' ', b'}', b'0', b'g', b'\\', 0] {
                let mut line = LINE.as_bytes().to_vec();
                line[at] = byte;
                lines.push(String::from_utf8(line).expect("ASCII"));
            }
        }
        for line in lines {
            let quick = Facts::scan(&mut Scanner::new(line.as_bytes(), 0));
            let general = Facts::scan_members(&mut Scanner::new(line.as_bytes(), 0), &mut SkipContent);
            match (quick, general) {
                (Err(_), Err(_)) => {}
                (quick, general) => assert_eq!(format!("{quick:?}"), format!("{general:?}"), "{line}"),
            }
        }
    }

    #[test]
    fn of_repeated_messages_the_last_counts_whole() {
        let facts =
            facts(r#"{"type":"message","message":{"role":"assistant","usage":{"input":1}},"message":{"role":"user"}}"#);
        assert_eq!((facts.role, facts.usage), (Role::User, None));
    }

    #[test]
    fn odd_usage_counts_as_nothing() {
        for usage in ["null", "7", "{}", r#"{"input":"x","cost":null}"#, r#"{"input":1e999}"#] {
            let line = LINE.replace(r#"{"input":3,"cost":{"total":0.5}}"#, usage);
            assert_eq!(facts(&line).usage.unwrap_or_default(), Usage::default(), "{line}");
        }
    }
}

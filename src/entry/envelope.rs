//! The beginning of a message's line as every agent writes it, recognised by its bytes.

use super::facts::Field;
use super::id::parse_hex;
use super::timestamp;
use crate::json::scan::Str;

/// The members before `message` of a line that has exactly the usual ones, in the usual order,
/// without white space, with ids of 8 hex digits and a canonical time. Nearly all lines are so, and
/// reading them member by member takes longer than everything else that is read of a short message.
#[derive(Debug)]
pub(super) struct Envelope {
    pub id: Str,
    /// A string or `null`.
    pub parent_id: Field,
    pub timestamp: Str,
    /// Milliseconds since 1970.
    pub time: i64,
    /// Where the value of `message` begins.
    pub message: usize,
}

/// A position behind which certain bytes are expected.
struct Expect<'a> {
    text: &'a [u8],
    pos: usize,
}

impl Expect<'_> {
    fn bytes<const N: usize>(&mut self, wanted: &[u8; N]) -> Option<()> {
        let found = self.text.get(self.pos..)?.first_chunk::<N>()?;
        self.pos += N;
        (found == wanted).then_some(())
    }

    fn plain(&mut self, length: usize) -> Option<Str> {
        let start = self.pos;
        self.pos += length;
        (self.pos <= self.text.len()).then_some(Str::new(start, self.pos, false))
    }

    fn id(&mut self) -> Option<Str> {
        let id = self.plain(8)?;
        parse_hex(id.raw(self.text)).map(|_| id)
    }
}

impl Envelope {
    pub(super) fn read(text: &[u8], start: usize) -> Option<Envelope> {
        let mut next = Expect { text, pos: start };
        next.bytes(br#"{"type":"message","id":""#)?;
        let id = next.id()?;
        next.bytes(br#"","parentId":"#)?;
        let parent_id = if text.get(next.pos) == Some(&b'"') {
            next.pos += 1;
            let parent = next.id()?;
            next.bytes(b"\"")?;
            Field::Text(parent)
        } else {
            next.bytes(b"null")?;
            Field::Null
        };
        next.bytes(br#","timestamp":""#)?;
        let timestamp = next.plain(24)?;
        let time = timestamp::parse_canonical(timestamp.raw(text))?;
        next.bytes(br#"","message":"#)?;
        // White space before the value is the general reader's.
        let value = text.get(next.pos).is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        value.then_some(Envelope { id, parent_id, timestamp, time, message: next.pos })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::facts::Facts;
    use crate::json::scan::Scanner;

    const LINE: &str = r#"{"type":"message","id":"a0000001","parentId":"a0000000","timestamp":"2024-12-03T14:00:00.000Z","message":{"role":"user"}}"#;

    #[test]
    fn an_envelope_is_recognised_at_any_offset_with_and_without_a_parent() {
        for (line, parent) in [(LINE.to_string(), true), (LINE.replace(r#""a0000000""#, "null"), false)] {
            let text = format!("  {line}");
            let envelope = Envelope::read(text.as_bytes(), 2).expect("an envelope");
            assert_eq!(envelope.id.raw(text.as_bytes()), b"a0000001");
            assert_eq!(envelope.parent_id.text().is_some(), parent);
            assert_eq!(envelope.time, 1_733_234_400_000);
            assert_eq!(&text[envelope.message..], r#"{"role":"user"}}"#);
        }
    }

    #[test]
    fn a_line_cut_anywhere_in_its_envelope_is_none_and_does_not_panic() {
        let end = LINE.find(r#"{"role""#).expect("a message");
        for cut in 0..=end {
            assert!(Envelope::read(&LINE.as_bytes()[..cut], 0).is_none(), "{cut}");
        }
    }

    #[test]
    fn members_behind_the_message_are_read_as_ever() {
        let line = LINE.replace("}}", r#"},"id":"b0000002","x":1}"#);
        let facts = Facts::scan(&mut Scanner::new(line.as_bytes(), 0)).expect("an object");
        assert_eq!(facts.id.text().map(|id| id.raw(line.as_bytes()).to_vec()), Some(b"b0000002".to_vec()));
        assert!(!facts.regular);
        assert_eq!(facts.span, 0..line.len());
    }
}

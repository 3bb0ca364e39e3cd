//! One physical line and the records on it.

use crate::entry::facts::{ContentReader, Facts, Field, SkipContent};
use crate::entry::kind::Kind;
use crate::json::scan::Scanner;
use memchr::memmem;

/// Why a stretch of a line is not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Not JSON.
    NotJson,
    /// JSON, but not an object.
    NotObject,
    /// A cut record in front of a complete one.
    Cut,
}

impl Reason {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NotJson => "not valid JSON",
            Reason::NotObject => "not a JSON object",
            Reason::Cut => "a cut record in front of a complete one",
        }
    }
}

/// What a line is made of, in order. Offsets are relative to the line.
#[derive(Debug)]
// One piece is alive at a time, on the stack: boxing it would cost an allocation a line.
#[allow(clippy::large_enum_variant)]
pub enum Piece {
    /// An object.
    Record(Facts),
    /// Bytes that are no record, from `start` to `end`.
    Bad {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Why.
        reason: Reason,
    },
}

/// Bytes between records that mean nothing: white space, and NULs that a crash left behind.
fn skip_filler(line: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n' | 0) = line.get(pos) {
        pos += 1;
    }
    pos
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Hands out the pieces of `line` (without its LF). `at_start` says that it is the first of the
/// file, where a byte order mark is allowed.
pub fn pieces(line: &[u8], at_start: bool, mut visit: impl FnMut(Piece)) {
    pieces_with(line, at_start, &mut SkipContent, |_, piece| visit(piece));
}

/// The same, with a reader for the contents of messages: when a record is handed out, the reader has
/// last seen the content of its message, if there is one.
pub fn pieces_with<C: ContentReader>(
    line: &[u8],
    at_start: bool,
    content: &mut C,
    mut visit: impl FnMut(&mut C, Piece),
) {
    let mut pos = if at_start && line.starts_with(BOM) { BOM.len() } else { 0 };
    let mut scanner = Scanner::new(line, pos);
    loop {
        pos = skip_filler(line, pos);
        if pos >= line.len() {
            return;
        }
        scanner.reset(pos);
        if line[pos] == b'{'
            && let Ok(facts) = Facts::scan_with(&mut scanner, content)
        {
            pos = facts.span.end;
            visit(content, Piece::Record(facts));
            continue;
        }
        match salvage(line, pos) {
            Some(at) => {
                visit(content, Piece::Bad { start: pos, end: at, reason: Reason::Cut });
                pos = at;
            }
            None => {
                scanner.reset(pos);
                let whole = scanner.skip_value().is_ok() && skip_filler(line, scanner.pos()) == line.len();
                let reason = if whole { Reason::NotObject } else { Reason::NotJson };
                visit(content, Piece::Bad { start: pos, end: line.len(), reason });
                return;
            }
        }
    }
}

/// Every known writer puts `type` first.
const RECORD_START: &[u8] = b"{\"type\":\"";

/// Finds the first complete record after `from` behind which the line holds nothing but complete
/// objects. Blocks inside a cut record look like records too, hence the demand for an envelope and
/// for the end of the line.
fn salvage(line: &[u8], from: usize) -> Option<usize> {
    // Scanning again from every candidate could cost the square of the line on hostile input.
    let mut budget = 8 * line.len() + 65_536;
    let mut at = from + 1;
    while let Some(found) = memmem::find(line.get(at..)?, RECORD_START) {
        let start = at + found;
        let mut scanner = Scanner::new(line, start);
        let facts = Facts::scan(&mut scanner);
        match facts {
            Ok(facts) if is_record(&facts) && ends_in_objects(line, facts.span.end) => return Some(start),
            Ok(facts) => at = facts.span.end,
            Err(_) => at = start + 1,
        }
        budget = budget.checked_sub(scanner.pos() - start)?;
    }
    None
}

fn is_record(facts: &Facts) -> bool {
    let header = facts.kind == Kind::Session && facts.id.text().is_some();
    let entry = facts.id.text().is_some()
        && matches!(facts.parent_id, Field::Null | Field::Text(_))
        && facts.timestamp != Field::Absent;
    let version_1 = facts.kind != Kind::Unknown && facts.id == Field::Absent && facts.timestamp.text().is_some();
    header || entry || version_1
}

fn ends_in_objects(line: &[u8], mut pos: usize) -> bool {
    loop {
        pos = skip_filler(line, pos);
        match line.get(pos) {
            None => return true,
            Some(b'{') => {
                let mut scanner = Scanner::new(line, pos);
                if scanner.skip_value().is_err() {
                    return false;
                }
                pos = scanner.pos();
            }
            Some(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str, at_start: bool) -> String {
        let mut out = Vec::new();
        pieces(line.as_bytes(), at_start, |piece| {
            out.push(match piece {
                Piece::Record(facts) => line[facts.span].to_string(),
                Piece::Bad { start, end, reason } => format!("{reason:?}<{}>", &line[start..end]),
            })
        });
        out.join(" ")
    }

    const A: &str = r#"{"type":"custom","id":"a","parentId":null,"timestamp":"t"}"#;

    #[test]
    fn several_objects_on_a_line_all_count() {
        assert_eq!(shape(&format!("{A}{A} {A}\r"), false), format!("{A} {A} {A}"));
    }

    #[test]
    fn a_record_behind_a_cut_one_is_found_and_blocks_inside_the_cut_one_are_not() {
        let cut = r#"{"type":"message","id":"m","parentId":null,"message":{"content":[{"type":"text","text":"x"},{"type":"toolCall","id":"c"},{"type":"te"#;
        assert_eq!(shape(&format!("{cut}{A}"), false), format!("Cut<{cut}> {A}"));
        assert_eq!(shape(cut, false), format!("NotJson<{cut}>"));
        let closed_block = r#"{"type":"message","id":"m","message":{"content":[{"type":"toolCall","id":"c"}"#;
        assert_eq!(shape(closed_block, false), format!("NotJson<{closed_block}>"));
    }

    #[test]
    fn nul_padding_and_a_byte_order_mark_are_passed() {
        assert_eq!(shape(&format!("\0\0{A}\0\0"), false), A);
        assert_eq!(shape(&format!("\u{feff}{A}"), true), A);
        assert_eq!(shape("\u{feff}{}", false), "NotJson<\u{feff}{}>");
    }

    #[test]
    fn values_that_are_no_objects_are_named_so() {
        assert_eq!(shape("null", false), "NotObject<null>");
        assert_eq!(shape(&format!("{A}, 7"), false), format!("{A} NotJson<, 7>"));
    }

    #[test]
    fn hostile_lines_are_read_in_linear_time() {
        let line = r#"{"type":"["#.repeat(200_000);
        assert!(shape(&line, false).starts_with("NotJson"));
        let line = r#"{"type":"x","a":["#.repeat(20_000);
        assert!(shape(&line, false).starts_with("NotJson"));
    }
}

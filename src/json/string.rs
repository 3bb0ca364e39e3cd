//! JSON strings as text: decoding as JavaScript sees them, and writing.
//!
//! Decoded strings are bytes in WTF-8: UTF-8, with half surrogate pairs (which only a `\uD800`-like
//! escape can bring) in their three-byte form, so that different ids stay different. Invalid UTF-8
//! in the text becomes U+FFFD, as it does when JavaScript decodes the file.

use super::str::{Str, plain_length};
use std::borrow::Cow;

const REPLACEMENT: &str = "\u{fffd}";

/// `bytes` with each invalid sequence replaced by U+FFFD.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The value of a string, in WTF-8. Borrowed when the text holds it as it is.
pub fn decode<'a>(text: &'a [u8], string: Str) -> Cow<'a, [u8]> {
    let raw = string.raw(text);
    if !string.is_escaped() {
        return match lossy(raw) {
            Cow::Borrowed(valid) => Cow::Borrowed(valid.as_bytes()),
            Cow::Owned(replaced) => Cow::Owned(replaced.into_bytes()),
        };
    }
    let mut out = Vec::with_capacity(raw.len());
    unescape(&mut out, raw);
    Cow::Owned(out)
}

/// Adds the value of a string to `out`.
pub fn decode_onto(out: &mut Vec<u8>, text: &[u8], string: Str) {
    let raw = string.raw(text);
    if string.is_escaped() { unescape(out, raw) } else { push_lossy(out, raw) }
}

fn push_lossy(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(lossy(bytes).as_bytes());
}

fn hex4(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, digit| value << 4 | char::from(*digit).to_digit(16).unwrap_or_default())
}

/// Adds a UTF-16 unit to a string that begins at byte `start` of `out`.
fn push_unit(out: &mut Vec<u8>, start: usize, unit: u32) {
    // A low half that completes a high half just written makes one character of both.
    if (0xdc00..0xe000).contains(&unit)
        && let [.., 0xed, second @ 0xa0..=0xaf, third] = out[start..]
    {
        let high = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
        let code = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
        out.truncate(out.len() - 3);
        push_char(out, code);
        return;
    }
    push_char(out, unit);
}

fn push_char(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        // Half a pair: the three-byte form that UTF-8 leaves unused.
        None => out.extend_from_slice(&[
            0xe0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3f) as u8,
            0x80 | (code & 0x3f) as u8,
        ]),
    }
}

fn unescape(out: &mut Vec<u8>, raw: &[u8]) {
    // Looking at every stretch between two escapes once more would cost as much as copying it.
    let valid = std::str::from_utf8(raw).is_ok();
    let push = if valid { |out: &mut Vec<u8>, bytes: &[u8]| out.extend_from_slice(bytes) } else { push_lossy };
    let (start, mut rest) = (out.len(), raw);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        push(out, &rest[..at]);
        let used = match rest.get(at + 1) {
            Some(b'u') if rest.len() >= at + 6 => {
                push_unit(out, start, hex4(&rest[at + 2..at + 6]));
                6
            }
            Some(letter) => {
                out.push(match letter {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => *other,
                });
                2
            }
            None => 1,
        };
        rest = &rest[(at + used).min(rest.len())..];
    }
    push(out, rest);
}

/// Writes WTF-8 as a JSON string with its quotes, in the form `JSON.stringify` gives.
pub fn write(out: &mut Vec<u8>, wtf8: &[u8]) {
    out.push(b'"');
    let mut rest = wtf8;
    while !rest.is_empty() {
        let (valid, bad) = match std::str::from_utf8(rest) {
            Ok(valid) => (valid, &[][..]),
            Err(error) => {
                let (valid, bad) = rest.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).unwrap_or_default(), bad)
            }
        };
        write_valid(out, valid);
        rest = match bad {
            [] => bad,
            [0xed, second @ 0xa0..=0xbf, third, after @ ..] => {
                let unit = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                after
            }
            [_, after @ ..] => {
                out.extend_from_slice(REPLACEMENT.as_bytes());
                after
            }
        };
    }
    out.push(b'"');
}

fn write_valid(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_length(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some((byte, after)) = rest[plain..].split_first() else { return };
        let short = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..0x20 => 0,
            other => *other,
        };
        if short == 0 {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        rest = after;
    }
}

/// Reads WTF-8 from a JSON string literal with quotes. `None` if it is not one.
pub fn parse_literal(literal: &[u8]) -> Option<Vec<u8>> {
    let mut scanner = super::scan::Scanner::new(literal, 0);
    let string = scanner.string().ok()?;
    (scanner.pos() == literal.len()).then(|| decode(literal, string).into_owned())
}

/// WTF-8 as UTF-16 units.
pub fn to_utf16(wtf8: &[u8]) -> Vec<u16> {
    let mut out = Vec::with_capacity(wtf8.len());
    let mut rest = wtf8;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                out.extend(valid.encode_utf16());
                return out;
            }
            Err(error) => {
                let (valid, bad) = rest.split_at(error.valid_up_to());
                out.extend(std::str::from_utf8(valid).unwrap_or_default().encode_utf16());
                rest = match bad {
                    [0xed, second @ 0xa0..=0xbf, third, after @ ..] => {
                        out.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                        after
                    }
                    _ => {
                        out.push(0xfffd);
                        bad.get(1..).unwrap_or_default()
                    }
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(literal: &str) -> Vec<u8> {
        parse_literal(literal.as_bytes()).expect("a string literal")
    }

    #[test]
    fn escaped_pairs_join_and_halves_stay_apart() {
        assert_eq!(decoded(r#""\ud83e\uddea""#), "\u{1f9ea}".as_bytes());
        assert_eq!(decoded(r#""\ud83e""#), [0xed, 0xa0, 0xbe]);
        assert_ne!(decoded(r#""\ud83e""#), decoded(r#""\ud83d""#));
        assert_eq!(to_utf16(&decoded(r#""a\udc00b""#)), [0x61, 0xdc00, 0x62]);
    }

    #[test]
    fn halves_of_two_strings_do_not_join() {
        let text = br#""\ud83e""\udeea""#;
        let mut out = Vec::new();
        for from in [0, 8] {
            let string = super::super::scan::Scanner::new(text, from).string().expect("a string");
            decode_onto(&mut out, text, string);
        }
        assert_eq!(out, [0xed, 0xa0, 0xbe, 0xed, 0xbb, 0xaa]);
    }

    #[test]
    fn raw_surrogate_bytes_are_invalid_utf8_and_become_replacement_characters() {
        let mut scanner = super::super::scan::Scanner::new(b"\"\xed\xa0\x80\"", 0);
        let string = scanner.string().expect("a string");
        assert_eq!(decode(scanner.text(), string), "\u{fffd}\u{fffd}\u{fffd}".as_bytes());
    }

    #[test]
    fn writing_and_reading_a_string_gives_it_back() {
        for value in ["", "plain", "\"\\\u{1}\u{1f}\n\r\t\u{8}\u{c}", "é\u{2028}\u{1f9ea}"] {
            let mut out = Vec::new();
            write(&mut out, value.as_bytes());
            assert_eq!(parse_literal(&out).as_deref(), Some(value.as_bytes()));
        }
        let mut out = Vec::new();
        write(&mut out, &decoded(r#""x\ud83e!""#));
        assert_eq!(out, br#""x\ud83e!""#);
    }
}

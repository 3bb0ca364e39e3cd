//! The text of messages, as lists show it and searches use it: the content if that is a string, else
//! its text blocks joined by spaces.

use crate::entry::facts::{ContentReader, name};
use crate::json::scan::{JsonError, Scanner, Str};
use crate::json::string::decode_onto;
use std::ops::Range;

/// Takes from a content the strings that its text consists of.
#[derive(Debug, Default)]
pub struct TextReader {
    /// Those of the content that was read last.
    pub strings: Vec<Str>,
}

impl TextReader {
    fn block(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        if scanner.peek() != Some(b'{') {
            return scanner.skip_value();
        }
        let text = scanner.text();
        let (mut is_text, mut value) = (false, None);
        scanner.object(|scanner, key| {
            let string = if scanner.peek() == Some(b'"') { Some(scanner.string()?) } else { None };
            match (name(text, key).as_ref(), string) {
                (b"type", string) => is_text = string.is_some_and(|kind| name(text, kind).as_ref() == b"text"),
                (b"text", string) => value = string,
                _ => {}
            }
            if string.is_none() { scanner.skip_value() } else { Ok(()) }
        })?;
        self.strings.extend(value.filter(|_| is_text));
        Ok(())
    }
}

impl ContentReader for TextReader {
    fn content(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        self.strings.clear();
        match scanner.peek() {
            Some(b'"') => {
                let string = scanner.string()?;
                self.strings.push(string);
                Ok(())
            }
            Some(b'[') => scanner.array(|scanner| self.block(scanner)),
            _ => scanner.skip_value(),
        }
    }
}

/// Adds the text of one message to `all`, with a space between it and what is there. An empty text
/// adds nothing.
pub fn join(all: &mut Vec<u8>, text: &[u8], strings: &[Str]) {
    if is_empty(strings) {
        return;
    }
    let before = all.len();
    for (number, string) in strings.iter().enumerate() {
        if number > 0 || before > 0 {
            all.push(b' ');
        }
        decode_onto(all, text, *string);
    }
}

/// Whether the text of these strings is empty: two of them have a space between.
pub fn is_empty(strings: &[Str]) -> bool {
    match strings {
        [] => true,
        [one] => one.start() == one.end(),
        _ => false,
    }
}

/// The text of the content at `content` of `text`, in WTF-8.
pub fn content_text(text: &[u8], content: Range<usize>) -> Vec<u8> {
    let (mut reader, mut out) = (TextReader::default(), Vec::new());
    if reader.content(&mut Scanner::new(text, content.start)).is_ok() {
        join(&mut out, text, &reader.strings);
    }
    out
}

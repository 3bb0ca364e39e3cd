//! Where in a file the texts of its messages are, so that they need no second search.

use super::text;
use crate::error::Result;
use crate::json::scan::Str;
use crate::json::string::decode_onto;
use crate::log::read::Source;

/// Most bytes between two texts that are read along instead of skipped.
const GAP_BYTES: u64 = 4096;
/// Most bytes read at once, unless one text alone is longer.
const SPAN_BYTES: u64 = 256 * 1024;

/// The texts of user and assistant messages, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// For each string the distance from the end of the one before, then the length with two bits
    /// below it: begins a message, has escapes. In numbers of 7 bits a byte, the low ones first:
    /// about 5 bytes a string.
    places: Vec<u8>,
    /// Where the last one ends.
    end: u64,
    /// Some are not noted, as they were not looked for.
    incomplete: bool,
}

/// A string's content in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    start: u64,
    end: u64,
    begins_message: bool,
    escaped: bool,
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; `None` at the end, or if there is none.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

impl Texts {
    /// Of a file whose texts were not all looked for.
    pub fn unknown() -> Texts {
        Texts { incomplete: true, ..Texts::default() }
    }

    /// From what [`Texts::stored`] gave.
    pub fn from_stored((places, end): (&[u8], u64)) -> Texts {
        Texts { places: places.to_vec(), end, incomplete: false }
    }

    /// The places as bytes, and where the last one ends; `None` if not all are known.
    pub fn stored(&self) -> Option<(&[u8], u64)> {
        (!self.incomplete).then_some((&self.places, self.end))
    }

    /// Notes the strings of a message on a line at `offset`, behind those noted before.
    pub fn note(&mut self, offset: u64, strings: &[Str]) {
        if text::is_empty(strings) {
            return;
        }
        for (number, string) in strings.iter().enumerate() {
            let (start, end) = (offset + string.start() as u64, offset + string.end() as u64);
            push_number(&mut self.places, start.saturating_sub(self.end));
            let bits = u64::from(number == 0) << 1 | u64::from(string.is_escaped());
            push_number(&mut self.places, (end - start) << 2 | bits);
            self.end = end;
        }
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let (mut rest, mut end) = (&self.places[..], 0);
        std::iter::from_fn(move || {
            let start = take_number(&mut rest)?.checked_add(end)?;
            let length = take_number(&mut rest)?;
            end = start.checked_add(length >> 2)?;
            Some(Place { start, end, begins_message: length & 2 != 0, escaped: length & 1 != 0 })
        })
    }

    /// The texts of all messages of a source of `size` bytes, joined by spaces, in WTF-8; `None` if not
    /// all places are known.
    pub fn read<S: Source + ?Sized>(&self, source: &S, size: u64) -> Result<Option<Vec<u8>>> {
        if self.incomplete || self.places().last().is_some_and(|last| last.end > size) {
            return Ok(None);
        }
        let (mut all, mut buffer, mut span) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = self.places().peekable();
        while let Some(first) = places.next() {
            let (start, mut end) = (first.start, first.end);
            span.clear();
            span.push(first);
            while let Some(next) =
                places.next_if(|next| next.start - end <= GAP_BYTES && next.end - start <= SPAN_BYTES)
            {
                span.push(next);
                end = next.end;
            }
            let length = (end - start) as usize;
            if buffer.len() < length {
                buffer.resize(length, 0);
            }
            source.fill_exact_at(start, &mut buffer[..length])?;
            for place in &span {
                if !all.is_empty() || !place.begins_message {
                    all.push(b' ');
                }
                let string = Str::new((place.start - start) as usize, (place.end - start) as usize, place.escaped);
                decode_onto(&mut all, &buffer, string);
            }
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{TextReader, join};
    use super::*;
    use crate::entry::facts::ContentReader;
    use crate::json::scan::Scanner;

    #[test]
    fn texts_are_joined_however_far_apart_they_are() {
        let far = "-".repeat(3 * SPAN_BYTES as usize);
        let blocks = r#"[{"type":"text","text":"b\n"},{"type":"image"},{"text":"","type":"text"},7]"#;
        let contents =
            [r#""a""#, blocks, r#""""#, r#"[{"type":"text","text":""},{"type":"text","text":"\ud83e"}]"#, "7"];
        let (mut file, mut texts, mut joined) = (far.clone(), Texts::default(), Vec::new());
        for content in contents {
            let mut reader = TextReader::default();
            reader.content(&mut Scanner::new(content.as_bytes(), 0)).expect("JSON");
            texts.note(file.len() as u64, &reader.strings);
            join(&mut joined, content.as_bytes(), &reader.strings);
            file = format!("{file}{content}{far}");
        }
        assert_eq!(joined, b"a b\n   \xed\xa0\xbe");
        assert_eq!(texts.read(file.as_bytes(), file.len() as u64).expect("read").expect("known"), joined);
        let again = Texts::from_stored(texts.stored().expect("known"));
        assert_eq!(again, texts);
    }

    #[test]
    fn stored_places_outside_the_file_or_cut_off_are_not_read() {
        let file = vec![b'x'; 1300];
        let mut texts = Texts::default();
        texts.note(1000, &[Str::new(0, 300, false)]);
        let read = |texts: &Texts, size| texts.read(&file[..], size).expect("read").map(|text| text.len());
        assert_eq!(read(&texts, 1300), Some(300));
        assert_eq!(read(&texts, 1299), None);
        let (places, end) = texts.stored().expect("known");
        assert_eq!(read(&Texts::from_stored((&places[..3], end)), 1300), Some(0));
        assert_eq!(read(&Texts::from_stored((&[0xff; 30], end)), 1300), Some(0));
        let mut far = Vec::new();
        [1, u64::MAX, u64::MAX, u64::MAX].iter().for_each(|number| push_number(&mut far, *number));
        assert_eq!(read(&Texts::from_stored((&far, end)), 1300), None);
    }

    #[test]
    fn unknown_texts_are_none() {
        assert_eq!(Texts::unknown().read(&b"x"[..], 1).expect("nothing to read"), None);
    }
}

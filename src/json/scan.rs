//! A validating scanner over bytes: finds where values end and hands out the members of objects.
//!
//! Bytes of 0x80 and above are allowed inside strings whatever they are: invalid UTF-8 becomes
//! U+FFFD when the text is decoded, and that never adds or removes a quote or a backslash.

pub use super::str::Str;
use super::str::{BLOCK, special_bytes};

/// Where the text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset in the scanned text.
    pub offset: usize,
}

/// Nesting of the value being skipped: one bit a level, set for objects.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    words: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        self.words[word] = (self.words[word] & !(1 << bit)) | (u64::from(object) << bit);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn in_object(&self) -> bool {
        let top = self.depth - 1;
        self.words[top / 64] >> (top % 64) & 1 == 1
    }
}

/// A position in a text. Cheap to make; reuse one with [`Scanner::reset`] where lines are many.
#[derive(Debug)]
pub struct Scanner<'a> {
    text: &'a [u8],
    pos: usize,
    nesting: Nesting,
}

type Scan<T> = Result<T, JsonError>;

impl<'a> Scanner<'a> {
    /// Starts at `pos` of `text`.
    pub fn new(text: &'a [u8], pos: usize) -> Self {
        Scanner { text, pos, nesting: Nesting::default() }
    }

    /// Moves to `pos`, keeping the allocation of the nesting.
    pub fn reset(&mut self, pos: usize) {
        self.pos = pos;
        self.nesting.depth = 0;
    }

    /// The offset of the next byte.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The scanned text.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    fn fail<T>(&self) -> Scan<T> {
        Err(JsonError { offset: self.pos })
    }

    /// The next byte, if any.
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    /// Passes one byte.
    pub fn step(&mut self) {
        self.pos += 1;
    }

    /// Passes JSON white space.
    pub fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.pos += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Scan<()> {
        if self.peek() == Some(byte) {
            self.pos += 1;
            return Ok(());
        }
        self.fail()
    }

    fn literal(&mut self, word: &[u8]) -> Scan<()> {
        if self.text[self.pos..].starts_with(word) {
            self.pos += word.len();
            return Ok(());
        }
        self.fail()
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.peek() {
            self.pos += 1;
        }
        if self.pos == start { self.fail() } else { Ok(()) }
    }

    fn number(&mut self) -> Scan<()> {
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        if self.peek() == Some(b'0') {
            self.pos += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Reads a string whose opening quote is the next byte.
    pub fn string(&mut self) -> Scan<Str> {
        self.expect(b'"')?;
        let start = self.pos;
        let text = self.text;
        let (mut pos, mut escaped) = (start, false);
        'blocks: while let Some(block) = text.get(pos..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            let mut hits = special_bytes(block);
            while hits != 0 {
                self.pos = pos + hits.trailing_zeros() as usize;
                match text[self.pos] {
                    b'"' => {
                        self.pos += 1;
                        return Ok(Str::new(start, self.pos - 1, escaped));
                    }
                    b'\\' => {
                        escaped = true;
                        self.escape()?;
                        // The rest of the block is known already: texts have an escaped newline in
                        // every other block, and looking at each again would cost more than the text.
                        match self.pos - pos {
                            used @ ..BLOCK => hits &= u32::MAX << used,
                            _ => {
                                pos = self.pos;
                                continue 'blocks;
                            }
                        }
                    }
                    _ => return self.fail(),
                }
            }
            pos += BLOCK;
        }
        self.pos = pos;
        self.end_of_string(start, escaped)
    }

    /// The last bytes of the text, too few for a block.
    fn end_of_string(&mut self, start: usize, mut escaped: bool) -> Scan<Str> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(Str::new(start, self.pos - 1, escaped));
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0x20..) => self.pos += 1,
                _ => return self.fail(),
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        match self.text.get(self.pos + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 2,
            Some(b'u') => {
                let digits = self.text.get(self.pos + 2..self.pos + 6);
                if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                    return self.fail();
                }
                self.pos += 6;
            }
            _ => return self.fail(),
        }
        Ok(())
    }

    fn key(&mut self) -> Scan<Str> {
        self.skip_space();
        let key = self.string()?;
        self.skip_space();
        self.expect(b':')?;
        Ok(key)
    }

    /// Passes one value of any kind and depth.
    pub fn skip_value(&mut self) -> Scan<()> {
        let floor = self.nesting.depth;
        let done = self.skip_nested(floor);
        self.nesting.depth = floor;
        done
    }

    fn skip_nested(&mut self, floor: usize) -> Scan<()> {
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{') => {
                    self.pos += 1;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.pos += 1;
                    } else {
                        self.nesting.push(true);
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.pos += 1;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.pos += 1;
                    } else {
                        self.nesting.push(false);
                        continue;
                    }
                }
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => return self.fail(),
            }
            loop {
                if self.nesting.depth == floor {
                    return Ok(());
                }
                self.skip_space();
                match (self.peek(), self.nesting.in_object()) {
                    (Some(b','), true) => {
                        self.pos += 1;
                        self.key()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.pos += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.pos += 1;
                        self.nesting.pop();
                    }
                    _ => return self.fail(),
                }
            }
        }
    }

    /// Reads the members of an object whose brace is the next byte. `member` gets each key and must
    /// pass the value; the next byte is then the first of the value.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, Str) -> Scan<()>) -> Scan<()> {
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.pos += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            self.skip_space();
            member(self, key)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b'}') => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return self.fail(),
            }
        }
    }

    /// Reads the elements of an array whose bracket is the next byte, as [`Scanner::object`] does.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.pos += 1;
            return Ok(());
        }
        loop {
            self.skip_space();
            element(self)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b']') => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return self.fail(),
            }
        }
    }
}

/// Whether `text` is one JSON value, with white space around it at most.
pub fn is_json(text: &[u8]) -> bool {
    let mut scanner = Scanner::new(text, 0);
    if scanner.skip_value().is_err() {
        return false;
    }
    scanner.skip_space();
    scanner.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nesting_of_a_million_needs_no_stack() {
        let depth = 1_000_000;
        let text = format!("{}7{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_json(text.as_bytes()));
        assert!(!is_json(&text.as_bytes()[..text.len() - 1]));
    }

    #[test]
    fn control_characters_end_a_string_at_every_alignment() {
        for pad in 0..20 {
            let text = format!("\"{}\u{1}{}\"", "x".repeat(pad), "y".repeat(20));
            assert!(!is_json(text.as_bytes()), "{pad}");
            let text = format!("\"{}\\\"{}\u{7f}é\"", "x".repeat(pad), "y".repeat(20));
            assert!(is_json(text.as_bytes()), "{pad}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json_on_any_text(text in r#"[\[\]{}",:0-9a-z\\ .eE+\-tfnu\x00-\x20é]{0,40}"#) {
            let mut de = serde_json::Deserializer::from_str(&text);
            de.disable_recursion_limit();
            let theirs = <&serde_json::value::RawValue as serde::Deserialize>::deserialize(&mut de)
                .is_ok() && de.end().is_ok();
            prop_assert_eq!(is_json(text.as_bytes()), theirs, "{:?}", text);
        }

        #[test]
        fn accepts_what_serde_json_writes(value in any::<(String, i64, f64, Vec<Option<String>>)>()) {
            let text = serde_json::to_string(&value).unwrap_or_default();
            prop_assert!(is_json(text.as_bytes()));
            for cut in 1..text.len() {
                prop_assert!(!is_json(&text.as_bytes()[..cut]));
            }
        }
    }
}

//! The content of strings, where it lies, and finding where it ends.

use wide::u8x32;

/// The content of a JSON string, without its quotes and still escaped.
///
/// Two words and no padding: as three fields with a `bool` every string that was read stalled on the
/// copy of bytes that had just been written one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Str {
    start: usize,
    /// Twice the end, plus one if there is a backslash.
    end_and_escaped: usize,
}

impl Str {
    /// The bytes from `start` to `end`; `escaped` says whether there is a backslash among them.
    pub fn new(start: usize, end: usize, escaped: bool) -> Self {
        Str { start, end_and_escaped: end << 1 | usize::from(escaped) }
    }

    /// First byte after the opening quote.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Offset of the closing quote.
    pub fn end(&self) -> usize {
        self.end_and_escaped >> 1
    }

    /// Whether there is a backslash in it.
    pub fn is_escaped(&self) -> bool {
        self.end_and_escaped & 1 == 1
    }

    /// The escaped bytes between the quotes.
    pub fn raw<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end()]
    }
}

/// Bytes looked at together.
pub(super) const BLOCK: usize = 32;

/// One bit for each byte of a block that is a quote, a backslash or a control character.
#[inline(always)]
pub(super) fn special_bytes(block: &[u8; BLOCK]) -> u32 {
    let bytes = u8x32::new(*block);
    let quote = bytes.simd_eq(u8x32::splat(b'"'));
    let slash = bytes.simd_eq(u8x32::splat(b'\\'));
    let control = bytes.min(u8x32::splat(0x1f)).simd_eq(bytes);
    (quote | slash | control).to_bitmask()
}

/// Bytes at the beginning of `text` that stand for themselves in a JSON string.
pub(super) fn plain_length(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(block) = text.get(length..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        match special_bytes(block) {
            0 => length += BLOCK,
            hits => return length + hits.trailing_zeros() as usize,
        }
    }
    let rest = &text[length..];
    length + rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(rest.len())
}

//! What is stored differently from memory: applied to the text of an entry on its way to disk.
//!
//! Keys that carry a copy of something else go, strings beyond a limit are cut with a notice, images
//! move to the blob store. All else keeps its bytes: the result is the text with some stretches
//! replaced.

mod edits;
mod nodes;

use crate::error::Result;
use memchr::memmem::Finder;
use std::sync::OnceLock;

/// Where the bytes of images go.
pub trait BlobSink {
    /// Stores bytes and returns the hash that refers to them, 64 lower-case hex digits.
    fn put(&self, bytes: &[u8]) -> Result<String>;
}

/// Sizes from which on something is stored differently.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest string, in UTF-16 units, the notice included.
    pub string_utf16: usize,
    /// Shortest base64 text of an image that becomes a blob, in characters.
    pub image_chars: usize,
}

/// The limits of the format.
pub const LIMITS: Limits = Limits { string_utf16: 500_000, image_chars: 1024 };

/// The words without which an entry of ordinary size needs no closer look.
fn finders() -> &'static [Finder<'static>; 4] {
    static FINDERS: OnceLock<[Finder<'static>; 4]> = OnceLock::new();
    FINDERS.get_or_init(|| [b"partialJson", &b"jsonlEvents"[..], b"\"image\"", b"image_url"].map(Finder::new))
}

/// The stored form of an entry's JSON text; nothing if that is the text itself, or if it is not
/// JSON.
pub fn for_disk(text: &[u8], blobs: &dyn BlobSink) -> Result<Option<Vec<u8>>> {
    for_disk_within(text, blobs, LIMITS)
}

/// The same with other limits.
pub fn for_disk_within(text: &[u8], blobs: &dyn BlobSink, limits: Limits) -> Result<Option<Vec<u8>>> {
    // A string has at most as many units as its text has bytes. An escaped letter could spell a key
    // in another way, which no JSON writer in use does; the closer look is only needed for it then.
    let plain = text.len() <= limits.string_utf16
        && !finders().iter().any(|finder| finder.find(text).is_some())
        && !has_escaped_letter(text);
    if plain {
        return Ok(None);
    }
    let Some(nodes) = nodes::parse(text, limits.string_utf16) else { return Ok(None) };
    edits::apply(text, &nodes, blobs, limits)
}

/// Whether an escape of the form `\u00xx` spells a printable ASCII character.
fn has_escaped_letter(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"\\u00").any(|at| matches!(text.get(at + 4), Some(b'2'..=b'7')))
}

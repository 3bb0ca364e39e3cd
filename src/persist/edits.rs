//! The rules, as edits of the text.

use super::nodes::{NONE, Name, Node, Value};
use super::{BlobSink, Limits};
use crate::blob::REF_PREFIX;
use crate::error::Result;
use crate::json::scan::Str;
use crate::json::string::{self, decode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What stands at the end of a string that was cut, as the agents have it.
const NOTICE: &str = "\n\n[Session persistence truncated large content]";

struct Edit {
    start: usize,
    end: usize,
    bytes: Vec<u8>,
}

/// What the closer look found out about an object.
#[derive(Default, Clone, Copy)]
struct Shape {
    is_image: bool,
    has_mime_type: bool,
    data: Option<usize>,
    content: Option<usize>,
    line_count: Option<usize>,
}

struct Rules<'a> {
    text: &'a [u8],
    nodes: &'a [Node],
    blobs: &'a dyn BlobSink,
    limits: Limits,
    shapes: std::collections::HashMap<usize, Shape>,
    edits: Vec<Edit>,
    /// Nodes inside which something changed.
    changed: std::collections::HashSet<usize>,
    /// New text of strings that were cut, by node, for counting their lines.
    cut: std::collections::HashMap<usize, Vec<u8>>,
}

pub(super) fn apply(text: &[u8], nodes: &[Node], blobs: &dyn BlobSink, limits: Limits) -> Result<Option<Vec<u8>>> {
    let mut rules = Rules {
        text,
        nodes,
        blobs,
        limits,
        shapes: Default::default(),
        edits: Vec::new(),
        changed: Default::default(),
        cut: Default::default(),
    };
    rules.look();
    rules.decide()?;
    rules.count_lines();
    Ok(rules.finish())
}

impl Rules<'_> {
    fn is_text(&self, node: usize, value: &[u8]) -> bool {
        matches!(self.nodes[node].value, Value::Text(string) if decode(self.text, string).as_ref() == value)
    }

    /// Notes for each object what its members say of it. Of repeated keys the last counts.
    fn look(&mut self) {
        for (at, node) in self.nodes.iter().enumerate() {
            if node.key.is_none() {
                continue;
            }
            let text = matches!(node.value, Value::Text(_));
            let mut shape = self.shapes.get(&node.parent).copied().unwrap_or_default();
            match node.name {
                Name::Type => shape.is_image = self.is_text(at, b"image"),
                Name::MimeType => shape.has_mime_type = text,
                Name::Data => shape.data = text.then_some(at),
                Name::Content => shape.content = text.then_some(at),
                Name::LineCount => {
                    let number = matches!(self.text[node.start], b'-' | b'0'..=b'9');
                    shape.line_count = number.then_some(at);
                }
                _ => continue,
            }
            self.shapes.insert(node.parent, shape);
        }
    }

    fn decide(&mut self) -> Result<()> {
        let mut dropped_until = 0;
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            if node.start < dropped_until {
                continue;
            }
            if node.key.is_some() && node.name == Name::Transient {
                self.drop_member(at);
                dropped_until = node.end;
                continue;
            }
            if let Value::Text(string) = node.value {
                self.decide_string(at, string)?;
            }
        }
        Ok(())
    }

    fn decide_string(&mut self, at: usize, string: Str) -> Result<()> {
        let node = self.nodes[at];
        let raw = string.raw(self.text);
        if node.name == Name::ImageUrl {
            let url = decode(self.text, string);
            // The blob is read as UTF-8, which has no form for half a surrogate pair.
            if url.starts_with(b"data:image/")
                && memchr::memmem::find(&url, b";base64,").is_some()
                && std::str::from_utf8(&url).is_ok()
            {
                let hash = self.blobs.put(&url)?;
                self.refer(at, &hash);
                return Ok(());
            }
        }
        let shape = self.shapes.get(&node.parent).copied().unwrap_or_default();
        if node.key.is_some() && shape.data == Some(at) && (shape.is_image || shape.has_mime_type) {
            return self.decide_image(at, string, shape);
        }
        if raw.len() <= self.limits.string_utf16 || utf16_units(raw) <= self.limits.string_utf16 {
            return Ok(());
        }
        let mut value = b"\"".to_vec();
        if node.name != Name::Signature {
            // A signature cut short would be refused; none at all is accepted.
            value.extend_from_slice(prefix(raw, self.limits.string_utf16.saturating_sub(NOTICE.len())));
            let mut notice = Vec::new();
            string::write(&mut notice, NOTICE.as_bytes());
            value.extend_from_slice(&notice[1..notice.len() - 1]);
        }
        value.push(b'"');
        self.cut.insert(at, value.clone());
        self.replace(at, value);
        Ok(())
    }

    /// An image in a `content` array becomes a blob if it comes back as the same text. Image data
    /// anywhere else, and data that is no canonical base64, is stored whole: cut it is worthless.
    fn decide_image(&mut self, at: usize, string: Str, shape: Shape) -> Result<()> {
        let block = self.nodes[self.nodes[at].parent];
        let in_content = block.key.is_none() && block.name == Name::Content;
        if !shape.is_image || !in_content {
            return Ok(());
        }
        let data = decode(self.text, string);
        if data.len() < self.limits.image_chars || data.starts_with(REF_PREFIX.as_bytes()) {
            return Ok(());
        }
        if let Ok(bytes) = STANDARD.decode(data.as_ref())
            && STANDARD.encode(&bytes).as_bytes() == data.as_ref()
        {
            let hash = self.blobs.put(&bytes)?;
            self.refer(at, &hash);
        }
        Ok(())
    }

    fn refer(&mut self, at: usize, hash: &str) {
        self.replace(at, format!("\"{REF_PREFIX}{hash}\"").into_bytes());
    }

    fn replace(&mut self, at: usize, bytes: Vec<u8>) {
        let Node { start, end, parent, .. } = self.nodes[at];
        self.edits.push(Edit { start, end, bytes });
        self.mark_changed(parent);
    }

    fn mark_changed(&mut self, mut at: usize) {
        while at != NONE && self.changed.insert(at) {
            at = self.nodes[at].parent;
        }
    }

    /// Removes a member with one of the commas beside it.
    fn drop_member(&mut self, at: usize) {
        let node = self.nodes[at];
        let key = node.key.unwrap_or_default();
        let (mut start, mut end) = (key.start() - 1, node.end);
        let before = self.text[..start].trim_ascii_end();
        let last_edit_end = self.edits.last().map_or(0, |edit| edit.end);
        let after = self.text[end..].iter().position(|byte| !byte.is_ascii_whitespace()).map(|skip| end + skip);
        if before.last() == Some(&b',') && before.len() > last_edit_end {
            start = before.len() - 1;
        } else if let Some(comma) = after.filter(|comma| self.text[*comma] == b',') {
            end = comma + 1;
        }
        self.edits.push(Edit { start, end, bytes: Vec::new() });
        self.mark_changed(node.parent);
    }

    fn count_lines(&mut self) {
        let mut counts = Vec::new();
        for (at, shape) in &self.shapes {
            let (Some(content), Some(line_count)) = (shape.content, shape.line_count) else { continue };
            if !self.changed.contains(at) {
                continue;
            }
            let Value::Text(string) = self.nodes[content].value else { continue };
            let lines = match self.cut.get(&content) {
                Some(literal) => string::parse_literal(literal).unwrap_or_default(),
                None => decode(self.text, string).into_owned(),
            };
            let count = memchr::memchr_iter(b'\n', &lines).count() + 1;
            counts.push((line_count, count));
        }
        for (at, count) in counts {
            let Node { start, end, .. } = self.nodes[at];
            self.edits.push(Edit { start, end, bytes: count.to_string().into_bytes() });
        }
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.edits.is_empty() {
            return None;
        }
        self.edits.sort_by_key(|edit| edit.start);
        let mut out = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for edit in &self.edits {
            out.extend_from_slice(&self.text[at..edit.start]);
            out.extend_from_slice(&edit.bytes);
            at = edit.end;
        }
        out.extend_from_slice(&self.text[at..]);
        Some(out)
    }
}

/// Bytes of the next character or escape, and its UTF-16 units.
fn step(raw: &[u8]) -> (usize, usize) {
    match raw.first() {
        Some(b'\\') if raw.get(1) == Some(&b'u') => (6, 1),
        Some(b'\\') => (2, 1),
        Some(0xf0..) => (4, 2),
        Some(0xe0..) => (3, 1),
        Some(0xc0..) => (2, 1),
        _ => (1, 1),
    }
}

fn utf16_units(raw: &[u8]) -> usize {
    let (mut at, mut units) = (0, 0);
    while at < raw.len() {
        let (bytes, more) = step(&raw[at..]);
        at += bytes;
        units += more;
    }
    units
}

fn escaped_unit(raw: &[u8]) -> Option<u32> {
    let digits = raw.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The escaped text of the first `units` units, not ending in the first half of a pair.
fn prefix(raw: &[u8], units: usize) -> &[u8] {
    let (mut at, mut seen, mut last) = (0, 0, 0);
    while at < raw.len() {
        let (bytes, more) = step(&raw[at..]);
        if seen + more > units {
            break;
        }
        last = at;
        at += bytes;
        seen += more;
    }
    let at = at.min(raw.len());
    match escaped_unit(&raw[last..at]) {
        Some(0xd800..0xdc00) => &raw[..last],
        _ => &raw[..at],
    }
}

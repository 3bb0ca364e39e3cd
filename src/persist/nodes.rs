//! A text as a flat list of the values that a rule may look at. No recursion: depth costs nothing
//! but list entries. Small values under keys that no rule knows are left out, so that long arrays of
//! numbers cost nothing either.

use crate::json::scan::{Scanner, Str};
use crate::json::string::decode;

/// Stands for "no node".
pub(super) const NONE: usize = usize::MAX;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Object,
    Array,
    Text(Str),
    Other,
}

/// What the key of a value means to the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// `partialJson`, `jsonlEvents`
    Transient,
    /// `thinkingSignature`, `thoughtSignature`, `textSignature`
    Signature,
    Type,
    MimeType,
    Data,
    Content,
    LineCount,
    ImageUrl,
    Other,
}

impl Name {
    fn of(text: &[u8], key: Str) -> Name {
        let decoded;
        let name = if key.is_escaped() {
            decoded = decode(text, key);
            decoded.as_ref()
        } else {
            key.raw(text)
        };
        match name {
            b"partialJson" | b"jsonlEvents" => Name::Transient,
            b"thinkingSignature" | b"thoughtSignature" | b"textSignature" => Name::Signature,
            b"type" => Name::Type,
            b"mimeType" => Name::MimeType,
            b"data" => Name::Data,
            b"content" => Name::Content,
            b"lineCount" => Name::LineCount,
            b"image_url" => Name::ImageUrl,
            _ => Name::Other,
        }
    }
}

/// One value with its place in the text and in the tree. A node comes after its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub value: Value,
    pub start: usize,
    pub end: usize,
    pub parent: usize,
    /// Its key, if the parent is an object.
    pub key: Option<Str>,
    /// Meaning of its key, or of the key that the arrays around it stand under.
    pub name: Name,
}

/// Reads a text. Strings of more than `long_bytes` are always in the list. `None` if the text is not
/// one JSON value.
pub(super) fn parse(text: &[u8], long_bytes: usize) -> Option<Vec<Node>> {
    if !crate::json::scan::is_json(text) {
        return None;
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut scanner = Scanner::new(text, 0);
    let mut open: Vec<usize> = Vec::new();
    // The text is known to be valid, so every step finds what it expects.
    loop {
        scanner.skip_space();
        let parent = open.last().copied().unwrap_or(NONE);
        match scanner.peek() {
            None => return Some(nodes),
            Some(b',') => {
                scanner.step();
                continue;
            }
            Some(b'}' | b']') => {
                scanner.step();
                let closed = open.pop()?;
                nodes[closed].end = scanner.pos();
                continue;
            }
            Some(_) => {}
        }
        let mut key = None;
        let mut name = Name::Other;
        if parent != NONE && nodes[parent].value == Value::Object {
            let string = scanner.string().ok()?;
            key = Some(string);
            name = Name::of(text, string);
            scanner.skip_space();
            scanner.step();
            scanner.skip_space();
        } else if parent != NONE {
            name = nodes[parent].name;
        }
        let start = scanner.pos();
        let value = match scanner.peek()? {
            opening @ (b'{' | b'[') => {
                scanner.step();
                open.push(nodes.len());
                if opening == b'{' { Value::Object } else { Value::Array }
            }
            b'"' => Value::Text(scanner.string().ok()?),
            _ => {
                scanner.skip_value().ok()?;
                Value::Other
            }
        };
        let matters = match value {
            Value::Object | Value::Array => true,
            Value::Text(string) => name != Name::Other || string.raw(text).len() > long_bytes,
            Value::Other => name != Name::Other,
        };
        if matters {
            nodes.push(Node { value, start, end: scanner.pos(), parent, key, name });
        }
    }
}

//! A text as a flat list of values. No recursion: depth costs nothing but list entries.

use crate::json::scan::{Scanner, Str};

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

/// One value with its place in the text and in the tree. A node comes after its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub value: Value,
    pub start: usize,
    pub end: usize,
    pub parent: usize,
    /// Its key, if the parent is an object.
    pub key: Option<Str>,
}

/// Reads a text. `None` if it is not one JSON value.
pub(super) fn parse(text: &[u8]) -> Option<Vec<Node>> {
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
        if parent != NONE && nodes[parent].value == Value::Object {
            key = Some(scanner.string().ok()?);
            scanner.skip_space();
            scanner.step();
            scanner.skip_space();
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
        nodes.push(Node { value, start, end: scanner.pos(), parent, key });
    }
}

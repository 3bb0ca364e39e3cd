//! What a list shows of one file.

use super::FoundFile;
use crate::entry::facts::Facts;
use crate::entry::kind::{Kind, Role};
use crate::error::{Error, Result};
use crate::json::scan::Scanner;
use crate::json::string::decode;
use crate::log::line::{Piece, pieces};
use crate::log::read::{FileSource, Source, lines};
use std::path::Path;

/// Header of a file, as far as lists need it. Strings are WTF-8.
#[derive(Debug, Clone, Default)]
pub struct HeaderInfo {
    /// Session id.
    pub id: Vec<u8>,
    /// Working directory.
    pub cwd: Option<Vec<u8>>,
    /// Title of the title line, else of the header.
    pub title: Option<Vec<u8>>,
    /// Session id or path of the parent, as it stands there.
    pub parent_session: Option<Vec<u8>>,
    /// Time of creation as it stands there.
    pub timestamp: Option<Vec<u8>>,
    /// Text of the first user message, if it was asked for.
    pub first_prompt: Option<Vec<u8>>,
}

/// A file in a list.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Its header.
    pub header: HeaderInfo,
    /// `shortSummary` of the last compaction.
    pub short_summary: Option<Vec<u8>>,
    /// Number of messages of any role.
    pub message_count: u64,
}

/// Walks over the records of a file that come after its header.
fn walk<S: Source + ?Sized>(
    source: &S,
    end: u64,
    mut visit: impl FnMut(&[u8], &Facts) -> bool,
) -> Result<Option<HeaderInfo>> {
    let mut header: Option<HeaderInfo> = None;
    let mut title_line = None;
    lines(source, 0, end, |line| {
        let mut go_on = true;
        pieces(line.bytes, line.offset == 0, |piece| {
            let Piece::Record(facts) = piece else { return };
            let text = line.bytes;
            let value = |field: crate::entry::facts::Field| field.text().map(|at| decode(text, at).into_owned());
            if header.is_some() {
                go_on &= visit(text, &facts);
            } else if facts.kind == Kind::Title && title_line.is_none() {
                title_line = value(facts.title);
            } else if let (Kind::Session, Some(id)) = (facts.kind, value(facts.id)) {
                header = Some(HeaderInfo {
                    id,
                    cwd: value(facts.cwd),
                    title: title_line.take().or_else(|| value(facts.title)),
                    parent_session: value(facts.parent_session),
                    timestamp: value(facts.timestamp),
                    first_prompt: None,
                });
                go_on &= visit(b"", &Facts::default());
            }
        });
        Ok(go_on)
    })?;
    Ok(header)
}

fn open(path: &Path) -> Result<(std::fs::File, u64)> {
    let file = std::fs::File::open(path).map_err(|error| Error::io("open", path, error))?;
    let size = crate::store::stat_open(&file, path)?.len();
    Ok((file, size))
}

/// Reads a file up to its header, or with `prompt` up to its first user message.
pub fn header_info(found: &FoundFile, prompt: bool) -> Result<Option<HeaderInfo>> {
    let (file, size) = open(&found.path)?;
    let source = FileSource { file: &file, path: &found.path };
    let mut first_prompt = None;
    let header = walk(&source, size, |text, facts| {
        if prompt && facts.role == Role::User {
            let text = message_text(text, facts);
            first_prompt = (!text.is_empty()).then_some(text);
        }
        prompt && first_prompt.is_none()
    })?;
    Ok(header.map(|header| HeaderInfo { first_prompt, ..header }))
}

/// Reads a whole file for a list.
pub fn summarize(found: &FoundFile) -> Result<Option<Summary>> {
    let (file, size) = open(&found.path)?;
    summarize_source(&FileSource { file: &file, path: &found.path }, size)
}

/// Reads a whole text for a list.
pub fn summarize_source<S: Source + ?Sized>(source: &S, end: u64) -> Result<Option<Summary>> {
    let mut summary = Summary::default();
    let mut first_prompt = None;
    let header = walk(source, end, |text, facts| {
        match facts.kind {
            Kind::Message if facts.message.is_some() && !is_falsy(text, facts) => {
                summary.message_count += 1;
                if first_prompt.is_none() && facts.role == Role::User {
                    let prompt = message_text(text, facts);
                    first_prompt = (!prompt.is_empty()).then_some(prompt);
                }
            }
            Kind::Compaction => {
                if let Some(short) = facts.short_summary.text() {
                    summary.short_summary = Some(decode(text, short).into_owned());
                }
            }
            _ => {}
        }
        true
    })?;
    Ok(header.map(|header| Summary { header: HeaderInfo { first_prompt, ..header }, ..summary }))
}

/// A message of `null`, `false`, `0` or `""` is none.
fn is_falsy(text: &[u8], facts: &Facts) -> bool {
    let message = facts.message.clone().and_then(|span| text.get(span)).unwrap_or_default();
    matches!(message, b"null" | b"false" | b"0" | b"\"\"" | b"-0")
}

/// Text of all user and assistant messages, joined by spaces.
pub fn messages_text(path: &Path) -> Result<Vec<u8>> {
    let (file, size) = open(path)?;
    messages_text_source(&FileSource { file: &file, path }, size)
}

/// The same for a text.
pub fn messages_text_source<S: Source + ?Sized>(source: &S, end: u64) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    walk(source, end, |text, facts| {
        if facts.kind == Kind::Message && matches!(facts.role, Role::User | Role::Assistant) {
            let text = message_text(text, facts);
            if !text.is_empty() {
                if !all.is_empty() {
                    all.push(b' ');
                }
                all.extend_from_slice(&text);
            }
        }
        true
    })?;
    Ok(all)
}

/// The text of a message: its content if that is a string, else its text blocks joined by spaces.
fn message_text(text: &[u8], facts: &Facts) -> Vec<u8> {
    let Some(content) = facts.content.clone() else { return Vec::new() };
    let mut scanner = Scanner::new(text, content.start);
    match scanner.peek() {
        Some(b'"') => scanner.string().map(|string| decode(text, string).into_owned()).unwrap_or_default(),
        Some(b'[') => {
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            // The content was validated with its line, so this cannot fail half way.
            let _ = scanner.array(|scanner| {
                if scanner.peek() != Some(b'{') {
                    return scanner.skip_value();
                }
                let (mut is_text, mut value) = (false, None);
                scanner.object(|scanner, key| {
                    let key = decode(text, key);
                    let string = if scanner.peek() == Some(b'"') { Some(scanner.string()?) } else { None };
                    match (key.as_ref(), string) {
                        (b"type", string) => {
                            is_text = string.is_some_and(|kind| decode(text, kind).as_ref() == b"text")
                        }
                        (b"text", string) => value = string,
                        _ => {}
                    }
                    if string.is_none() { scanner.skip_value() } else { Ok(()) }
                })?;
                if let Some(value) = value.filter(|_| is_text) {
                    blocks.push(decode(text, value).into_owned());
                }
                Ok(())
            });
            blocks.join(&b' ')
        }
        _ => Vec::new(),
    }
}

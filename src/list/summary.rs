//! What a list shows of one file.

use super::text::{TextReader, content_text, join};
use super::texts::Texts;
use crate::entry::facts::{ContentReader, Facts, Field};
use crate::entry::kind::{Kind, Role};
use crate::error::Result;
use crate::json::scan::Scanner;
use crate::json::string::decode;
use crate::log::line::{Piece, pieces, pieces_with};
use crate::log::read::{Line, Source, lines};

/// Header of a file, as far as lists need it. Strings are WTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

/// A file in a list, as far as it has been read: more lines may be added to it.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Its header; a file without one is no session.
    pub header: Option<HeaderInfo>,
    /// `shortSummary` of the last compaction.
    pub short_summary: Option<Vec<u8>>,
    /// Number of messages of any role.
    pub message_count: u64,
    /// Where the texts of its user and assistant messages are.
    pub texts: Texts,
    /// Offset and length of the content that the first prompt is the text of.
    pub prompt_place: Option<(u64, u64)>,
    /// Everything before this byte is in it.
    pub read: u64,
    /// The last line read has no LF yet: what follows may continue it.
    pub open: bool,
    pub(super) title_line: Option<Vec<u8>>,
}

/// Finds the header, and what stands in front of it.
fn header_of(text: &[u8], facts: &Facts, title_line: &mut Option<Vec<u8>>) -> Option<HeaderInfo> {
    let value = |field: Field| field.text().map(|at| decode(text, at).into_owned());
    match (facts.kind, value(facts.id)) {
        (Kind::Title, _) if title_line.is_none() => {
            *title_line = value(facts.title);
            None
        }
        (Kind::Session, Some(id)) => Some(HeaderInfo {
            id,
            cwd: value(facts.cwd),
            title: title_line.take().or_else(|| value(facts.title)),
            parent_session: value(facts.parent_session),
            timestamp: value(facts.timestamp),
            first_prompt: None,
        }),
        _ => None,
    }
}

impl Summary {
    /// Reads on from where it stands up to `end`.
    pub fn read_on<S: Source + ?Sized>(&mut self, source: &S, end: u64) -> Result<()> {
        let mut reader = TextReader::default();
        lines(source, self.read, end, |line| {
            self.line(&line, &mut reader);
            Ok(true)
        })
    }

    fn line(&mut self, line: &Line<'_>, reader: &mut TextReader) {
        let text = line.bytes;
        pieces_with(text, line.offset == 0, reader, |reader, piece| {
            let Piece::Record(facts) = piece else { return };
            match &mut self.header {
                Some(header) => match facts.kind {
                    Kind::Message if facts.message.is_some() && !is_falsy(text, &facts) => {
                        self.message_count += 1;
                        if let Some(content) = facts.content.clone()
                            && matches!(facts.role, Role::User | Role::Assistant)
                        {
                            let place = (line.offset + content.start as u64, content.len() as u64);
                            self.texts.note(line.offset, &reader.strings);
                            if header.first_prompt.is_none() && facts.role == Role::User {
                                header.first_prompt = Some(content_text(text, content)).filter(|text| !text.is_empty());
                                self.prompt_place = Some(place);
                            }
                        }
                    }
                    Kind::Compaction => {
                        if let Some(short) = facts.short_summary.text() {
                            self.short_summary = Some(decode(text, short).into_owned());
                        }
                    }
                    _ => {}
                },
                None => self.header = header_of(text, &facts, &mut self.title_line),
            }
        });
        self.read = line.offset + text.len() as u64 + u64::from(line.ended);
        self.open = !line.ended;
    }
}

/// A message of `null`, `false`, `0` or `""` is none.
fn is_falsy(text: &[u8], facts: &Facts) -> bool {
    let message = facts.message.clone().and_then(|span| text.get(span)).unwrap_or_default();
    matches!(message, b"null" | b"false" | b"0" | b"\"\"" | b"-0")
}

/// Walks over the records of a source that come after its header, until `visit` returns `false`.
fn walk<S: Source + ?Sized>(
    source: &S,
    end: u64,
    mut visit: impl FnMut(&[u8], &Facts) -> bool,
) -> Result<Option<HeaderInfo>> {
    let (mut header, mut title_line) = (None, None);
    lines(source, 0, end, |line| {
        let mut go_on = true;
        pieces(line.bytes, line.offset == 0, |piece| {
            let Piece::Record(facts) = piece else { return };
            if header.is_some() {
                go_on &= visit(line.bytes, &facts);
            } else {
                header = header_of(line.bytes, &facts, &mut title_line);
                go_on &= header.is_none() || visit(b"", &Facts::default());
            }
        });
        Ok(go_on)
    })?;
    Ok(header)
}

/// Reads up to the header, or with `prompt` up to the first user message.
pub fn header_info<S: Source + ?Sized>(source: &S, end: u64, prompt: bool) -> Result<Option<HeaderInfo>> {
    let mut first_prompt = None;
    let header = walk(source, end, |text, facts| {
        if prompt
            && facts.kind == Kind::Message
            && facts.role == Role::User
            && let Some(content) = facts.content.clone()
        {
            first_prompt = Some(content_text(text, content)).filter(|text| !text.is_empty());
        }
        prompt && first_prompt.is_none()
    })?;
    Ok(header.map(|header| HeaderInfo { first_prompt, ..header }))
}

/// Reads a whole session for a list; `None` if it is none.
pub fn summarize<S: Source + ?Sized>(source: &S, end: u64) -> Result<Option<Summary>> {
    let mut summary = Summary::default();
    summary.read_on(source, end)?;
    Ok(Some(summary).filter(|summary| summary.header.is_some()))
}

/// Text of all user and assistant messages, joined by spaces.
pub fn messages_text<S: Source + ?Sized>(source: &S, end: u64) -> Result<Vec<u8>> {
    let (mut all, mut reader) = (Vec::new(), TextReader::default());
    walk(source, end, |text, facts| {
        if let Some(content) = facts.content.clone()
            && facts.kind == Kind::Message
            && matches!(facts.role, Role::User | Role::Assistant)
            // The content was validated with its line, so this cannot fail.
            && reader.content(&mut Scanner::new(text, content.start)).is_ok()
        {
            join(&mut all, text, &reader.strings);
        }
        true
    })?;
    Ok(all)
}

//! The title line that newer agents put before the header.

use super::Session;
use crate::entry::facts::Facts;
use crate::entry::kind::Kind;
use crate::error::{Error, Result};
use crate::json::edit::{Member, set_members};
use crate::json::scan::Scanner;
use crate::json::string::{self, decode};
use crate::persist::BlobSink;
use crate::store::{self, FileId};
use std::borrow::Cow;

/// Length of the line as agents write it, without its LF.
const SLOT: usize = 255;

/// A line without anything in it.
const FRESH: &[u8] = b"{\"type\":\"title\",\"v\":1}";

/// A line that names the session, before its header.
#[derive(Debug, Clone)]
pub struct TitleLine {
    /// Where its object starts.
    pub offset: u64,
    /// Length of the object, or of the line if that is as agents write it.
    pub length: u64,
    /// Nothing else is on the line.
    alone: bool,
    /// The title, in WTF-8.
    pub title: Vec<u8>,
    /// `auto` or `user`, if the line says so.
    pub source: Option<Vec<u8>>,
}

impl TitleLine {
    /// The object of `facts` on a line at `line_offset`, if it is a title.
    pub(super) fn of(text: &[u8], facts: &Facts, line_offset: u64, ended: bool) -> Option<TitleLine> {
        let title = facts.title.text().filter(|_| facts.kind == Kind::Title)?;
        let span = facts.span.clone();
        let rest = text.get(span.end..).unwrap_or_default();
        let whole = span.start == 0 && text.len() == SLOT && rest.iter().all(|byte| *byte == b' ');
        Some(TitleLine {
            offset: line_offset + span.start as u64,
            length: if whole { SLOT } else { span.len() } as u64,
            alone: ended && span.start == 0 && (whole || rest.is_empty()),
            title: decode(text, title).into_owned(),
            source: facts.source.text().map(|source| decode(text, source).into_owned()),
        })
    }

    /// Another title may be written over the line: its length is the one that agents rely on.
    fn is_slot(&self) -> bool {
        self.alone && self.length == SLOT as u64
    }

    /// Takes over what a rewrite made of it.
    pub(super) fn become_text(&mut self, text: &[u8]) {
        let read = Facts::scan(&mut Scanner::new(text, 0)).ok();
        if let Some(read) = read.and_then(|facts| TitleLine::of(text, &facts, self.offset, self.alone)) {
            *self = read;
        }
    }
}

impl Session {
    /// Writes a title into the slot of the title line. Returns whether it fitted; a title that is
    /// too long is cut there and belongs into the header whole. A line that is no slot is left to a
    /// rewrite. `updated_at` is an ISO time.
    pub fn write_title_line(&mut self, title: &[u8], updated_at: &str, blobs: &dyn BlobSink) -> Result<bool> {
        let (_lock, file, size) = self.begin_write(true)?;
        self.drain(&file, size, blobs)?;
        let Some(line) = self.title_line.clone() else {
            return Err(Error::InvalidArgument { reason: "the session has no title line".into() });
        };
        if !line.is_slot() {
            return Ok(false);
        }
        let old = self.read_span(line.offset, line.offset + line.length)?;
        let (new, fitted, kept) = fill_slot(&old, title, Some(updated_at));
        let path = self.disk()?.path.clone();
        // A descriptor for appending writes at the end whatever the position.
        let slot = store::open_to_write(&path)?;
        let same = FileId::of(&store::stat_open(&slot, &path)?) == FileId::of(&store::stat_open(&file, &path)?);
        if !same {
            return Err(Error::Conflict { path, reason: "the file was replaced by somebody else".into() });
        }
        store::write_all_at(&slot, &new, line.offset).map_err(|error| Error::io("pwrite", &path, error))?;
        self.disk()?.unsynced_data = true;
        self.title_line = Some(TitleLine { title: kept, source: Some(b"user".to_vec()), ..line });
        Ok(fitted)
    }

    /// What a rewrite that sets the title to `value`, a JSON string, makes of the title line: its place
    /// and its text. Without it the old title would go on to override the new one.
    pub(super) fn title_line_edit(&mut self, value: &[u8]) -> Result<Option<(u64, u64, Vec<u8>)>> {
        let Some(line) = self.title_line.clone() else { return Ok(None) };
        let Ok(title) = Scanner::new(value, 0).string() else { return Ok(None) };
        let title = decode(value, title);
        if title == line.title {
            return Ok(None);
        }
        let end = line.offset + line.length;
        let old = self.read_span(line.offset, end)?;
        // In a line that never was a slot what is not known has its place.
        let text = match line.length > SLOT as u64 {
            true => renamed(&old, &title, None, 0),
            false => fill_slot(&old, &title, None).0,
        };
        Ok(Some((line.offset, end, text)))
    }
}

/// The line with another title and so many spaces in its padding.
fn renamed(old: &[u8], title: &[u8], updated_at: Option<&str>, pad: usize) -> Vec<u8> {
    let literal = |text: &[u8]| {
        let mut out = Vec::new();
        string::write(&mut out, text);
        out
    };
    let mut members: Vec<Member<'_>> = vec![
        ("title", Some(Cow::Owned(literal(title)))),
        ("source", Some(Cow::Borrowed(b"\"user\""))),
        ("pad", Some(Cow::Owned(literal(&vec![b' '; pad])))),
    ];
    if let Some(time) = updated_at {
        members.push(("updatedAt", Some(Cow::Owned(literal(time.as_bytes())))));
    }
    let fresh = || set_members(FRESH, &members).unwrap_or_default();
    set_members(old.trim_ascii_end(), &members).unwrap_or_else(fresh)
}

/// The line with another title, padded to its size; whether the whole title fitted; and the title as
/// it stands there.
fn fill_slot(old: &[u8], title: &[u8], updated_at: Option<&str>) -> (Vec<u8>, bool, Vec<u8>) {
    // What is longer than the line cannot fit, and is not tried character by character.
    let most = title.len().min(SLOT);
    let boundary = |at: &usize| title.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let mut kept = title[..(0..=most).rev().find(boundary).unwrap_or_default()].to_vec();
    let mut fitted = kept.len() == title.len();
    loop {
        if let Some(pad) = SLOT.checked_sub(renamed(old, &kept, updated_at, 0).len()) {
            return (renamed(old, &kept, updated_at, pad), fitted, kept);
        }
        fitted = false;
        let cut = kept.iter().rposition(|byte| byte & 0xc0 != 0x80);
        kept.truncate(cut.unwrap_or_default());
        if cut.is_none() {
            // Foreign members fill the slot: start it anew.
            return fill_slot(FRESH, title, updated_at);
        }
    }
}

//! From bytes to a session: finds the header, indexes the entries, reports what cannot be read.

use super::{Header, TitleLine};
use crate::entry::facts::{Facts, Field};
use crate::entry::id::content_hash;
use crate::entry::kind::{Kind, Role};
use crate::entry::usage::Usage;
use crate::error::{Error, Result};
use crate::index::{EntryIndex, EntryRecord, Index, NONE, Place, flag};
use crate::json::string::decode;
use crate::log::line::{Piece, pieces};
use crate::log::read::{Source, lines};
use std::collections::HashMap;
use std::path::Path;

/// Most details kept of skipped lines; the count goes on.
const SKIPPED_KEPT: usize = 1000;

/// Why an object that no agent takes for an entry is none.
pub const NO_ID: &str = "no entry: no id";

/// A stretch of the file that is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// 1-based number of its line.
    pub line: u64,
    /// Byte offset in the file.
    pub offset: u64,
    /// Why it was skipped.
    pub reason: &'static str,
}

/// What reading a file showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Lines that are not blank, the header included.
    pub lines: u64,
    /// Stretches that are no entries; at most the first 1,000.
    pub skipped: Vec<Skipped>,
    /// How many there are in all.
    pub skipped_count: u64,
    /// Byte offset of a last line that is cut off, if there is one.
    pub torn_tail: Option<u64>,
}

impl LoadReport {
    fn skip(&mut self, line: u64, offset: u64, reason: &'static str) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_KEPT {
            self.skipped.push(Skipped { line, offset, reason });
        }
    }
}

/// How far a file has been read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Everything before this byte is indexed.
    pub indexed: u64,
    /// Physical lines begun before it.
    pub line: u64,
    /// The byte before `indexed` belongs to a line without its LF.
    pub open: bool,
}

/// Reads a session's lines, all at once or as they grow.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The header, once it has been met.
    pub header: Option<Header>,
    /// The title line before it.
    pub title_line: Option<TitleLine>,
    /// The entries.
    pub index: Index,
    /// Sums over the messages.
    pub usage: Usage,
    /// What was met on the way.
    pub report: LoadReport,
    /// How far the reading came.
    pub progress: Progress,
    /// Version 1: entry at each position of the file, counting every non-blank line.
    positions: Vec<EntryIndex>,
    /// Where the lines with usage are that share an id, for ids that were met again.
    repeats: HashMap<Vec<u8>, Vec<(u64, u32)>>,
    /// Entries that were there before this reading began.
    known: usize,
}

/// Reads a header from its JSON text.
pub fn parse_header(text: &[u8]) -> Option<Header> {
    let mut found = None;
    pieces(text, false, |piece| {
        if let Piece::Record(facts) = piece
            && found.is_none()
            && facts.kind == Kind::Session
        {
            found = header_from(text, &facts, 0);
        }
    });
    found
}

fn header_from(text: &[u8], facts: &Facts, line_offset: u64) -> Option<Header> {
    let id = facts.id.text()?;
    let offset = line_offset + facts.span.start as u64;
    Some(Header {
        text: text[facts.span.clone()].to_vec(),
        id: decode(text, id).into_owned(),
        span: offset..offset + facts.span.len() as u64,
        version: facts.version.unwrap_or(1.0),
    })
}

impl Loaded {
    /// Goes on reading an already loaded session.
    pub fn resume(header: Header, index: Index, usage: Usage, report: LoadReport, progress: Progress) -> Self {
        let known = index.len();
        let header = Some(header);
        Loaded { header, index, usage, report, progress, known, ..Loaded::default() }
    }

    /// Reads from where it stands up to `end`. A last line without LF that is not complete is left
    /// for the next time.
    pub fn read<S: Source + ?Sized>(&mut self, source: &S, end: u64, flags: u16) -> Result<()> {
        self.report.torn_tail = None;
        let from = self.progress.indexed;
        lines(source, from, end, |line| {
            self.line(source, line.bytes, line.offset, line.ended, flags)?;
            Ok(true)
        })?;
        self.index.settle();
        Ok(())
    }

    fn line<S: Source + ?Sized>(
        &mut self,
        source: &S,
        bytes: &[u8],
        offset: u64,
        ended: bool,
        flags: u16,
    ) -> Result<()> {
        let continued = std::mem::take(&mut self.progress.open);
        let number = self.progress.line + u64::from(!continued);
        let (mut any, mut torn, mut good_end) = (continued, None, 0usize);
        let mut failure = None;
        pieces(bytes, offset == 0, |piece| match piece {
            Piece::Bad { start, reason, .. } if ended || torn.is_some() => {
                any = true;
                self.positions.push(NONE);
                self.report.skip(number, offset + start as u64, reason.as_str());
            }
            Piece::Bad { start, .. } => torn = Some(start),
            Piece::Record(facts) => {
                any = true;
                // A cut record in front of a complete one on an open line is not torn: it is over.
                if let Some(start) = torn.take() {
                    self.report.skip(number, offset + start as u64, "a cut record in front of a complete one");
                }
                good_end = facts.span.end;
                let added = self.record(source, bytes, &facts, Position { offset, number, flags, ended });
                failure = failure.take().or(added.err());
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        self.report.lines += u64::from(any && !continued);
        self.progress.line = number;
        if ended {
            self.progress.indexed = offset + bytes.len() as u64 + 1;
        } else if let Some(start) = torn {
            self.report.torn_tail = Some(offset + start as u64);
            self.progress.indexed = offset + good_end as u64;
            self.progress.open = good_end > 0 || continued;
            self.progress.line -= u64::from(!self.progress.open);
        } else if any {
            self.progress.indexed = offset + good_end as u64;
            self.progress.open = true;
        } else {
            self.progress.line -= u64::from(!continued);
            self.progress.open = continued;
        }
        Ok(())
    }

    fn record<S: Source + ?Sized>(&mut self, source: &S, text: &[u8], facts: &Facts, at: Position) -> Result<()> {
        let offset = at.offset + facts.span.start as u64;
        if facts.kind == Kind::Session {
            if self.header.is_none() {
                self.header = header_from(text, facts, at.offset);
                if self.header.is_some() {
                    self.positions.push(NONE);
                    return Ok(());
                }
            }
            self.positions.push(NONE);
            self.report.skip(at.number, offset, "a second header");
            return Ok(());
        }
        let Some(version) = self.header.as_ref().map(|header| header.version) else {
            self.before_header(text, facts, at);
            return Ok(());
        };
        if version < 2.0 {
            return self.version_1(source, text, facts, at);
        }
        let Some(id) = facts.id.text() else {
            // The title line may also follow the header in files put together by other tools.
            self.report.skip(at.number, offset, NO_ID);
            return Ok(());
        };
        let id = decode(text, id);
        let parent = facts.parent_id.text().map(|parent| decode(text, parent));
        let mut flags = at.flags;
        if version < 3.0 && facts.role == Role::HookMessage {
            flags |= flag::MIGRATED;
        }
        self.add(source, text, facts, offset, &id, parent.as_deref(), flags)
    }

    fn before_header(&mut self, text: &[u8], facts: &Facts, at: Position) {
        self.positions.push(NONE);
        match TitleLine::of(text, facts, at.offset, at.ended).filter(|_| self.title_line.is_none()) {
            Some(line) => self.title_line = Some(line),
            None => {
                let offset = at.offset + facts.span.start as u64;
                self.report.skip(at.number, offset, "before the header");
            }
        }
    }

    fn version_1<S: Source + ?Sized>(&mut self, source: &S, text: &[u8], facts: &Facts, at: Position) -> Result<()> {
        let offset = at.offset + facts.span.start as u64;
        let position = self.positions.len() as u64;
        let line = &text[facts.span.clone()];
        let mut id = content_hash(position, line);
        while self.index.is_taken(id) {
            id = id.wrapping_add(1);
        }
        let id = format!("{id:08x}");
        let parent = (self.index.len() as u32).checked_sub(1).map(|last| self.index.id(last));
        let index = self.index.len() as u32;
        self.add(source, text, facts, offset, id.as_bytes(), parent.as_deref(), at.flags | flag::MIGRATED)?;
        if let (Kind::Compaction, Some(kept)) = (facts.kind, facts.first_kept_index) {
            let earlier = self.positions.get(kept as usize).filter(|_| kept >= 0.0 && kept.fract() == 0.0);
            let kept_id = earlier.filter(|kept| **kept != NONE).map(|kept| self.index.id(*kept));
            let aux = kept_id.map_or(NONE, |id| self.index.intern(&id));
            if let Some(record) = self.index.get_mut(index) {
                record.aux = aux;
            }
        }
        self.positions.push(index);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn add<S: Source + ?Sized>(
        &mut self,
        source: &S,
        text: &[u8],
        facts: &Facts,
        offset: u64,
        id: &[u8],
        parent: Option<&[u8]>,
        flags: u16,
    ) -> Result<()> {
        let line = &text[facts.span.clone()];
        let namesake = facts.usage.and_then(|_| self.index.find(id)).and_then(|at| self.index.get(at)).copied();
        let last = (self.index.len() as u32).checked_sub(1);
        let place = Place { offset, length: line.len() as u32, id, parent, parent_hint: last, flags };
        let index = self.index.push(text, facts, place);
        if flags & flag::MIGRATED != 0
            && let Some(record) = self.index.get_mut(index)
        {
            record.flags &= !flag::REGULAR;
        }
        if let Some(usage) = &facts.usage {
            // A line that was written twice (a retry, a merge of two copies) was paid for once.
            let again = match namesake {
                Some(earlier) => self.is_repeat(source, id, earlier, line, offset)?,
                None => false,
            };
            if !again {
                self.usage.add(usage);
            }
        }
        Ok(())
    }

    /// Whether one of the earlier lines with this id has the same bytes.
    fn is_repeat<S: Source + ?Sized>(
        &mut self,
        source: &S,
        id: &[u8],
        namesake: EntryRecord,
        line: &[u8],
        offset: u64,
    ) -> Result<bool> {
        let (index, known) = (&self.index, self.known);
        let places = self.repeats.entry(id.to_vec()).or_insert_with(|| {
            // Among the entries of earlier readings there may be more of this name than the last.
            let before = index.records()[..known].iter().enumerate().filter(|(at, _)| index.has_id(*at as u32, id));
            let mut places: Vec<_> = before.map(|(_, record)| (record.offset, record.length)).collect();
            if !places.contains(&(namesake.offset, namesake.length)) {
                places.push((namesake.offset, namesake.length));
            }
            places
        });
        let mut again = false;
        for (at, length) in places.iter().filter(|(at, length)| *length as usize == line.len() && *at < offset) {
            again |= source.read_exact_at(*at, *length as usize)? == line;
        }
        places.push((offset, line.len() as u32));
        Ok(again)
    }

    /// The error for a file without a header; `None` if it holds nothing but white space.
    pub fn no_header<S: Source + ?Sized>(&self, source: &S, end: u64, path: &Path) -> Result<Option<Error>> {
        let mut found = None;
        let mut number = 0;
        lines(source, 0, end, |line| {
            number += 1;
            let text = if line.offset == 0 {
                line.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line.bytes)
            } else {
                line.bytes
            };
            if text.iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
            let mut reason = "NUL bytes instead of a session header";
            pieces(line.bytes, line.offset == 0, |piece| {
                reason = match piece {
                    Piece::Record(facts) if facts.kind == Kind::Session && facts.id == Field::Absent => {
                        "a session header without an id"
                    }
                    Piece::Record(_) => "not a session header, and none follows",
                    Piece::Bad { .. } => "not valid JSON, and no session header follows",
                };
            });
            found = Some(Error::Corrupt {
                path: path.to_path_buf(),
                line: number,
                offset: line.offset,
                reason: reason.into(),
            });
            Ok(false)
        })?;
        Ok(found)
    }
}

#[derive(Clone, Copy)]
struct Position {
    offset: u64,
    number: u64,
    flags: u16,
    ended: bool,
}

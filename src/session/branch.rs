//! A new session from one path of an old one.

use super::disk::DiskLog;
use super::load::{LoadReport, Progress, parse_header};
use super::{Body, Header, Session};
use crate::entry::facts::Facts;
use crate::entry::kind::Kind;
use crate::entry::timestamp;
use crate::entry::usage::Usage;
use crate::error::{Error, Result};
use crate::index::{EntryIndex, NONE, Place, UNWRITTEN, flag};
use crate::json::edit::set_members;
use crate::json::scan::Scanner;
use crate::json::string;
use crate::persist::{self, BlobSink};
use crate::store;
use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// A session made from a path, and what became of the old entries.
#[derive(Debug)]
pub struct Branched {
    /// The new session.
    pub session: Session,
    /// The old numbers of the entries that were taken over, in their new order.
    pub taken: Vec<EntryIndex>,
    /// Those (by new number) that hang on another parent now.
    pub relinked: Vec<EntryIndex>,
    /// Compactions (by new number) whose first kept entry was left out, with the one that takes its place.
    pub kept: Vec<[EntryIndex; 2]>,
    /// The new label entries' JSON texts, in order.
    pub labels: Vec<Vec<u8>>,
}

/// Where the lines of the new session go.
enum Target {
    Nowhere,
    File(BufWriter<store::Appender>),
    Text(Vec<u8>),
}

impl Session {
    /// Makes a session of the entries from the root to `leaf`, without its label entries, followed
    /// by fresh ones for the labels in force on what remains. `header` is the new header's text;
    /// `changes` are entries that differ from what is stored; `path` is the new file, or none if
    /// nothing is to be stored in a file. Nothing is synced.
    pub fn branched(
        &mut self,
        leaf: EntryIndex,
        header: &[u8],
        path: Option<&Path>,
        changes: &[(EntryIndex, Vec<u8>)],
        now: i64,
        blobs: &dyn BlobSink,
    ) -> Result<Branched> {
        self.write_queued(blobs)?;
        if matches!(self.body, Body::Disk(_)) {
            self.require_in_place()?;
        }
        let is_label = |at: &EntryIndex| self.index.get(*at).is_some_and(|record| record.kind == Kind::Label);
        let taken: Vec<EntryIndex> = self.index.path(leaf).into_iter().filter(|at| !is_label(at)).collect();
        let header = parse_header(header).ok_or_else(|| Error::InvalidArgument {
            reason: "the header must be a JSON object of type \"session\" with an id".into(),
        })?;
        let mut index = self.index.extract(&taken);
        let relinked: Vec<EntryIndex> = (0..taken.len() as u32)
            .filter(|at| {
                let old = self.index.get(taken[*at as usize]).map_or(NONE, |record| record.parent);
                let new = at.checked_sub(1).map_or(NONE, |before| taken[before as usize]);
                old != new
            })
            .collect();
        let kept = self.kept_again(leaf);
        for [compaction, first_kept] in &kept {
            let id = index.id(*first_kept);
            let aux = index.intern(&id);
            if let Some(record) = index.get_mut(*compaction) {
                record.aux = aux;
            }
        }
        let target = match (path, &self.body) {
            (Some(path), _) => {
                let file = super::first_write::create(path)?;
                Target::File(BufWriter::with_capacity(1 << 20, store::Appender(file)))
            }
            (None, Body::Text(_)) => Target::Text(Vec::new()),
            (None, _) => Target::Nowhere,
        };
        let mut job = Job { target, offset: 0, path };
        let result = self.write_branch(&mut job, &header, &taken, &relinked, &kept, changes, &mut index, blobs);
        let written = result.and_then(|usage| Ok((usage, self.fresh_labels(&mut index, &taken, now, &mut job)?)));
        let (usage, labels) = match written {
            Ok(written) => written,
            Err(error) => {
                if let Some(path) = path {
                    // The name was free before, so nothing of anybody else's can be in the file.
                    let _ = store::remove_file(path);
                }
                return Err(error);
            }
        };
        let header = Header { span: 0..header.text.len() as u64, ..header };
        let lines = index.len() as u64 + 1;
        let leaf = (index.len() as u32).checked_sub(1).unwrap_or(NONE);
        let body = job.finish(lines)?;
        let session = Session {
            header,
            title_line: None,
            index: Arc::new(index),
            leaf,
            usage,
            body,
            report: LoadReport { lines, ..LoadReport::default() },
            ids: self.ids.clone(),
            outdated: false,
            remap: None,
            moves: 0,
            renumberings: 0,
            held: Default::default(),
            unfinished: None,
            buffer: Vec::new(),
        };
        Ok(Branched { session, taken, relinked, kept, labels })
    }

    /// Compactions on the path to `leaf` that keep what begins with a label entry: without it they
    /// keep what begins with the entry after it. In numbers of the new session.
    fn kept_again(&self, leaf: EntryIndex) -> Vec<[EntryIndex; 2]> {
        let path = self.index.path(leaf);
        let is = |at: &EntryIndex, kind: Kind| self.index.get(*at).is_some_and(|record| record.kind == kind);
        let new_number = |place: usize| path[..place].iter().filter(|at| !is(at, Kind::Label)).count() as EntryIndex;
        let mut kept = Vec::new();
        for (place, at) in path.iter().enumerate().filter(|(_, at)| is(at, Kind::Compaction)) {
            let first_kept = self.index.get(*at).and_then(|record| self.index.string(record.aux));
            let start = first_kept.and_then(|id| path[..place].iter().position(|at| self.index.has_id(*at, id)));
            let Some(start) = start.filter(|start| is(&path[*start], Kind::Label)) else { continue };
            if let Some(after) = path[start..place].iter().position(|at| !is(at, Kind::Label)) {
                kept.push([new_number(place), new_number(start + after)]);
            }
        }
        kept
    }

    /// Writes what is queued of a session in a file.
    pub fn write_queued(&mut self, blobs: &dyn BlobSink) -> Result<()> {
        if matches!(&self.body, Body::Disk(disk) if disk.has_unwritten()) {
            let (_lock, file, size) = self.begin_write(true)?;
            self.drain(&file, size, blobs)?;
        }
        Ok(())
    }

    /// Writes header and entries; returns what the messages of the path cost. Which lines stood there
    /// twice and were counted once is not remembered.
    #[allow(clippy::too_many_arguments)]
    fn write_branch(
        &mut self,
        job: &mut Job<'_>,
        header: &Header,
        taken: &[EntryIndex],
        relinked: &[EntryIndex],
        kept: &[[EntryIndex; 2]],
        changes: &[(EntryIndex, Vec<u8>)],
        index: &mut crate::index::Index,
        blobs: &dyn BlobSink,
    ) -> Result<Usage> {
        job.line(&header.text)?;
        let nowhere = matches!(job.target, Target::Nowhere);
        let mut usage = Usage::default();
        if nowhere && !self.is_stored() {
            for at in 0..taken.len() as u32 {
                forget_place(index, at);
            }
            changes.iter().for_each(|(_, text)| add_usage(&mut usage, text));
            return Ok(usage);
        }
        let changed: std::collections::HashMap<_, _> = changes.iter().map(|(at, text)| (*at, text)).collect();
        let relinked: std::collections::HashSet<_> = relinked.iter().collect();
        let old_index = Arc::clone(&self.index);
        let version = self.header.version;
        let (mut at, mut failure) = (0u32, None);
        self.texts(taken, |old, record, text| {
            let new = at;
            at += 1;
            if failure.is_some() {
                return;
            }
            let mut line: Cow<'_, [u8]> = match changed.get(&old) {
                Some(text) => Cow::Borrowed(text.as_slice()),
                None if record.has(flag::MIGRATED) => {
                    Cow::Owned(crate::migrate::Upgrade::of(&old_index, old, record, version).apply(text))
                }
                None => Cow::Borrowed(text),
            };
            if record.has(flag::USAGE) || changed.contains_key(&old) {
                add_usage(&mut usage, &line);
            }
            if nowhere {
                forget_place(index, new);
                return;
            }
            if relinked.contains(&new) {
                let mut parent = Vec::new();
                match new.checked_sub(1) {
                    Some(before) => string::write(&mut parent, &index.id(before)),
                    None => parent.extend_from_slice(b"null"),
                }
                if let Some(text) = set_members(&line, &[("parentId", Some(Cow::Owned(parent)))]) {
                    line = Cow::Owned(text);
                }
            }
            if let Some([_, first_kept]) = kept.iter().find(|[compaction, _]| *compaction == new) {
                let mut id = Vec::new();
                string::write(&mut id, &index.id(*first_kept));
                if let Some(text) = set_members(&line, &[("firstKeptEntryId", Some(Cow::Owned(id)))]) {
                    line = Cow::Owned(text);
                }
            }
            let written = prepared(&line, changed.contains_key(&old), blobs).and_then(|line| job.line(&line));
            match written {
                Ok((offset, length)) => place(index, new, offset, length),
                Err(error) => failure = Some(error),
            }
        })?;
        failure.map_or(Ok(usage), Err)
    }

    fn fresh_labels(
        &mut self,
        index: &mut crate::index::Index,
        taken: &[EntryIndex],
        now: i64,
        job: &mut Job<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        let in_force: Vec<(Vec<u8>, Vec<u8>)> =
            self.index.labels().into_iter().map(|(target, label)| (target, label.to_vec())).collect();
        let mut labels = Vec::new();
        for (target, label) in in_force {
            if index.find(&target).is_none() || taken.is_empty() {
                continue;
            }
            let mut id = self.ids.next_id();
            while index.is_taken(id) {
                id = self.ids.next_id();
            }
            let parent = index.id(index.len() as u32 - 1);
            let mut line = format!("{{\"type\":\"label\",\"id\":\"{id:08x}\",\"parentId\":").into_bytes();
            string::write(&mut line, &parent);
            line.extend_from_slice(b",\"timestamp\":\"");
            line.extend_from_slice(timestamp::format(now).as_bytes());
            line.extend_from_slice(b"\",\"targetId\":");
            string::write(&mut line, &target);
            line.extend_from_slice(b",\"label\":");
            string::write(&mut line, &label);
            line.push(b'}');
            let (offset, length) = job.line(&line)?;
            let facts = Facts::scan(&mut Scanner::new(&line, 0))
                .map_err(|_| Error::InvalidArgument { reason: "a label must be JSON".into() })?;
            let id = format!("{id:08x}");
            let hint = (index.len() as u32).checked_sub(1);
            index.push(
                &line,
                &facts,
                Place { offset, length, id: id.as_bytes(), parent: Some(&parent), parent_hint: hint, flags: flag::OWN },
            );
            labels.push(line);
        }
        Ok(labels)
    }
}

fn add_usage(usage: &mut Usage, line: &[u8]) {
    if let Ok(Facts { usage: Some(part), .. }) = Facts::scan(&mut Scanner::new(line, 0)) {
        usage.add(&part);
    }
}

fn prepared<'a>(line: &'a [u8], changed: bool, blobs: &dyn BlobSink) -> Result<Cow<'a, [u8]>> {
    if changed && let Some(text) = persist::for_disk(line, blobs)? {
        return Ok(Cow::Owned(text));
    }
    Ok(Cow::Borrowed(line))
}

fn place(index: &mut crate::index::Index, at: EntryIndex, offset: u64, length: u32) {
    if let Some(record) = index.get_mut(at) {
        record.offset = offset;
        record.length = length;
        record.flags = (record.flags | flag::OWN) & !(flag::MIGRATED);
    }
}

fn forget_place(index: &mut crate::index::Index, at: EntryIndex) {
    if let Some(record) = index.get_mut(at) {
        record.offset = UNWRITTEN;
        record.flags &= !flag::MIGRATED;
    }
}

struct Job<'a> {
    target: Target,
    offset: u64,
    path: Option<&'a Path>,
}

impl Job<'_> {
    /// Writes one line; returns its offset and its length without LF.
    fn line(&mut self, line: &[u8]) -> Result<(u64, u32)> {
        let at = self.offset;
        match &mut self.target {
            Target::Nowhere => return Ok((UNWRITTEN, line.len() as u32)),
            Target::Text(text) => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            Target::File(file) => {
                let written = file.write_all(line).and_then(|()| file.write_all(b"\n"));
                written.map_err(|error| Error::io("write", self.path.unwrap_or(Path::new("")), error))?;
            }
        }
        self.offset += line.len() as u64 + 1;
        Ok((at, line.len() as u32))
    }

    fn finish(self, lines: u64) -> Result<Body> {
        let progress = Progress { indexed: self.offset, line: lines, open: false };
        match self.target {
            Target::Nowhere => Ok(Body::Detached),
            Target::Text(text) => Ok(Body::Text(text)),
            Target::File(file) => {
                let path = self.path.unwrap_or(Path::new("")).to_path_buf();
                let file = file.into_inner().map_err(|error| {
                    let _ = store::remove_file(&path);
                    Error::io("write", &path, error.into_error())
                })?;
                let mut log = DiskLog::new(path, Arc::new(file.0), true, progress);
                log.unsynced_data = true;
                log.unsynced_name = true;
                Ok(Body::Disk(Box::new(log)))
            }
        }
    }
}

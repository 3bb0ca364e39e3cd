//! Adding entries.

use super::disk::Unwritten;
use super::{Body, Session};
use crate::entry::facts::Facts;
use crate::entry::kind::{Kind, Role};
use crate::entry::timestamp;
use crate::error::{Error, Result};
use crate::index::{EntryIndex, Index, Place, UNWRITTEN, flag};
use crate::json::scan::Scanner;
use crate::json::string;
use crate::persist::{self, BlobSink};
use crate::store;
use std::sync::Arc;

/// What a new entry consists of besides its envelope, as JSON text.
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// The value of `message`.
    Message(&'a [u8]),
    /// An object whose members follow the envelope of an entry of this type.
    Members(&'a str, &'a [u8]),
}

/// What became of an append.
#[derive(Debug)]
pub struct Appended {
    /// The entry's number.
    pub index: EntryIndex,
    /// The entry's id.
    pub id: String,
    /// With this entry the session's file shall appear.
    pub starts_file: bool,
    /// The line to store, without LF, if the bytes are in the text of a storage.
    pub line: Option<Vec<u8>>,
    /// Why the line is not in the file yet. The entry is part of the session all the same.
    pub error: Option<Error>,
}

impl Session {
    /// Adds an entry below the leaf and moves the leaf to it. `now` is in milliseconds since 1970.
    ///
    /// Fails without any change if `payload` is not JSON.
    pub fn append(&mut self, payload: Payload<'_>, now: i64, blobs: &dyn BlobSink) -> Result<Appended> {
        let stored_on_disk = matches!(self.body, Body::Disk(_));
        let mut failure = None;
        if stored_on_disk && self.outdated {
            failure = self.rewrite_outdated(blobs).err();
        }
        let begun = match (stored_on_disk, &failure) {
            (true, None) => self.begin_write(false).map_err(|error| failure = Some(error)).ok(),
            _ => None,
        };
        let id = self.new_id();
        let line = self.compose(&id, payload, now);
        let facts = whole_object(&line)
            .ok_or_else(|| Error::InvalidArgument { reason: "the payload of an entry must be JSON".into() })?;
        let parent = self.leaf().map(|leaf| self.index.id(leaf));
        let place = Place {
            offset: UNWRITTEN,
            length: line.len() as u32,
            id: id.as_bytes(),
            parent: parent.as_deref(),
            parent_hint: self.leaf(),
            flags: flag::OWN,
        };
        let leaf = self.leaf;
        let index = Arc::make_mut(&mut self.index).push(&line, &facts, place);
        self.hang_on(index, leaf);
        self.leaf = index;
        if let Some(usage) = &facts.usage {
            self.usage.add(usage);
        }
        let starts_file = facts.kind == Kind::Message && facts.role == Role::Assistant;
        let mut appended = Appended { index, id, starts_file, line: None, error: None };
        match &mut self.body {
            Body::Detached => {}
            Body::Text(_) => appended.line = Some(self.append_to_text(index, line, blobs)?),
            Body::Disk(disk) => {
                disk.unwritten.push(Unwritten { index, line, prepared: false });
                if let Some((_lock, file, size)) = begun {
                    failure = self.drain(&file, size, blobs).err();
                }
            }
        }
        appended.error = failure;
        Ok(appended)
    }

    /// The leaf is a position, not a name: with repeated ids the entry hangs on the very entry the
    /// leaf was on as long as the session is open.
    fn hang_on(&mut self, index: EntryIndex, leaf: EntryIndex) {
        if let Some(record) = Arc::make_mut(&mut self.index).get_mut(index) {
            record.parent = leaf;
        }
    }

    fn new_id(&mut self) -> String {
        loop {
            let id = self.ids.next_id();
            if !self.index.is_taken(id) {
                return format!("{id:08x}");
            }
        }
    }

    fn compose(&self, id: &str, payload: Payload<'_>, now: i64) -> Vec<u8> {
        let (kind, body) = match payload {
            Payload::Message(text) => ("message", text),
            Payload::Members(kind, text) => (kind, text),
        };
        let mut line = Vec::with_capacity(body.len() + 160);
        line.extend_from_slice(b"{\"type\":");
        string::write(&mut line, kind.as_bytes());
        line.extend_from_slice(b",\"id\":\"");
        line.extend_from_slice(id.as_bytes());
        line.extend_from_slice(b"\",\"parentId\":");
        match self.leaf() {
            Some(leaf) => string::write(&mut line, &self.index.id(leaf)),
            None => line.extend_from_slice(b"null"),
        }
        line.extend_from_slice(b",\"timestamp\":\"");
        line.extend_from_slice(timestamp::format(now).as_bytes());
        line.push(b'"');
        match payload {
            Payload::Message(text) => {
                line.extend_from_slice(b",\"message\":");
                line.extend_from_slice(text);
                line.push(b'}');
            }
            Payload::Members(_, text) => {
                let members = &text[1..];
                if members != b"}" {
                    line.push(b',');
                }
                line.extend_from_slice(members);
            }
        }
        line
    }

    fn append_to_text(&mut self, index: EntryIndex, line: Vec<u8>, blobs: &dyn BlobSink) -> Result<Vec<u8>> {
        let line = persist::for_disk(&line, blobs)?.unwrap_or(line);
        if let Body::Text(text) = &mut self.body {
            if text.last().is_some_and(|last| *last != b'\n') {
                text.push(b'\n');
            }
            let offset = text.len() as u64;
            text.extend_from_slice(&line);
            text.push(b'\n');
            set_place(Arc::make_mut(&mut self.index), index, offset, line.len());
        }
        Ok(line)
    }

    /// Writes what is queued. The lock is held and the file is taken in up to `size`.
    pub(super) fn drain(&mut self, file: &Arc<std::fs::File>, size: u64, blobs: &dyn BlobSink) -> Result<()> {
        let size = self.rescue_orphaned_lines(file, size)?;
        let size = self.wait_for_tail(file, size)?;
        let disk = self.disk()?;
        if disk.unwritten.is_empty() {
            return Ok(());
        }
        for entry in disk.unwritten.iter_mut().filter(|entry| !entry.prepared) {
            if let Some(changed) = persist::for_disk(&entry.line, blobs)? {
                entry.line = changed;
            }
            entry.prepared = true;
        }
        let bytes = match &mut disk.unwritten[..] {
            [one] => {
                // The common case: the queued line becomes the buffer, without a copy.
                one.line.push(b'\n');
                std::mem::take(&mut one.line)
            }
            many => many.iter().fold(Vec::new(), |mut bytes, entry| {
                bytes.extend_from_slice(&entry.line);
                bytes.push(b'\n');
                bytes
            }),
        };
        let start = match disk.write(file, &bytes, size) {
            Ok(start) => start,
            Err(error) => {
                if let [one] = &mut disk.unwritten[..] {
                    one.line = bytes;
                    one.line.pop();
                }
                return Err(error);
            }
        };
        if start != size || disk.progress.open || disk.progress.indexed != size {
            // Behind a torn tail, or behind somebody who takes no lock: what stands before our
            // lines is read as it is now, whole.
            self.take_in_before(file, start)?;
        }
        let disk = self.disk()?;
        let written = std::mem::take(&mut disk.unwritten);
        let alone = written.len() == 1;
        let mut offset = start;
        let index = Arc::make_mut(&mut self.index);
        for entry in &written {
            let length = if alone { bytes.len() - 1 } else { entry.line.len() };
            set_place(index, entry.index, offset, length);
            offset += length as u64 + 1;
        }
        let count = written.len() as u64;
        let disk = self.disk()?;
        disk.progress.indexed = offset;
        disk.progress.line += count;
        disk.progress.open = false;
        self.report.lines += count;
        self.report.torn_tail = None;
        Ok(())
    }

    fn take_in_before(&mut self, file: &Arc<std::fs::File>, end: u64) -> Result<()> {
        let path = self.disk()?.path.clone();
        let progress = self.disk()?.progress;
        let index = Arc::try_unwrap(std::mem::take(&mut self.index)).unwrap_or_else(|shared| (*shared).clone());
        let report = std::mem::take(&mut self.report);
        let mut loaded = super::load::Loaded::resume(self.header.clone(), index, self.usage, report, progress);
        let read = loaded.read(&crate::log::read::FileSource { file, path: &path }, end, 0);
        self.index = Arc::new(loaded.index);
        self.usage = loaded.usage;
        self.report = loaded.report;
        self.disk()?.progress = loaded.progress;
        read
    }

    /// A tail without LF may be a line that somebody is just writing: it gets a moment to end.
    fn wait_for_tail(&mut self, file: &Arc<std::fs::File>, mut size: u64) -> Result<u64> {
        for _ in 0..5 {
            let disk = self.disk()?;
            let torn = size > disk.progress.indexed && disk.partial.is_none();
            if !torn || disk.tail_seen == Some(size) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
            let now = store::stat_open(file, &self.disk()?.path.clone())?.len();
            if now != size {
                size = self.take_in(file)?;
            }
        }
        let disk = self.disk()?;
        disk.tail_seen = (size > disk.progress.indexed).then_some(size);
        Ok(size)
    }
}

/// The facts of a line that is one object and nothing else.
fn whole_object(line: &[u8]) -> Option<Facts> {
    let facts = Facts::scan(&mut Scanner::new(line, 0)).ok()?;
    (facts.span.len() == line.len()).then_some(facts)
}

fn set_place(index: &mut Index, entry: EntryIndex, offset: u64, length: usize) {
    if let Some(record) = index.get_mut(entry) {
        record.offset = offset;
        record.length = length as u32;
    }
}

//! Bodies: the text of entries, read where it lies.

use super::{Body, Session};
use crate::entry::timestamp;
use crate::error::{Error, Result};
use crate::index::{EntryIndex, EntryRecord, UNWRITTEN, flag};
use crate::json::string;
use crate::log::read::{FileSource, Source};
use crate::migrate::Upgrade;

/// Entries that lie this close together are read at once.
const GAP_BYTES: u64 = 4096;
/// Most bytes read at once.
const SPAN_BYTES: u64 = 1 << 20;

impl Session {
    fn record(&self, index: EntryIndex) -> Result<EntryRecord> {
        self.index
            .get(index)
            .copied()
            .ok_or_else(|| Error::InvalidArgument { reason: format!("no entry has the number {index}") })
    }

    /// Calls `visit` with the stored text of each entry; empty for one whose bytes are with the
    /// caller.
    pub fn texts(
        &mut self,
        entries: &[EntryIndex],
        mut visit: impl FnMut(EntryIndex, &EntryRecord, &[u8]),
    ) -> Result<()> {
        let mut at = 0;
        // Fresh memory for every span would cost more than reading into it.
        let mut buffer = std::mem::take(&mut self.buffer);
        while at < entries.len() {
            let first = self.record(entries[at])?;
            if first.offset == UNWRITTEN || !self.is_stored() {
                let queued = self.queued(entries[at]);
                visit(entries[at], &first, queued.as_deref().unwrap_or_default());
                at += 1;
                continue;
            }
            let (start, mut end, mut next) = (first.offset, first.offset + u64::from(first.length), at + 1);
            while let Some(record) = entries.get(next).and_then(|entry| self.index.get(*entry)) {
                let stop = record.offset.saturating_add(u64::from(record.length));
                let near = record.offset >= end && record.offset - end <= GAP_BYTES;
                if record.offset == UNWRITTEN || !near || stop - start > SPAN_BYTES {
                    break;
                }
                (end, next) = (stop, next + 1);
            }
            self.fill_span(&mut buffer, start, end)?;
            for entry in &entries[at..next] {
                let record = self.record(*entry)?;
                let from = (record.offset - start) as usize;
                visit(*entry, &record, &buffer[from..from + record.length as usize]);
            }
            at = next;
        }
        self.buffer = buffer;
        Ok(())
    }

    fn queued(&self, entry: EntryIndex) -> Option<Vec<u8>> {
        match &self.body {
            Body::Disk(disk) => {
                disk.unwritten.iter().find(|queued| queued.index == entry).map(|queued| queued.line.clone())
            }
            _ => None,
        }
    }

    pub(super) fn read_span(&mut self, start: u64, end: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.fill_span(&mut bytes, start, end)?;
        Ok(bytes)
    }

    /// Reads the bytes from `start` to `end` to the beginning of `buffer`, which only ever grows.
    fn fill_span(&mut self, buffer: &mut Vec<u8>, start: u64, end: u64) -> Result<()> {
        let length = (end - start) as usize;
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        let target = &mut buffer[..length];
        match &mut self.body {
            Body::Detached => Ok(()),
            Body::Text(text) => text[..].fill_exact_at(start, target),
            Body::Disk(disk) => {
                let file = disk.open()?;
                FileSource { file: &file, path: &disk.path }.fill_exact_at(start, target)
            }
        }
    }

    /// The text of one entry as this version understands it, older formats upgraded.
    pub fn upgraded<'a>(&self, at: EntryIndex, record: &EntryRecord, text: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
        if record.has(flag::MIGRATED) {
            return Upgrade::of(&self.index, at, record, self.header.version).apply(text).into();
        }
        text.into()
    }

    /// Writes to `out` a JSON array of as many of `entries` as fit in about `budget` bytes, at least one. With
    /// `stored` they are as they lie in the file, else as this version understands them. Entries
    /// whose bytes are with the caller are `null`.
    pub fn bodies(&mut self, entries: &[EntryIndex], budget: usize, stored: bool, out: &mut Vec<u8>) -> Result<()> {
        let mut size = 0usize;
        let fitting = entries.iter().take_while(|entry| {
            let before = size;
            size += self.index.get(**entry).map_or(0, |record| record.length as usize);
            before == 0 || size <= budget
        });
        let count = fitting.count();
        let index = std::sync::Arc::clone(&self.index);
        let version = self.header.version;
        out.clear();
        out.reserve(size + 2 * count + 2);
        self.texts(&entries[..count], |at, record, text| {
            if record.has(flag::MIGRATED) && !stored {
                join(out, &Upgrade::of(&index, at, record, version).apply(text));
            } else {
                join(out, text);
            }
        })?;
        if out.is_empty() {
            out.push(b'[');
        }
        out.push(b']');
        Ok(())
    }

    /// Which of `texts` differ from the stored text of the entry they belong to.
    pub fn differing(&mut self, entries: &[EntryIndex], texts: &[String]) -> Result<Vec<EntryIndex>> {
        let (mut at, mut differing) = (0, Vec::new());
        self.texts(entries, |entry, _, text| {
            if texts.get(at).is_none_or(|given| given.as_bytes() != text) {
                differing.push(entry);
            }
            at += 1;
        })?;
        Ok(differing)
    }

    /// A JSON array for the entries from `from` on, as many as fit in about `budget` bytes: for a
    /// regular entry `id, parentId, timestamp`, three elements without an array of their own, for
    /// others the whole text. A parent is 0 if it is the entry before, and that is a regular one in
    /// the array too, as most are.
    pub fn envelopes(&mut self, from: EntryIndex, budget: usize) -> Result<Vec<u8>> {
        let count = self.index.len() as u32;
        let (mut out, mut whole, mut next) = (Vec::new(), Vec::new(), from);
        let mut size = 0usize;
        while next < count && (size < budget || next == from) {
            let record = self.record(next)?;
            let envelope = record.has(flag::REGULAR) && self.is_stored();
            size += if envelope { 110 } else { record.length as usize };
            if !envelope {
                whole.push(next);
            }
            next += 1;
        }
        let mut texts = std::collections::HashMap::new();
        self.texts(&whole, |at, _, text| {
            texts.insert(at, text.to_vec());
        })?;
        let mut before = None;
        for at in from..next {
            let record = self.record(at)?;
            match texts.get(&at) {
                Some(text) => join(&mut out, &self.upgraded(at, &record, text)),
                None => {
                    out.push(if out.is_empty() { b'[' } else { b',' });
                    self.write_envelope(&mut out, at, &record, before);
                    before = Some(at);
                }
            }
        }
        if out.is_empty() {
            out.push(b'[');
        }
        out.push(b']');
        Ok(out)
    }

    fn write_envelope(&self, out: &mut Vec<u8>, at: EntryIndex, record: &EntryRecord, before: Option<EntryIndex>) {
        string::write(out, &self.index.id(at));
        out.push(b',');
        match self.index.get(record.parent) {
            Some(_) if before == Some(record.parent) => out.push(b'0'),
            Some(_) => string::write(out, &self.index.id(record.parent)),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"");
        out.extend_from_slice(timestamp::format(record.time).as_bytes());
        out.push(b'"');
    }
}

fn join(out: &mut Vec<u8>, text: &[u8]) {
    out.push(if out.is_empty() { b'[' } else { b',' });
    out.extend_from_slice(if text.is_empty() { b"null" } else { text });
}

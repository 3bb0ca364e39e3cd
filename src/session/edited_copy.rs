//! Copying bytes with some stretches replaced, and finding what was in them at its new place.

use crate::entry::facts::Facts;
use crate::error::Result;
use crate::index::{EntryIndex, Index, UNWRITTEN, flag};
use crate::json::scan::Scanner;
use crate::log::read::Source;
use crate::migrate::Upgrade;
use crate::store::TempFile;

/// Bytes copied at once.
const COPY_BYTES: usize = 1 << 20;

/// New bytes for a stretch of the file.
#[derive(Debug)]
pub(super) struct Edit {
    pub start: u64,
    pub end: u64,
    pub bytes: EditBytes,
    /// The entry that the stretch is, if it is one.
    pub entry: Option<EntryIndex>,
}

#[derive(Debug)]
pub(super) enum EditBytes {
    Ready(Vec<u8>),
    /// Made from the old bytes while copying, so that an old file need not fit in memory.
    Upgrade(Upgrade),
}

/// Where an edited stretch ended up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    old_start: u64,
    old_end: u64,
    new_start: u64,
    new_end: u64,
}

/// Takes bytes.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]) -> Result<()>;
    fn position(&self) -> u64;
}

impl Sink for TempFile {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)
    }
    fn position(&self) -> u64 {
        self.length()
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
    fn position(&self) -> u64 {
        self.len() as u64
    }
}

/// Copies bytes through one buffer.
pub(super) fn copy<S: Source + ?Sized>(source: &S, from: u64, to: u64, sink: &mut dyn Sink) -> Result<()> {
    let mut buffer = vec![0u8; COPY_BYTES.min(to.saturating_sub(from) as usize)];
    let mut at = from;
    while at < to {
        let room = buffer.len().min((to - at) as usize);
        match source.read_at(&mut buffer[..room], at)? {
            0 => return Err(source.ended(at)),
            count => {
                sink.put(&buffer[..count])?;
                at += count as u64;
            }
        }
    }
    Ok(())
}

/// Copies bytes up to `end` with edits, which are in order. Returns where each of them ended up.
pub(super) fn copy_edited<S: Source + ?Sized>(
    source: &S,
    end: u64,
    edits: &[Edit],
    sink: &mut dyn Sink,
) -> Result<Vec<Moved>> {
    let mut moved = Vec::with_capacity(edits.len());
    let mut at = 0;
    for edit in edits {
        copy(source, at, edit.start, sink)?;
        let new_start = sink.position();
        match &edit.bytes {
            EditBytes::Ready(bytes) => sink.put(bytes)?,
            EditBytes::Upgrade(upgrade) => {
                let old = source.read_exact_at(edit.start, (edit.end - edit.start) as usize)?;
                sink.put(&upgrade.apply(&old))?;
            }
        }
        moved.push(Moved { old_start: edit.start, old_end: edit.end, new_start, new_end: sink.position() });
        at = edit.end;
    }
    copy(source, at, end, sink)?;
    Ok(moved)
}

/// Where a position of the old file is in the new one, and the new length if the stretch that
/// starts there was edited.
pub(super) fn relocate(moved: &[Moved], old: u64) -> (u64, Option<u64>) {
    let before = moved.partition_point(|edit| edit.old_start <= old);
    match before.checked_sub(1).map(|at| moved[at]) {
        None => (old, None),
        Some(edit) if edit.old_start == old => (edit.new_start, Some(edit.new_end - edit.new_start)),
        Some(edit) => (old - edit.old_end + edit.new_end, None),
    }
}

/// The entries are where the bytes went.
pub(super) fn relocate_entries(index: &mut Index, moved: &[Moved]) {
    for at in 0..index.len() as u32 {
        if let Some(record) = index.get_mut(at).filter(|record| record.offset != UNWRITTEN) {
            let (offset, length) = relocate(moved, record.offset);
            record.offset = offset;
            record.length = length.map_or(record.length, |length| length as u32);
            record.flags &= !flag::MIGRATED;
        }
    }
}

/// What a changed entry decides may have changed with it.
pub(super) fn describe_again(index: &mut Index, at: EntryIndex, text: &[u8]) {
    if let (Ok(facts), Some(mut record)) = (Facts::scan(&mut Scanner::new(text, 0)), index.get(at).copied()) {
        index.describe(at, &mut record, text, &facts);
        record.flags &= !flag::REGULAR;
        record.time = facts.time;
        if let Some(slot) = index.get_mut(at) {
            *slot = record;
        }
    }
}

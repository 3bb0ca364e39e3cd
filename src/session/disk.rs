//! The session's file: descriptor, position, and the lines that are not written yet.
//!
//! A line is acknowledged when the kernel has it. One that could not be written stays queued, in
//! order, and goes first the next time. Nothing is ever cut from the file: a line of which only a
//! part got through is finished where it stands, or written again on a fresh line if somebody else
//! wrote behind it.

use super::load::Progress;
use crate::error::{Error, Result};
use crate::index::EntryIndex;
use crate::log::read::{FileSource, Source};
use crate::store::{self, FileId, LockBudget};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// An entry's line that is not in the file.
#[derive(Debug, Clone)]
pub(super) struct Unwritten {
    pub index: EntryIndex,
    /// The JSON text, without LF.
    pub line: Vec<u8>,
    /// Whether the persistence rules have been applied.
    pub prepared: bool,
}

/// A file that ours replaced, in case somebody still appends to it.
#[derive(Debug)]
pub(super) struct Previous {
    pub file: Arc<File>,
    pub seen: u64,
    /// When somebody last wrote there; at first, when it was replaced.
    pub grown: Instant,
}

/// Most replaced files that are watched.
const WATCHED: usize = 32;

/// Bytes before the end that are compared when a file is opened again.
const REMEMBERED: u64 = 256;

/// What a file was when it was let go. An inode number can be used again, so the end of its content is
/// compared too.
#[derive(Debug)]
pub(super) struct Closed {
    id: FileId,
    tail: Vec<u8>,
}

/// A session's file.
#[derive(Debug)]
pub struct DiskLog {
    pub(super) path: PathBuf,
    /// The path is another one than whoever opened the session knows.
    pub(super) moved: bool,
    pub(super) file: Option<Arc<File>>,
    pub(super) closed: Option<Closed>,
    /// Whether the descriptor has been told to whoever counts them.
    pub(super) counted: bool,
    pub(super) writable: bool,
    pub(super) progress: Progress,
    pub(super) unwritten: Vec<Unwritten>,
    /// The file ended here after a write that got only this many bytes through.
    pub(super) partial: Option<(u64, usize)>,
    pub(super) previous: Vec<Previous>,
    pub(super) checked: Option<Instant>,
    /// Directories in which the file may turn up when its own is renamed.
    pub(super) places: Vec<PathBuf>,
    pub(super) budget: LockBudget,
    /// Data, or the name of the file, has not been synced since it changed.
    pub(super) unsynced_data: bool,
    pub(super) unsynced_name: bool,
    /// The file was there when the session was opened. Whoever gave it its name may have ended before
    /// that was durable, so the first flush that has something to sync syncs it along.
    pub(super) found_name: bool,
    /// Size at which a tail without LF was seen; it is torn if it still has that size.
    pub(super) tail_seen: Option<u64>,
}

impl DiskLog {
    /// A log on an open file of which `progress` is indexed.
    pub(super) fn new(path: PathBuf, file: Arc<File>, writable: bool, progress: Progress) -> DiskLog {
        DiskLog {
            path,
            moved: false,
            file: Some(file),
            closed: None,
            counted: false,
            writable,
            progress,
            unwritten: Vec::new(),
            partial: None,
            previous: Vec::new(),
            checked: None,
            places: Vec::new(),
            budget: LockBudget::default(),
            unsynced_data: false,
            unsynced_name: false,
            found_name: false,
            tail_seen: None,
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file that are indexed.
    pub fn indexed(&self) -> u64 {
        self.progress.indexed
    }

    /// Whether something acknowledged to nobody still waits to be written.
    pub fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Directories of the session's project, where a renamed directory is looked for.
    pub fn set_places(&mut self, places: Vec<PathBuf>) {
        self.places = places;
    }

    /// Forgets the entries from `count` on; what the file has behind `indexed` is read again.
    pub(super) fn rewind(&mut self, indexed: u64, count: EntryIndex) {
        if indexed < self.progress.indexed {
            self.progress.indexed = indexed;
            // The end of an entry, which may be in the middle of its line: reading goes on there.
            self.progress.open = true;
        }
        if self.unwritten.last().is_some_and(|entry| entry.index >= count) {
            self.unwritten.retain(|entry| entry.index < count);
            self.partial = None;
        }
    }

    /// Watches a file that was replaced. Descriptors are not free: of too many the one that has been
    /// quiet longest is let go.
    pub(super) fn watch(&mut self, file: Arc<File>, seen: u64) {
        self.previous.push(Previous { file, seen, grown: Instant::now() });
        if self.previous.len() > WATCHED {
            let quiet = (0..self.previous.len()).min_by_key(|at| self.previous[*at].grown);
            self.previous.remove(quiet.unwrap_or_default());
        }
    }

    /// Lets go of the file, remembering what it is to be when it is opened again.
    pub(super) fn release(&mut self) {
        let Some(file) = self.file.as_ref().filter(|_| self.unwritten.is_empty()) else { return };
        let known = self.progress.indexed.min(REMEMBERED);
        let source = FileSource { file, path: &self.path };
        let tail = source.read_exact_at(self.progress.indexed - known, known as usize);
        let id = store::stat_open(file, &self.path).map(|metadata| FileId::of(&metadata));
        // A file that cannot be read any more is kept open: its descriptor is all there is of it.
        if let (Ok(tail), Ok(id)) = (tail, id) {
            self.closed = Some(Closed { id, tail });
            self.file = None;
            self.counted = false;
            self.previous.clear();
            self.checked = None;
        }
    }

    /// Whether an opened file still is what was let go.
    fn is_as_closed(&self, file: &File, closed: &Closed) -> Result<bool> {
        let metadata = store::stat_open(file, &self.path)?;
        if FileId::of(&metadata) != closed.id || metadata.len() < self.progress.indexed {
            return Ok(false);
        }
        let start = self.progress.indexed - closed.tail.len() as u64;
        let source = FileSource { file, path: &self.path };
        Ok(source.read_exact_at(start, closed.tail.len())? == closed.tail)
    }

    /// Whether the file was let go.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// The open file, opened again after a close. Fails with a conflict if it was replaced while it
    /// was closed.
    pub(super) fn open(&mut self) -> Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let (file, writable) = store::open(&self.path)?;
        if let Some(closed) = &self.closed
            && !self.is_as_closed(&file, closed)?
        {
            let reason = "the file was replaced while the session was closed".into();
            return Err(Error::Conflict { path: self.path.clone(), reason });
        }
        let file = Arc::new(file);
        self.closed = None;
        self.file = Some(Arc::clone(&file));
        self.writable = writable;
        self.checked = None;
        Ok(file)
    }

    pub(super) fn open_to_append(&mut self) -> Result<Arc<File>> {
        let file = self.open()?;
        if self.writable {
            return Ok(file);
        }
        let before = FileId::of(&store::stat_open(&file, &self.path)?);
        let again = store::open_to_append(&self.path)?;
        if FileId::of(&store::stat_open(&again, &self.path)?) == before {
            self.writable = true;
            self.file = Some(Arc::new(again));
        }
        self.open()
    }

    /// Appends bytes that end in LF, whole lines only, on a fresh line. Returns where the first of
    /// them stands. `size` is the present size of the file.
    pub(super) fn write(&mut self, file: &File, bytes: &[u8], size: u64) -> Result<u64> {
        let resumed = match self.partial.take() {
            Some((end, done)) if end == size && done <= bytes.len() => Some(done),
            _ => None,
        };
        let fresh = resumed.is_none() && (self.progress.open || size > self.progress.indexed);
        let mut rest: Vec<&[u8]> = if fresh { vec![b"\n", bytes] } else { vec![bytes] };
        if let Some(done) = resumed {
            rest[0] = &bytes[done..];
        }
        let joined;
        let mut left: &[u8] = if fresh {
            joined = rest.concat();
            &joined
        } else {
            rest[0]
        };
        let mut end = size;
        while !left.is_empty() {
            let failure = match store::append(file, left) {
                Ok(0) => std::io::Error::from(std::io::ErrorKind::WriteZero),
                Ok(count) => {
                    left = &left[count..];
                    self.unsynced_data = true;
                    // The bytes are written, whatever becomes of the question where.
                    let after = position(file, &self.path).unwrap_or(end + count as u64);
                    let gap = end != size && after != end + count as u64;
                    end = after;
                    if gap {
                        // Somebody who takes no lock wrote between two parts of a line.
                        return self.write_again(file, bytes, end);
                    }
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let done = bytes.len() - left.len().min(bytes.len());
            if end > size && done > 0 {
                self.partial = Some((end, done));
            } else if resumed.is_some() {
                self.partial = Some((size, bytes.len() - left.len()));
            }
            return Err(Error::io("write", &self.path, failure));
        }
        Ok(end - bytes.len() as u64)
    }

    fn write_again(&mut self, file: &File, bytes: &[u8], size: u64) -> Result<u64> {
        self.progress.open = true;
        self.write(file, bytes, size)
    }
}

/// The position after the last append. With several writers this, and not a size seen before,
/// tells where the bytes went.
fn position(file: &File, path: &Path) -> Result<u64> {
    store::position(file).map_err(|error| Error::io("lseek", path, error))
}

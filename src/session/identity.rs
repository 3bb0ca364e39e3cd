//! Is the file at our path still ours? Renamed directories, replaced and deleted files.
//!
//! The descriptor is kept while comparing, so an inode number that is used again cannot deceive.

use super::disk::{DiskLog, Unwritten};
use super::load::Loaded;
use super::rescue::settled_end;
use super::{Body, Session};
use crate::entry::facts::Facts;
use crate::error::{Error, Result};
use crate::index::{NONE, Place, UNWRITTEN, flag};
use crate::json::scan::Scanner;
use crate::json::string::decode;
use crate::log::read::{FileSource, Source};
use crate::store::{self, FileId, FileLock};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time of appending without a look at the path.
const RECHECK: Duration = Duration::from_millis(50);

/// Longest time of following a file that is replaced.
const PATIENCE: Duration = Duration::from_secs(5);

/// Set in a number of a remap: the entry's bytes in the file are others than before.
pub const CHANGED: u32 = 1 << 31;

/// Where the file went.
enum Fate {
    Same,
    Moved(PathBuf),
    Deleted,
    Replaced(File),
}

impl Session {
    pub(super) fn disk(&mut self) -> Result<&mut DiskLog> {
        match &mut self.body {
            Body::Disk(disk) => Ok(disk),
            _ => Err(Error::InvalidArgument { reason: "the session has no file".into() }),
        }
    }

    /// Locks the file for writing, after making sure that it is ours and taking in what others
    /// appended. Returns the lock, the file and its size.
    pub(super) fn begin_write(&mut self, thorough: bool) -> Result<(FileLock, Arc<File>, u64)> {
        // Every round either locks our file or follows it to another place; a file that is
        // replaced all this time is somebody's endless loop.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let disk = self.disk()?;
            let file = match disk.open_to_append() {
                Ok(file) => file,
                Err(Error::Conflict { .. }) if disk.is_closed() => {
                    self.adopt_after_close()?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let lock = FileLock::take(&file, &disk.path, &mut disk.budget)?;
            let Some(size) = self.follow(&file, thorough)? else {
                drop(lock);
                continue;
            };
            self.take_in_to(&file, size)?;
            return Ok((lock, file, size));
        }
        Err(Error::Conflict { path: self.disk()?.path.clone(), reason: "the file is replaced again and again".into() })
    }

    /// The open file for reading, after making sure that it is ours.
    pub(super) fn begin_read(&mut self) -> Result<Arc<File>> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let disk = self.disk()?;
            let file = match disk.open() {
                Ok(file) => file,
                Err(Error::Conflict { .. }) if disk.is_closed() => {
                    self.adopt_after_close()?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if self.follow(&file, true)?.is_some() {
                return Ok(file);
            }
        }
        Err(Error::Conflict { path: self.disk()?.path.clone(), reason: "the file is replaced again and again".into() })
    }

    /// Makes sure that the file is open, also if it was replaced while it was closed.
    pub fn reopen(&mut self) -> Result<()> {
        self.begin_read().map(|_| ())
    }

    /// Goes on in the file that is at the path now.
    fn adopt_after_close(&mut self) -> Result<()> {
        let (file, writable) = store::open(&self.disk()?.path)?;
        self.adopt_replacement(None, file)?;
        self.disk()?.writable = writable;
        Ok(())
    }

    /// Looks whether the path still leads to `file`. Returns its size, or nothing if the session is on
    /// another descriptor now.
    pub(super) fn follow(&mut self, file: &Arc<File>, thorough: bool) -> Result<Option<u64>> {
        let disk = self.disk()?;
        let metadata = store::stat_open(file, &disk.path)?;
        let recent = disk.checked.is_some_and(|at| at.elapsed() < RECHECK);
        let size = metadata.len();
        if !thorough && recent && store::link_count(&metadata) > 0 {
            return Ok(Some(size));
        }
        disk.checked = Some(Instant::now());
        match fate(disk, file, FileId::of(&metadata), store::link_count(&metadata))? {
            Fate::Same => Ok(Some(size)),
            Fate::Moved(path) => {
                (disk.path, disk.moved) = (path, true);
                Ok(Some(size))
            }
            Fate::Deleted => self.write_in_full(file).map(|()| None),
            Fate::Replaced(new) => self.adopt_replacement(Some(file), new).map(|()| None),
        }
    }

    /// Where the file is now, if somebody renamed its directory since this was asked last. Only looks.
    pub fn take_new_path(&mut self) -> Option<PathBuf> {
        let Body::Disk(disk) = &mut self.body else { return None };
        if let Some(file) = disk.file.clone()
            && let Ok(metadata) = store::stat_open(&file, &disk.path)
            && let Ok(Fate::Moved(path)) = fate(disk, &file, FileId::of(&metadata), store::link_count(&metadata))
        {
            (disk.path, disk.moved) = (path, true);
        }
        std::mem::take(&mut disk.moved).then(|| disk.path.clone())
    }

    /// Indexes what is new in the file. Returns its size.
    pub(super) fn take_in(&mut self, file: &Arc<File>) -> Result<u64> {
        let size = store::stat_open(file, &self.disk()?.path)?.len();
        self.take_in_to(file, size)?;
        Ok(size)
    }

    /// Indexes what is new in the file up to `size`.
    fn take_in_to(&mut self, file: &Arc<File>, size: u64) -> Result<()> {
        let disk = self.disk()?;
        let ours = disk.partial.is_some_and(|(end, _)| end == size);
        if size < disk.progress.indexed {
            let path = disk.path.clone();
            return Err(Error::Conflict { path, reason: "the file was cut shorter by somebody else".into() });
        }
        if size > disk.progress.indexed && !ours {
            let path = disk.path.clone();
            let progress = disk.progress;
            let index = Arc::try_unwrap(std::mem::take(&mut self.index)).unwrap_or_else(|shared| (*shared).clone());
            let report = std::mem::take(&mut self.report);
            let mut loaded = Loaded::resume(self.header.clone(), index, self.usage, report, progress);
            let read = loaded.read(&FileSource { file, path: &path }, size, 0);
            self.index = Arc::new(loaded.index);
            self.usage = loaded.usage;
            self.report = loaded.report;
            self.disk()?.progress = loaded.progress;
            read?;
        }
        Ok(())
    }

    /// A program that writes over the file in place leaves its inode as it is, but nothing is where it
    /// was. Before bytes are copied or replaced by their places, both ends must be what was read.
    pub(super) fn require_in_place(&mut self) -> Result<()> {
        let path = self.disk()?.path.clone();
        let span = self.header.span.clone();
        let mut same = self.read_span(span.start, span.end)? == self.header.text;
        let last = self.index.records().iter().rposition(|record| record.offset != UNWRITTEN);
        if let Some((at, record)) = last.and_then(|at| Some((at as u32, *self.index.get(at as u32)?))) {
            let line = self.read_span(record.offset, record.offset + u64::from(record.length))?;
            let facts = Facts::scan(&mut Scanner::new(&line, 0)).ok().filter(|facts| facts.span.end == line.len());
            let id = facts.as_ref().and_then(|facts| facts.id.text()).map(|id| decode(&line, id).into_owned());
            same &= facts.is_some() && (record.has(flag::MIGRATED) || id.is_some_and(|id| id == self.index.id(at)));
        }
        match same {
            true => Ok(()),
            false => Err(Error::Conflict { path, reason: "the file was written over by somebody else".into() }),
        }
    }

    /// Writes the whole session again where its file was deleted.
    fn write_in_full(&mut self, old: &Arc<File>) -> Result<()> {
        let disk = self.disk()?;
        let path = disk.path.clone();
        if let Some(parent) = path.parent() {
            store::create_dir_all(parent)?;
        }
        let source = FileSource { file: old, path: &path };
        let size = store::stat_open(old, &path)?.len();
        let mut temp = store::TempFile::beside(&path, size)?;
        super::edited_copy::copy(&source, 0, size, &mut temp)?;
        temp.copy_mode(old)?;
        // A name that appeared meanwhile is somebody else's: the next round looks at it.
        let file = match temp.publish(&path) {
            Ok(file) => file,
            Err(error) if error.code() == "EEXIST" => return Ok(()),
            Err(error) => return Err(error),
        };
        let disk = self.disk()?;
        disk.file = Some(file);
        disk.writable = true;
        disk.unsynced_data = true;
        disk.unsynced_name = true;
        Ok(())
    }

    /// Goes on in a file that somebody put in place of ours: our acknowledged lines that it lacks
    /// are queued again. Entries keep their ids; their numbers may change, see `take_remap`.
    fn adopt_replacement(&mut self, old: Option<&Arc<File>>, new: File) -> Result<()> {
        let path = self.disk()?.path.clone();
        let new = Arc::new(new);
        let size = store::stat_open(&new, &path)?.len();
        let new_source = FileSource { file: &new, path: &path };
        let mut loaded = Loaded::default();
        loaded.read(&new_source, size, 0)?;
        match &loaded.header {
            Some(header) if header.id == self.header.id => {}
            Some(_) => return Err(Error::Conflict { path, reason: "another session is at this path now".into() }),
            None => {
                return Err(Error::Conflict {
                    path,
                    reason: "something that is no session is at this path now".into(),
                });
            }
        }
        let old_source = old.map(|old| FileSource { file: old, path: &path });
        // Before anything changes, as this can fail.
        let seen = old_source.as_ref().map(settled_end).transpose()?;
        let queued = std::mem::take(&mut self.disk()?.unwritten);
        let mut unwritten = Vec::new();
        let mut remap = vec![NONE; self.index.len()];
        for (at, record) in self.index.records().iter().enumerate() {
            let id = self.index.id(at as u32);
            if let Some(found) = loaded.index.find(&id) {
                let same = match &old_source {
                    Some(old) => same_bytes(old, record, &new_source, loaded.index.get(found))?,
                    None => false,
                };
                remap[at] = found | if same { 0 } else { CHANGED };
                if let Some(found) = loaded.index.get_mut(found) {
                    found.flags |= record.flags & flag::OWN;
                }
                continue;
            }
            let waiting = queued.iter().find(|entry| entry.index == at as u32);
            let (line, prepared) = match (waiting, &old_source) {
                (Some(entry), _) => (entry.line.clone(), entry.prepared),
                (None, Some(old)) if record.has(flag::OWN) && record.offset != UNWRITTEN => {
                    (old.read_exact_at(record.offset, record.length as usize)?, true)
                }
                _ => continue,
            };
            let parent = self.index.get(record.parent).map(|_| self.index.id(record.parent));
            remap[at] = push_again(&mut loaded, &line, &id, parent.as_deref())?;
            unwritten.push(Unwritten { index: remap[at], line, prepared });
        }
        loaded.index.settle();
        let leaf_id = self.leaf().map(|leaf| self.index.id(leaf));
        self.leaf = match leaf_id {
            None => NONE,
            Some(id) => {
                let last = (loaded.index.len() as u32).checked_sub(1).unwrap_or(NONE);
                loaded.index.find(&id).unwrap_or(last)
            }
        };
        if let Some(header) = loaded.header {
            self.outdated = header.version < 3.0;
            self.header = header;
        }
        self.title_line = loaded.title_line;
        self.moves += 1;
        self.renumberings += 1;
        self.held.renumber(&remap);
        self.index = Arc::new(loaded.index);
        self.usage = loaded.usage;
        self.report = loaded.report;
        self.remap = Some(match self.remap.take() {
            Some(earlier) => earlier.iter().map(|at| chain(*at, &remap)).collect(),
            None => remap,
        });
        let disk = self.disk()?;
        disk.closed = None;
        if let (Some(old), Some((_, seen))) = (old, seen) {
            disk.watch(Arc::clone(old), seen);
        }
        disk.file = Some(new);
        disk.writable = true;
        disk.progress = loaded.progress;
        disk.unwritten = unwritten;
        disk.partial = None;
        disk.unsynced_name = true;
        Ok(())
    }
}

fn chain(earlier: u32, remap: &[u32]) -> u32 {
    if earlier == NONE {
        return NONE;
    }
    match remap.get((earlier & !CHANGED) as usize) {
        Some(now) if *now != NONE => *now | earlier & CHANGED,
        _ => NONE,
    }
}

fn same_bytes(
    old: &FileSource<'_>,
    before: &crate::index::EntryRecord,
    new: &FileSource<'_>,
    after: Option<&crate::index::EntryRecord>,
) -> Result<bool> {
    let Some(after) = after.filter(|after| after.length == before.length && before.offset != UNWRITTEN) else {
        return Ok(false);
    };
    let length = before.length as usize;
    Ok(old.read_exact_at(before.offset, length)? == new.read_exact_at(after.offset, length)?)
}

fn push_again(loaded: &mut Loaded, line: &[u8], id: &[u8], parent: Option<&[u8]>) -> Result<u32> {
    let facts = Facts::scan(&mut Scanner::new(line, 0))
        .map_err(|_| Error::InvalidArgument { reason: "a line of this session is not JSON".into() })?;
    if let Some(usage) = &facts.usage {
        loaded.usage.add(usage);
    }
    let place = Place { offset: UNWRITTEN, length: line.len() as u32, id, parent, parent_hint: None, flags: flag::OWN };
    Ok(loaded.index.push(line, &facts, place))
}

fn fate(disk: &DiskLog, file: &File, id: FileId, links: u64) -> Result<Fate> {
    let at_path = store::stat(&disk.path)?;
    if at_path.as_ref().is_some_and(|found| FileId::of(found) == id) {
        return Ok(Fate::Same);
    }
    if links > 0
        && let Some(path) = new_name(disk, file, id)
    {
        return Ok(Fate::Moved(path));
    }
    match at_path {
        Some(found) if !found.is_file() => Err(Error::Conflict {
            path: disk.path.clone(),
            reason: "something that is no file is at this path now".into(),
        }),
        Some(_) => Ok(Fate::Replaced(store::open_to_append(&disk.path)?)),
        None if links > 0 => Ok(Fate::Same),
        None => Ok(Fate::Deleted),
    }
}

/// The name under which a file whose directory was renamed can be found.
fn new_name(disk: &DiskLog, file: &File, id: FileId) -> Option<PathBuf> {
    let name = disk.path.file_name()?;
    let known = disk.places.iter().map(|place| place.join(name));
    #[cfg(target_os = "linux")]
    let known = {
        use std::os::fd::AsRawFd;
        known.chain(std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())))
    };
    #[cfg(not(target_os = "linux"))]
    let _ = file;
    let mut known = known;
    known.find(|path| matches!(store::stat(path), Ok(Some(found)) if FileId::of(&found) == id))
}

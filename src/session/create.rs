//! Opening a file, and bringing a session that is not stored into one.

use super::disk::DiskLog;
use super::first_write::FirstWrite;
use super::load::Loaded;
use super::{Body, Session};
use crate::entry::id::IdSource;
use crate::error::{Error, Result};
use crate::index::NONE;
use crate::log::read::FileSource;
use crate::migrate::CURRENT_VERSION;
use crate::persist::{self, BlobSink};
use crate::store;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is at a path.
#[derive(Debug)]
pub enum Opened {
    /// A session.
    Session(Box<Session>),
    /// No file.
    Missing,
    /// A file with nothing but white space in it.
    Empty,
}

impl Session {
    fn from_loaded(loaded: Loaded, body: Body, seed: u64) -> Option<Session> {
        let header = loaded.header?;
        Some(Session {
            outdated: header.version < CURRENT_VERSION,
            header,
            title_line: loaded.title_line,
            leaf: (loaded.index.len() as u32).checked_sub(1).unwrap_or(NONE),
            index: Arc::new(loaded.index),
            usage: loaded.usage,
            body,
            report: loaded.report,
            ids: IdSource::new(seed),
            remap: None,
            moves: 0,
            renumberings: 0,
            held: Default::default(),
            unfinished: None,
            buffer: Vec::new(),
        })
    }

    /// Opens the file at `path`. Nothing is written. Fails with [`Error::Corrupt`] if the file is
    /// neither a session nor blank.
    pub fn open(path: &Path, seed: u64) -> Result<Opened> {
        let (file, writable) = match store::open(path) {
            Err(error) if error.code() == "ENOENT" => return Ok(Opened::Missing),
            other => other?,
        };
        let file = Arc::new(file);
        let source = FileSource { file: &file, path };
        let size = store::stat_open(&file, path)?.len();
        let mut loaded = Loaded::default();
        loaded.read(&source, size, 0)?;
        if loaded.header.is_none() {
            return match loaded.no_header(&source, size, path)? {
                Some(error) => Err(error),
                None => Ok(Opened::Empty),
            };
        }
        let mut log = DiskLog::new(path.to_path_buf(), Arc::clone(&file), writable, loaded.progress);
        log.found_name = true;
        let session = Session::from_loaded(loaded, Body::Disk(Box::new(log)), seed);
        Ok(session.map_or(Opened::Empty, |session| Opened::Session(Box::new(session))))
    }

    /// Reads a session from the text of a storage; `path` is its name there. `None` if the text is
    /// blank.
    pub fn from_text(text: Vec<u8>, path: &Path, seed: u64) -> Result<Option<Session>> {
        let mut loaded = Loaded::default();
        let size = text.len() as u64;
        loaded.read(&text[..], size, 0)?;
        if loaded.header.is_none() {
            return match loaded.no_header(&text[..], size, path)? {
                Some(error) => Err(error),
                None => Ok(None),
            };
        }
        Ok(Session::from_loaded(loaded, Body::Text(text), seed))
    }

    /// The lines of a session that is not stored, header first, ready to be written. `entries` are
    /// the JSON texts of all entries, each on a line of its own.
    fn first_lines(&self, entries: &[u8], blobs: &dyn BlobSink) -> Result<(Vec<u8>, Vec<u32>)> {
        let mut out = self.header.text.clone();
        out.push(b'\n');
        let mut lengths = Vec::with_capacity(self.index.len());
        for line in entries.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let prepared = persist::for_disk(line, blobs)?;
            let line = prepared.as_deref().unwrap_or(line);
            if !crate::json::scan::is_json(line) {
                return Err(Error::InvalidArgument { reason: "an entry must be JSON".into() });
            }
            out.extend_from_slice(line);
            out.push(b'\n');
            lengths.push(line.len() as u32);
        }
        if lengths.len() != self.index.len() {
            return Err(Error::InvalidArgument {
                reason: format!("{} entries given for a session of {}", lengths.len(), self.index.len()),
            });
        }
        Ok((out, lengths))
    }

    fn settle_first(&mut self, start: u64, lengths: &[u32]) {
        let header_length = self.header.text.len() as u64;
        self.header.span = start..start + header_length;
        let mut offset = start + header_length + 1;
        let index = Arc::make_mut(&mut self.index);
        for (at, length) in lengths.iter().enumerate() {
            if let Some(record) = index.get_mut(at as u32) {
                record.offset = offset;
                record.length = *length;
            }
            offset += u64::from(*length) + 1;
        }
        self.report.lines = lengths.len() as u64 + 1;
    }

    /// Writes the session to a file of its own, everything at once. The file must not exist, unless
    /// `blank` says that it holds nothing but white space. Nothing is synced.
    pub fn create_file(&mut self, path: &Path, blank: bool, entries: &[u8], blobs: &dyn BlobSink) -> Result<()> {
        if self.is_stored() {
            return Err(Error::InvalidArgument { reason: "the session has a file already".into() });
        }
        self.undo_unfinished(path)?;
        let (bytes, lengths) = self.first_lines(entries, blobs)?;
        let length = bytes.len() as u64;
        let (first, _lock) = match blank {
            true => FirstWrite::into_blank(path, bytes)?,
            false => (FirstWrite::into_new(path, bytes)?, None),
        };
        if let Err(error) = first.write() {
            // Without this the next try would take its own beginning for somebody else's file.
            if first.undo().is_err() {
                self.unfinished = Some(Box::new(first));
            }
            return Err(error);
        }
        let end = first.end();
        let progress = super::load::Progress { indexed: end, line: lengths.len() as u64 + 1, open: false };
        let mut log = DiskLog::new(path.to_path_buf(), first.into_file(), true, progress);
        log.unsynced_data = true;
        log.unsynced_name = true;
        self.settle_first(end - length, &lengths);
        self.body = Body::Disk(Box::new(log));
        Ok(())
    }

    /// Takes away what a failed first write left at `path`, if it could not be taken away then.
    fn undo_unfinished(&mut self, path: &Path) -> Result<()> {
        if let Some(first) = self.unfinished.take().filter(|first| first.is_at(path))
            && let Err(error) = first.undo_later()
        {
            self.unfinished = Some(first);
            return Err(error);
        }
        Ok(())
    }

    /// A session with the same entries and another header that is not stored.
    pub fn detached_copy(&self, header: &[u8]) -> Result<Session> {
        let mut copy = Session::new(header, 0)?;
        copy.index = Arc::clone(&self.index);
        copy.leaf = self.leaf;
        copy.usage = self.usage;
        copy.ids = self.ids.clone();
        Ok(copy)
    }

    /// Turns the session into one of a storage's text. Returns the text to store.
    pub fn create_text(&mut self, entries: &[u8], blobs: &dyn BlobSink) -> Result<Vec<u8>> {
        let (bytes, lengths) = self.first_lines(entries, blobs)?;
        self.settle_first(0, &lengths);
        self.body = Body::Text(bytes.clone());
        Ok(bytes)
    }

    /// Where the session's project may have its directory, for files that are renamed.
    pub fn set_places(&mut self, places: Vec<PathBuf>) {
        if let Body::Disk(disk) = &mut self.body {
            disk.set_places(places);
        }
    }
}

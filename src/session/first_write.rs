//! The write that brings a session to its file, and taking its beginning away when it fails.
//!
//! Until it has succeeded nothing in it was acknowledged. Left where it is, its beginning would stand
//! in the way of the next try like somebody else's file.

use crate::error::{Error, Result};
use crate::log::read::{FileSource, Source};
use crate::store::{self, FileId, FileLock, LockBudget};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Creates a session's file, which must not exist, with the directories for it.
pub(super) fn create(path: &Path) -> Result<File> {
    if let Some(parent) = path.parent() {
        store::create_dir_all(parent)?;
    }
    store::create_new(path).map_err(|error| match error.code() {
        "EEXIST" => Error::Conflict { path: path.to_path_buf(), reason: "a file is there already".into() },
        _ => error,
    })
}

#[derive(Debug)]
pub(super) struct FirstWrite {
    path: PathBuf,
    file: Arc<File>,
    /// Size of the file before it.
    before: u64,
    bytes: Vec<u8>,
    /// Whether the file was created for it.
    created: bool,
}

impl FirstWrite {
    /// Into a file that must not exist.
    pub fn into_new(path: &Path, bytes: Vec<u8>) -> Result<FirstWrite> {
        let file = Arc::new(create(path)?);
        Ok(FirstWrite { path: path.to_path_buf(), file, before: 0, bytes, created: true })
    }

    /// Into a file that holds nothing but white space.
    pub fn into_blank(path: &Path, mut bytes: Vec<u8>) -> Result<(FirstWrite, Option<FileLock>)> {
        let file = Arc::new(store::open_to_append(path)?);
        let lock = FileLock::take(&file, path, &mut LockBudget::default())?;
        let before = store::stat_open(&file, path)?.len();
        let present = FileSource { file: &file, path }.read_exact_at(0, before as usize)?;
        let text = present.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&present);
        if !text.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::Conflict {
                path: path.to_path_buf(),
                reason: "somebody else wrote to the empty file".into(),
            });
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            bytes.insert(0, b'\n');
        }
        Ok((FirstWrite { path: path.to_path_buf(), file, before, bytes, created: false }, Some(lock)))
    }

    pub fn write(&self) -> Result<()> {
        store::append_all(&self.file, &self.bytes).map_err(|error| Error::io("write", &self.path, error))
    }

    /// Where the file ends when all is written.
    pub fn end(&self) -> u64 {
        self.before + self.bytes.len() as u64
    }

    pub fn into_file(self) -> Arc<File> {
        self.file
    }

    pub fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// As `undo`, when the lock of the write is gone.
    pub fn undo_later(&self) -> Result<()> {
        let _lock = FileLock::take(&self.file, &self.path, &mut LockBudget::default())?;
        self.undo()
    }

    /// Makes the file what it was before. One that somebody else put in its place, or wrote to, stays.
    pub fn undo(&self) -> Result<()> {
        let Some(found) = store::stat(&self.path)? else { return Ok(()) };
        let own = store::stat_open(&self.file, &self.path)?;
        if FileId::of(&found) != FileId::of(&own) || own.len() < self.before {
            return Ok(());
        }
        let source = FileSource { file: &self.file, path: &self.path };
        let written = source.read_exact_at(self.before, (own.len() - self.before) as usize)?;
        if !self.bytes.starts_with(&written) {
            return Ok(());
        }
        if self.created {
            return store::remove_file(&self.path).map_err(|error| Error::io("unlink", &self.path, error));
        }
        if written.is_empty() {
            return Ok(());
        }
        store::truncate(&self.file, self.before).map_err(|error| Error::io("ftruncate", &self.path, error))
    }
}

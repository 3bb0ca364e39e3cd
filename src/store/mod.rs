//! The calls to the operating system that session files need, with errors that name call and path.
//!
//! Nothing here knows what is in a file. Locks are advisory and belong to the open file, so a
//! process that dies leaves none behind.

mod lock;
mod replace;
mod system;
mod tap;

pub use lock::{FileLock, LockBudget};
pub use replace::{TempFile, publish_new, remove_abandoned, sync_dir, sync_new_name};
pub use system::{
    Appender, append, append_all, canonicalize, hard_link, position, read_at, remove_file, truncate, write_all_at,
};
#[cfg(feature = "tap")]
pub use tap::{Call, Tap, set_tap};

use crate::error::{Error, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// What tells two files apart while both exist. Inode numbers are used again after a deletion, so
/// this is an identity only while a descriptor is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of what `metadata` describes.
    pub fn of(metadata: &Metadata) -> FileId {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            FileId { device: metadata.dev(), inode: metadata.ino() }
        }
        #[cfg(windows)]
        {
            use std::os::windows::fs::MetadataExt;
            FileId { device: metadata.creation_time(), inode: 0 }
        }
    }
}

/// Number of names a file has; 0 when it was deleted or replaced.
pub fn link_count(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::nlink(metadata)
    }
    #[cfg(windows)]
    {
        let _ = metadata;
        1
    }
}

/// State of an open file.
pub fn stat_open(file: &File, path: &Path) -> Result<Metadata> {
    system::stat_open(file).map_err(|error| Error::io("fstat", path, error))
}

/// State of what is at `path`; `None` if nothing is, or a part of the path is no directory.
pub fn stat(path: &Path) -> Result<Option<Metadata>> {
    match system::stat(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io("stat", path, error)),
    }
}

/// Fails for what is no file: opening a pipe would wait for a writer, and a device has no end.
pub fn require_regular(path: &Path) -> Result<()> {
    let metadata = system::stat(path).map_err(|error| Error::io("open", path, error))?;
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(Error::io("open", path, io::Error::from(io::ErrorKind::IsADirectory))),
        _ => Err(Error::InvalidArgument { reason: format!("{} is not a regular file", path.display()) }),
    }
}

/// Opens an existing file for reading and appending, or for reading alone where writing is not
/// permitted. The second value says whether it can be written.
pub fn open(path: &Path) -> Result<(File, bool)> {
    require_regular(path)?;
    match system::open(OpenOptions::new().read(true).append(true), path) {
        Ok(file) => Ok((file, true)),
        Err(error) if is_not_permitted(&error) => Ok((open_to_read(path)?, false)),
        Err(error) => Err(Error::io("open", path, error)),
    }
}

fn is_not_permitted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Opens an existing file for reading and appending.
pub fn open_to_append(path: &Path) -> Result<File> {
    require_regular(path)?;
    system::open(OpenOptions::new().read(true).append(true), path).map_err(|error| Error::io("open", path, error))
}

/// Opens an existing file for reading alone.
pub fn open_to_read(path: &Path) -> Result<File> {
    system::open(OpenOptions::new().read(true), path).map_err(|error| Error::io("open", path, error))
}

/// Opens an existing file for writing at any position.
pub fn open_to_write(path: &Path) -> Result<File> {
    system::open(OpenOptions::new().write(true), path).map_err(|error| Error::io("open", path, error))
}

/// Creates a file that must not exist, readable by its owner only.
pub fn create_new(path: &Path) -> Result<File> {
    system::create_new(path).map_err(|error| Error::io("open", path, error))
}

/// Creates a directory and its parents, open to their owner only.
pub fn create_dir_all(path: &Path) -> Result<()> {
    system::create_dir_all(path).map_err(|error| Error::io("mkdir", path, error))
}

/// Makes the content of a file survive a power loss.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    system::sync_data(file).map_err(|error| Error::io("fdatasync", path, error))
}

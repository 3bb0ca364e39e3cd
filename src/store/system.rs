//! The calls themselves, one function for each, so that tests can stand in front of them.

use super::tap::{Call, permitted, tapped};
use std::fs::{File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{Result, Seek, Write};
use std::path::{Path, PathBuf};

pub(super) fn open(options: &OpenOptions, path: &Path) -> Result<File> {
    tapped(&Call::Open { path }, || options.open(path))
}

pub(super) fn create_new(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    tapped(&Call::Create { path }, || options.open(path))
}

/// Writes at the end; returns how many of the bytes got there.
pub fn append(mut file: &File, bytes: &[u8]) -> Result<usize> {
    let bytes = &bytes[..permitted(bytes.len())];
    tapped(&Call::Append { file, bytes }, || file.write(bytes))
}

/// A file as the end of a buffered writer.
#[derive(Debug)]
pub struct Appender(pub File);

impl Write for Appender {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        append(&self.0, bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Writes all bytes at the end.
pub fn append_all(file: &File, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match append(file, bytes) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes at a position.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> Result<()> {
    tapped(&Call::WriteAt { file, bytes, offset }, || {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
        #[cfg(windows)]
        {
            let mut done = 0;
            while done < bytes.len() {
                done += std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], offset + done as u64)?;
            }
            Ok(())
        }
    })
}

/// Reads at a position, which is neither used nor moved.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    tapped(&Call::ReadAt { file }, || {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
    })
}

/// The position after the last append.
pub fn position(mut file: &File) -> Result<u64> {
    tapped(&Call::Position { file }, || file.stream_position())
}

pub(super) fn stat(path: &Path) -> Result<Metadata> {
    tapped(&Call::Stat { path }, || std::fs::metadata(path))
}

pub(super) fn stat_open(file: &File) -> Result<Metadata> {
    tapped(&Call::StatOpen { file }, || file.metadata())
}

pub(super) fn set_permissions(file: &File, permissions: Permissions) -> Result<()> {
    tapped(&Call::SetPermissions { file }, || file.set_permissions(permissions))
}

/// Whether the lock was free and is ours now.
pub(super) fn try_lock(file: &File) -> Result<bool> {
    tapped(&Call::Lock { file }, || match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    })
}

pub(super) fn sync_data(file: &File) -> Result<()> {
    tapped(&Call::Sync { file }, || file.sync_data())
}

#[cfg(unix)]
pub(super) fn sync_dir(path: &Path) -> Result<()> {
    tapped(&Call::SyncDir { path }, || File::open(path)?.sync_all())
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    tapped(&Call::Rename { from, to }, || std::fs::rename(from, to))
}

/// Creates a directory and its parents, open to their owner only.
pub(super) fn create_dir_all(path: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    tapped(&Call::CreateDir { path }, || builder.create(path))
}

/// Gives a file a size.
pub fn truncate(file: &File, size: u64) -> Result<()> {
    tapped(&Call::Truncate { file, size }, || file.set_len(size))
}

/// Gives a file a second name.
pub fn hard_link(from: &Path, to: &Path) -> Result<()> {
    tapped(&Call::Link { from, to }, || std::fs::hard_link(from, to))
}

/// Removes a name.
pub fn remove_file(path: &Path) -> Result<()> {
    tapped(&Call::Remove { path }, || std::fs::remove_file(path))
}

/// The path without links in it.
pub fn canonicalize(path: &Path) -> Result<PathBuf> {
    tapped(&Call::Canonicalize { path }, || std::fs::canonicalize(path))
}

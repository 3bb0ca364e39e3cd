//! Putting a whole file in place: written beside its target, synced, then renamed.

use super::{create_new, system};
use crate::error::{Error, Result};
use crate::log::read::{FileSource, Source};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How the names of our temporary files end: other programs' names end in `.tmp` alone, and only
/// ours are ever removed when they are found abandoned.
const SUFFIX: &str = ".omp-session.tmp";

/// Age from which on an unlocked temporary file is nobody's.
const ABANDONED_AFTER: Duration = Duration::from_secs(10);

/// How the names of temporary files beside `target` begin: hidden, so that no listing takes one for
/// a session.
fn prefix(target: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    name
}

/// Name of a temporary file beside `target`.
fn temp_path(target: &Path, unique: u64) -> PathBuf {
    let mut name = prefix(target);
    name.push(format!("{unique:016x}{SUFFIX}"));
    target.with_file_name(name)
}

/// Removes the temporary files that processes left beside `target` when they were killed. A living
/// process holds the lock of its own.
pub fn remove_abandoned(target: &Path) {
    let prefix = prefix(target);
    let parent = target.parent().unwrap_or(Path::new("."));
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if !name.starts_with(prefix.as_encoded_bytes()) || !name.ends_with(SUFFIX.as_bytes()) {
            continue;
        }
        // A file has no lock in the moment of its creation, so a young one is left alone.
        let old = |file: &File| {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED_AFTER))
        };
        if File::open(entry.path()).is_ok_and(|file| old(&file) && file.try_lock().is_ok()) {
            // Somebody else may have removed it first; then there is nothing left to do.
            let _ = system::remove_file(&entry.path());
        }
    }
}

/// A file being written; removed when dropped unless it was published.
#[derive(Debug)]
pub struct TempFile {
    file: Arc<File>,
    path: PathBuf,
    length: u64,
    published: bool,
}

impl TempFile {
    /// Creates it beside `target`.
    pub fn beside(target: &Path, mut unique: u64) -> Result<TempFile> {
        loop {
            let path = temp_path(target, unique);
            match create_new(&path) {
                Ok(file) => {
                    // Tells others that it is not abandoned. Where locks do not work, nothing is
                    // ever taken for abandoned either.
                    let _ = file.try_lock();
                    return Ok(TempFile { file: Arc::new(file), path, length: 0, published: false });
                }
                Err(error) if error.code() == "EEXIST" => unique = unique.wrapping_add(0x9e37_79b9),
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        system::append_all(&self.file, bytes).map_err(|error| Error::io("write", &self.path, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Gives it the permissions of the file it replaces.
    pub fn copy_mode(&self, of: &File) -> Result<()> {
        let permissions = super::stat_open(of, &self.path)?.permissions();
        system::set_permissions(&self.file, permissions).map_err(|error| Error::io("fchmod", &self.path, error))
    }

    /// Whether it has the same bytes as the first `size` bytes of `source`.
    pub fn is_same_as(&self, source: &dyn Source, size: u64) -> Result<bool> {
        if self.length != size {
            return Ok(false);
        }
        let own = FileSource { file: &self.file, path: &self.path };
        let mut at = 0;
        while at < size {
            let length = (size - at).min(1 << 20) as usize;
            if own.read_exact_at(at, length)? != source.read_exact_at(at, length)? {
                return Ok(false);
            }
            at += length as u64;
        }
        Ok(true)
    }

    /// Makes its content durable.
    pub fn sync(&self) -> Result<()> {
        super::sync(&self.file, &self.path)
    }

    /// Renames it over `target` and returns the open file.
    pub fn replace(mut self, target: &Path) -> Result<Arc<File>> {
        system::rename(&self.path, target).map_err(|error| Error::io("rename", target, error))?;
        self.published = true;
        let _ = self.file.unlock();
        Ok(Arc::clone(&self.file))
    }

    /// Gives it the name `target`, which must be free, and returns the open file.
    pub fn publish(mut self, target: &Path) -> Result<Arc<File>> {
        publish_new(&self.path, target)?;
        self.published = true;
        let _ = self.file.unlock();
        Ok(Arc::clone(&self.file))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.published {
            // What cannot be removed is a hidden file that nothing reads.
            let _ = system::remove_file(&self.path);
        }
    }
}

/// Renames without ever replacing: a second name is made, which fails if the target exists, and the
/// first is removed.
pub fn publish_new(from: &Path, target: &Path) -> Result<()> {
    match system::hard_link(from, target) {
        Ok(()) => {
            let _ = system::remove_file(from);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::io("link", target, error)),
        Err(_) => {
            // File systems without hard links: a placeholder created exclusively reserves the name.
            drop(create_new(target)?);
            system::rename(from, target).map_err(|error| {
                let _ = system::remove_file(target);
                Error::io("rename", target, error)
            })
        }
    }
}

/// Directories above that of a new file that may be new as well: those of the sessions, of the agent,
/// and of its configuration.
const NEW_DIRS: usize = 3;

/// Makes the name of the new file at `path` durable, and those of the directories it is in, which may
/// have been made for it.
pub fn sync_new_name(path: &Path) -> Result<()> {
    sync_dir(path)?;
    for dir in path.ancestors().skip(1).take(NEW_DIRS).filter(|dir| dir.parent().is_some()) {
        match sync_dir(dir) {
            // A directory that is not ours to read was not made by us.
            Err(error) if matches!(error.code(), "EACCES" | "EPERM" | "ENOENT") => break,
            other => other?,
        }
    }
    Ok(())
}

/// Makes the names in the directory of `path` durable.
pub fn sync_dir(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        match system::sync_dir(parent) {
            // Some network file systems cannot sync a directory; their renames are durable or not.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            Err(error) => Err(Error::io("fsync", parent, error)),
            Ok(()) => Ok(()),
        }
    }
    #[cfg(windows)]
    {
        let _ = path;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn made_long_ago(path: &Path) {
        let file = File::options().append(true).open(path).expect("opened");
        file.set_modified(SystemTime::now() - 6 * ABANDONED_AFTER).expect("set");
    }

    #[test]
    fn only_temporary_files_that_are_ours_old_and_locked_by_nobody_are_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let target = dir.path().join("one.jsonl");
        let living = TempFile::beside(&target, 1).expect("made");
        let dead = temp_path(&target, 2);
        let young = temp_path(&target, 3);
        let foreign = dir.path().join(".one.jsonl.0000.tmp");
        let of_another = temp_path(&dir.path().join("two.jsonl"), 4);
        for path in [&dead, &young, &foreign, &of_another] {
            std::fs::write(path, "x").expect("written");
        }
        for path in [&living.path, &dead, &foreign, &of_another] {
            made_long_ago(path);
        }
        remove_abandoned(&target);
        assert!(!dead.exists());
        for path in [&living.path, &young, &foreign, &of_another] {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn publishing_never_replaces_what_is_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let target = dir.path().join("one.jsonl");
        std::fs::write(&target, "theirs").expect("written");
        let mut temp = TempFile::beside(&target, 1).expect("made");
        temp.write(b"ours").expect("written");
        assert_eq!(temp.publish(&target).expect_err("it is there").code(), "EEXIST");
        assert_eq!(std::fs::read(&target).expect("read"), b"theirs");
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
    }
}

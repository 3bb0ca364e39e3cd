//! The blob store: files named by the SHA-256 of their content.
//!
//! A blob is written beside its name and renamed, so that its name never stands for half of it. An
//! existing file of the right size is taken as it is: the name is made by a collision-free hash, and
//! only a truncation could make it wrong. Who wrote it may not have synced it, so it counts as stored
//! here. Names from session files are data: what is not 64 lower-case hex digits is never made a
//! path.

use crate::error::{Error, Result};
use crate::persist::BlobSink;
use crate::store::{self, TempFile};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How a reference to a blob begins; the hash follows.
pub const REF_PREFIX: &str = "blob:sha256:";

/// A directory of blobs.
#[derive(Debug)]
pub struct BlobStore {
    dir: PathBuf,
    unsynced: Mutex<BTreeSet<PathBuf>>,
    /// Held while syncing: who finds nothing left to sync must not be told so before it is on disk.
    syncing: Mutex<()>,
}

/// Whether a name is 64 lower-case hex digits.
pub fn is_hash(hash: &str) -> bool {
    hash.len() == 64 && hash.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

impl BlobStore {
    /// The store in `dir`, which is created with the first blob.
    pub fn new(dir: PathBuf) -> Self {
        BlobStore { dir, unsynced: Mutex::default(), syncing: Mutex::default() }
    }

    /// Whether `hash` is one and its blob is there.
    pub fn has(&self, hash: &str) -> bool {
        is_hash(hash) && self.dir.join(hash).is_file()
    }

    /// Stores bytes; returns their hash.
    pub fn put(&self, bytes: &[u8]) -> Result<String> {
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.dir.join(&hash);
        if !is_stored(&path, bytes.len() as u64)? {
            store::create_dir_all(&self.dir)?;
            let mut temp = TempFile::beside(&path, u64::from(std::process::id()))?;
            temp.write(bytes)?;
            temp.replace(&path)?;
        }
        self.unsynced.lock().insert(path);
        Ok(hash)
    }

    /// The bytes of a blob; nothing if it is missing or `hash` is none.
    pub fn read(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        if !is_hash(hash) {
            return Ok(None);
        }
        let path = self.dir.join(hash);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(Error::io("read", path, error)),
        }
    }

    /// Makes the blobs stored since the last time durable. What could not be synced is tried again
    /// the next time.
    pub fn sync(&self) -> Result<()> {
        let _turn = self.syncing.lock();
        let paths = std::mem::take(&mut *self.unsynced.lock());
        let synced = sync_all(&paths);
        if synced.is_err() {
            self.unsynced.lock().extend(paths);
        }
        synced
    }
}

/// Whether a readable file of this size is there. One that cannot be read (another user's) is worth
/// replacing.
fn is_stored(path: &Path, size: u64) -> Result<bool> {
    let found = store::stat(path)?.is_some_and(|found| found.is_file() && found.len() == size);
    Ok(found && store::open_to_read(path).is_ok())
}

fn sync_all(paths: &BTreeSet<PathBuf>) -> Result<()> {
    let mut dir = None;
    for path in paths {
        match store::open_to_read(path) {
            Ok(file) => store::sync(&file, path)?,
            // Somebody deleted it; no later try could bring it back.
            Err(error) if matches!(error.code(), "ENOENT" | "ENOTDIR") => continue,
            Err(error) => return Err(error),
        }
        dir = Some(path);
    }
    dir.map_or(Ok(()), |path| store::sync_new_name(path))
}

impl BlobSink for BlobStore {
    fn put(&self, bytes: &[u8]) -> Result<String> {
        BlobStore::put(self, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_named_by_its_content_and_comes_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let blobs = BlobStore::new(dir.path().join("deep/blobs"));
        let hash = blobs.put(b"abc").expect("stored");
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(blobs.put(b"abc").expect("stored again"), hash);
        assert_eq!(blobs.read(&hash).expect("read").as_deref(), Some(&b"abc"[..]));
        blobs.sync().expect("synced");
        let names = std::fs::read_dir(dir.path().join("deep/blobs")).expect("listed").count();
        assert_eq!(names, 1);
    }

    #[test]
    fn a_cut_blob_is_written_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let blobs = BlobStore::new(dir.path().to_path_buf());
        let hash = blobs.put(b"abc").expect("stored");
        std::fs::write(dir.path().join(&hash), b"a").expect("cut");
        blobs.put(b"abc").expect("stored again");
        assert_eq!(blobs.read(&hash).expect("read").as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn a_blob_that_was_there_already_is_synced_too() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(BlobStore::new(dir.path().to_path_buf()).put(b"abc").expect("stored"));
        let blobs = BlobStore::new(dir.path().to_path_buf());
        blobs.put(b"abc").expect("found");
        assert!(blobs.unsynced.lock().contains(&path));
        blobs.sync().expect("synced");
        assert!(blobs.unsynced.lock().is_empty());
    }

    #[test]
    fn a_deleted_blob_does_not_stop_the_syncing_of_the_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let blobs = BlobStore::new(dir.path().join("blobs"));
        let hash = blobs.put(b"abc").expect("stored");
        blobs.put(b"def").expect("stored");
        std::fs::remove_file(dir.path().join("blobs").join(hash)).expect("deleted");
        blobs.sync().expect("the other one is synced");
        blobs.put(b"abc").expect("stored again");
        std::fs::remove_dir_all(dir.path().join("blobs")).expect("deleted");
        blobs.sync().expect("nothing is left to sync");
    }

    #[cfg(unix)]
    #[test]
    fn blobs_are_for_their_owner_only_and_a_failed_put_leaves_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let blobs = BlobStore::new(dir.path().join("blobs"));
        let path = dir.path().join("blobs").join(blobs.put(b"abc").expect("stored"));
        let mode = |path: &Path| path.metadata().expect("metadata").permissions().mode() & 0o777;
        assert_eq!((mode(&dir.path().join("blobs")), mode(&path)), (0o700, 0o600));
        std::fs::remove_file(&path).expect("deleted");
        std::fs::create_dir_all(path.join("x")).expect("a directory in the way");
        assert!(blobs.put(b"abc").is_err());
        assert_eq!(std::fs::read_dir(dir.path().join("blobs")).expect("listed").count(), 1);
    }

    #[test]
    fn a_store_under_a_file_has_no_blobs() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("file"), b"x").expect("written");
        let blobs = BlobStore::new(dir.path().join("file"));
        assert_eq!(blobs.read(&"0".repeat(64)).expect("no failure"), None);
        assert!(blobs.put(b"abc").is_err());
    }

    #[test]
    fn names_that_are_no_hashes_lead_nowhere() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("secret"), b"x").expect("written");
        let blobs = BlobStore::new(dir.path().join("blobs"));
        // The way up is only open where the directory is there.
        blobs.put(b"abc").expect("stored");
        for hash in ["../secret", "", "secret", &"A".repeat(64), &"../".repeat(22)[..64]] {
            assert_eq!(blobs.read(hash).expect("no failure"), None);
        }
    }
}

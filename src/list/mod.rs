//! Sessions on disk: which files there are and what is in them, without opening them as sessions.
//!
//! Counts, titles and texts are those of the whole file. Files are read through one buffer each, by
//! a few threads, so memory and open files stay bounded however many there are.

mod cache;
mod identity;
mod summary;
mod text;
mod texts;

pub use cache::{Memory, Scope};
pub use identity::{FileIdentity, nanoseconds};
pub use summary::{HeaderInfo, Summary, header_info, messages_text, summarize};
pub use texts::Texts;

use crate::error::Result;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most files read at the same time.
const MAX_THREADS: usize = 4;

/// A session file and when it was changed.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// Modification time in milliseconds since 1970, with decimals.
    pub modified_ms: f64,
    /// What it is told apart by; nothing for what is no file of the file system.
    pub identity: Option<FileIdentity>,
    /// Size in bytes.
    pub size: u64,
}

/// The `*.jsonl` files directly in one of `dirs`, and those of every project below `root`: one level
/// down, through symbolic links too. The newest comes first. Hidden files are not sessions: temporary
/// files are named so. A directory that does not exist or cannot be read has none.
pub fn files(dirs: &[String], root: Option<&str>) -> Vec<FoundFile> {
    let mut found = Vec::new();
    for dir in dirs {
        files_in(Path::new(dir), &mut found);
    }
    for entry in root.map(std::fs::read_dir).into_iter().flatten().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().first() != Some(&b'.') && entry.path().is_dir() {
            files_in(&entry.path(), &mut found);
        }
    }
    found.sort_by(|a, b| b.modified_ms.total_cmp(&a.modified_ms).then_with(|| a.path.cmp(&b.path)));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn files_in(dir: &Path, found: &mut Vec<FoundFile>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.first() == Some(&b'.') || !name.ends_with(b".jsonl") {
            continue;
        }
        // Asked through the directory, which spares a walk along the path for each file.
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => found.push(FoundFile::of(entry.path(), &metadata)),
            Ok(metadata) if metadata.is_symlink() => found.extend(file(&entry.path())),
            _ => {}
        }
    }
}

impl FoundFile {
    fn of(path: PathBuf, metadata: &Metadata) -> FoundFile {
        FoundFile {
            modified_ms: metadata.modified().map_or(0.0, identity::milliseconds),
            identity: Some(FileIdentity::of(metadata)),
            size: metadata.len(),
            path,
        }
    }
}

/// The file at `path`, if it is one.
pub fn file(path: &Path) -> Option<FoundFile> {
    let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some(FoundFile::of(path.to_path_buf(), &metadata))
}

/// Applies `read` to every file on a few threads and keeps the order. Files that fail or are no
/// sessions give nothing.
pub fn each<T: Send>(files: &[FoundFile], read: impl Fn(&FoundFile) -> Result<Option<T>> + Sync) -> Vec<T> {
    // Two threads of one core share its caches and units: scanning on both takes the time of the
    // caller's other work and gains little.
    let cores = std::thread::available_parallelism().map_or(1, |threads| threads.get().div_ceil(2));
    let threads = cores.min(MAX_THREADS).min(files.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return done };
            if let Ok(Some(value)) = read(file) {
                done.push((at, value));
            }
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for helper in helpers {
            all.extend(helper.join().unwrap_or_default());
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, value)| value).collect()
}

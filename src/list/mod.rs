//! Sessions on disk: which files there are and what is in them, without opening them as sessions.
//!
//! Counts, titles and texts are those of the whole file. Files are read through one buffer each, by
//! a few threads, so memory and open files stay bounded however many there are.

mod summary;

pub use summary::{HeaderInfo, Summary, header_info, messages_text, messages_text_source, summarize, summarize_source};

use crate::error::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most files read at the same time.
const MAX_THREADS: usize = 4;

/// A session file and when it was changed.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// Modification time in milliseconds since 1970, with decimals.
    pub modified_ms: f64,
    /// Size in bytes.
    pub size: u64,
}

/// Milliseconds since 1970 with decimals; before it negative. Seconds and their rest are added last:
/// nanoseconds since 1970 in one number have more digits than an `f64` keeps, and a file of a whole
/// millisecond would seem younger than it is.
fn milliseconds(time: SystemTime) -> f64 {
    let of = |length: Duration| length.as_secs() as f64 * 1e3 + f64::from(length.subsec_nanos()) / 1e6;
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -of(before.duration()), of)
}

fn modified_ms(metadata: &std::fs::Metadata) -> f64 {
    metadata.modified().map_or(0.0, milliseconds)
}

/// The `*.jsonl` files directly in `dir`, the newest first. Hidden files are not sessions: temporary
/// files are named so. A directory that does not exist or cannot be read has none.
pub fn files(dir: &Path) -> Vec<FoundFile> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.first() == Some(&b'.') || !name.ends_with(b".jsonl") {
            continue;
        }
        found.extend(file(&entry.path()));
    }
    newest_first(&mut found);
    found
}

/// The file at `path`, if it is one.
pub fn file(path: &Path) -> Option<FoundFile> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(FoundFile { modified_ms: modified_ms(&metadata), size: metadata.len(), path: path.to_path_buf() })
}

/// The session files of every project below `root`: one level down, through symbolic links too.
pub fn all_files(root: &Path) -> Vec<FoundFile> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().first() != Some(&b'.') && entry.path().is_dir() {
            found.append(&mut files(&entry.path()));
        }
    }
    newest_first(&mut found);
    found
}

fn newest_first(found: &mut [FoundFile]) {
    found.sort_by(|a, b| b.modified_ms.total_cmp(&a.modified_ms).then_with(|| a.path.cmp(&b.path)));
}

/// Applies `read` to every file on a few threads and keeps the order. Files that fail or are no
/// sessions give nothing.
pub fn each<T: Send>(files: &[FoundFile], read: impl Fn(&FoundFile) -> Result<Option<T>> + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(files.len());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_millisecond_stays_whole() {
        for ms in [1_796_120_913_910, 1_796_120_914_286, 1_700_000_000_001, 1] {
            assert_eq!(milliseconds(UNIX_EPOCH + Duration::from_millis(ms)), ms as f64);
        }
    }

    #[test]
    fn a_time_before_1970_is_negative() {
        assert_eq!(milliseconds(UNIX_EPOCH - Duration::from_millis(1500)), -1500.0);
    }
}

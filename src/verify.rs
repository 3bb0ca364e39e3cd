//! What is wrong with a session file. Reads, and changes nothing.

use crate::blob::{BlobStore, REF_PREFIX, is_hash};
use crate::entry::usage::Usage;
use crate::error::Result;
use crate::index::{Index, flag};
use crate::log::read::{FileSource, Source, lines};
use crate::session::{Header, LoadReport, Loaded, NO_ID};
use crate::store;
use std::collections::BTreeSet;
use std::path::Path;

/// Most ids and hashes kept of each kind.
const KEPT: usize = 1000;

/// The state of a file.
#[derive(Debug, Default)]
pub struct Verification {
    /// Size in bytes.
    pub size: u64,
    /// Whether there is a header.
    pub has_header: bool,
    /// Format version; 0 without a header.
    pub version: f64,
    /// Number of entries that can be read.
    pub entries: usize,
    /// Lines and what was skipped.
    pub report: LoadReport,
    /// Entries whose parent does not exist.
    pub orphans: Vec<Vec<u8>>,
    /// Entries that were cut off from a cycle.
    pub cycles: Vec<Vec<u8>>,
    /// Ids that several entries have.
    pub duplicate_ids: Vec<Vec<u8>>,
    /// Hashes of blobs that are referred to and missing.
    pub missing_blobs: Vec<String>,
}

impl Verification {
    /// Whether there is nothing to mend.
    pub fn is_ok(&self) -> bool {
        self.reason().is_none()
    }

    /// What is in the way of that first, in words.
    pub fn reason(&self) -> Option<String> {
        if self.size == 0 {
            return Some("the file is empty".into());
        }
        if self.report.lines == 0 {
            let nothing = "the file holds nothing but white space or NUL bytes";
            return Some(self.report.torn_tail.map_or(nothing, |_| "the file holds no complete line").into());
        }
        if !self.has_header {
            return Some("the file has no session header".into());
        }
        // Objects without an id are no entries for any agent, and no obstacle.
        let obstacles = || self.report.skipped.iter().filter(|skipped| skipped.reason != NO_ID);
        let notes = self.report.skipped.len() - obstacles().count();
        if self.report.skipped_count > notes as u64 {
            let first = obstacles().next().map(|skipped| format!("line {}: {}", skipped.line, skipped.reason));
            return Some(first.unwrap_or_else(|| "more lines are no entries than are listed".into()));
        }
        if let Some(offset) = self.report.torn_tail {
            return Some(format!("the last line is cut off, from byte {offset} on"));
        }
        let first = |ids: &[Vec<u8>]| ids.first().map(|id| String::from_utf8_lossy(id).into_owned());
        if let Some(id) = first(&self.orphans) {
            return Some(format!("the parent of entry {id} is missing"));
        }
        first(&self.cycles).map(|id| format!("the parents of entry {id} lead in a circle"))
    }
}

/// A file read as a session, also without a header or with entries before it.
pub(crate) struct Reading {
    pub header: Option<Header>,
    pub title: Option<Vec<u8>>,
    pub index: Index,
    pub report: LoadReport,
    pub version: f64,
}

/// Reads all that can be read.
pub(crate) fn read_everything(source: &dyn Source, size: u64) -> Result<Reading> {
    let mut first = Loaded::default();
    first.read(source, size, 0)?;
    let title = first.title_line.as_ref().map(|line| line.title.clone());
    let before_header = first.report.skipped.iter().any(|skipped| skipped.reason == "before the header");
    if first.header.is_some() && !before_header {
        let version = first.header.as_ref().map_or(3.0, |header| header.version);
        return Ok(Reading { header: first.header, title, index: first.index, report: first.report, version });
    }
    // Without a header entries are read as the current version, unless none of them has an id.
    let mut version = first.header.as_ref().map_or(3.0, |header| header.version);
    loop {
        let assumed = first.header.clone().unwrap_or(Header { version, ..Header::default() });
        let mut again =
            Loaded::resume(assumed, Index::default(), Usage::default(), LoadReport::default(), Default::default());
        again.read(source, size, 0)?;
        if first.header.is_none() && again.index.is_empty() && version > 1.0 {
            version = 1.0;
            continue;
        }
        return Ok(Reading { header: first.header, title, index: again.index, report: again.report, version });
    }
}

/// Looks at the file at `path`.
pub fn verify(path: &Path, blobs: &BlobStore) -> Result<Verification> {
    let (file, _) = store::open(path)?;
    let size = store::stat_open(&file, path)?.len();
    let source = FileSource { file: &file, path };
    let reading = read_everything(&source, size)?;
    let mut verification = Verification {
        size,
        has_header: reading.header.is_some(),
        version: reading.header.as_ref().map_or(0.0, |header| header.version),
        entries: reading.index.len(),
        missing_blobs: missing_blobs(&source, size, blobs)?,
        ..Verification::default()
    };
    let mut duplicates = BTreeSet::new();
    for (at, record) in reading.index.records().iter().enumerate() {
        let id = reading.index.id(at as u32);
        if record.has(flag::ORPHAN) && verification.orphans.len() < KEPT {
            verification.orphans.push(id.clone());
        }
        if record.has(flag::CYCLE) && verification.cycles.len() < KEPT {
            verification.cycles.push(id.clone());
        }
        if reading.index.find(&id) != Some(at as u32) && duplicates.len() < KEPT {
            duplicates.insert(id);
        }
    }
    verification.duplicate_ids = duplicates.into_iter().collect();
    verification.report = reading.report;
    Ok(verification)
}

fn missing_blobs(source: &dyn Source, size: u64, blobs: &BlobStore) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    lines(source, 0, size, |line| {
        for at in memchr::memmem::find_iter(line.bytes, REF_PREFIX) {
            let start = at + REF_PREFIX.len();
            if let Some(Ok(hash)) = line.bytes.get(start..start + 64).map(std::str::from_utf8) {
                seen.insert(hash.to_string());
            }
        }
        Ok(true)
    })?;
    let missing = seen.into_iter().filter(|hash| is_hash(hash) && !blobs.has(hash));
    Ok(missing.take(KEPT).collect())
}

//! Durability on request, reading on, and letting go of the file.

use super::{Body, Session, TitleLine};
use crate::error::{Error, Result};
use crate::json::edit::{Member, set_members};
use crate::json::string;
use crate::persist::BlobSink;
use crate::store::{self, FileId};
use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// What has to be synced so that everything acknowledged survives a power loss. Syncing takes long
/// and happens without the session.
#[derive(Debug)]
pub struct Unsynced {
    file: Arc<File>,
    path: PathBuf,
    data: bool,
    name: bool,
}

impl Unsynced {
    /// Syncs.
    pub fn sync(&self) -> Result<()> {
        if self.data {
            store::sync(&self.file, &self.path)?;
        }
        if self.name {
            store::sync_new_name(&self.path)?;
        }
        Ok(())
    }
}

impl Session {
    /// Writes what is queued and says what has to be synced: [`Unsynced::sync`], then, if that fails,
    /// [`Session::sync_failed`].
    pub fn flush(&mut self, blobs: &dyn BlobSink) -> Result<Option<Unsynced>> {
        let Body::Disk(disk) = &self.body else { return Ok(None) };
        if disk.file.is_none() && !disk.has_unwritten() && !disk.unsynced_data && !disk.unsynced_name {
            return Ok(None);
        }
        if disk.has_unwritten() || disk.unsynced_data || !disk.previous.is_empty() {
            let (_lock, file, size) = self.begin_write(true)?;
            self.drain(&file, size, blobs)?;
        }
        let disk = self.disk()?;
        if !disk.unsynced_data && !disk.unsynced_name {
            return Ok(None);
        }
        let unsynced = Unsynced {
            file: disk.open()?,
            path: disk.path.clone(),
            data: std::mem::take(&mut disk.unsynced_data),
            name: std::mem::take(&mut disk.unsynced_name),
        };
        Ok(Some(unsynced))
    }

    /// Notes that syncing failed: the next flush tries again.
    pub fn sync_failed(&mut self, unsynced: &Unsynced) {
        if let Body::Disk(disk) = &mut self.body {
            disk.unsynced_data |= unsynced.data;
            disk.unsynced_name |= unsynced.name;
        }
    }

    /// Lets go of the file. It is opened again when it is needed.
    pub fn release(&mut self) {
        if let Body::Disk(disk) = &mut self.body {
            disk.release();
        }
    }

    /// Whether a descriptor is open.
    pub fn is_open(&self) -> bool {
        matches!(&self.body, Body::Disk(disk) if disk.file.is_some())
    }

    /// Whether a descriptor was opened that this was not asked about before.
    pub fn newly_open(&mut self) -> bool {
        match &mut self.body {
            Body::Disk(disk) => disk.file.is_some() && !std::mem::replace(&mut disk.counted, true),
            _ => false,
        }
    }

    /// Takes in what others appended. Returns how many entries came.
    pub fn refresh(&mut self) -> Result<usize> {
        if !matches!(self.body, Body::Disk(_)) {
            return Ok(0);
        }
        let before = self.index.len();
        let file = self.begin_read()?;
        self.take_in(&file)?;
        Ok(self.index.len().saturating_sub(before))
    }

    /// Writes a title into the slot of the title line. Returns whether it fitted; a title that is
    /// too long is cut there and belongs into the header whole. `updated_at` is an ISO time.
    pub fn write_title_line(&mut self, title: &[u8], updated_at: &str, blobs: &dyn BlobSink) -> Result<bool> {
        let (_lock, file, size) = self.begin_write(true)?;
        self.drain(&file, size, blobs)?;
        let Some(line) = self.title_line.clone() else {
            return Err(Error::InvalidArgument { reason: "the session has no title line".into() });
        };
        let old = self.read_span(line.offset, line.offset + TitleLine::BYTES as u64 - 1)?;
        let (new, fitted, kept) = fill_slot(&old, title, updated_at);
        let path = self.disk()?.path.clone();
        // A descriptor for appending writes at the end whatever the position.
        let slot = store::open_to_write(&path)?;
        let same = FileId::of(&store::stat_open(&slot, &path)?) == FileId::of(&store::stat_open(&file, &path)?);
        if !same {
            return Err(Error::Conflict { path, reason: "the file was replaced by somebody else".into() });
        }
        store::write_all_at(&slot, &new, line.offset).map_err(|error| Error::io("pwrite", &path, error))?;
        self.disk()?.unsynced_data = true;
        self.title_line = Some(TitleLine { title: kept, source: Some(b"user".to_vec()), ..line });
        Ok(fitted)
    }
}

/// The slot's line with another title, padded to its size; whether the whole title fitted; and the
/// title as it stands there.
fn fill_slot(old: &[u8], title: &[u8], updated_at: &str) -> (Vec<u8>, bool, Vec<u8>) {
    let mut kept = String::from_utf8_lossy(title).into_owned();
    let mut fitted = true;
    let literal = |text: &str| {
        let mut out = Vec::new();
        string::write(&mut out, text.as_bytes());
        out
    };
    loop {
        let members: [Member<'_>; 4] = [
            ("title", Some(Cow::Owned(literal(&kept)))),
            ("source", Some(Cow::Borrowed(b"\"user\""))),
            ("updatedAt", Some(Cow::Owned(literal(updated_at)))),
            ("pad", Some(Cow::Borrowed(b"\"\""))),
        ];
        let fallback = || set_members(b"{\"type\":\"title\",\"v\":1}", &members).unwrap_or_default();
        let mut line = set_members(old.trim_ascii_end(), &members).unwrap_or_else(fallback);
        let room = TitleLine::BYTES - 1;
        if line.len() <= room {
            let pad = room - line.len();
            // The closing quote and brace of the empty pad are the last two bytes.
            let at = line.len() - 2;
            if line.ends_with(b"\"\"}") {
                line.splice(at..at, std::iter::repeat_n(b' ', pad));
            } else {
                line.extend(std::iter::repeat_n(b' ', pad));
            }
            return (line, fitted, kept.into_bytes());
        }
        fitted = false;
        if kept.pop().is_none() {
            // Foreign members fill the slot: start it anew.
            return fill_slot(b"{\"type\":\"title\",\"v\":1}", title, updated_at);
        }
    }
}

//! Durability on request, reading on, and letting go of the file.

use super::{Body, Session};
use crate::error::Result;
use crate::persist::BlobSink;
use crate::store;
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
    found_name: bool,
}

impl Unsynced {
    /// Syncs.
    pub fn sync(&self) -> Result<()> {
        if self.data {
            store::sync(&self.file, &self.path)?;
        }
        if !self.name && !self.found_name {
            return Ok(());
        }
        match store::sync_new_name(&self.path) {
            // A directory that is not ours to read did not get the name from us.
            Err(error) if !self.name && matches!(error.code(), "EACCES" | "EPERM") => Ok(()),
            other => other,
        }
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
            found_name: std::mem::take(&mut disk.found_name),
        };
        Ok(Some(unsynced))
    }

    /// Notes that syncing failed: the next flush tries again.
    pub fn sync_failed(&mut self, unsynced: &Unsynced) {
        if let Body::Disk(disk) = &mut self.body {
            disk.unsynced_data |= unsynced.data;
            disk.unsynced_name |= unsynced.name;
            disk.found_name |= unsynced.found_name;
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
}

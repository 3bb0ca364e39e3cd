//! Writing the file anew: what did not change is copied as bytes.
//!
//! Three steps, so that the long one holds no lock: [`Session::plan_rewrite`] says what changes,
//! [`Rewrite::copy`] writes a temporary file, [`Session::publish`] adds what was appended meanwhile
//! and renames.

use super::changes::Changes;
use super::disk::DiskLog;
use super::edited_copy::{Edit, EditBytes, Moved, copy, copy_edited, describe_again, relocate, relocate_entries};
use super::rescue::settled_end;
use super::{Body, Session};
use crate::error::{Error, Result};
use crate::index::{EntryIndex, UNWRITTEN, flag};
use crate::json::edit::set_members;
use crate::log::read::FileSource;
use crate::migrate::{self, Upgrade};
use crate::persist::{self, BlobSink};
use crate::store::{self, FileLock, TempFile};
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What shall change in the header.
#[derive(Debug, Clone, Default)]
pub struct HeaderEdit {
    /// A whole new header, as JSON text.
    pub text: Option<Vec<u8>>,
    /// Members to set, as JSON values.
    pub members: Vec<(String, Vec<u8>)>,
}

/// A rewrite in progress.
#[derive(Debug)]
pub struct Rewrite {
    source: Arc<File>,
    path: PathBuf,
    target: PathBuf,
    in_place: bool,
    end: u64,
    header: Vec<u8>,
    edits: Vec<Edit>,
    moved: Vec<Moved>,
    temp: Option<TempFile>,
}

/// What became of a rewrite.
#[derive(Debug)]
pub enum Published {
    /// The session is on the new file, at the same path.
    InPlace,
    /// The file at another path, as a session of its own; the old session stays as it is.
    Copy(Box<Session>),
    /// The file was replaced by somebody else meanwhile: plan again.
    Stale,
}

impl Rewrite {
    fn target_path(&self) -> Option<&Path> {
        (!self.in_place).then_some(&self.target)
    }

    /// Writes everything up to the end known when the rewrite was planned, and syncs it.
    pub fn copy(&mut self, unique: u64) -> Result<()> {
        if self.in_place {
            store::remove_abandoned(&self.target);
        }
        let mut temp = TempFile::beside(&self.target, unique)?;
        if self.in_place {
            temp.copy_mode(&self.source)?;
        }
        let source = FileSource { file: &self.source, path: &self.path };
        self.moved = copy_edited(&source, self.end, &self.edits, &mut temp)?;
        temp.sync()?;
        self.temp = Some(temp);
        Ok(())
    }
}

impl Session {
    /// The header after an edit, with the version it will have in a file.
    fn edited_header(&self, edit: &HeaderEdit) -> Result<Vec<u8>> {
        let members: Vec<_> =
            edit.members.iter().map(|(key, value)| (key.as_str(), Some(Cow::Borrowed(&value[..])))).collect();
        let text = edit.text.as_ref().unwrap_or(&self.header.text);
        let text = set_members(text, &members).filter(|text| super::load::parse_header(text).is_some());
        let text = text.ok_or_else(|| Error::InvalidArgument {
            reason: "the header must stay a JSON object of type \"session\" with an id".into(),
        })?;
        Ok(migrate::upgrade_header(&text, self.header.version))
    }

    fn header_edit(&self, header: &[u8]) -> Option<Edit> {
        let span = self.header.span.clone();
        (header != self.header.text).then(|| Edit {
            start: span.start,
            end: span.end,
            bytes: EditBytes::Ready(header.to_vec()),
            entry: None,
        })
    }

    /// The edits that bring the file to what the session is now: the header, the entries in
    /// `changes` (their JSON text), and every line of an older format.
    fn edits(
        &mut self,
        edit: &HeaderEdit,
        header: &[u8],
        changes: &[(EntryIndex, Vec<u8>)],
        blobs: &dyn BlobSink,
    ) -> Result<Vec<Edit>> {
        let mut edits: Vec<Edit> = self.header_edit(header).into_iter().collect();
        if let Some((_, title)) = edit.members.iter().find(|(key, _)| key == "title")
            && let Some((start, end, text)) = self.title_line_edit(title)?
        {
            edits.push(Edit { start, end, bytes: EditBytes::Ready(text), entry: None });
        }
        let mut changed = std::collections::HashSet::new();
        for (at, text) in changes {
            let Some(record) = self.index.get(*at).copied() else { continue };
            let text = persist::for_disk(text, blobs)?.unwrap_or_else(|| text.clone());
            changed.insert(*at);
            if record.offset == UNWRITTEN {
                self.replace_queued(*at, text);
                continue;
            }
            let end = record.offset + u64::from(record.length);
            if self.read_span(record.offset, end)? != text {
                edits.push(Edit { start: record.offset, end, bytes: EditBytes::Ready(text), entry: Some(*at) });
            }
        }
        if self.outdated {
            for (at, record) in self.index.records().iter().enumerate() {
                let at = at as u32;
                if record.has(flag::MIGRATED) && record.offset != UNWRITTEN && !changed.contains(&at) {
                    let upgrade = Upgrade::of(&self.index, at, record, self.header.version);
                    let end = record.offset + u64::from(record.length);
                    edits.push(Edit { start: record.offset, end, bytes: EditBytes::Upgrade(upgrade), entry: None });
                }
            }
        }
        edits.sort_by_key(|edit| edit.start);
        Ok(edits)
    }

    fn replace_queued(&mut self, at: EntryIndex, text: Vec<u8>) {
        if let Body::Disk(disk) = &mut self.body {
            // A line of which a part is in the file already is finished as it was begun.
            if disk.partial.is_none()
                && let Some(queued) = disk.unwritten.iter_mut().find(|queued| queued.index == at)
            {
                queued.line = text;
                queued.prepared = true;
            }
        }
    }

    /// Plans a rewrite of the file, in place or (with `target`) as a new file at another path.
    /// `None` if the file already is what it shall be.
    pub fn plan_rewrite(
        &mut self,
        target: Option<&Path>,
        edit: &HeaderEdit,
        changes: &Changes,
        blobs: &dyn BlobSink,
    ) -> Result<Option<Rewrite>> {
        let (_lock, source, _) = self.begin_copy(target, blobs)?;
        self.require_in_place()?;
        let header = self.edited_header(edit)?;
        let edits = self.edits(edit, &header, &changes.now(), blobs)?;
        if edits.is_empty() && target.is_none() {
            return Ok(None);
        }
        let disk = self.disk()?;
        let path = disk.path.clone();
        let end = store::stat_open(&source, &path)?.len();
        let real = store::canonicalize(&path).map_err(|error| Error::io("realpath", &path, error));
        let (target, in_place) = match target {
            Some(target) => (target.to_path_buf(), false),
            // A session file that is a symbolic link stays one: what it points to is replaced.
            None => (real?, true),
        };
        Ok(Some(Rewrite { source, path, target, in_place, end, header, edits, moved: Vec::new(), temp: None }))
    }

    /// Makes the copied file the session's.
    pub fn publish(&mut self, mut rewrite: Rewrite, blobs: &dyn BlobSink) -> Result<Published> {
        let Some(mut temp) = rewrite.temp.take() else {
            return Err(Error::InvalidArgument { reason: "the rewrite has not been copied".into() });
        };
        let (lock, file, _) = self.begin_copy(rewrite.target_path(), blobs)?;
        if !Arc::ptr_eq(&file, &rewrite.source) {
            return Ok(Published::Stale);
        }
        self.require_in_place()?;
        let source = FileSource { file: &file, path: &rewrite.path };
        let (size, seen) = settled_end(&source)?;
        if size > rewrite.end {
            copy(&source, rewrite.end, size, &mut temp)?;
            temp.sync()?;
        }
        if !rewrite.in_place {
            let new = temp.publish(&rewrite.target)?;
            let progress = self.disk()?.progress;
            let mut log = DiskLog::new(rewrite.target.clone(), new, true, progress);
            log.unsynced_name = store::sync_new_name(&rewrite.target).is_err();
            let mut session = self.on(log);
            session.settle_in(&rewrite.moved, &rewrite.edits, &rewrite.header);
            return Ok(Published::Copy(Box::new(session)));
        }
        let new = temp.replace(&rewrite.target)?;
        let disk = self.disk()?;
        disk.watch(Arc::clone(&file), seen);
        disk.file = Some(new);
        disk.writable = true;
        disk.checked = None;
        disk.partial = None;
        disk.unsynced_data = false;
        disk.tail_seen = None;
        let synced = store::sync_dir(&rewrite.target);
        disk.unsynced_name = synced.is_err();
        drop(lock);
        self.settle_in(&rewrite.moved, &rewrite.edits, &rewrite.header);
        synced.map(|()| Published::InPlace)
    }

    /// Makes the file ready to be copied: with the lock and everything written for a rewrite in
    /// place, without a lock where only a copy is made and nothing is left to write, so that a
    /// session that may only be read can be forked.
    fn begin_copy(
        &mut self,
        target: Option<&Path>,
        blobs: &dyn BlobSink,
    ) -> Result<(Option<FileLock>, Arc<File>, u64)> {
        if target.is_some() && !self.disk()?.has_unwritten() {
            let file = self.begin_read()?;
            let size = self.take_in(&file)?;
            return Ok((None, file, size));
        }
        let (lock, file, size) = self.begin_write(true)?;
        self.drain(&file, size, blobs)?;
        Ok((Some(lock), file, size))
    }

    /// Follows the bytes to their new places.
    fn settle_in(&mut self, moved: &[Moved], edits: &[Edit], header: &[u8]) {
        self.moves += 1;
        let index = Arc::make_mut(&mut self.index);
        relocate_entries(index, moved);
        for edit in edits {
            if let (Some(at), EditBytes::Ready(text)) = (edit.entry, &edit.bytes) {
                describe_again(index, at, text);
            }
        }
        let (start, length) = relocate(moved, self.header.span.start);
        let span = start..start + length.unwrap_or(self.header.text.len() as u64);
        self.header.span = span.clone();
        if let Some(header) = super::load::parse_header(header) {
            self.header = super::Header { span, ..header };
        }
        self.outdated = false;
        if let Some(line) = &mut self.title_line {
            let edit = edits.iter().find(|edit| edit.start == line.offset);
            line.offset = relocate(moved, line.offset).0;
            if let Some(Edit { bytes: EditBytes::Ready(text), .. }) = edit {
                line.become_text(text);
            }
        }
        if let Body::Disk(disk) = &mut self.body {
            disk.progress.indexed = relocate(moved, disk.progress.indexed).0;
        }
    }

    /// Rewrites the text of a storage. Returns the new text.
    pub fn rewrite_text(
        &mut self,
        edit: &HeaderEdit,
        changes: &[(EntryIndex, Vec<u8>)],
        blobs: &dyn BlobSink,
    ) -> Result<Vec<u8>> {
        let header = self.edited_header(edit)?;
        let edits = self.edits(edit, &header, changes, blobs)?;
        let Body::Text(text) = &self.body else {
            return Err(Error::InvalidArgument { reason: "the session has no text".into() });
        };
        let mut out = Vec::with_capacity(text.len() + 256);
        let moved = copy_edited(&text[..], text.len() as u64, &edits, &mut out)?;
        self.settle_in(&moved, &edits, &header);
        self.body = Body::Text(out.clone());
        Ok(out)
    }

    /// Writes a file of an older version anew before something is appended to it.
    pub(super) fn rewrite_outdated(&mut self, blobs: &dyn BlobSink) -> Result<()> {
        for round in 0..4u64 {
            let Some(mut rewrite) = self.plan_rewrite(None, &HeaderEdit::default(), &Changes::default(), blobs)? else {
                return Ok(());
            };
            rewrite.copy(self.index.len() as u64 ^ round << 32)?;
            if !matches!(self.publish(rewrite, blobs)?, Published::Stale) {
                return Ok(());
            }
        }
        let path = self.disk()?.path.clone();
        Err(Error::Conflict { path, reason: "the file is replaced again and again".into() })
    }

    /// Edits the header of a session that is not stored.
    pub fn edit_detached_header(&mut self, edit: &HeaderEdit) -> Result<()> {
        let text = self.edited_header(edit)?;
        if let Some(header) = super::load::parse_header(&text) {
            self.header = header;
        }
        Ok(())
    }

    /// A session on a file of its own that begins as a copy of this one: same entries and numbers.
    pub(super) fn on(&self, disk: DiskLog) -> Session {
        Session {
            header: self.header.clone(),
            title_line: self.title_line.clone(),
            index: Arc::clone(&self.index),
            leaf: self.leaf,
            usage: self.usage,
            body: Body::Disk(Box::new(disk)),
            report: self.report.clone(),
            ids: self.ids.clone(),
            outdated: self.outdated,
            remap: None,
            moves: self.moves,
            renumberings: self.renumberings,
            held: Default::default(),
            unfinished: None,
            buffer: Vec::new(),
        }
    }
}

//! The part of the session handle that writes files: first write, rewrites, copies, durability.

use super::error::to_js;
use super::open_files;
use super::session::{NativeSession, NativeSnapshot, wrap};
use super::task::Job;
use super::text::{js_string, js_string_of_file};
use crate::blob::BlobStore;
use crate::error::Error;
use crate::index::EntryIndex;
use crate::session::{Branched, HeaderEdit, Published, Session};
use napi::bindgen_prelude::{AsyncTask, Uint32Array};
use napi::{Env, JsString, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The copy a rewrite made, if it made one, and the blob store for it.
type Copied = (Option<Box<Session>>, Arc<BlobStore>);

/// Changed entries as they come from JavaScript.
fn changes(entries: &[u32], texts: Vec<String>) -> Vec<(EntryIndex, Vec<u8>)> {
    entries.iter().copied().zip(texts.into_iter().map(String::into_bytes)).collect()
}

fn header_edit(text: Option<String>, members: Option<String>) -> crate::error::Result<HeaderEdit> {
    let mut edit = HeaderEdit { text: text.map(String::into_bytes), members: Vec::new() };
    if let Some(members) = members {
        // Raw values, as a title may hold half a surrogate pair, which is JSON but no Rust string.
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&members)
            .map_err(|error| Error::InvalidArgument { reason: format!("header members: {error}") })?;
        let bytes = |value: Box<RawValue>| Box::<str>::from(value).into_string().into_bytes();
        edit.members.extend(members.into_iter().map(|(key, value)| (key, bytes(value))));
    }
    Ok(edit)
}

#[napi]
impl NativeSession {
    /// Writes a session that is not stored to a file; see [`Session::create_file`].
    #[napi(catch_unwind)]
    pub fn create_file(&self, env: &Env, path: String, blank: bool, entries: String) -> Result<()> {
        open_files::with(&self.session, |session| {
            session.create_file(Path::new(&path), blank, entries.as_bytes(), &*self.blobs)
        })
        .map_err(|error| to_js(env, &error))
    }

    /// The same on the worker pool.
    #[napi(catch_unwind)]
    pub fn create_file_async(&self, path: String, blank: bool, entries: String) -> AsyncTask<Job<(), ()>> {
        let (session, blobs) = (Arc::clone(&self.session), Arc::clone(&self.blobs));
        let work = move || {
            open_files::with(&session, |session| {
                session.create_file(Path::new(&path), blank, entries.as_bytes(), &*blobs)
            })
        };
        AsyncTask::new(Job::new("create", work, |_, ()| Ok(())))
    }

    /// Turns a session that is not stored into one in the text of a storage; returns the text.
    #[napi(catch_unwind)]
    pub fn create_text<'a>(&self, env: &'a Env, entries: String) -> Result<JsString<'a>> {
        let text = self.session.lock().create_text(entries.as_bytes(), &*self.blobs);
        js_string_of_file(env, &text.map_err(|error| to_js(env, &error))?)
    }

    /// Remembers the present state.
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> NativeSnapshot {
        NativeSnapshot { snapshot: self.session.lock().snapshot() }
    }

    /// Goes back to a remembered state.
    #[napi(catch_unwind)]
    pub fn restore(&self, snapshot: &NativeSnapshot) {
        self.session.lock().restore(&snapshot.snapshot);
    }

    /// Directories in which the file may turn up.
    #[napi(catch_unwind)]
    pub fn set_places(&self, places: Vec<String>) {
        self.session.lock().set_places(places.into_iter().map(PathBuf::from).collect());
    }

    /// Where the file is, if somebody renamed its directory; given once.
    #[napi(catch_unwind)]
    pub fn take_new_path(&self) -> Option<String> {
        self.session.lock().take_new_path().map(|path| path.to_string_lossy().into_owned())
    }

    /// Where the entries went when somebody replaced the file; given once.
    #[napi(catch_unwind)]
    pub fn take_remap(&self) -> Option<Uint32Array> {
        self.session.lock().take_remap().map(Uint32Array::from)
    }

    /// How often the entries' numbers changed; see [`Session::renumberings`].
    #[napi(catch_unwind)]
    pub fn renumberings(&self) -> f64 {
        self.session.lock().renumberings() as f64
    }

    /// Writes what is queued, so that the numbers stay the same while they are worked with.
    #[napi(catch_unwind)]
    pub fn write_queued(&self, env: &Env) -> Result<()> {
        open_files::with(&self.session, |session| session.write_queued(&*self.blobs))
            .map_err(|error| to_js(env, &error))
    }

    /// Edits the header of a session that is not stored.
    #[napi(catch_unwind)]
    pub fn edit_header(&self, env: &Env, text: Option<String>, members: Option<String>) -> Result<()> {
        header_edit(text, members)
            .and_then(|edit| self.session.lock().edit_detached_header(&edit))
            .map_err(|error| to_js(env, &error))
    }

    /// Writes what is queued and makes everything durable.
    #[napi(catch_unwind)]
    pub fn flush(&self) -> AsyncTask<Job<(), ()>> {
        let (session, blobs) = (Arc::clone(&self.session), Arc::clone(&self.blobs));
        AsyncTask::new(Job::new("flush", move || flush(&session, &blobs), |_, ()| Ok(())))
    }

    /// A session with the same entries and another header that is not stored.
    #[napi(catch_unwind)]
    pub fn detached_copy(&self, env: &Env, header: String) -> Result<NativeSession> {
        let copy = self.session.lock().detached_copy(header.as_bytes()).map_err(|error| to_js(env, &error))?;
        Ok(wrap(copy, &self.blobs))
    }

    /// Lets go of the file.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.session.lock().release();
    }

    /// Makes sure that the file is open, also if it was replaced while it was closed.
    #[napi(catch_unwind)]
    pub fn reopen(&self, env: &Env) -> Result<()> {
        open_files::with(&self.session, Session::reopen).map_err(|error| to_js(env, &error))
    }

    /// Takes in what others appended.
    #[napi(catch_unwind)]
    pub fn refresh(&self) -> AsyncTask<Job<usize, u32>> {
        let session = Arc::clone(&self.session);
        AsyncTask::new(Job::new(
            "refresh",
            move || open_files::with(&session, Session::refresh),
            |_, count| Ok(count as u32),
        ))
    }

    /// Writes the file anew, or (with `target`) a copy of it, and returns the copy as a session.
    #[napi(catch_unwind)]
    pub fn rewrite(
        &self,
        target: Option<String>,
        text: Option<String>,
        members: Option<String>,
        entries: &[u32],
        texts: Vec<String>,
        unique: f64,
    ) -> AsyncTask<Job<Copied, Option<NativeSession>>> {
        let (session, blobs) = (Arc::clone(&self.session), Arc::clone(&self.blobs));
        // Now, while the numbers are those that JavaScript knows.
        let changes = session.lock().hold(entries.to_vec(), texts.into_iter().map(String::into_bytes).collect());
        let work = move || {
            let edit = header_edit(text, members)?;
            let target = target.map(PathBuf::from);
            let mut round = 0;
            loop {
                let plan = session.lock().plan_rewrite(target.as_deref(), &edit, &changes, &*blobs)?;
                let Some(mut rewrite) = plan else { return Ok((None, blobs)) };
                rewrite.copy(unique as u64 + round)?;
                let published = session.lock().publish(rewrite, &*blobs)?;
                match published {
                    Published::InPlace => return Ok((None, blobs)),
                    Published::Copy(copy) => return Ok((Some(copy), blobs)),
                    Published::Stale => round += 1,
                }
            }
        };
        AsyncTask::new(Job::new("rewrite", work, |_, (copy, blobs)| Ok(copy.map(|copy| wrap(*copy, &blobs)))))
    }

    /// Rewrites the text of a storage; returns the new text.
    #[napi(catch_unwind)]
    pub fn rewrite_text<'a>(
        &self,
        env: &'a Env,
        text: Option<String>,
        members: Option<String>,
        entries: &[u32],
        texts: Vec<String>,
    ) -> Result<JsString<'a>> {
        let changes = changes(entries, texts);
        let text = header_edit(text, members)
            .and_then(|edit| self.session.lock().rewrite_text(&edit, &changes, &*self.blobs))
            .map_err(|error| to_js(env, &error))?;
        js_string_of_file(env, &text)
    }

    /// Writes a title into the title line. Resolves to whether the whole title fitted.
    #[napi(catch_unwind)]
    pub fn write_title_line(&self, title: String, updated_at: String) -> AsyncTask<Job<bool, bool>> {
        let (session, blobs) = (Arc::clone(&self.session), Arc::clone(&self.blobs));
        let work = move || session.lock().write_title_line(title.as_bytes(), &updated_at, &*blobs);
        AsyncTask::new(Job::new("rename", work, |_, fitted| Ok(fitted)))
    }

    /// A new session of the path to `leaf`; see [`Session::branched`]. What became of the entries
    /// is told by `takeBranchNote` of the new session.
    #[napi(catch_unwind)]
    pub fn branched(
        &self,
        env: &Env,
        leaf: u32,
        header: String,
        path: Option<String>,
        entries: &[u32],
        texts: Vec<String>,
        now: f64,
    ) -> Result<NativeSession> {
        let changes = changes(entries, texts);
        let branched = self
            .session
            .lock()
            .branched(leaf, header.as_bytes(), path.as_deref().map(Path::new), &changes, now as i64, &*self.blobs)
            .map_err(|error| to_js(env, &error))?;
        let Branched { session, taken, relinked, kept, labels } = branched;
        let mut note =
            format!("{{\"taken\":{taken:?},\"relinked\":{relinked:?},\"kept\":{kept:?},\"labels\":[").into_bytes();
        note.extend_from_slice(&labels.join(&b','));
        note.extend_from_slice(b"]}");
        let mut native = wrap(session, &self.blobs);
        native.branch_note = note;
        Ok(native)
    }

    /// JSON: `{taken, relinked, kept, labels}` of the branching this session comes from; given once.
    #[napi(catch_unwind)]
    pub fn take_branch_note<'a>(&mut self, env: &'a Env) -> Result<JsString<'a>> {
        js_string(env, &std::mem::take(&mut self.branch_note))
    }
}

fn flush(session: &Mutex<Session>, blobs: &BlobStore) -> crate::error::Result<()> {
    let unsynced = session.lock().flush(blobs)?;
    let blobs_synced = blobs.sync();
    if let Some(unsynced) = unsynced {
        if let Err(error) = blobs_synced.and_then(|()| unsynced.sync()) {
            session.lock().sync_failed(&unsynced);
            return Err(error);
        }
        return Ok(());
    }
    blobs_synced
}

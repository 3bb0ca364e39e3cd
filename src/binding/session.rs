//! The session handle: lock, call the core, hand out text.

use super::error::{of_entry, to_js};
use super::open_files;
use super::task::Job;
use super::text::{id_from_js, js_string, js_string_of_file};
use crate::blob::{BlobStore, REF_PREFIX};
use crate::context;
use crate::index::EntryIndex;
use crate::json::string;
use crate::session::{Body, LoadReport, Opened, Payload, Session, Snapshot};
use memchr::memmem::Finder;
use napi::bindgen_prelude::{AsyncTask, Uint32Array};
use napi::{Env, JsString, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// A session of the core and the blob store its images go to.
#[napi]
pub struct NativeSession {
    pub(super) session: Arc<Mutex<Session>>,
    pub(super) blobs: Arc<BlobStore>,
    /// What a branching left to tell, as JSON text.
    pub(super) branch_note: Vec<u8>,
    /// Memory for texts on their way to JavaScript.
    text: Vec<u8>,
}

/// Largest text whose memory is kept for the next one.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Whether entries in a text refer to blobs or carry replay data, which JavaScript takes care of when
/// it has the objects.
fn needs_finishing(text: &[u8]) -> bool {
    static FINDERS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [REF_PREFIX.as_bytes(), &b"openaiResponsesHistory"[..]].map(Finder::new));
    FINDERS.iter().any(|finder| finder.find(text).is_some())
}

/// What a session looked like at one moment.
#[napi]
pub struct NativeSnapshot {
    pub(super) snapshot: Snapshot,
}

/// How the context of a leaf is put together; see [`context::ContextPlan`].
#[napi(object, object_from_js = false)]
pub struct NativePlan {
    /// JSON: `{thinkingLevel, serviceTier, mode, toolSelection, injections, models, compaction}`.
    pub settings: String,
    /// Entries kept by the compaction.
    pub kept: Uint32Array,
    /// Entries that become messages.
    pub messages: Uint32Array,
}

/// Outcome of opening a path.
#[napi(object, object_from_js = false)]
pub struct NativeOpened {
    /// `session`, `missing` or `empty`.
    pub kind: String,
    /// The session.
    pub session: Option<NativeSession>,
}

/// What a path was, its session, and the blob store for it.
type OpenedHere = (&'static str, Option<Arc<Mutex<Session>>>, Arc<BlobStore>);

pub(super) fn wrap(session: Session, blobs: &Arc<BlobStore>) -> NativeSession {
    native(shared(session), blobs)
}

/// The session, with its descriptor counted.
fn shared(session: Session) -> Arc<Mutex<Session>> {
    let session = Arc::new(Mutex::new(session));
    open_files::with(&session, |_| ());
    session
}

fn native(session: Arc<Mutex<Session>>, blobs: &Arc<BlobStore>) -> NativeSession {
    NativeSession { session, blobs: Arc::clone(blobs), branch_note: Vec::new(), text: Vec::new() }
}

fn blob_store(dir: String) -> Arc<BlobStore> {
    Arc::new(BlobStore::new(PathBuf::from(dir)))
}

pub(super) fn plan_to_js(plan: context::ContextPlan) -> NativePlan {
    let number = |at: Option<EntryIndex>| at.map_or("null".to_string(), |at| at.to_string());
    let mut models = b"[".to_vec();
    for (role, model) in &plan.models {
        models.extend_from_slice(if models.len() > 1 { b",[" } else { b"[" });
        string::write(&mut models, role);
        models.push(b',');
        string::write(&mut models, model);
        models.push(b']');
    }
    models.push(b']');
    NativePlan {
        settings: format!(
            "{{\"thinkingLevel\":{},\"serviceTier\":{},\"mode\":{},\"toolSelection\":{},\"injections\":{:?},\"compaction\":{},\"models\":{}}}",
            number(plan.thinking_level),
            number(plan.service_tier),
            number(plan.mode),
            number(plan.tool_selection),
            plan.injections,
            number(plan.compaction),
            String::from_utf8_lossy(&models),
        ),
        kept: plan.kept.into(),
        messages: plan.messages.into(),
    }
}

/// What reading a file showed, as JSON.
pub(super) fn report_json(report: &LoadReport, entries: usize) -> String {
    let skipped = report.skipped.iter().map(|skipped| {
        format!("{{\"line\":{},\"offset\":{},\"reason\":{:?}}}", skipped.line, skipped.offset, skipped.reason)
    });
    format!(
        "{{\"lines\":{},\"entries\":{entries},\"skipped\":[{}],\"skippedCount\":{},\"tornTail\":{}}}",
        report.lines,
        skipped.collect::<Vec<_>>().join(","),
        report.skipped_count,
        report.torn_tail.map_or("null".into(), |offset| offset.to_string()),
    )
}

#[napi]
impl NativeSession {
    /// A session that is not stored.
    #[napi(factory, catch_unwind)]
    pub fn create(env: &Env, header: String, seed: f64, blobs: String) -> Result<NativeSession> {
        let session = Session::new(header.as_bytes(), seed as u64).map_err(|error| to_js(env, &error))?;
        Ok(wrap(session, &blob_store(blobs)))
    }

    /// A session from the text of a storage; nothing if the text is blank.
    #[napi(catch_unwind)]
    pub fn from_text(env: &Env, text: String, path: String, seed: f64, blobs: String) -> Result<Option<NativeSession>> {
        let session =
            Session::from_text(text.into_bytes(), Path::new(&path), seed as u64).map_err(|error| to_js(env, &error))?;
        Ok(session.map(|session| wrap(session, &blob_store(blobs))))
    }

    /// Opens a file on the worker pool.
    #[napi(catch_unwind)]
    pub fn open(path: String, seed: f64, blobs: String) -> AsyncTask<Job<OpenedHere, NativeOpened>> {
        // Counted here: of many that are opened at once, most are open before JavaScript sees the first.
        let work = move || {
            let (kind, session) = match Session::open(Path::new(&path), seed as u64)? {
                Opened::Session(session) => ("session", Some(shared(*session))),
                Opened::Missing => ("missing", None),
                Opened::Empty => ("empty", None),
            };
            Ok((kind, session, blob_store(blobs)))
        };
        AsyncTask::new(Job::new("open", work, |_, (kind, session, blobs)| {
            Ok(NativeOpened { kind: kind.into(), session: session.map(|session| native(session, &blobs)) })
        }))
    }

    /// JSON: `{count, leafId, stored, path, outdated, version, unwritten, header, title, source}`.
    #[napi(catch_unwind)]
    pub fn describe<'a>(&self, env: &'a Env) -> Result<JsString<'a>> {
        let session = self.session.lock();
        let mut out = format!(
            "{{\"count\":{},\"version\":{},\"stored\":{},\"unwritten\":{},\"leafId\":",
            session.index().len(),
            session.header().version,
            session.is_stored(),
            matches!(session.body(), Body::Disk(disk) if disk.has_unwritten()),
        )
        .into_bytes();
        let string = |out: &mut Vec<u8>, key: &str, value: Option<&[u8]>| {
            out.extend_from_slice(key.as_bytes());
            match value {
                Some(value) => string::write(out, value),
                None => out.extend_from_slice(b"null"),
            }
        };
        let leaf = session.leaf().map(|leaf| session.index().id(leaf));
        string(&mut out, "", leaf.as_deref());
        let path = match session.body() {
            Body::Disk(disk) => Some(disk.path().to_string_lossy().into_owned()),
            _ => None,
        };
        string(&mut out, ",\"path\":", path.as_ref().map(|path| path.as_bytes()));
        let title = session.title_line();
        string(&mut out, ",\"title\":", title.map(|line| &line.title[..]));
        string(&mut out, ",\"source\":", title.and_then(|line| line.source.as_deref()));
        out.extend_from_slice(b",\"header\":");
        out.extend_from_slice(string::lossy(&session.header().text).as_bytes());
        out.push(b'}');
        js_string(env, &out)
    }

    /// Number of entries.
    #[napi(catch_unwind)]
    pub fn count(&self) -> u32 {
        self.session.lock().index().len() as u32
    }

    /// JSON: what reading the file showed.
    #[napi(catch_unwind)]
    pub fn report(&self) -> String {
        let session = self.session.lock();
        report_json(session.report(), session.index().len())
    }

    /// Input, output, cache read, cache write, premium requests, cost.
    #[napi(catch_unwind)]
    pub fn usage(&self) -> Vec<f64> {
        let usage = *self.session.lock().usage();
        vec![usage.input, usage.output, usage.cache_read, usage.cache_write, usage.premium_requests, usage.cost]
    }

    /// Adds an entry. `kind` is its type, `text` its members as a JSON object, or for `message` the
    /// message. Returns the id, with `!` behind it if the session's file shall appear now, and with
    /// `@` and its number if that is not `expected` or others have another number now. Throws with
    /// `entryId` and `entryIndex` if the entry was added but could not be written.
    #[napi(catch_unwind)]
    pub fn append(&self, env: &Env, kind: String, text: String, now: f64, expected: u32) -> Result<String> {
        let payload = match kind.as_str() {
            "message" => Payload::Message(text.as_bytes()),
            kind => Payload::Members(kind, text.as_bytes()),
        };
        let work = |session: &mut Session| (session.append(payload, now as i64, &*self.blobs), session.has_remap());
        let (appended, renumbered) = open_files::with(&self.session, work);
        let appended = appended.map_err(|error| to_js(env, &error))?;
        if let Some(error) = appended.error {
            return Err(of_entry(env, &error, &appended.id, appended.index));
        }
        let mut answer = appended.id;
        if appended.starts_file {
            answer.push('!');
        }
        if appended.index != expected || renumbered {
            answer.push_str(&format!("@{}", appended.index));
        }
        Ok(answer)
    }

    /// Text from byte `from` on of a session in the text of a storage.
    #[napi(catch_unwind)]
    pub fn text_from<'a>(&self, env: &'a Env, from: f64) -> Result<JsString<'a>> {
        let session = self.session.lock();
        let text: &[u8] = match session.body() {
            Body::Text(text) => text.get(from as usize..).unwrap_or_default(),
            _ => b"",
        };
        js_string_of_file(env, text)
    }

    /// Bytes of the text of a storage.
    #[napi(catch_unwind)]
    pub fn text_length(&self) -> f64 {
        match self.session.lock().body() {
            Body::Text(text) => text.len() as f64,
            _ => 0.0,
        }
    }

    /// Number of the entry with an id; nothing if there is none.
    #[napi(catch_unwind)]
    pub fn find(&self, id: String) -> Option<u32> {
        self.session.lock().index().find(&id_from_js(&id))
    }

    /// Moves the leaf.
    #[napi(catch_unwind)]
    pub fn branch(&self, env: &Env, id: Option<String>) -> Result<()> {
        let id = id.map(|id| id_from_js(&id));
        self.session.lock().branch(id.as_deref()).map_err(|error| to_js(env, &error))
    }

    /// Number of the leaf.
    #[napi(catch_unwind)]
    pub fn leaf(&self) -> Option<u32> {
        self.session.lock().leaf()
    }

    /// Entries from the root to `leaf`.
    #[napi(catch_unwind)]
    pub fn path(&self, leaf: u32) -> Uint32Array {
        self.session.lock().index().path(leaf).into()
    }

    /// Parent of each entry, by number.
    #[napi(catch_unwind)]
    pub fn parents(&self) -> Uint32Array {
        let session = self.session.lock();
        session.index().records().iter().map(|record| record.parent).collect::<Vec<_>>().into()
    }

    /// The tree: order and parents, one after the other.
    #[napi(catch_unwind)]
    pub fn tree(&self) -> Uint32Array {
        let tree = self.session.lock().index().tree_order();
        [tree.order, tree.parents].concat().into()
    }

    /// JSON: labels in force, `[[targetId, label], …]`.
    #[napi(catch_unwind)]
    pub fn labels<'a>(&self, env: &'a Env) -> Result<JsString<'a>> {
        let session = self.session.lock();
        let mut out = Vec::new();
        for (target, label) in session.index().labels() {
            out.extend_from_slice(if out.is_empty() { b"[[" } else { b",[" });
            string::write(&mut out, &target);
            out.push(b',');
            string::write(&mut out, label);
            out.push(b']');
        }
        if out.is_empty() {
            out.push(b'[');
        }
        out.push(b']');
        js_string(env, &out)
    }

    /// JSON array of as many of `entries` as fit in about `budget` bytes; see [`Session::bodies`]. A
    /// space stands before it if entries in it need a closer look, see [`needs_finishing`].
    #[napi(catch_unwind)]
    pub fn bodies<'a>(&mut self, env: &'a Env, entries: &[u32], budget: u32, stored: bool) -> Result<JsString<'a>> {
        let text = &mut self.text;
        let read = open_files::with(&self.session, |session| session.bodies(entries, budget as usize, stored, text));
        read.map_err(|error| to_js(env, &error))?;
        if needs_finishing(text) {
            text.insert(0, b' ');
        }
        let string = js_string_of_file(env, text);
        if text.capacity() > 4 * MAX_KEPT_BYTES {
            *text = Vec::new();
        }
        string
    }

    /// Which of `texts` differ from what is stored of their entries.
    #[napi(catch_unwind)]
    pub fn differing(&self, env: &Env, entries: &[u32], texts: Vec<String>) -> Result<Uint32Array> {
        let differing = open_files::with(&self.session, |session| session.differing(entries, &texts));
        differing.map(Uint32Array::from).map_err(|error| to_js(env, &error))
    }

    /// JSON array of envelopes and whole entries; see [`Session::envelopes`].
    #[napi(catch_unwind)]
    pub fn envelopes<'a>(&self, env: &'a Env, from: u32, budget: u32) -> Result<JsString<'a>> {
        let mut text = open_files::with(&self.session, |session| session.envelopes(from, budget as usize))
            .map_err(|error| to_js(env, &error))?;
        if needs_finishing(&text) {
            text.insert(0, b' ');
        }
        js_string_of_file(env, &text)
    }

    /// How the context of the leaf is put together.
    #[napi(catch_unwind)]
    pub fn context(&self) -> NativePlan {
        let session = self.session.lock();
        plan_to_js(context::plan(session.index(), session.leaf()))
    }
}

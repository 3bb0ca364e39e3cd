//! Lists of session files.

use super::error::to_js;
use super::task::Job;
use super::text::{js_string, js_string_of_file};
use crate::entry::timestamp;
use crate::error::{Error, Result};
use crate::json::string;
use crate::list::{self, FileIdentity, FoundFile, HeaderInfo, Memory, Scope, Summary, Texts};
use crate::log::read::FileSource;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, JsString};
use napi_derive::napi;
use parking_lot::Mutex;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of a usual row.
const ROW_BYTES: usize = 600;

/// Adds a member; `key` as it stands in front of the value.
fn member(out: &mut Vec<u8>, key: &str, value: Option<&[u8]>) {
    if let Some(value) = value {
        out.extend_from_slice(key.as_bytes());
        string::write(out, value);
    }
}

fn row(out: &mut Vec<u8>, file: &FoundFile, header: &HeaderInfo, counts: Option<u64>, short: Option<&[u8]>) {
    out.extend_from_slice(if out.is_empty() { b"[" } else { b"," });
    // Writing to memory cannot fail.
    let _ = write!(out, "{{\"modified\":{}", file.modified_ms);
    if let Some(count) = counts {
        let _ = write!(out, ",\"messageCount\":{count}");
    }
    member(out, ",\"path\":", Some(file.path.to_string_lossy().as_bytes()));
    member(out, ",\"id\":", Some(&header.id));
    member(out, ",\"cwd\":", header.cwd.as_deref());
    member(out, ",\"title\":", header.title.as_deref());
    member(out, ",\"parentSession\":", header.parent_session.as_deref());
    match header.timestamp.as_deref().map(|text| (text, timestamp::parse_canonical(text))) {
        Some((_, Some(ms))) => {
            let _ = write!(out, ",\"created\":{ms}");
        }
        other => member(out, ",\"created\":", other.map(|(text, _)| text)),
    }
    member(out, ",\"firstPrompt\":", header.first_prompt.as_deref());
    member(out, ",\"shortSummary\":", short);
    out.push(b'}');
}

fn finish(mut out: Vec<u8>) -> Vec<u8> {
    if out.is_empty() {
        out.push(b'[');
    }
    out.push(b']');
    out
}

type TextJob = AsyncTask<Job<Vec<u8>, String>>;

fn text_job(name: &'static str, work: impl FnOnce() -> Result<Vec<u8>> + Send + 'static) -> TextJob {
    // Half surrogates are written as escapes, so the text is valid UTF-8.
    AsyncTask::new(Job::new(name, work, |_, text| Ok(String::from_utf8_lossy(&text).into_owned())))
}

/// A list, the newest session first.
#[napi]
pub struct Listing {
    /// JSON array of the rows, until it is taken.
    rows: Mutex<Vec<u8>>,
    /// Where the texts of each row are.
    texts: Vec<(Option<FileIdentity>, Texts)>,
}

fn listing(found: Vec<(FoundFile, Summary)>) -> Listing {
    let mut out = Vec::with_capacity(found.len() * ROW_BYTES);
    let mut texts = Vec::with_capacity(found.len());
    for (file, summary) in found {
        if let Some(header) = &summary.header {
            row(&mut out, &file, header, Some(summary.message_count), summary.short_summary.as_deref());
            texts.push((file.identity, summary.texts));
        }
    }
    Listing { rows: Mutex::new(finish(out)), texts }
}

/// Every session below `dirs` and `root`, read whole, or known from the file `cache`.
#[napi(catch_unwind)]
pub fn list_sessions(dirs: Vec<String>, root: Option<String>, cache: String) -> AsyncTask<Job<Listing, Listing>> {
    let work = move || {
        let now = list::nanoseconds(SystemTime::now());
        let unique = now as u64 ^ u64::from(std::process::id()) << 40;
        let memory = Memory { path: PathBuf::from(cache), now, unique };
        let files = list::files(&dirs, root.as_deref());
        Ok(listing(memory.summaries(files, Scope { dirs: &dirs, root: root.as_deref() })))
    };
    AsyncTask::new(Job::new("list", work, |_, listing| Ok(listing)))
}

#[napi]
impl Listing {
    /// JSON array of the rows. They are handed out once.
    #[napi(catch_unwind)]
    pub fn rows<'a>(&self, env: &'a Env) -> napi::Result<JsString<'a>> {
        js_string(env, &std::mem::take(&mut *self.rows.lock()))
    }

    /// Text of all user and assistant messages of a row. Of a file that is still the one that was
    /// listed, only the texts are read.
    #[napi(catch_unwind)]
    pub fn text<'a>(&self, env: &'a Env, row: u32, path: String) -> napi::Result<JsString<'a>> {
        let text = text_of(Path::new(&path), self.texts.get(row as usize)).map_err(|error| to_js(env, &error))?;
        js_string(env, &text)
    }
}

/// JSON: the sessions in these files.
#[napi(catch_unwind)]
pub fn summarize_sessions(paths: Vec<String>) -> TextJob {
    text_job("list", move || {
        let files: Vec<FoundFile> = paths.iter().filter_map(|path| list::file(Path::new(path))).collect();
        let read = |file: &FoundFile| {
            let (open, size) = open(&file.path)?;
            let source = FileSource { file: &open, path: &file.path };
            Ok(list::summarize(&source, size)?.map(|summary| (file.clone(), summary)))
        };
        let mut out = Vec::new();
        for (file, summary) in list::each(&files, read) {
            if let Some(header) = &summary.header {
                row(&mut out, &file, header, Some(summary.message_count), summary.short_summary.as_deref());
            }
        }
        Ok(finish(out))
    })
}

/// JSON: every session below `dirs` and `root`, read up to its header, or with `prompts` up to the
/// first user message, the newest first; at most `limit` of them.
#[napi(catch_unwind)]
pub fn list_headers(dirs: Vec<String>, root: Option<String>, prompts: bool, limit: Option<u32>) -> TextJob {
    text_job("list", move || {
        let mut files = list::files(&dirs, root.as_deref());
        let mut out = Vec::new();
        let mut left = limit.map_or(usize::MAX, |limit| limit as usize);
        while left > 0 && !files.is_empty() {
            let batch: Vec<FoundFile> = files.drain(..files.len().min(left.saturating_add(4))).collect();
            let read = |file: &FoundFile| {
                let (open, size) = open(&file.path)?;
                let source = FileSource { file: &open, path: &file.path };
                Ok(list::header_info(&source, size, prompts)?.map(|header| (file.clone(), header)))
            };
            for (file, header) in list::each(&batch, read).into_iter().take(left) {
                row(&mut out, &file, &header, None, None);
                left -= 1;
            }
        }
        Ok(finish(out))
    })
}

fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let size = crate::store::stat_open(&file, path)?.len();
    Ok((file, size))
}

fn text_of(path: &Path, known: Option<&(Option<FileIdentity>, Texts)>) -> Result<Vec<u8>> {
    let (file, size) = open(path)?;
    let source = FileSource { file: &file, path };
    if let Some((identity, texts)) = known
        && *identity == Some(FileIdentity::of(&crate::store::stat_open(&file, path)?))
        && let Some(text) = texts.read(&source, size)?
    {
        return Ok(text);
    }
    list::messages_text(&source, size)
}

/// Text of all user and assistant messages of a file.
#[napi(catch_unwind)]
pub fn messages_text<'a>(env: &'a Env, path: String) -> napi::Result<JsString<'a>> {
    let text = text_of(Path::new(&path), None).map_err(|error| to_js(env, &error))?;
    js_string(env, &text)
}

/// JSON: the summary of a session in the text of a storage, as an array of at most one.
#[napi(catch_unwind)]
pub fn summarize_text<'a>(
    env: &'a Env,
    text: String,
    path: String,
    modified: f64,
    size: f64,
) -> napi::Result<JsString<'a>> {
    let summary = list::summarize(text.as_bytes(), text.len() as u64).map_err(|error| to_js(env, &error))?;
    let file = FoundFile { path: PathBuf::from(path), modified_ms: modified, identity: None, size: size as u64 };
    let mut out = Vec::new();
    if let Some(summary) = summary
        && let Some(header) = &summary.header
    {
        row(&mut out, &file, header, Some(summary.message_count), summary.short_summary.as_deref());
    }
    js_string_of_file(env, &finish(out))
}

/// The same as `messagesText` for a text.
#[napi(catch_unwind)]
pub fn messages_text_of<'a>(env: &'a Env, text: String) -> napi::Result<JsString<'a>> {
    let text = list::messages_text(text.as_bytes(), text.len() as u64).map_err(|error| to_js(env, &error))?;
    js_string(env, &text)
}

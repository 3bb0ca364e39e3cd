//! Functions without a session.

use super::error::to_js;
use super::session::plan_to_js;
use super::task::Job;
use super::text::js_string_of_file;
use crate::blob::BlobStore;
use crate::context;
use crate::json::string;
use crate::log::line::{Piece, pieces};
use crate::repair::{HeaderDefaults, Repair, repair};
use crate::session::Session;
use crate::verify::{Verification, verify};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, JsString, Result};
use napi_derive::napi;
use std::path::{Path, PathBuf};

/// Version of this addon: the JavaScript part refuses another one.
#[napi]
pub const NATIVE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// JSON array of the objects in a text of JSON lines; what cannot be read is left out.
#[napi(catch_unwind)]
pub fn parse_records<'a>(env: &'a Env, text: String) -> Result<JsString<'a>> {
    let mut out = Vec::with_capacity(text.len() + 2);
    let mut offset = 0;
    for line in text.as_bytes().split(|byte| *byte == b'\n') {
        pieces(line, offset == 0, |piece| {
            if let Piece::Record(facts) = piece {
                out.push(if out.is_empty() { b'[' } else { b',' });
                out.extend_from_slice(&line[facts.span]);
            }
        });
        offset += line.len() + 1;
    }
    if out.is_empty() {
        out.push(b'[');
    }
    out.push(b']');
    js_string_of_file(env, &out)
}

/// Context of entries that belong to no session: `rows` are their skeletons as JSON lines, `leaf`
/// is the number of a row.
#[napi(catch_unwind)]
pub fn plan_context(env: &Env, rows: String, leaf: u32) -> Result<super::session::NativePlan> {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"\"}\n";
    let text = [header, &rows].concat().into_bytes();
    let session = Session::from_text(text, Path::new(""), 0).map_err(|error| to_js(env, &error))?;
    let plan = session.map(|session| context::plan(session.index(), Some(leaf)));
    Ok(plan_to_js(plan.unwrap_or_default()))
}

/// Stores bytes in the blob store; resolves to their hash.
#[napi(catch_unwind)]
pub fn put_blob(dir: String, bytes: Buffer) -> AsyncTask<Job<String, String>> {
    let bytes = bytes.to_vec();
    let work = move || {
        let store = BlobStore::new(PathBuf::from(dir));
        let hash = store.put(&bytes)?;
        store.sync()?;
        Ok(hash)
    };
    AsyncTask::new(Job::new("putBlob", work, |_, hash| Ok(hash)))
}

/// A blob, or nothing if it is missing or `hash` is none.
#[napi(catch_unwind)]
pub fn read_blob(env: &Env, dir: String, hash: String) -> Result<Option<Buffer>> {
    let bytes = BlobStore::new(PathBuf::from(dir)).read(&hash).map_err(|error| to_js(env, &error))?;
    Ok(bytes.map(Buffer::from))
}

/// JSON array of strings.
fn list(items: &[Vec<u8>]) -> String {
    let mut out = Vec::new();
    for item in items {
        out.push(if out.is_empty() { b'[' } else { b',' });
        string::write(&mut out, item);
    }
    if out.is_empty() {
        out.push(b'[');
    }
    out.push(b']');
    String::from_utf8_lossy(&out).into_owned()
}

/// JSON: what is wrong with a file.
#[napi(catch_unwind)]
pub fn verify_session(path: String, blobs: String) -> AsyncTask<Job<Verification, String>> {
    let work = move || verify(Path::new(&path), &BlobStore::new(PathBuf::from(blobs)));
    AsyncTask::new(Job::new("verify", work, |_, found| {
        let mut reason = String::new();
        if let Some(text) = found.reason() {
            let quoted = list(&[text.into_bytes()]);
            reason = format!(",\"reason\":{}", &quoted[1..quoted.len() - 1]);
        }
        let hashes: Vec<Vec<u8>> = found.missing_blobs.iter().map(|hash| hash.clone().into_bytes()).collect();
        Ok(format!(
            "{{\"ok\":{}{reason},\"size\":{},\"hasHeader\":{},\"version\":{},\"orphans\":{},\"cycles\":{},\"duplicateIds\":{},\"missingBlobs\":{},{}",
            found.is_ok(),
            found.size,
            found.has_header,
            found.version,
            list(&found.orphans),
            list(&found.cycles),
            list(&found.duplicate_ids),
            list(&hashes),
            &super::session::report_json(&found.report, found.entries)[1..],
        ))
    }))
}

/// JSON: what a repair did.
#[napi(catch_unwind)]
pub fn repair_session(
    path: String,
    id: String,
    cwd: String,
    now: f64,
    dry_run: bool,
) -> AsyncTask<Job<Repair, String>> {
    let work = move || repair(Path::new(&path), &HeaderDefaults { id, cwd, now: now as i64 }, dry_run);
    AsyncTask::new(Job::new("repair", work, |_, done| {
        let backup = done.backup.map(|path| list(&[path.to_string_lossy().into_owned().into_bytes()]));
        Ok(format!(
            "{{\"changed\":{},\"backup\":{},\"entries\":{},\"leftOut\":{},\"reconnected\":{},\"newHeader\":{}}}",
            done.changed,
            backup.as_ref().map_or("null", |text| &text[1..text.len() - 1]),
            done.entries,
            done.left_out,
            done.reconnected,
            done.new_header,
        ))
    }))
}

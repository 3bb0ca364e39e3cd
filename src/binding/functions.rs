//! Functions without a session.

use super::error::to_js;
use super::session::plan_to_js;
use super::task::Job;
use super::text::js_string_of_file;
use crate::blob::BlobStore;
use crate::context;
use crate::log::line::{Piece, pieces};
use crate::session::Session;
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

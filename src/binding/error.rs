//! Core errors as JavaScript errors with `code`, `path`, `line` and the rest as properties.

use crate::error::Error;
use napi::bindgen_prelude::JsValue;
use napi::{Env, Status};

/// The error to throw for a failure of the core.
pub fn to_js(env: &Env, error: &Error) -> napi::Error {
    build(env, error, None).unwrap_or_else(|failure| failure)
}

/// The error for an entry that was added but is not in the file yet.
pub fn of_entry(env: &Env, error: &Error, id: &str, index: u32) -> napi::Error {
    build(env, error, Some((id, index))).unwrap_or_else(|failure| failure)
}

fn build(env: &Env, error: &Error, entry: Option<(&str, u32)>) -> napi::Result<napi::Error> {
    let mut object = env.create_error(napi::Error::new(Status::GenericFailure, error.to_string()))?;
    object.set("code", error.code())?;
    if let Some(path) = error.path() {
        object.set("path", path.to_string_lossy().into_owned())?;
    }
    match error {
        Error::Corrupt { line, offset, .. } => {
            object.set("line", *line as f64)?;
            object.set("offset", *offset as f64)?;
        }
        Error::Io { syscall, source, .. } => {
            object.set("syscall", *syscall)?;
            if let Some(number) = source.raw_os_error() {
                object.set("errno", -number)?;
            }
        }
        Error::EntryNotFound { id } => object.set("entryId", id.as_str())?,
        _ => {}
    }
    if let Some((id, index)) = entry {
        object.set("entryId", id)?;
        object.set("entryIndex", index)?;
    }
    Ok(napi::Error::from(object.to_unknown()))
}

/// A panic as an error: it is a bug, but no reason to end the process.
pub fn from_panic(panic: &(dyn std::any::Any + Send), what: &str) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    Error::InvalidArgument { reason: format!("omp-session has a bug: {what} panicked: {text}") }
}

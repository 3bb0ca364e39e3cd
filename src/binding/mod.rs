//! The Node-API surface: the only place that names napi.
//!
//! What crosses, and in which form: entries as JSON text, sets of entries as numbers in typed
//! arrays, one call per operation. Objects are never built property by property. Long work is a
//! task of the worker pool and holds the session's mutex only for its short steps. Every exported
//! function stops panics; errors get their fields in [`error`].

mod error;
mod functions;
mod list;
mod open_files;
mod session;
mod session_files;
mod task;
mod text;

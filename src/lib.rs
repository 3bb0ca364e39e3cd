//! The core of omp-session: session files as trees of JSON lines.

// The test harness has no Node-API to register the exports with.
#[cfg(all(feature = "binding", not(test)))]
mod binding;
pub mod blob;
pub mod context;
pub mod entry;
pub mod error;
pub mod index;
pub mod json;
pub mod list;
pub mod log;
pub mod migrate;
pub mod persist;
pub mod repair;
pub mod session;
pub mod store;
pub mod verify;

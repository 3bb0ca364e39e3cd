//! What the core knows of an entry: its envelope and the few fields that decide something.

mod envelope;
pub mod facts;
pub mod id;
pub mod kind;
pub mod timestamp;
pub mod usage;

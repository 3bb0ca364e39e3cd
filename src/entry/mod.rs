//! What the core knows of an entry: its envelope and the few fields that decide something.

pub mod facts;
pub mod id;
pub mod kind;
pub mod timestamp;
